"""Attacks on correctness: what somebody does between a forward pass and its backward.

Each attack is a function that returns gradients with the right ones, which are differences of the
same function written in NumPy, or known by hand. An attack that must be refused raises.
"""

import copy
import gc
import inspect
import io
import pickle
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import PyLayer, defop, recompute, saved_tensors_hooks
from autograd_engine.errors import (
    ArgumentError,
    GraphFreedError,
    NotDifferentiableError,
    RecomputeError,
)

F = paddle.nn.functional
Pair = tuple[Any, Any]
ATTACKS: dict[str, Callable[[], Pair | list[Pair]]] = {}


def attack(function: Any) -> Any:
    ATTACKS[function.__name__] = function
    return function


def leaf(value: Any, dtype: str = "float64") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


def tensor(value: Any) -> Any:
    return paddle.to_tensor(value, dtype="float64")


def differences(function: Callable[[Any], Any], at: Any) -> Any:
    """The gradient of a scalar function of one ndarray, by central differences."""
    at = np.array(at, np.float64)
    out = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[index] = 1e-5
        out[index] = (function(at + step) - function(at - step)) / 2e-5
    return out


X = np.array([0.5, -1.5, 2.0])


# --- writes in place, on inputs, results and what was saved


@attack
def the_input_is_written_after_it_was_read() -> Pair:
    x = leaf(X)
    h = x * 2.0
    y = (h * h).sum()
    h[0] = 100.0
    h.add_(tensor([1.0, 1.0, 1.0]))
    y.backward()
    return x.grad, differences(lambda a: ((a * 2) ** 2).sum(), X)


@attack
def a_saved_output_is_written() -> list[Pair]:
    pairs = []
    for name, call in {
        "exp": np.exp,
        "tanh": np.tanh,
        "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
        "sqrt": np.sqrt,
    }.items():
        x = leaf(np.abs(X))
        y = getattr(F if name == "sigmoid" else paddle, name)(x)
        out = (y * tensor([1.0, 2.0, 3.0])).sum()
        y.zero_()
        y.fill_(7.0)
        out.backward()
        right = differences(lambda a, f=call: (f(a) * [1, 2, 3]).sum(), np.abs(X))
        pairs.append((x.grad, right))
    return pairs


@attack
def an_in_place_chain_through_its_own_output() -> Pair:
    x = leaf(X)
    y = x * 1.0
    y.exp_()
    y.tanh_()
    y[1] = y[0] * y[2]
    y.scale_(3.0)
    y.sum().backward()

    def plain(a: Any) -> Any:
        b = np.tanh(np.exp(a))
        b[1] = b[0] * b[2]
        return (b * 3.0).sum()

    return x.grad, differences(plain, X)


@attack
def a_value_assigned_to_a_slice_is_changed_afterwards() -> list[Pair]:
    x, v = leaf(X), leaf([3.0, 4.0])
    kept = np.array([5.0])
    y = x * 1.0
    w = v * 1.0
    y[:2] = w
    y[2] = kept
    w.zero_()
    kept[:] = 0.0
    (y * y).sum().backward()
    return [(x.grad, np.zeros(3)), (v.grad, differences(lambda a: (a * a).sum(), [3.0, 4.0]))]


@attack
def one_of_two_aliases_is_written() -> list[Pair]:
    pairs = []
    for make in (
        lambda t: t.reshape([3]),
        lambda t: t[:],
        lambda t: t.T,
        lambda t: t.detach(),
        lambda t: t.expand([3]),
        lambda t: t.transpose([0]),
        lambda t: paddle.split(t, [3])[0],
        lambda t: copy.copy(t),
        lambda t: t.astype("float64"),
        lambda t: paddle.assign(t),
    ):
        x = leaf(X)
        h = x * 1.0
        alias = make(h)
        y = (h * h).sum()
        alias[0] = 50.0
        alias.multiply_(tensor([0.0, 0.0, 0.0]))
        with paddle.no_grad():
            alias.fill_(9.0)
        y.backward()
        pairs.append((x.grad, differences(lambda a: (a * a).sum(), X)))
    return pairs


