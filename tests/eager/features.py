"""What a person may wrap around a part of a computation without changing what it computes.

Each feature takes a stage, a function of one tensor, and gives one of the same value and the same
derivatives. `tests/eager/test_together.py` puts them into one another.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import autograd_engine as paddle
from autograd_engine import autograd

Stage = Callable[[Any], Any]


class Feature(NamedTuple):
    """A way to run a stage.

    Attributes
    ----------
    name : str
    wrap : callable
        Gives a stage that computes what the stage it is given computes.
    around : callable
        A context for everything, the passes too.
    exact : bool
        First derivatives keep their bits: nothing is rounded that would not be without it.
    """

    name: str
    wrap: Callable[[Stage], Stage]
    around: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    exact: bool = True


FEATURES: list[Feature] = []


def after(exact: bool = True) -> Callable[[Stage], Stage]:
    """A feature that does something to the result of the stage."""

    def declare(change: Stage) -> Stage:
        def wrap(stage: Stage) -> Stage:
            return lambda x: change(stage(x))

        FEATURES.append(Feature(change.__name__, wrap, exact=exact))
        return change

    return declare


def around(exact: bool = True) -> Callable[[Callable[[Stage], Stage]], Callable[[Stage], Stage]]:
    """A feature that runs the stage in a way of its own."""

    def declare(wrap: Callable[[Stage], Stage]) -> Callable[[Stage], Stage]:
        FEATURES.append(Feature(wrap.__name__, wrap, exact=exact))
        return wrap

    return declare


def constant(value: float, like: Any) -> Any:
    return paddle.full(list(like.shape), value, like.dtype)


# --- hooks


@after()
def hook(y: Any) -> Any:
    y.register_hook(lambda g: g * 1.0)
    y.register_hook(lambda g: None)
    return y


@after()
def hook_in_place(y: Any) -> Any:
    def to_and_fro(g: Any) -> None:
        g.multiply_(constant(2.0, g))
        g.multiply_(constant(0.5, g))

    y.register_hook(to_and_fro)
    return y


@after()
def retained(y: Any) -> Any:
    y.retain_grads()
    return y


@after()
def leaf_with_hooks(y: Any) -> Any:
    one = constant(1.0, y)
    one.stop_gradient = False
    one.register_hook(lambda g: g * 1.0)
    one.register_post_accumulate_grad_hook(lambda leaf: leaf.clear_grad())
    return y * one


# --- rules of the user's


class Twice(autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x + x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g + g


class Square(autograd.PyLayer):
    """Saves its input; has two outputs."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x, x + 0.0

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return g * (x + x) + h


def _double_and_square(x: Any) -> Any:
    return x + x, x * x


double_and_square: Any = autograd.defop(
    "double_and_square", _double_and_square, outputs="double square"
)
double_and_square.vjp(x=lambda xp, g_double, g_square, x: 2.0 * g_double + 2.0 * (g_square * x))


@after()
def layer(y: Any) -> Any:
    return Twice.apply(y) * 0.5


@after(exact=False)
def layer_with_two_outputs(y: Any) -> Any:
    square, same = Square.apply(y)
    return same + (square - y * y)


@after(exact=False)
def operation_of_the_users(y: Any) -> Any:
    double, square = double_and_square(y)
    return double * 0.5 + (square - y * y)


class Around(autograd.PyLayer):
    """A stage as a layer: its backward differentiates it."""

    @staticmethod
    def forward(ctx: Any, x: Any, stage: Stage) -> Any:
        ctx.save_for_backward(x)
        ctx.stage = stage
        with paddle.enable_grad():  # a stage may register hooks
            return stage(x).detach()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return autograd.vjp(ctx.stage, x, g, create_graph=paddle.is_grad_enabled())[1]


