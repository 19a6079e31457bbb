"""`saved_tensors_hooks` and `save_on_disk`: saved values in a form of the user's."""

import gc
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import save_on_disk, saved_tensors_hooks
from autograd_engine.errors import DTypeError, GraphFreedError, NotATensorError, ShapeError
from tests.eager.layers import Cube

F = paddle.nn.functional


def leaf(value: Any, dtype: str = "float32") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


class Counting:
    """Hooks that keep what they are given, and count."""

    def __init__(self) -> None:
        self.packed: list[Any] = []
        self.unpacked = 0

    def pack(self, t: Any) -> Any:
        self.packed.append(t.numpy().copy())
        return len(self.packed) - 1

    def unpack(self, index: int) -> Any:
        self.unpacked += 1
        return paddle.to_tensor(self.packed[index])

    def __call__(self) -> saved_tensors_hooks:
        return saved_tensors_hooks(self.pack, self.unpack)


def network(x: Any, w: Any) -> Any:
    h = F.relu(x @ w)
    h = paddle.concat([paddle.exp(h * 0.1), h * h], axis=1)
    a, b = paddle.split(h, 2, axis=1)
    return F.softmax(a) * paddle.maximum(a, b)


def operands() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return leaf(rng.standard_normal((5, 4)), "float64"), leaf(
        rng.standard_normal((4, 4)), "float64"
    )


def gradients(x: Any, w: Any, y: Any) -> list[Any]:
    y.sum().backward()
    return [x.grad.numpy(), w.grad.numpy()]


def test_what_is_packed_is_what_is_saved() -> None:
    hooks = Counting()
    x, y = leaf([2.0]), leaf([3.0])
    with hooks():
        z = paddle.exp(x * y)
    assert [a.tolist() for a in hooks.packed[:2]] in ([[2.0], [3.0]], [[3.0], [2.0]])
    np.testing.assert_allclose(hooks.packed[2], np.exp([6.0]), rtol=1e-6)
    assert hooks.unpacked == 0
    z.backward()
    assert hooks.unpacked == 3