@attack
def a_row_view_is_written() -> list[Pair]:
    value = np.arange(6.0).reshape(2, 3)
    x = leaf(value)
    h = x * 1.0
    rows = list(h)
    y = (h * h * h).sum()
    for row in rows:
        row[0] = -1.0
        row.set_value(np.zeros(3))
    y.backward()
    return [(x.grad, differences(lambda a: (a**3).sum(), value)), (h, np.zeros((2, 3)))]


@attack
def a_leaf_is_written_under_no_grad() -> list[Pair]:
    x = leaf(X)
    y = (x * x * x).sum()
    with paddle.no_grad():
        x[0] = 100.0
        x.subtract_(tensor([1.0, 1.0, 1.0]))
    now = x.numpy().copy()
    y.backward()
    first = x.grad.numpy()
    x.clear_grad()
    (x * x * x).sum().backward()
    return [
        (first, differences(lambda a: (a**3).sum(), X)),
        (x.grad, differences(lambda a: (a**3).sum(), now)),
    ]


@attack
def set_value_on_leaf_result_and_saved() -> list[Pair]:
    x = leaf(X)
    h = paddle.exp(x)
    y = (h * x).sum()
    x.set_value(np.zeros(3))
    h.set_value(np.zeros(3))
    y.backward()
    first = x.grad.numpy()
    x.clear_grad()
    (h * x).sum().backward()  # h is a constant from here on
    return [(first, differences(lambda a: (np.exp(a) * a).sum(), X)), (x.grad, np.zeros(3))]


# --- between passes of one graph


@attack
def a_retained_graph_runs_again_after_everything_was_written() -> list[Pair]:
    x, w = leaf(X), leaf([2.0, 3.0, 4.0])
    h = x * w
    y = paddle.tanh(h).sum()
    y.backward(retain_graph=True)
    first = x.grad.numpy().copy()
    x.clear_grad(set_to_zero=False)
    x.set_value(np.zeros(3))
    w.set_value(np.ones(3))
    h.zero_()
    y.backward()
    right = differences(lambda a: np.tanh(a * [2, 3, 4]).sum(), X)
    return [(first, right), (x.grad, right)]


def _optimizers(w: Any) -> list[Any]:
    o = paddle.optimizer
    return [
        o.SGD(learning_rate=0.5, parameters=[w]),
        o.Momentum(learning_rate=0.5, parameters=[w]),
        o.Adam(learning_rate=0.5, parameters=[w]),
    ]


@attack
def an_optimizer_steps_between_a_retained_forward_and_its_backward() -> list[Pair]:
    pairs = []
    for k in range(3):
        w = leaf(X)
        y = (w * w * w).sum()
        y.backward(retain_graph=True)
        _optimizers(w)[k].step()
        assert not np.allclose(w.numpy(), X)
        w.clear_grad(set_to_zero=False)
        y.backward()
        pairs.append((w.grad, differences(lambda a: (a**3).sum(), X)))
    return pairs


@attack
def an_optimizer_steps_between_first_and_second_order() -> list[Pair]:
    pairs = []
    for k in range(3):
        w = leaf(X)
        y = (w * w * w).sum()
        (first,) = paddle.grad(y, w, create_graph=True)
        w.grad = paddle.to_tensor(np.ones(3))
        _optimizers(w)[k].step()
        (second,) = paddle.grad(first.sum(), w, create_graph=True)
        w.set_value(np.zeros(3))
        (third,) = paddle.grad(second.sum(), w)
        pairs += [(second, differences(lambda a: (3 * a**2).sum(), X)), (third, np.full(3, 6.0))]
    return pairs


@attack
def a_table_is_updated_by_rows_while_graphs_hold_it() -> list[Pair]:
    """SGD and lazy Adam write rows in place where nothing else holds the array."""
    pairs = []
    table0 = np.arange(8.0).reshape(4, 2) + 1
    ids = np.array([1, 3, 1])
    for lazy in (False, True):
        table = paddle.create_parameter([4, 2], dtype="float64")
        table.set_value(table0)
        table.grad = None
        opt = (
            paddle.optimizer.Adam(learning_rate=0.5, parameters=[table], lazy_mode=True)
            if lazy
            else paddle.optimizer.SGD(learning_rate=0.5, parameters=[table])
        )

        def loss(t: Any, ids: Any = ids) -> Any:
            e = F.embedding(paddle.to_tensor(ids), t, sparse=True)
            return (e * e * e).sum()

        loss(table).backward()
        opt.step()  # nothing holds the array: in place
        before = table.numpy().copy()
        view, row, y = table.numpy(), table[1].numpy(), loss(table)
        shown = table[1]
        held = iter(table)
        first_row = next(held).numpy()
        opt.step()
        assert not np.allclose(table.numpy(), before)
        table.clear_grad(set_to_zero=False)
        y.backward()
        right = differences(lambda a: (a[ids] ** 3).sum(), before)
        pairs += [
            (table.grad, right),
            (view, before),
            (row, before[1]),
            (first_row, before[0]),
            (shown, table.numpy()[1]),
        ]
    return pairs


