"""DLPack: memory in common with other libraries, and graphs that it cannot reach."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ExportError, NotATensorError
from autograd_engine.interop.numpy_protocol.dlpack import SharedTensor

to_dlpack, from_dlpack = paddle.utils.dlpack.to_dlpack, paddle.utils.dlpack.from_dlpack


def address(x: Any) -> int:
    return x.numpy().__array_interface__["data"][0]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int64", "bool", "complex64"]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 3)])
def test_numpy_both_ways_without_a_copy(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, dtype)
    x = paddle.from_dlpack(array)
    assert x.dtype == dtype
    assert tuple(x.shape) == shape
    back = np.from_dlpack(x)
    assert back.dtype == array.dtype
    if array.size:
        assert address(x) == array.ctypes.data == back.ctypes.data


def test_not_contiguous() -> None:
    array = np.arange(24.0).reshape(4, 6)[::2, ::-3].T
    x = paddle.from_dlpack(array)
    np.testing.assert_array_equal(x.numpy(), array)
    np.testing.assert_array_equal(np.from_dlpack(x), array)
    array[:] = 5.0
    assert (x + 0.0).tolist() == array.tolist()


def test_export_of_memory_that_only_the_tensor_holds() -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    array = np.from_dlpack(x)
    assert address(x) == array.ctypes.data
    assert isinstance(x, SharedTensor)
    array[0] = 9.0
    assert x.tolist() == [9.0, 2.0, 3.0]
    assert np.from_dlpack(x).ctypes.data == array.ctypes.data


def test_a_write_between_forward_and_backward() -> None:
    """The gradient is that of the values that were computed from."""
    array = np.array([1.0, 2.0, 3.0])
    x = from_dlpack(array)
    x.stop_gradient = False
    y = (x * x * x).sum()
    array[:] = 100.0
    y.backward()
    assert x.grad.tolist() == [3.0, 12.0, 27.0]
    assert x.tolist() == [100.0, 100.0, 100.0]


def test_a_write_after_views_that_were_not_recorded() -> None:
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    x = from_dlpack(array)
    views = [x.reshape([-1]), x[0], x.T, x.detach(), x.clone(), copy.copy(x), next(iter(x)), x.mT]
    before = [v.tolist() for v in views]
    w = paddle.to_tensor(2.0, stop_gradient=False)
    losses = [(w * v).sum() for v in views]
    array[:] = -1.0
    assert [v.tolist() for v in views] == before
    for v, loss in zip(before, losses, strict=True):
        w.clear_grad()
        loss.backward()
        assert w.grad.item() == np.sum(v)


def test_a_write_before_the_second_order() -> None:
    array = np.array([1.0, 2.0])
    x = from_dlpack(array)
    x.stop_gradient = False
    (g,) = paddle.grad((x**3).sum(), x, create_graph=True)
    array[:] = 50.0
    (h,) = paddle.grad(g.sum(), x)
    assert h.tolist() == [6.0, 12.0]
    y = (x**3).sum()
    array[:] = 7.0
    (g,) = paddle.grad(y, x, create_graph=True)
    (h,) = paddle.grad(g.sum(), x)
    assert h.tolist() == [300.0, 300.0]


def test_what_a_graph_holds_is_not_handed_out() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    y = (w * x).sum()
    with pytest.raises(ExportError, match=r"copy=False, but graphs.* or clone it"):
        x.__dlpack__(copy=False)
    array = np.from_dlpack(x)
    assert not np.shares_memory(array, x.numpy())
    array[:] = 100.0
    y.backward()
    assert w.grad.tolist() == [1.0, 2.0]
    view = x.numpy()
    assert not np.shares_memory(np.from_dlpack(x), view)


def test_after_an_export_graphs_do_not_hold_the_memory() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    array = np.from_dlpack(x)
    w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    y = (w * x).sum() + (w * x[0]).sum()
    array[:] = 100.0
    y.backward()
    assert w.grad.tolist() == [2.0, 3.0]


def test_a_tensor_that_requires_a_gradient_is_refused() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    for t in (x, x * 2.0, paddle.create_parameter([2])):
        with pytest.raises(ExportError, match=r"export x\.detach\(\)"):
            np.from_dlpack(t)
    array = np.from_dlpack(x.detach())
    array[0] = 9.0
    assert x.item() == 1.0


def test_giving_a_value_ends_the_sharing() -> None:
    array = np.array([1.0, 2.0])
    for change in (
        lambda x: x.set_value(np.array([5.0, 6.0])),
        lambda x: x.add_(paddle.to_tensor(1.0)),
    ):
        x = from_dlpack(array)
        change(x)
        assert type(x) is paddle.Tensor
        assert array.tolist() == [1.0, 2.0]
    x = from_dlpack(array)
    x[0] = 9.0
    assert x.tolist() == [9.0, 2.0]
    assert array.tolist() == [1.0, 2.0]


def test_an_optimizer_does_not_write_it() -> None:
    array = np.array([1.0, 2.0])
    x = from_dlpack(array)
    x.stop_gradient = False
    step = paddle.optimizer.SGD(learning_rate=1.0, parameters=[x])
    y = (x * x).sum()
    y.backward()
    step.step()
    assert x.tolist() == [-1.0, -2.0]
    assert array.tolist() == [1.0, 2.0]


def test_snapshots_are_shared_while_nothing_is_written() -> None:
    array = np.ones(1000)
    x = from_dlpack(array)
    w = paddle.to_tensor(np.ones(1000), stop_gradient=False)
    first, second = w * x, w * x
    held = [first._node.saved, second._node.saved]
    arrays = [v for saved in held for v in saved if isinstance(v, np.ndarray)]
    assert len({id(v) for v in arrays}) < len(arrays)
    assert not any(np.shares_memory(v, array) for v in arrays)
    array[0] = 2.0
    assert (w * x)[0].item() == 2.0


def test_capsules() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    capsule = to_dlpack(x)
    y = from_dlpack(capsule)
    assert address(x) == address(y)
    with pytest.raises(ArgumentError, match="has been used, and can be once; make another"):
        from_dlpack(capsule)
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert x.__dlpack_device__() == (1, 0)


def test_read_only_memory() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    x = from_dlpack(array)
    assert x.tolist() == [0.0, 1.0, 2.0]
    again = np.from_dlpack(x)
    assert again.ctypes.data == array.ctypes.data
    assert not again.flags.writeable
    assert "dltensor" in repr(
        x.__dlpack__()
    )  # a copy: versions before 1.0 know no read-only memory
    with pytest.raises(ExportError, match="read-only"):
        x.__dlpack__(copy=False)


def test_copies_on_request() -> None:
    array = np.array([1.0, 2.0])
    x = from_dlpack(array, copy=True)
    assert type(x) is paddle.Tensor
    array[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    assert not np.shares_memory(np.from_dlpack(x, copy=True), x.numpy())
    assert type(x) is paddle.Tensor


def test_wrong_arguments() -> None:
    with pytest.raises(
        NotATensorError, match=r"list does not support DLPack; use paddle\.to_tensor"
    ):
        from_dlpack([1.0])
    with pytest.raises(ArgumentError, match="'gpu' is not there; use 'cpu'"):
        from_dlpack(np.ones(2), device="gpu")
    with pytest.raises(ExportError, match="tensors are on"):
        paddle.ones([2]).__dlpack__(dl_device=(2, 0))
    with pytest.raises(ExportError, match="stream"):
        paddle.ones([2]).__dlpack__(stream=1)
    with pytest.raises(ExportError, match="from_dlpack"):
        from_dlpack(np.array(["text"]))
    with pytest.raises(NotATensorError, match="to_tensor"):
        to_dlpack([1.0])


def test_copies_of_a_shared_tensor_are_its_own() -> None:
    array = np.array([1.0, 2.0])
    x = from_dlpack(array)
    made = [copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))]
    array[:] = 9.0
    for y in made:
        assert type(y) is paddle.Tensor
        assert y.tolist() == [1.0, 2.0]


def test_torch_both_ways() -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.arange(6.0).reshape(2, 3)
    x = from_dlpack(theirs)
    assert address(x) == theirs.data_ptr()
    x.stop_gradient = False
    y = (x * x).sum()
    theirs.fill_(7.0)
    y.backward()
    assert x.grad.tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    assert x.tolist() == [[7.0] * 3] * 2

    ours = paddle.to_tensor([1.0, 2.0])
    theirs = torch.from_dlpack(ours)
    assert theirs.data_ptr() == address(ours)
    theirs += 1.0
    assert ours.tolist() == [2.0, 3.0]
    assert torch.from_dlpack(to_dlpack(ours)).data_ptr() == theirs.data_ptr()
    assert address(from_dlpack(torch.utils.dlpack.to_dlpack(theirs))) == theirs.data_ptr()

    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    constant = paddle.to_tensor([5.0, 6.0])
    y = (w * constant).sum()
    torch.from_dlpack(constant).zero_()
    y.backward()
    assert w.grad.tolist() == [5.0, 6.0]
    with pytest.raises(ExportError, match="detach"):
        from_dlpack(torch.ones(2, requires_grad=True))


def test_bfloat16_both_ways() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("ml_dtypes")
    ours = paddle.to_tensor([[1.0, 2.5], [3.0, 4.0]], dtype="bfloat16")
    theirs = torch.from_dlpack(ours)
    assert theirs.dtype == torch.bfloat16
    theirs[0, 0] = 9.0
    assert ours.tolist() == [[9.0, 2.5], [3.0, 4.0]]
    back = from_dlpack(torch.arange(6, dtype=torch.bfloat16).reshape(2, 3).t())
    assert back.dtype == "bfloat16"
    assert back.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


def test_a_tensor_of_bfloat16_that_numpy_cannot_read() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("ml_dtypes")
    theirs = torch.tensor([1.0, 2.5], dtype=torch.bfloat16)
    ours = paddle.to_tensor(theirs)
    assert (ours.dtype, ours.tolist()) == ("bfloat16", [1.0, 2.5])
    theirs[0] = 9.0
    assert ours.tolist() == [1.0, 2.5]


def test_bfloat16_to_and_from_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    pytest.importorskip("ml_dtypes")
    ours = paddle.to_tensor([1.0, 2.5], dtype="bfloat16")
    theirs = jnp.from_dlpack(ours)
    assert theirs.dtype == jnp.bfloat16
    assert theirs.tolist() == [1.0, 2.5]
    back = from_dlpack(theirs * 2)
    assert (back.dtype, back.tolist()) == ("bfloat16", [2.0, 5.0])


def test_a_capsule_says_bfloat16() -> None:
    pytest.importorskip("ml_dtypes")
    x = paddle.to_tensor([1.0, 2.5], dtype="bfloat16")
    assert from_dlpack(to_dlpack(x)).dtype == "bfloat16"
    assert from_dlpack(x).tolist() == [1.0, 2.5]
    assert from_dlpack(paddle.ones([2], "float16")).dtype == "float16"


def test_jax_both_ways() -> None:
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.arange(4.0)
    x = from_dlpack(theirs)
    assert address(x) == theirs.unsafe_buffer_pointer()
    # jax takes memory as it is where it is aligned to 64 bytes, and copies it else
    room = np.zeros(1024 + 16, np.float32)
    start = (-room.ctypes.data % 64) // 4
    shared = from_dlpack(room[start : start + 1024])
    theirs = jax.dlpack.from_dlpack(shared)
    assert theirs.unsafe_buffer_pointer() == address(shared)
    assert jax.numpy.from_dlpack(paddle.to_tensor([1.0, 2.0])).tolist() == [1.0, 2.0]


def test_layouts_and_dtypes_of_torch_and_jax() -> None:
    """Transposed, strided, broadcast and single elements, both ways; what others made read-only."""
    torch = pytest.importorskip("torch")
    base = torch.arange(12.0).reshape(3, 4)
    for theirs in (base.T, base[:, ::2], base[1], base[:1].expand(3, 4), base[0, 0], base > 3.0):
        x = from_dlpack(theirs)
        assert address(x) == theirs.data_ptr()
        np.testing.assert_array_equal(x.numpy(), theirs.numpy())
    ours = paddle.to_tensor(np.arange(6.0).reshape(2, 3))
    for x in (ours.T, ours[:, ::2], ours[::-1], ours[0], ours.astype("complex64"), ours > 2.0):
        np.testing.assert_array_equal(torch.from_dlpack(x).numpy(), x.numpy())
    jax = pytest.importorskip("jax")
    x = from_dlpack(jax.numpy.arange(6.0).reshape(2, 3))
    assert not x.numpy().flags.writeable
    x.stop_gradient = False
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2.0 * x.numpy())
    for export in (torch.from_dlpack, jax.dlpack.from_dlpack):
        with pytest.raises(ExportError, match="detach"):
            export(x)