def test_gradients_have_the_same_bits() -> None:
    x, w = operands()
    plain = gradients(x, w, network(x, w))
    x, w = operands()
    with Counting()():
        y = network(x, w)
    for a, b in zip(plain, gradients(x, w, y), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_is_saved_outside_is_left_alone() -> None:
    hooks = Counting()
    x = leaf([2.0])
    a = x * x
    with hooks():
        pass
    (a * a).backward()
    assert hooks.packed == []
    assert hooks.unpacked == 0
    assert x.grad.tolist() == [32.0]


def test_the_innermost_pair_applies() -> None:
    outer, inner = Counting(), Counting()
    x = leaf([2.0])
    with outer():
        a = paddle.exp(x)
        with inner():
            b = paddle.exp(x)
        c = paddle.exp(x)
    assert len(outer.packed) == 2
    assert len(inner.packed) == 1
    (a + b + c).backward()
    assert (outer.unpacked, inner.unpacked) == (2, 1)


def test_a_pair_is_restored_after_an_exception() -> None:
    outer, inner = Counting(), Counting()
    x = leaf([2.0])
    with outer():
        with pytest.raises(ZeroDivisionError), inner():
            raise ZeroDivisionError
        paddle.exp(x)
    paddle.exp(x)
    assert len(outer.packed) == 1
    assert not inner.packed


def test_as_a_decorator_and_on_a_generator() -> None:
    hooks = Counting()

    @hooks()
    def function(x: Any) -> Any:
        return paddle.exp(x)

    @hooks()
    def values(x: Any) -> Iterator[Any]:
        yield paddle.exp(x)
        yield paddle.exp(x)

    x = leaf([1.0])
    function(x)
    assert len(hooks.packed) == 1
    for _ in values(x):
        paddle.exp(x)  # the consumer's
    assert len(hooks.packed) == 3


def test_other_threads_have_their_own() -> None:
    hooks = Counting()
    x = leaf([1.0])
    with hooks():
        thread = threading.Thread(target=lambda: paddle.exp(x))
        thread.start()
        thread.join()
    assert hooks.packed == []


def test_each_node_packs_what_it_saves() -> None:
    hooks = Counting()
    x = leaf([1.0])
    with hooks():
        paddle.sin(x)
        paddle.sin(x)
    assert len(hooks.packed) == 2


def test_hooks_record_nothing() -> None:
    w = leaf([3.0])
    seen = []

    def pack(t: Any) -> Any:
        seen.append((t * w).stop_gradient)
        return t

    x = leaf([1.0])
    with saved_tensors_hooks(pack, lambda t: t):
        y = x * x
    y.backward()
    assert seen == [True, True]
    assert x.grad.tolist() == [2.0]


def test_unpack_runs_once_for_each_pass_over_a_retained_graph() -> None:
    hooks = Counting()
    x = leaf([1.0, 2.0])
    with hooks():
        y = paddle.exp(x)
    y.backward(retain_graph=True)
    y.backward()
    assert hooks.unpacked == 2
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        y.backward()
    assert hooks.unpacked == 2


def test_any_order() -> None:
    x = leaf([0.5, 1.5], "float64")
    with Counting()():
        y = (x * x * x * x).sum()
    (first,) = paddle.grad(y, x, create_graph=True)
    (second,) = paddle.grad(first.sum(), x, create_graph=True)
    (third,) = paddle.grad(second.sum(), x)
    np.testing.assert_allclose(third.numpy(), 24 * x.numpy(), rtol=1e-12)


def test_a_recorded_pass_packs_too() -> None:
    hooks = Counting()
    x = leaf([0.5])
    y = x * x * x
    with hooks():
        (first,) = paddle.grad(y, x, create_graph=True)
    assert hooks.packed
    (second,) = paddle.grad(first, x)
    assert second.tolist() == [3.0]


def test_forward_mode() -> None:
    x, v = leaf([0.5, 1.5], "float64"), paddle.to_tensor([1.0, 2.0], dtype="float64")
    with Counting()():
        _, t = paddle.autograd.jvp(lambda x: paddle.exp(x) * x[paddle.to_tensor([1, 0])], x, v)
    d = 1e-6
    f = lambda a: np.exp(a) * a[[1, 0]]  # noqa: E731
    a, u = x.numpy(), v.numpy()
    np.testing.assert_allclose(t.numpy(), (f(a + d * u) - f(a - d * u)) / (2 * d), rtol=1e-8)


def test_a_layer_of_the_users() -> None:
    hooks = Counting()
    x = leaf([2.0])
    with hooks():
        y = Cube.apply(x)
    assert [a.tolist() for a in hooks.packed] == [[2.0]]
    y.backward()
    assert x.grad.tolist() == [12.0]
    assert hooks.unpacked == 1


def test_float16_halves_what_is_kept() -> None:
    x = leaf(np.linspace(0, 1, 1000))
    with saved_tensors_hooks(lambda t: t.astype("float16"), lambda t: t.astype("float32")):
        y = (x * x).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy(), atol=1e-3)


@pytest.mark.parametrize(
    ("unpack", "error", "hint"),
    [
        (lambda t: t.numpy(), NotATensorError, "unpack must return a Tensor, got ndarray"),
        (lambda t: None, NotATensorError, "return what pack was given, restored"),
        (lambda t: t[:1], ShapeError, "what was packed has shape"),
        (lambda t: t.astype("float64"), DTypeError, "cast it back in unpack"),
    ],
)
def test_what_unpack_may_not_return(unpack: Any, error: type[Exception], hint: str) -> None:
    x, w = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    w.grad = paddle.to_tensor([7.0, 7.0])
    with saved_tensors_hooks(lambda t: t, unpack):
        y = paddle.sin(x)
    with pytest.raises(error, match=hint) as caught:
        (y * w).backward()
    assert "saved" in caught.value.__notes__[0]
    assert "sin" in caught.value.__notes__[0]
    assert x.grad is None
    assert w.grad.tolist() == [7.0, 7.0]


def test_an_exception_in_pack_leaves_the_operands_as_they_were() -> None:
    def pack(t: Any) -> Any:
        raise OSError("disk full")

    x = leaf([1.0])
    y = x * x
    with saved_tensors_hooks(pack, lambda t: t), pytest.raises(OSError, match="disk full"):
        paddle.sin(y)
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_an_exception_in_unpack_touches_no_gradient() -> None:
    broken = True

    def unpack(t: Any) -> Any:
        if broken:
            raise OSError("gone")
        return t

    x = leaf([1.0])
    with saved_tensors_hooks(lambda t: t, unpack):
        y = x * x
    with pytest.raises(OSError, match="gone"):
        y.backward()
    assert x.grad is None
    broken = False
    y.backward()  # the node that failed was not freed
    assert x.grad.tolist() == [2.0]


