"""Views: a change in place through one is a change of all that share the values."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import PyLayer, recompute
from autograd_engine.eager.views import storage_of
from autograd_engine.errors import BuildError, DTypeError, NotDifferentiableError
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.eager import view_programs
from tests.functions.cases import CASES
from tests.functions.harness import call
from tests.over import over
from tests.registry.samples import SAMPLES


def leaf(values):
    return paddle.to_tensor(values, dtype="float64", stop_gradient=False)


def constant(values):
    return paddle.to_tensor(values, dtype="float64")


def whole(n=24, shape=(2, 3, 4)):
    return paddle.arange(n, dtype="float64").reshape(list(shape)).clone()


# --- what is a view


# As in the reference, of which each was asked: what shares its values, and what does not.
VIEWS = {
    "x[0]": lambda x: x[0],
    "x[0:1]": lambda x: x[0:1],
    "x[...]": lambda x: x[...],
    "x[::2]": lambda x: x[::2],
    "x[::-1]": lambda x: x[::-1],
    "x[None]": lambda x: x[None],
    "x[0, :, 1]": lambda x: x[0, :, 1],
    "x[0, 1, 2]": lambda x: x[0, 1, 2],
    "x[0][1]": lambda x: x[0][1],
    "x[0-d tensor]": lambda x: x[paddle.to_tensor(1)],
    "iterated": lambda x: next(iter(x)),
    "reshape": lambda x: x.reshape([6, 4]),
    "reshape to its shape": lambda x: x.reshape([2, 3, 4]),
    "view": lambda x: x.view([6, 4]),
    "view as another dtype": lambda x: x.view("int64"),
    "view as smaller values": lambda x: x.view("int32"),
    "view_as": lambda x: x.view_as(paddle.zeros([4, 6])),
    "flatten": lambda x: x.flatten(),
    "flatten two axes": lambda x: x.flatten(0, 1),
    "unflatten": lambda x: x.unflatten(2, [2, 2]),
    "squeeze": lambda x: x[0:1].squeeze(0),
    "squeeze nothing": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "transpose": lambda x: x.transpose([1, 0, 2]),
    "t": lambda x: x[0].t(),
    "t of a vector": lambda x: x[0, 0].t(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "moveaxis": lambda x: x.moveaxis(0, 1),
    "matrix_transpose": lambda x: paddle.matrix_transpose(x),
    "unbind": lambda x: x.unbind()[0],
    "unbind another axis": lambda x: x.unbind(1)[2],
    "diagonal": lambda x: x.diagonal(),
    "diagonal of other axes": lambda x: x.diagonal(1, 1, 2),
    "unfold": lambda x: x.unfold(2, 2, 2),
    "as_strided": lambda x: x.as_strided([2, 3], [1, 2]),
    "slice": lambda x: paddle.slice(x, [0], [0], [1]),
    "strided_slice": lambda x: paddle.strided_slice(x, [0], [0], [2], [2]),
    "atleast_3d": lambda x: paddle.atleast_3d(x[0]),
    "detach": lambda x: x.detach(),
    "as_complex": lambda x: paddle.as_complex(x[..., :2]),
    "Flatten": lambda x: paddle.nn.Flatten()(x),
    "reshape of what lies in order": lambda x: x[0].reshape([12]),
    "reshape with gaps": lambda x: x[:, :2].reshape([2, 1, 2, 4]),
    "reshape of another order": lambda x: x.t().reshape([4, 1, 3]) if x.ndim == 2 else x[0],
}
COPIES = {
    "x[[0, 1]]": lambda x: x[[0, 1]],
    "x[mask]": lambda x: x[x > 5],
    "x[tensor]": lambda x: x[paddle.to_tensor([0, 1])],
    "x[True]": lambda x: x[True],
    "x[0:2, [0, 1]]": lambda x: x[0:2, [0, 1]],
    "split": lambda x: x.split(2)[0],
    "split in one": lambda x: x.split(1)[0],
    "chunk": lambda x: x.chunk(2)[0],
    "tensor_split": lambda x: x.tensor_split(2)[0],
    "vsplit": lambda x: x.vsplit(2)[0],
    "unstack": lambda x: x.unstack()[0],
    "clone": lambda x: x.clone(),
    "assign": lambda x: paddle.assign(x),
    "to_tensor": lambda x: paddle.to_tensor(x),
    "copy": lambda x: copy.copy(x),
    "deepcopy": lambda x: copy.deepcopy(x),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "deepcopy of a view": lambda x: copy.deepcopy(x[0]),
    "pickle of a view": lambda x: pickle.loads(pickle.dumps(x[0])),
    "cast": lambda x: x.cast("float64"),
    "expand": lambda x: x[0:1].expand([2, 3, 4]),
    "expand to its shape": lambda x: x.expand([2, 3, 4]),
    "expand_as": lambda x: x.expand_as(x),
    "broadcast_to": lambda x: x.broadcast_to([2, 3, 4]),
    "broadcast_tensors": lambda x: paddle.broadcast_tensors([x, x])[0],
    "flip": lambda x: x.flip(0),
    "rot90": lambda x: x.rot90(1, [0, 1]),
    "roll": lambda x: x.roll(1),
    "diag": lambda x: x[0, :, :3].diag(),
    "index_select": lambda x: x.index_select(paddle.to_tensor([0])),
    "gather": lambda x: x.gather(paddle.to_tensor([0])),
    "take": lambda x: x.take(paddle.to_tensor([0])),
    "crop": lambda x: paddle.crop(x, [1, 3, 4]),
    "tile": lambda x: x.tile([1, 1, 1]),
    "concat": lambda x: paddle.concat([x]),
    "stack": lambda x: paddle.stack([x]),
    "x + 0": lambda x: x + 0,
    "einsum": lambda x: paddle.einsum("ijk->jik", x),
    "reshape of a transpose": lambda x: x[0].t().reshape([-1]),
    "flatten of a transpose": lambda x: x[0].t().flatten(),
    "reshape of a part": lambda x: x[:, :2].reshape([-1]),
}


def changes(make, x):
    values = x.numpy().copy()
    y = make(x)
    with paddle.no_grad():
        y.add_(paddle.full([], 100, dtype=y.dtype))
    return not np.array_equal(x.numpy(), values)


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
@over("carries", [False, True])
def test_a_view_is_written_through(make, carries):
    if carries and make is VIEWS["as_complex"]:
        return  # a complex view has no gradient
    x = whole()
    if carries:
        x.stop_gradient = False
        x = x * 1.0
    assert changes(make, x)
    assert x.inplace_version == 1


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_is_not(make):
    x = whole()
    assert not changes(make, x)
    assert x.inplace_version == 0


def test_parts_of_complex_values_are_views():
    z = paddle.complex(constant([1.0, 2.0]), constant([3.0, 4.0]))
    paddle.real(z)[0] = 7.0
    paddle.imag(z).zero_()
    assert z.tolist() == [7, 2]
    paddle.as_real(z)[1, 1] = 5.0
    assert z.tolist() == [7, 2 + 5j]


ARE_VIEWS = {
    "Tensor.__getitem__", "as_complex", "as_real", "as_strided", "atleast_1d", "atleast_2d",
    "atleast_3d", "diagonal", "flatten", "imag", "matrix_transpose", "moveaxis", "narrow",
    "permute", "ravel", "real", "reshape", "slice", "squeeze", "strided_slice", "swapaxes",
    "swapdims", "t", "transpose", "unbind", "unflatten", "unfold", "unsqueeze", "view", "view_as",
}  # fmt: skip


def test_no_other_function_returns_a_view():
    found = set()
    for name, listed in CASES.items():
        for case in listed:
            for traced in (False, True):
                if traced and not case.differentiable:
                    continue
                xs, outputs = call(case, case.operands, traced=traced)
                shared = [storage_of(x) for x in xs if storage_of(x) is not None]
                for y in outputs:
                    if isinstance(y, paddle.Tensor) and storage_of(y) in shared:
                        found.add(name)
    assert found == ARE_VIEWS


def test_every_view_of_the_table_is_written_through():
    """The operand shows what is written to the result, and nothing else changes."""
    seen = set()
    for op in REGISTRY.values():
        if op.write is None:
            continue
        for sample in SAMPLES[op.name]:
            (x,) = sample.operands
            read = getattr(raw, op.name)
            before = np.array(read(x, **sample.attrs))
            value = np.asarray(before + 1).astype(before.dtype)
            after = op.write(raw, value, x, **sample.attrs)
            assert (after.shape, after.dtype) == (x.shape, x.dtype)
            if op.name != "windows":  # whose elements are there several times
                np.testing.assert_array_equal(read(after, **sample.attrs), value)
            np.testing.assert_array_equal(op.write(raw, before, x, **sample.attrs), x)
            seen.add(op.name)
    assert seen == {op.name for op in REGISTRY.values() if op.write is not None}


# --- changes and gradients


@pytest.mark.parametrize("block", range(3))
def test_random_programs_agree_with_a_model(block):
    for seed in range(100 * block, 100 * block + 100):
        view_programs.agrees(seed)


def test_random_programs_agree_with_torch():
    pytest.importorskip("torch")
    for seed in range(100):
        view_programs.agrees_with_torch(seed)


@pytest.mark.thorough
def test_ten_thousand_random_programs_agree_with_a_model():
    for seed in range(10_000):
        view_programs.agrees(seed)


def test_a_change_goes_through_any_depth():
    x = paddle.zeros([2, 2])
    x[0][1] = 5.0
    assert x.tolist() == [[0, 5], [0, 0]]
    x.reshape([4])[0] = 1.0
    x.t()[1, 1] = 3.0
    assert x.tolist() == [[1, 5], [0, 3]]
    deep = x
    for _ in range(3000):
        deep = deep[...]
    deep[0, 0] = 7.0
    assert x[0, 0].item() == 7.0


def test_the_base_shows_the_history_of_what_is_written():
    x, w = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
    b = x * 2.0
    row = b[0]
    row.multiply_(w)
    (b * b).sum().backward()
    assert b.tolist() == [[10.0, 24.0], [6.0, 8.0]]
    assert x.grad.tolist() == [[200.0, 576.0], [24.0, 32.0]]
    assert w.grad.tolist() == [40.0, 192.0]


def test_a_constant_that_is_written_through_a_view_carries_a_gradient_then():
    x, w = constant([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
    row = x[0]
    row.add_(w)
    assert (x.stop_gradient, row.stop_gradient) == (False, False)
    (x * x).sum().backward()
    assert w.grad.tolist() == [12.0, 16.0]


def test_views_that_overlap_see_each_other():
    x = leaf([1.0, 2.0, 3.0])
    b = x * 1.0
    left, right = b[0:2], b[1:3]
    left.multiply_(left)
    right.multiply_(left)
    assert b.tolist() == [1.0, 4.0, 12.0]
    assert left.tolist() == [1.0, 4.0]
    b.sum().backward()
    # b = [x0^2, x0^2 x1^2 ... ] as it was written: b1 = x1^2 * x0^2, b2 = x2 * x1^2
    assert right.tolist() == [4.0, 12.0]
    assert x.grad.tolist() == [2.0 + 8.0, 4.0 * 1.0 + 12.0, 4.0]


def test_a_graph_differentiates_the_values_it_was_computed_from():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    b = x * 1.0
    row, array = b[0], b.numpy()
    y = (b * row).sum()
    row.fill_(100.0)
    b.t().zero_()
    y.backward()
    assert x.grad.tolist() == [[1.0 * 2 + 3.0, 2.0 * 2 + 4.0], [1.0, 2.0]]
    assert array.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_higher_orders_go_through_a_view_that_is_written():
    x = leaf([2.0, 3.0])
    b = x * x
    b[0:1].multiply_(x[0:1])
    (g,) = paddle.grad(b.sum(), x, create_graph=True)
    (h,) = paddle.grad(g.sum(), x)
    assert (g.tolist(), h.tolist()) == ([12.0, 6.0], [12.0, 2.0])


def test_a_leaf_cannot_be_written_through_a_view_and_the_error_names_both_lines():
    x = leaf([[1.0, 2.0]])
    row = x[0]  # made here
    with pytest.raises(NotDifferentiableError, match=r"(?s)add_ at .*written here.*x\[0\]  # made"):
        row.add_(constant([1.0, 1.0]))  # written here
    with pytest.raises(NotDifferentiableError, match=r"a view of .*, a leaf that requires"):
        row[0] = 3.0
    assert (x.tolist(), x.inplace_version) == ([[1.0, 2.0]], 0)


def test_under_no_grad_it_can_and_stays_the_leaf():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    kept = x[0]
    y = (x * kept).sum()
    with paddle.no_grad():
        x[0].add_(constant([1.0, 1.0]))
        kept[0] = 9.0
    assert (x.is_leaf, x.stop_gradient, x.tolist()) == (True, False, [[9.0, 3.0], [3.0, 4.0]])
    assert kept.tolist() == [9.0, 3.0]
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [[5.0, 8.0], [1.0, 2.0]]
    x.clear_grad()
    (x * kept).sum().backward()
    assert x.grad.tolist() == [[21.0, 10.0], [9.0, 3.0]]


def test_under_no_grad_a_result_takes_the_values_and_keeps_its_history():
    for write in (
        lambda y: y.fill_(5.0),
        lambda y: y[...].fill_(5.0),
        lambda y: y.__setitem__(slice(None), 5.0),
        lambda y: y.detach().fill_(5.0),
    ):
        x = leaf([1.0, 2.0])
        y = x * 2.0
        with paddle.no_grad():
            write(y)
        assert (y.stop_gradient, y.tolist()) == (False, [5.0, 5.0])
        (y * y).sum().backward()
        assert x.grad.tolist() == [20.0, 20.0]


def test_detach_shares_values_and_not_history():
    layer = paddle.nn.Linear(2, 3)
    layer.weight.detach()[:] = 0.0
    assert layer.weight.numpy().any() == np.False_
    assert (layer.weight.is_leaf, layer.weight.stop_gradient) == (True, False)
    x, w = constant([1.0, 2.0]), leaf([3.0, 4.0])
    d = x.detach()
    d[0] = w[0]
    assert (d.stop_gradient, x.stop_gradient, x.tolist()) == (False, True, [3.0, 2.0])
    own = x.detach()
    own.stop_gradient = False
    x.zero_()
    assert (own.tolist(), own.is_leaf, d.tolist()) == ([0.0, 0.0], True, [0.0, 0.0])


def test_a_detached_tensor_keeps_no_graph_alive():
    gc.disable()
    try:
        for changed in (False, True):
            x = leaf([1.0, 2.0])
            y = paddle.zeros([2], "float64") if changed else (x * x).sin()
            first = y.detach()
            if changed:
                y.add_((x * x).sin())
            saved = weakref.ref(y._node.saved[0] if not changed else y._node.edges[-1].saved[0])
            held = [first, y.detach(), y[0].detach(), y.detach()[0]]
            with paddle.no_grad():
                held.append(y[0])
            assert saved() is not None
            del y
            assert saved() is None
            assert len({float(t.flatten()[0]) for t in held}) == 1
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["SGD", "Adam", "Momentum", "RMSProp", "LBFGS", "Lamb"])
def test_what_an_optimizer_does_shows_in_views(name):
    layer = paddle.nn.Linear(2, 2)
    d, row = layer.weight.detach(), layer.weight[0]
    make = getattr(paddle.optimizer, name)
    optimizer = make(learning_rate=0.1, parameters=layer.parameters())
    before = d.numpy()

    def closure():
        optimizer.clear_grad()
        loss = (layer(paddle.ones([1, 2])) ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure) if name == "LBFGS" else (closure(), optimizer.step())
    assert not np.array_equal(d.numpy(), before)
    assert np.array_equal(d.numpy(), layer.weight.numpy())
    assert np.array_equal(row.numpy(), layer.weight.numpy()[0])
    d.fill_(1.0)
    assert layer.weight.numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_rows_of_a_table_that_is_updated_by_rows():
    table = paddle.create_parameter([4, 2])
    optimizer = paddle.optimizer.SGD(0.1, parameters=[table])
    d = table.detach()
    paddle.nn.functional.embedding(paddle.to_tensor([1, 1]), table, sparse=True).sum().backward()
    before = table.numpy()
    optimizer.step()
    assert np.array_equal(d.numpy(), table.numpy())
    assert not np.array_equal(d.numpy(), before)


def test_set_value_and_copy_show_in_views_and_in_what_they_are_views_of():
    x = constant([[1.0, 2.0], [3.0, 4.0]])
    row, d = x[0], x.detach()
    x.set_value(np.zeros((2, 2)))
    assert (row.tolist(), d.tolist()) == ([0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]])
    row.set_value([5.0, 6.0])
    d.t()[1].copy_(constant([7.0, 8.0]))
    assert x.tolist() == [[5.0, 7.0], [0.0, 8.0]]
    w = leaf([[1.0, 2.0], [3.0, 4.0]])
    w[0].set_value([9.0, 9.0])
    assert (w.tolist(), w.is_leaf, w.stop_gradient) == ([[9.0, 9.0], [3.0, 4.0]], True, False)
    y = w * 2.0
    y[0].set_value([1.0, 1.0])  # a constant, so nothing flows from there
    y.sum().backward()
    assert w.grad.tolist() == [[0.0, 0.0], [2.0, 2.0]]
    paddle.assign(constant([[0.0, 0.0], [0.0, 0.0]]), x)
    assert row.tolist() == [0.0, 0.0]
    paddle.increment(x[0, 0:1])
    np.copyto(x[1], constant([2.0, 3.0]))
    np.add(x[1], 1.0, out=x[1])
    assert x.tolist() == [[1.0, 0.0], [3.0, 4.0]]


def test_a_shape_changed_in_place_is_another_view_of_the_same():
    x = constant([[1.0, 2.0], [3.0, 4.0]])
    row = x[0]
    x.reshape_([4])
    row.add_(row)
    assert x.tolist() == [2.0, 4.0, 3.0, 4.0]
    x = constant([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    top = x[:1]
    x.transpose_([1, 0])
    top.add_(top)
    assert (x.tolist(), top.tolist()) == ([[0, 3], [2, 4], [4, 5]], [[0, 2, 4]])
    x = constant([[1.0, 2.0], [3.0, 4.0]])
    square = x[0]
    x.t_()
    x[0, 1] = 9.0
    assert (square.tolist(), x.tolist()) == ([1.0, 2.0], [[1.0, 9.0], [2.0, 4.0]])


def test_another_dtype_is_refused_where_others_would_not_see_it():
    x = paddle.zeros([2, 2])
    row = x[0]
    with pytest.raises(DTypeError, match="shares its values with others and stays float32"):
        row.add_(constant([1.0, 1.0]))
    row[...] = constant([1.5, 2.5])  # which is cast
    row.cast_("float64")
    row.add_(row)
    assert (x.tolist(), row.tolist()) == ([[1.5, 2.5], [0.0, 0.0]], [3.0, 5.0])


def test_bits_that_are_written_have_no_gradient():
    x = leaf([1.0, 2.0])
    b = x * 1.0
    bits = b.view("int64")
    with pytest.raises(NotDifferentiableError, match="a view through reinterpret"):
        bits.fill_(0)
    with pytest.raises(NotDifferentiableError, match="a view through reinterpret"):
        bits.set_value([0, 0])
    with paddle.no_grad():
        bits[0] = 0
    assert b.tolist() == [0.0, 2.0]


def test_a_gradient_written_to_a_view_that_was_made_under_no_grad_is_refused():
    x, w = leaf([[1.0, 2.0]]), leaf([3.0, 4.0])
    b = x * 2.0
    with paddle.no_grad():
        row = b[0]  # made here
    row.fill_(1.0)
    with pytest.raises(NotDifferentiableError, match=r"(?s)written here.*under no_grad.*made here"):
        row.add_(w)  # written here
    assert b.tolist() == [[1.0, 1.0]]
    b.sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0]]


def test_what_begins_or_ends_at_a_view_is_its_own():
    x = constant([[1.0, 2.0], [3.0, 4.0]])
    row = x[0]
    row.stop_gradient = False
    (row * row).sum().backward()
    x.fill_(5.0)
    assert (row.tolist(), row.is_leaf, row.grad.tolist()) == ([5.0, 5.0], True, [2.0, 4.0])
    with pytest.raises(NotDifferentiableError, match="leaf"):
        row.add_(row)
    y = leaf([[1.0, 2.0], [3.0, 4.0]]) * 2.0
    row = y[0]
    row.detach_()
    y.multiply_(y)
    assert (row.stop_gradient, row.tolist(), y.stop_gradient) == (True, [4.0, 16.0], False)


def test_hooks_and_retained_gradients_are_of_what_a_tensor_is_from_then_on():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    b = x * 1.0
    row = b[0]
    seen = []
    b.retain_grads()
    row.retain_grads()
    b.register_hook(lambda g: seen.append(g.tolist()))
    row.multiply_(row)
    row.register_hook(lambda g: seen.append(g.tolist()))
    (b * 3.0).sum().backward(retain_graph=True)
    assert b.grad.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    (row * 5.0).sum().backward()
    assert row.grad.tolist() == [5.0, 5.0]
    assert b.grad.tolist() == [[5.0, 5.0], [0.0, 0.0]]
    assert [5.0, 5.0] in seen
    assert x.grad.tolist() == [[2.0 * 8, 4.0 * 8], [3.0, 3.0]]


# --- who lives, and where


def test_a_view_whose_base_is_gone_and_a_base_whose_views_are():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    left, right = (lambda b: (b[:, 0:2], b[:, 1:2]))(x * 1.0)
    gc.collect()
    left.fill_(7.0)
    assert right.tolist() == [[7.0], [7.0]]
    b = x * 1.0
    for _ in range(1000):
        b[0]
    assert len(storage_of(b).members) < 100
    b.add_(b)
    assert (storage_of(b), b.inplace_version) == (None, 1)


def test_versions_count_for_all_that_share():
    x = constant([[1.0, 2.0], [3.0, 4.0]])
    x.add_(x)
    row, other = x[0], x.detach()[1]
    row.add_(row)
    other.add_(other)
    assert [t.inplace_version for t in (x, row, other)] == [3, 3, 3]


def test_rows_are_written_by_threads_at_once():
    x = paddle.zeros([64, 8])
    rows = x.unbind()

    def work(first):
        for k in range(first, 64, 4):
            rows[k].fill_(float(k))
            rows[k].add_(paddle.ones([8]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x[:, 0].tolist() == [float(k + 1) for k in range(64)]


def test_views_that_threads_take_first_are_of_one_storage():
    for _ in range(50):
        x = paddle.zeros([8])
        go, found = threading.Barrier(4), []

        def work(x=x, go=go, found=found):
            go.wait()
            found.append(x[0:4])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        x.fill_(1.0)
        assert all(v.tolist() == [1.0] * 4 for v in found)


class Doubles(PyLayer):
    @staticmethod
    def forward(ctx, x):
        x.multiply_(paddle.full([], 2.0, "float64"))
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2.0


def test_a_layer_that_writes_what_it_was_given():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    b = x * 1.0
    Doubles.apply(b[0])
    assert b.tolist() == [[2.0, 4.0], [3.0, 4.0]]
    b.sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [1.0, 1.0]]
    with pytest.raises(NotDifferentiableError, match="view of a leaf"):
        Doubles.apply(x[0])
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_recompute_with_views_that_are_written():
    def block(x):
        y = x * 2.0
        y[0].multiply_(y[1])
        return y * y

    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    recompute(block, x).sum().backward()
    again = leaf([[1.0, 2.0], [3.0, 4.0]])
    block(again).sum().backward()
    assert x.grad.tolist() == again.grad.tolist()


# --- functions that are traced


def _row(w, x):
    y = w * x
    y[0].fill_(3.0)
    return y * y


def _argument(w, x):
    x[0].add_(paddle.ones([2], "float64"))
    return w * x


def _read_after(w, x):
    y = w * x
    row, turned = y[0], y.t()
    y.multiply_(w)
    return row * turned[0]


def _reshaped(w, x):
    y = w * x
    line = y.reshape([4])
    line[0] = 7.0
    return y * line.sum()


def _detached(w, x):
    y = w * x
    d = y.detach()
    y[0] = 2.0
    return y * d


def _copied(w, x):
    y = w * x
    y.t().reshape([4])[0] = 7.0
    return y


def _constant(w, x):
    z = paddle.zeros([2, 2], "float64")
    z[0][1] = 5.0
    z[1].add_(w[0])
    return z * w


def _unbound(w, x):
    a, b = (w * 1.0).unbind()
    a.add_(b)
    return a * b


def _each_row(w, x):
    y = w * x
    for row in y:
        row.multiply_(row)
    return y


def _values(w, x):
    x.detach()[0] = 4.0
    return w * x


def _branch(w, x):
    y = w * x
    row = y[0]
    y.fill_(2.0)
    return paddle.static.nn.cond(x.sum() > 0, lambda: row * 2.0 + w[0], lambda: row * 3.0)


def _deep(w, x):
    y = w * x
    y.t()[0][1:].diagonal() if False else y.t()[0][1:].multiply_(w[1, 1:])
    return y


TRACED = [
    _row, _argument, _read_after, _reshaped, _detached, _copied, _constant, _unbound, _each_row,
    _values, _branch, _deep,
]  # fmt: skip


@pytest.mark.parametrize("function", TRACED, ids=lambda f: f.__name__)
def test_a_traced_function_writes_through_views(function):
    found = []
    for run in (function, paddle.jit.to_static(function)):
        for _ in range(2):
            w, x = leaf([[1.0, 2.0], [3.0, 4.0]]), constant([[1.0, 1.0], [2.0, 1.0]])
            out = run(w * 1.0, x)
            out.sum().backward()
            found.append((out.tolist(), w.grad.tolist(), x.tolist()))
    assert found[0] == found[1] == found[2] == found[3]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x[0],
        lambda x: x.reshape([4]),
        lambda x: x.t(),
        lambda x: x.detach(),
        lambda x: (x * 1.0)[0],
        lambda x: x.t().reshape([4]),
    ],
)
def test_a_traced_function_returns_views(make):
    found = []
    for run in (make, paddle.jit.to_static(make)):
        x = constant([[1.0, 2.0], [3.0, 4.0]])
        run(x)
        run(x).fill_(9.0)
        found.append(x.tolist())
    assert found[0] == found[1]


def test_what_a_trace_cannot_say_is_refused():
    @paddle.jit.to_static
    def values(w):
        y = w * 2.0
        y.detach()[0] = 1.0
        return y

    with pytest.raises(BuildError, match="without their history"):
        values(leaf([1.0, 2.0]))

    @paddle.jit.to_static
    def silent(w):
        y = w * 2.0
        with paddle.no_grad():
            y.fill_(1.0)
        return y

    with pytest.raises(BuildError, match="leaves their history"):
        silent(leaf([1.0, 2.0]))
    state = paddle.zeros([2, 2])
    row = state[0]

    @paddle.jit.to_static
    def both(x):
        state.add_(x)
        return row * 2.0

    with pytest.raises(BuildError, match="shares its values with"):
        both(paddle.ones([2, 2]))

    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None, 2])])
    def unsure(x):
        y = x * 2.0
        y.t().reshape([-1])[0] = 5.0
        return y

    with pytest.raises(BuildError, match="or is a copy: that depends on sizes"):
        unsure(paddle.ones([2, 2]))


def test_a_traced_function_writes_to_what_it_finds():
    state = paddle.zeros([2, 2])
    row = state[0]
    w = paddle.create_parameter([2])

    @paddle.jit.to_static
    def step(x):
        state[1].add_(x)
        w.detach()[0] = x[0]
        return state * 2.0

    step(paddle.ones([2]))
    assert step(paddle.full([2], 3.0)).tolist() == [[0.0, 0.0], [8.0, 8.0]]
    assert (state.tolist(), row.tolist()) == ([[0.0, 0.0], [4.0, 4.0]], [0.0, 0.0])
    assert (w[0].item(), w.is_leaf, w.stop_gradient) == (3.0, True, False)


def test_a_program_has_no_views():
    """As the reference's: the method returns the result, and nothing else changes."""
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x = paddle.ones([2, 2])
            y = x[0]
            z = y.add_(paddle.ones([2]))
        found = paddle.static.Executor().run(program, fetch_list=[x, y, z])
    finally:
        paddle.disable_static()
    assert [v.tolist() for v in found] == [[[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0], [2.0, 2.0]]