@attack
def a_gradient_by_rows_is_written_then_read() -> list[Pair]:
    table = paddle.create_parameter([4, 2], dtype="float64")
    ids = paddle.to_tensor([1, 3, 1])

    def once() -> None:
        F.embedding(ids, table, sparse=True).sum().backward()

    once()
    rows, values = table.grad.rows, table.grad.values
    held = table.grad
    with paddle.no_grad():
        values.zero_()
        rows.zero_()
    once()
    right = np.array([[0, 0], [2, 2], [0, 0], [1, 1]], np.float64)
    held_values = held.numpy().copy()
    pairs = [(held_values, right), (table.grad, 2 * right)]
    with paddle.no_grad():
        held.set_value(np.zeros([4, 2]))
    once()
    return [*pairs, (table.grad, 3 * right)]


# --- through NumPy


@attack
def writes_through_numpy() -> list[Pair]:
    x = leaf(X)
    y = (x * x).sum()
    view = x.numpy()
    ways: list[Callable[[], Any]] = [
        lambda: view.__setitem__(0, 9.0),
        lambda: view.setflags(write=True),
        lambda: setattr(view.flags, "writeable", True),
        lambda: np.asarray(x).__setitem__(0, 9.0),
        lambda: np.array(x, copy=False).__setitem__(0, 9.0),
        lambda: memoryview(view).__setitem__(0, 9.0),
        lambda: view.base.__setitem__(0, 9.0),
        lambda: view.view().setflags(write=True),
        lambda: view[:].setflags(write=True),
        lambda: view.T.setflags(write=True),
        lambda: np.lib.stride_tricks.as_strided(view, writeable=True).__setitem__(0, 9.0),
        lambda: np.frombuffer(view).__setitem__(0, 9.0),
        lambda: np.ndarray((3,), view.dtype, buffer=view).__setitem__(0, 9.0),
        lambda: np.from_dlpack(view).__setitem__(0, 9.0),
        lambda: np.ctypeslib.as_ctypes(view),
        lambda: view.flat.__setitem__(0, 9.0),
        lambda: view.view(np.recarray).__setitem__(0, 9.0),
        lambda: view.sort(),
        lambda: view.partition(1),
        lambda: view.fill(1.0),
        lambda: view.put(0, 1.0),
        lambda: view.byteswap(inplace=True),
        lambda: view.resize(7),
        lambda: np.copyto(view, 0.0),
        lambda: np.put(view, [0], 0.0),
        lambda: np.place(view, [True, True, True], [0.0]),
        lambda: np.putmask(view, [True, True, True], 0.0),
        lambda: np.exp(view, out=view),
        lambda: np.random.default_rng(0).shuffle(view),
        lambda: np.nditer(view, op_flags=[["readwrite"]]),
        lambda: io.BytesIO(b"0" * 24).readinto(view),
        lambda: np.asarray(_Interface(view)).__setitem__(0, 9.0),
        lambda: np.broadcast_arrays(view, view)[0].__setitem__(0, 9.0),
        lambda: np.einsum("i->i", view).__setitem__(0, 9.0),
        lambda: np.fill_diagonal(view[None], 9.0),
    ]
    for way in ways:
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            way()
    with warnings.catch_warnings():  # NumPy means to forbid it
        warnings.simplefilter("ignore", DeprecationWarning)
        view.shape = (3, 1)  # of the view, which is the caller's own
        view.dtype = np.int64
    y.backward()
    return [(x.grad, differences(lambda a: (a * a).sum(), X)), (x, X)]