def test_a_hook_cannot_write_to_what_is_saved() -> None:
    def pack(t: Any) -> Any:
        t.add_(paddle.to_tensor([10.0]))
        with pytest.raises(ValueError, match="read-only"):
            t.detach().numpy()[0] = 5.0
        return paddle.to_tensor([2.0])

    x = leaf([2.0])
    with saved_tensors_hooks(pack, lambda t: t):
        y = x * x
    y.backward()
    assert x.tolist() == [2.0]
    assert x.grad.tolist() == [4.0]


def test_hooks_must_be_functions() -> None:
    with pytest.raises(TypeError, match=r"pack_hook must be a function, .* got int"):
        saved_tensors_hooks(1, lambda t: t)  # type: ignore[arg-type]


# --- on disk


def test_on_disk_the_bits_are_the_same(tmp_path: Path) -> None:
    x, w = operands()
    plain = gradients(x, w, network(x, w.T))
    x, w = operands()
    with save_on_disk(tmp_path, min_bytes=0):
        y = network(x, w.T)
    assert len(list(tmp_path.iterdir())) > 5
    for a, b in zip(plain, gradients(x, w, y), strict=True):
        np.testing.assert_array_equal(a, b)


def test_layouts_come_back(tmp_path: Path) -> None:
    kept: list[Any] = []
    hooks = save_on_disk(tmp_path, min_bytes=0)
    pack, unpack = hooks._given
    base = np.arange(24.0).reshape(2, 3, 4)
    for array in (base, base.T, base.transpose(1, 0, 2), base[:, ::-1], base[0, 0, 0]):
        packed = pack(paddle.Tensor._wrap(np.asarray(array)))
        kept.append(packed)
        back = unpack(packed)._data
        np.testing.assert_array_equal(back, array)
        if array.ndim and array.flags.forc:
            assert back.strides == array.strides


def test_files_go_as_the_pass_advances(tmp_path: Path) -> None:
    x = leaf(np.ones(100))
    with save_on_disk(tmp_path, min_bytes=0):
        h = paddle.sin(x)
        y = paddle.sin(paddle.sin(h)).sum()
    counts: list[int] = []
    h.register_hook(lambda g: counts.append(len(list(tmp_path.iterdir()))))
    counts.append(len(list(tmp_path.iterdir())))
    y.backward()
    assert counts == [3, 1]
    assert list(tmp_path.iterdir()) == []


def test_files_go_with_the_graph(tmp_path: Path) -> None:
    x = leaf(np.ones(100))
    with save_on_disk(tmp_path, min_bytes=0):
        y = paddle.sin(x)
    assert len(list(tmp_path.iterdir())) == 1
    del y
    assert list(tmp_path.iterdir()) == []


def test_the_temporary_directory_goes_too() -> None:
    hooks = save_on_disk(min_bytes=0)
    x = leaf(np.ones(100))
    with hooks:
        y = paddle.sin(x)
    file = y._node.saved.entries[0]
    directory = file._directory.path
    assert os.path.isdir(directory)
    gone = weakref.ref(file)
    del hooks, file
    y.backward()
    gc.collect()
    assert gone() is None
    assert not os.path.exists(directory)


def test_a_fork_removes_nothing(tmp_path: Path) -> None:
    x = leaf(np.ones(100))
    with save_on_disk(tmp_path, min_bytes=0):
        y = paddle.sin(x)
    file = y._node.saved.entries[0]
    from autograd_engine.eager import saved_hooks

    saved_hooks._remove(os.unlink, file._path, os.getpid() + 1)
    assert len(list(tmp_path.iterdir())) == 1
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(1.0), rtol=1e-6)


def test_small_tensors_and_repeated_ones_stay_in_memory(tmp_path: Path) -> None:
    x = leaf(np.ones(4))
    with save_on_disk(tmp_path):
        y = paddle.sin(x)
    assert list(tmp_path.iterdir()) == []
    y.backward()
    with pytest.raises(NotADirectoryError, match="create it"):
        save_on_disk(tmp_path / "missing")