class Intermediate(autograd.PyLayer):
    """Saves what is neither its input nor its output, and what that is computed from."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        square = x * x + 1.0
        ctx.save_for_backward(x, square)
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        _, square = ctx.saved_tensor()
        return g * (square / square)


@around()
def layer_around(stage: Stage) -> Stage:
    return lambda x: Around.apply(x, stage)


@after(exact=False)
def layer_with_an_intermediate(y: Any) -> Any:
    return Intermediate.apply(y)


# --- values that are derivatives, of s * y by s


def ones_of(y: Any) -> Any:
    one = constant(1.0, y)
    one.stop_gradient = False
    return one


@after()
def by_grad(y: Any) -> Any:
    s = ones_of(y)
    (g,) = paddle.grad((s * y).sum(), s, create_graph=True)
    return g


@after()
def by_jvp(y: Any) -> Any:
    return autograd.jvp(lambda s: s * y, constant(1.0, y), create_graph=True)[1]


@after()
def by_vjp(y: Any) -> Any:
    return autograd.vjp(lambda s: s * y, constant(1.0, y), create_graph=True)[1]


@after()
def by_hvp(y: Any) -> Any:
    one = constant(1.0, y)
    return autograd.hvp(lambda s: (s * s * (y * 0.5)).sum(), one, create_graph=True)[1]


@after()
def by_value_and_grad(y: Any) -> Any:
    run = autograd.value_and_grad(lambda s: (s * y).sum(), create_graph=True)
    return run(constant(1.0, y))[1]


@after(exact=False)
def by_jacobian(y: Any) -> Any:
    s = ones_of(y)
    one, two = (
        autograd.jacobian(lambda s: s * y, s, mode=mode, create_graph=True)
        for mode in ("forward", "reverse")
    )
    return (paddle.diagonal(one) + paddle.diagonal(two)) * 0.5


@after()
def by_rows_of_a_jacobian(y: Any) -> Any:
    s = ones_of(y)
    rows = autograd.jacobian(s * y, s)
    return paddle.stack([rows[i][i] for i in range(y.shape[0])])


@after(exact=False)
def by_hessian(y: Any) -> Any:
    s = ones_of(y)
    matrix = autograd.hessian(lambda s: (s * s * (y * 0.5)).sum(), s, create_graph=True)
    return paddle.diagonal(matrix)


@around(exact=False)
def twice(stage: Stage) -> Stage:
    return lambda x: stage(x) * 0.5 + stage(x) * 0.5


# --- what is saved


@around()
def packed(stage: Stage) -> Stage:
    return autograd.saved_tensors_hooks(lambda t: t, lambda t: t)(stage)


@around()
def packed_as_arrays(stage: Stage) -> Stage:
    return autograd.saved_tensors_hooks(lambda t: t.numpy().copy(), paddle.to_tensor)(stage)


@around()
def on_disk(stage: Stage) -> Stage:
    return autograd.save_on_disk(min_bytes=0)(stage)


@around()
def recomputed(stage: Stage) -> Stage:
    return lambda x: autograd.recompute(stage, x)


@around()
def recomputed_inside(stage: Stage) -> Stage:
    return lambda x: autograd.recompute(lambda u: autograd.recompute(stage, u) * 1.0, x)


@after(exact=False)
def random(y: Any) -> Any:
    r = paddle.rand(y.shape, "float64").astype(y.dtype) + 1.0
    return (y * r) / r


# --- modes


@around()
def watched(stage: Stage) -> Stage:
    return autograd.detect_anomaly()(stage)


@around()
def islands(stage: Stage) -> Stage:
    @paddle.no_grad()
    def outer(x: Any) -> Any:
        zero = x * 0.0
        with paddle.enable_grad():
            return stage(x) + zero

    return outer


@around()
def generated(stage: Stage) -> Stage:
    @paddle.no_grad()
    def ones(y: Any) -> Iterator[Any]:
        yield constant(1.0, y) * 1.0
        with paddle.inference_mode():
            one = constant(1.0, y) * 1.0
        yield one

    @paddle.enable_grad()
    def values(x: Any) -> Iterator[Any]:
        y = stage(x)
        for one in ones(y):
            y = y * one
        yield y

    return lambda x: next(values(x))


# --- in place, parts


@after()
def in_place(y: Any) -> Any:
    z = y * 1.0
    z.add_(y)
    z.multiply_(constant(0.5, y))
    return z


@after()
def set_items(y: Any) -> Any:
    z = paddle.zeros_like(y)
    z[0] = y[0]
    z[1:] = y[1:]
    return z


@after()
def rows_in_a_loop(y: Any) -> Any:
    return paddle.stack([y[i] for i in range(y.shape[0])])


@after()
def rows_and_the_whole(y: Any) -> Any:
    parts = [y[i] for i in range(y.shape[0])]
    return y * 0.5 + paddle.stack(parts) * 0.5


@after()
def embedding(y: Any) -> Any:
    table = y.reshape([y.shape[0], 1])
    index = paddle.to_tensor(np.arange(y.shape[0]))
    return paddle.nn.functional.embedding(index, table, sparse=True).reshape(y.shape)


@after()
def unbound(y: Any) -> Any:
    return paddle.stack(paddle.unbind(y))


@after()
def split_in_two(y: Any) -> Any:
    return paddle.concat(paddle.split(y, [1, y.shape[0] - 1]))


@after()
def sorted_and_back(y: Any) -> Any:
    values, index = paddle.topk(y, y.shape[0])
    return paddle.gather(values, paddle.argsort(index))


# --- other libraries, dtypes


@after()
def numpy_calls(y: Any) -> Any:
    return np.concatenate([np.multiply(y[:2], 1.0), y[2:]])


@after()
def shared_memory(y: Any) -> Any:
    memory = constant(1.0, y).numpy().copy()
    shared = paddle.from_dlpack(memory)
    z = y * shared
    memory[...] = 7.0  # after it was read
    return z


@after(exact=False)
def two_dtypes(y: Any) -> Any:
    high = y.astype("float32").astype(y.dtype)
    return high + (y - high)


@after()
def indices_of_uint8(y: Any) -> Any:
    n = y.shape[0]
    return y[paddle.to_tensor(np.arange(n)[::-1].astype("uint8"))][::-1]


# --- around everything


@contextlib.contextmanager
def _call_stacks() -> Iterator[None]:
    paddle.set_flags({"FLAGS_call_stack_level": 3})
    try:
        yield
    finally:
        paddle.set_flags({"FLAGS_call_stack_level": 1})


def _as_it_is(stage: Stage) -> Stage:
    return stage


FEATURES += [
    Feature("strong_zeros", _as_it_is, paddle.strong_zeros),
    Feature("detect_anomaly", _as_it_is, autograd.detect_anomaly),
    Feature("call_stacks", _as_it_is, _call_stacks),
    Feature(
        "packed_throughout",
        _as_it_is,
        lambda: autograd.saved_tensors_hooks(lambda t: t.numpy().copy(), paddle.to_tensor),
    ),
]