class _Interface:
    def __init__(self, array: Any) -> None:
        self.__array_interface__ = array.__array_interface__


@attack
def buffers_of_a_pickle_are_read_only() -> list[Pair]:
    x = leaf(X)
    y = (x * x).sum()
    buffers: list[Any] = []
    text = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    assert buffers
    for buffer in buffers:
        with pytest.raises(TypeError):
            buffer.raw()[0] = 1
    back = pickle.loads(text, buffers=buffers)
    z = (back * back).sum()
    y.backward()
    z.backward()
    right = differences(lambda a: (a * a).sum(), X)
    return [(x.grad, right), (back.grad, right)]


@attack
def arrays_that_were_passed_in_are_changed() -> list[Pair]:
    value, scalar, mask = X.copy(), np.array(2.0), np.array([True, False, True])
    index, other = np.array([0, 2]), np.array([5.0, 6.0, 7.0])
    x = leaf(value)
    y = (
        (x * other * scalar)[index].sum()
        + x[mask].sum()
        + paddle.where(mask, x, x * 10.0).sum()
        + paddle.gather(x, paddle.to_tensor(index)).sum()
        + F.linear(x, paddle.to_tensor(other.reshape(3, 1))).sum()
        + x[[0, 1]].sum()
    )
    for array in (value, scalar, mask, index, other):
        array[...] = 0
    y.backward()

    def plain(a: Any) -> Any:
        i, m, o = [0, 2], np.array([True, False, True]), np.array([5.0, 6.0, 7.0])
        return (
            (a * o * 2.0)[i].sum()
            + a[m].sum()
            + np.where(m, a, a * 10).sum()
            + a[i].sum()
            + (a @ o)
            + a[:2].sum()
        )

    return [(x.grad, differences(plain, X)), (x, X)]


@attack
def attributes_that_were_passed_in_are_changed() -> list[Pair]:
    value = np.arange(6.0).reshape(1, 2, 3)
    weight = np.arange(12.0)
    pairs = []
    for call, plain, given in [
        (lambda t, p: t.transpose(p), lambda a: a.transpose(2, 0, 1), [2, 0, 1]),
        (lambda t, p: t.reshape(p), lambda a: a.reshape(3, 2), [3, 2]),
        (lambda t, p: t.sum(axis=p), lambda a: a.sum(axis=(0, 2)), [0, 2]),
        (lambda t, p: paddle.tile(t, p), lambda a: np.tile(a, (2, 1, 1)), [2, 1, 1]),
        (lambda t, p: paddle.flip(t, p), lambda a: np.flip(a, (1, 2)), [1, 2]),
        (lambda t, p: paddle.roll(t, p, [1, 2]), lambda a: np.roll(a, (1, 2), (1, 2)), [1, 2]),
        (lambda t, p: t.expand(p), lambda a: np.broadcast_to(a, (2, 2, 3)), [2, 2, 3]),
        (lambda t, p: paddle.squeeze(t, p), lambda a: a[0], [0]),
        (lambda t, p: paddle.split(t, p, axis=2)[1], lambda a: a[:, :, 1:], [1, 2]),
    ]:
        x = leaf(value)
        attribute = list(given)
        y = call(x, attribute)
        w = weight[: y.size].reshape(y.shape)
        out = (y * y * tensor(w)).sum()
        attribute[:] = [0] * len(attribute)
        out.backward()
        right = differences(lambda a, f=plain, w=w: (f(a) ** 2 * w).sum(), value)
        pairs.append((x.grad, right))
    return pairs


@attack
def a_mapped_file_is_overwritten() -> list[Pair]:
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(X.tobytes())
        file.flush()
        mapped = np.memmap(file, dtype=np.float64, mode="r+", shape=(3,))
        x = leaf(mapped)
        c = paddle.to_tensor(mapped)
        y = (x * c * mapped).sum()
        x.set_value(mapped)
        mapped[:] = 0.0
        y.backward()
        del mapped
    right = differences(lambda a: (a * X * X).sum(), X)
    return [(x.grad, right), (x, X), (c, X)]


@attack
def a_library_writes_memory_in_common() -> list[Pair]:
    array = X.copy()
    c = paddle.from_dlpack(array)
    x = leaf([1.0, 1.0, 1.0])
    y = (x * c * c).sum()
    view = c.reshape([3, 1])
    array[:] = 7.0
    y.backward()
    (z,) = paddle.grad((x * c).sum(), x)
    return [(x.grad, X * X), (view.reshape([3]), X), (z, np.full(3, 7.0))]


@attack
def torch_writes_memory_in_common() -> list[Pair]:
    torch = pytest.importorskip("torch")
    there = torch.tensor(X)
    c = paddle.from_dlpack(there)
    x = leaf(X)
    y = (x * x * c).sum()
    there.zero_()
    here = paddle.to_tensor(X)
    z = (x * here).sum()
    torch.from_dlpack(here).zero_()
    y.backward()
    z.backward()
    return [(x.grad, 2 * X * X + X)]


# --- gradients that the user gets hold of


@attack
def gradients_are_shared_between_leaves() -> list[Pair]:
    """Both operands of an addition get one array."""
    x, y = leaf(X), leaf(X)
    z = (x + y) * tensor([1.0, 2.0, 3.0])
    z.backward(retain_graph=True)
    with paddle.no_grad():
        x.grad.add_(tensor([100.0, 100.0, 100.0]))
        x.grad[0] = -1.0
    held, view = y.grad, y.grad.numpy()
    z.backward()
    return [
        (x.grad, [0.0, 104.0, 106.0]),
        (y.grad, [2.0, 4.0, 6.0]),
        (held, [1.0, 2.0, 3.0]),
        (view, [1.0, 2.0, 3.0]),
    ]


@attack
def a_cotangent_is_kept_and_changed() -> list[Pair]:
    x, g = leaf(X), tensor([1.0, 2.0, 3.0])
    h = x * 1.0
    y = h + 0.0
    y.backward(g, retain_graph=True)
    with paddle.no_grad():
        g.zero_()
        x.grad.fill_(0.0)
    y.backward(tensor([1.0, 1.0, 1.0]))
    (again,) = paddle.grad(x * 1.0, x, [g])
    with paddle.no_grad():
        again.fill_(5.0)
    return [(x.grad, np.ones(3)), (g, np.zeros(3))]


@attack
def hooks_keep_and_write_what_they_are_given() -> list[Pair]:
    x, w = leaf(X), leaf(X)
    h = x * 1.0
    kept: list[Any] = []

    def hook(grad: Any) -> None:
        kept.append(grad)
        with pytest.raises(ValueError, match="read-only"):
            grad.numpy()[0] = 5.0

    h.register_hook(hook)
    x.register_hook(hook)
    (h + w).backward(tensor([1.0, 2.0, 3.0]))
    first = x.grad.numpy()
    for grad in kept:
        grad.zero_()
    (h2 := x * 1.0).register_hook(lambda grad: grad.scale_(10.0))
    (h2 + w).backward(tensor([1.0, 2.0, 3.0]))
    return [
        (first, [1.0, 2.0, 3.0]),
        (x.grad, [11.0, 22.0, 33.0]),
        (w.grad, [2.0, 4.0, 6.0]),
    ]


@attack
def a_view_of_a_gradient_outlives_clear_grad() -> list[Pair]:
    x = leaf(X)
    (x * x).sum().backward()
    view, held = x.grad.numpy(), x.grad
    x.clear_grad()
    zeros = x.grad.numpy()
    (x * 3.0).sum().backward()
    (x * 3.0).sum().backward()
    return [(view, 2 * X), (held, 2 * X), (zeros, np.zeros(3)), (x.grad, np.full(3, 6.0))]


@attack
def the_gradient_is_a_tensor_of_a_graph() -> list[Pair]:
    x, w = leaf(X), leaf(X)
    x.grad = w * w
    loss = (x.grad * x).sum()
    x.grad = x.grad.detach()
    loss.backward()
    y = (w * w * w).sum()
    w.grad = w
    y.backward()
    return [(x.grad, 2 * X * X), (w.grad, X + 3 * X**2), (w, X)]


@attack
def one_tensor_is_an_input_under_two_names() -> list[Pair]:
    x = leaf(X)
    y = (x * x).sum()
    same = copy.copy(x)
    with pytest.raises(ArgumentError, match="twice"):
        paddle.grad(y, [x, x])
    first, second = paddle.grad(y, [x, same], allow_unused=True)
    assert second is None
    return [(first, 2 * X)]


# --- what the user's code does in layers, rules, hooks


class Cube(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x * x * x
        ctx.save_for_backward(x)
        x_kept = copy.copy(x)
        x_kept.zero_()
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensor()
        out = g * x * x * 3.0
        x.zero_()
        g.zero_()
        return out


@attack
def a_layer_writes_what_it_saved_and_was_given() -> list[Pair]:
    x, w = leaf(X), leaf(X)
    y = Cube.apply(x) + w
    y.backward(tensor([1.0, 2.0, 3.0]), retain_graph=True)
    first = x.grad.numpy()
    x.clear_grad()
    x.set_value(np.zeros(3))
    y.backward(tensor([1.0, 2.0, 3.0]))
    right = differences(lambda a: (a**3 * [1, 2, 3]).sum(), X)
    return [(first, right), (x.grad, right), (w.grad, [2.0, 4.0, 6.0])]


class Sum(PyLayer):
    """Hands one cotangent on to both operands, and keeps it."""

    kept: Any = None

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return x + y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        Sum.kept = g
        return g, g


@attack
def a_layer_returns_one_cotangent_twice() -> list[Pair]:
    x, y = leaf(X), leaf(X)
    a, b = x * 1.0, y * 1.0
    # a gets three cotangents, the first of which is also b's
    (Sum.apply(a, b) + a * 2.0 + a * 3.0).backward(tensor([1.0, 2.0, 3.0]))
    g = Sum.kept.numpy().copy()
    return [(x.grad, [6.0, 12.0, 18.0]), (y.grad, [1.0, 2.0, 3.0]), (g, [1.0, 2.0, 3.0])]


@attack
def a_layer_runs_another_backward_inside() -> list[Pair]:
    class Inner(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return paddle.sin(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensor()
            z = paddle.to_tensor(x.numpy(), stop_gradient=False)
            with paddle.enable_grad():
                paddle.sin(z).sum().backward()
            return g * z.grad

    x = leaf(X)
    h = x * 1.0
    other = leaf(X)
    h.register_hook(paddle.enable_grad()(lambda g: (other * other).sum().backward()))
    (Inner.apply(h) * h).sum().backward()
    return [
        (x.grad, differences(lambda a: (np.sin(a) * a).sum(), X)),
        (other.grad, 2 * X),
    ]


@attack
def a_kernel_returns_views_and_operands() -> list[Pair]:
    same = defop("itself", lambda x: x).vjp(x=lambda xp, g: g)
    flipped = defop("flipped", lambda x: x[::-1]).vjp(x=lambda xp, g: xp.flip(g, axis=(0,)))
    x = leaf(X)
    h = x * 1.0
    a, b = same(h), flipped(h)
    y = (a * b * b).sum()
    a.zero_()
    b[0] = 9.0
    h.exp_()
    y.backward()
    return [(x.grad, differences(lambda v: (v * v[::-1] ** 2).sum(), X))]


@attack
def a_kernel_fills_one_buffer_again_and_again() -> list[Pair]:
    buffer = np.empty(6)
    several = np.empty((2, 3))

    def kernel(x: Any) -> Any:
        return np.exp(x, out=buffer[:3])

    def two(x: Any) -> Any:
        several[0], several[1] = x, x * x
        return several[0], several[1]

    exp = defop("exp_in_buffer", kernel)
    exp.vjp(x=lambda xp, g, out: g * out)
    both = defop("both_in_buffer", two, outputs="one square", infer=("same", "same"))
    both.vjp(x=lambda xp, g_one, g_square, x: g_one + g_square * 2.0 * x)
    x, w = leaf(X), leaf(X * 2)
    y, z = exp(x), exp(w)
    (one, square), (other, _) = both(x), both(w)
    out = (y * z).sum() + (one * square * other).sum()
    buffer[:] = 0.0
    several[:] = 0.0
    out.backward()
    right = differences(lambda a: (np.exp(a) * np.exp(2 * X) + a**3 * 2 * X).sum(), X)
    return [(x.grad, right), (y, np.exp(X)), (z, np.exp(2 * X))]


@attack
def a_rule_fills_one_buffer_again_and_again() -> list[Pair]:
    buffer = np.empty(3)

    def rule(xp: Any, g: Any) -> Any:
        return np.multiply(g, 3.0, out=buffer) if isinstance(g, np.ndarray) else g * 3.0

    three = defop("three_times", lambda x: x * 3.0, tangent="linear").vjp(x=rule)
    x, w = leaf(X), leaf(X)
    (three(x) * tensor([1.0, 2.0, 3.0]) + three(w) * 10.0).sum().backward()
    buffer[:] = 0.0
    return [(x.grad, [3.0, 6.0, 9.0]), (w.grad, np.full(3, 30.0))]


@attack
def a_rule_writes_what_it_is_given() -> list[Pair]:
    def writes_g(xp: Any, g: Any, x: Any) -> Any:
        g *= 2.0
        return g * x

    def writes_saved(xp: Any, g: Any, x: Any) -> Any:
        x *= 2.0
        return g * x

    x, w = leaf(X), leaf(X)
    for rule in (writes_g, writes_saved):
        square = defop("squared", lambda x: x * x).vjp(x=rule)
        for y in (square(x) + w, square(x[0])):  # g of a scalar is shared by all passes
            with pytest.raises(ArgumentError, match=r"squared: the rule for x writes .* g = g \*"):
                y.backward()
    assert x.grad is None
    z = leaf(3.0)
    (z * 1.0).backward()
    return [(z.grad, 1.0), (x, X)]


@attack
def a_kernel_writes_an_operand() -> list[Pair]:
    def kernel(x: Any) -> Any:
        x += 1.0
        return x

    x = leaf(X)
    bad = defop("increments", kernel).vjp(x=lambda xp, g: g)
    with pytest.raises(ArgumentError, match=r"increments: the kernel writes to an operand"):
        bad(x)
    return [(x, X)]


@attack
def pack_and_unpack_write_what_they_are_given() -> list[Pair]:
    def pack(t: Any) -> Any:
        copied = t.numpy().copy()
        t.zero_()
        return copied

    def unpack(array: Any) -> Any:
        t = paddle.to_tensor(array)
        array_before = array.copy()
        t.add_(tensor(np.zeros(array.shape)))
        array[...] = array_before
        return t

    x = leaf(X)
    with saved_tensors_hooks(pack, unpack):
        y = (x * x * paddle.exp(x)).sum()
    y.backward(retain_graph=True)
    first = x.grad.numpy()
    x.clear_grad()
    y.backward()
    right = differences(lambda a: (a * a * np.exp(a)).sum(), X)
    return [(first, right), (x.grad, right), (x, X)]


# --- modes and flags


@attack
def stop_gradient_changes_after_use() -> list[Pair]:
    x, c = leaf(X), tensor(X)
    h = x * c
    y = (h * h).sum()
    x.stop_gradient = True
    c.stop_gradient = False
    h.stop_gradient = True
    z = (h * c).sum()  # of h a constant
    x.stop_gradient = False
    z.backward()
    (g,) = paddle.grad(y, x)
    return [(c.grad, X * X), (g, differences(lambda a: ((a * X) ** 2).sum(), X))]


@attack
def a_generator_switches_recording_in_the_middle() -> list[Pair]:
    @paddle.no_grad()
    def constants() -> Iterator[Any]:
        for k in range(3):
            yield x * float(k)

    x = leaf(X)
    total = paddle.zeros([3], dtype="float64")
    for c in constants():
        assert paddle.is_grad_enabled()
        total = total + c * x
    total.sum().backward()
    return [(x.grad, 3.0 * X)]  # of each x * k a constant


@attack
def the_graph_is_shared_with_another_thread() -> list[Pair]:
    x = leaf(X)
    h = x * x
    y = (h * x).sum()

    def elsewhere() -> None:
        with paddle.no_grad():
            h.zero_()
            x.set_value(np.zeros(3))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    y.backward()
    return [(x.grad, differences(lambda a: (a**3).sum(), X))]


@attack
def recompute_after_its_arguments_changed() -> list[Pair]:
    x = leaf(X)
    given = X.copy()
    h = x * 1.0
    y = recompute(lambda t, a: (t * t * paddle.to_tensor(a)).sum(), h, given)
    given[:] = 0.0
    h.zero_()
    x.set_value(np.zeros(3))
    y.backward()
    return [(x.grad, differences(lambda a: (a * a * X).sum(), X))]


@attack
def a_deep_copy_of_a_model_is_trained_in_between() -> list[Pair]:
    start = np.ones((3, 2))
    w = leaf(start)
    y = (tensor(X) @ w).square().sum()
    model = {"w": w, "again": [w]}
    twin = copy.deepcopy(model)
    twin["w"].grad = tensor(start)
    paddle.optimizer.SGD(learning_rate=1.0, parameters=twin["again"]).step()
    y.backward()
    return [
        (w.grad, differences(lambda a: ((X @ a) ** 2).sum(), start)),
        (twin["w"].grad, start),
        (twin["w"], np.zeros((3, 2))),
        (w, start),
    ]


@attack
def in_place_between_a_create_graph_gradient_and_its_use() -> list[Pair]:
    x = leaf(X)
    h = paddle.exp(x)
    (g,) = paddle.grad((h * h).sum(), x, create_graph=True)
    h.zero_()
    g2 = g * 1.0
    g.fill_(3.0)
    with paddle.no_grad():
        x.fill_(1.0)
    (second,) = paddle.grad(g2.sum(), x)
    return [(second, differences(lambda a: (2 * np.exp(2 * a)).sum(), X))]


@attack
def arrays_are_freed_and_their_memory_used_again() -> list[Pair]:
    x = leaf(np.ones(1000))
    y = paddle.exp(x * 2.0)
    out = (y * y).sum()
    del y
    for _ in range(50):
        np.full(1000, np.nan)
    gc.collect()
    out.backward()
    return [(x.grad, np.full(1000, 4.0 * np.exp(4.0)))]


# --- the table is run


@pytest.mark.parametrize("name", list(ATTACKS))
def test_attack(name: str) -> None:
    pairs = ATTACKS[name]()
    for got, right in pairs if isinstance(pairs, list) else [pairs]:
        got = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
        np.testing.assert_allclose(got, np.asarray(right), rtol=1e-6, atol=1e-8)


def test_there_are_twenty() -> None:
    assert len(ATTACKS) >= 20


# --- refused, with the lines


def line_of(function: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_a_freed_graph_names_both_lines() -> None:
    x = leaf(X)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(GraphFreedError, match="retain_graph=True") as caught:
        y.backward()
    here = test_a_freed_graph_names_both_lines
    assert re.search(rf"test_attacks.py:{line_of(here, 'y.backward()')}\b", str(caught.value))
    assert re.search(rf"test_attacks.py:{line_of(here, '(x * x).sum()')}\b", str(caught.value))


def test_writing_a_leaf_is_refused_with_what_to_write_instead() -> None:
    x = leaf(X)
    for write in (lambda: x.add_(x), lambda: x.exp_(), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(NotDifferentiableError, match=r"leaf that requires a gradient.*no_grad"):
            write()
    assert x.tolist() == X.tolist()


def test_recompute_of_a_closure_that_changed_names_the_lines() -> None:
    x, w = leaf(X), leaf(X)

    def segment(t: Any) -> Any:
        return (t * w).sum()

    y = recompute(segment, x)
    w.set_value(np.zeros(3))
    with pytest.raises(RecomputeError, match="other values since the first run") as caught:
        y.backward()
    text = str(caught.value)
    here = test_recompute_of_a_closure_that_changed_names_the_lines
    assert f"test_attacks.py:{line_of(here, 'recompute(segment, x)')}" in text
    assert f"test_attacks.py:{line_of(here, 'y.backward()')}" in text
    assert (x.grad, w.grad) == (None, None)


def test_a_half_graph_is_not_pickled_or_copied() -> None:
    x = leaf(X)
    y = x * x
    for refuse in (lambda: pickle.dumps(y), lambda: copy.deepcopy(y), lambda: copy.deepcopy([y])):
        with pytest.raises(ArgumentError, match=r"multiply.*test_attacks.py:\d+"):
            refuse()


def test_the_result_of_no_grad_code_is_no_part_of_the_graph() -> None:
    x = leaf(X)
    with paddle.no_grad():
        y = x * x
    with pytest.raises(NotDifferentiableError, match="does not appear in the graph"):
        paddle.grad(y.sum(), x)
