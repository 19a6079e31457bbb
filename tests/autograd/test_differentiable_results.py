"""What functions of `autograd` and `incubate.autograd` return, differentiated once more.

Each result is reduced to a number, and its derivative by a weight that the differentiated function
closes over, by the point and by the direction is held to differences, along one line through all
of them: a history that is lost anywhere shows there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import autograd, incubate

RNG = np.random.default_rng(7)
POINTS = [RNG.uniform(0.5, 1.5, 3) for _ in range(3)]
"""A weight, the point and the direction."""
LINE = [RNG.uniform(-1.0, 1.0, 3) for _ in range(3)]
STEP = 1e-5

Function = Callable[[Any], Any]


def leaf(value: Any) -> Any:
    return paddle.to_tensor(value, dtype="float64", stop_gradient=False)


class SquareTimes(autograd.PyLayer):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensor()
        return 2.0 * g * a * b, g * a * a


sine_times = autograd.defop("sine_times", lambda a, b: np.sin(a) * b).vjp(
    a=lambda xp, g, a, b: g * xp.cos(a) * b, b=lambda xp, g, a: g * xp.sin(a)
)


def written_to(x: Any, w: Any) -> Any:
    h = paddle.exp(x * w)
    h[1] = x[0] * w[2]
    return h.multiply_(x)


BODIES: dict[str, Callable[[Any], Function]] = {
    "elementwise": lambda w: lambda x: paddle.sin(x * w) * x,
    "weight beside": lambda w: lambda x: x**3 + w * w,
    "linear": lambda w: lambda x: x * w,
    "matmul": lambda w: lambda x: paddle.matmul(paddle.outer(x, w), x),
    "indexed": lambda w: lambda x: paddle.concat([x[1:] * w[:2], x[:1] ** 2 * w[2]]),
    "weight with a history": lambda w: (lambda u: lambda x: paddle.tanh(x * u) * x)(w * 2.0),
    "recomputed": lambda w: lambda x: autograd.recompute(lambda t: paddle.sin(t * w) * t, x),
    "layer": lambda w: lambda x: SquareTimes.apply(x, w) * x,
    "operation of the user's": lambda w: lambda x: sine_times(x, w) * x,
    "in place": lambda w: lambda x: written_to(x, w),
    "gradient inside": lambda w: lambda x: paddle.grad((x**3 * w).sum(), x, create_graph=True)[0],
    "without the point": lambda w: lambda x: w * w * w,
    "the point itself": lambda w: lambda x: x,
}


def summed(f: Function) -> Function:
    return lambda x: f(x).sum()


def in_columns(f: Function) -> Function:
    return lambda x: f(x.reshape([3])).reshape([3, 1])


CREATE: dict[str, Any] = {"create_graph": True}
RESULTS: dict[str, Callable[[Function, Any, Any], Any]] = {
    "grad": lambda f, x, v: paddle.grad(
        [f(x) + 0.0 * x], [x], [v], create_graph=True, allow_unused=True
    ),
    "vjp": lambda f, x, v: autograd.vjp(f, x, v, **CREATE),
    "jvp": lambda f, x, v: autograd.jvp(f, x, v, **CREATE),
    "hvp": lambda f, x, v: autograd.hvp(summed(f), x, v, **CREATE),
    "value_and_grad": lambda f, x, v: autograd.value_and_grad(summed(f), **CREATE)(x),
    "jacobian in reverse": lambda f, x, v: autograd.jacobian(f, x, mode="reverse", **CREATE),
    "jacobian forward": lambda f, x, v: autograd.jacobian(f, x, mode="forward", **CREATE),
    "jacobian in reverse, chunks": lambda f, x, v: autograd.jacobian(
        f, x, mode="reverse", chunk_size=2, **CREATE
    ),
    "jacobian forward, chunks": lambda f, x, v: autograd.jacobian(
        f, x, mode="forward", chunk_size=2, **CREATE
    ),
    "hessian": lambda f, x, v: autograd.hessian(summed(f), x, **CREATE),
    "hessian, chunks": lambda f, x, v: autograd.hessian(summed(f), x, chunk_size=2, **CREATE),
    "jacobian, batch": lambda f, x, v: autograd.jacobian(f, x, batch_axis=0, **CREATE),
    "hessian, batch": lambda f, x, v: autograd.hessian(f, x, batch_axis=0, **CREATE),
    "Jacobian": lambda f, x, v: autograd.jacobian(f(x), x)[:],
    "Jacobian, a row": lambda f, x, v: autograd.jacobian(f(x), x)[1],
    "Hessian": lambda f, x, v: autograd.hessian(f(x).sum(), x)[:],
    "incubate vjp": lambda f, x, v: incubate.autograd.vjp(f, x, v),
    "incubate jvp": lambda f, x, v: incubate.autograd.jvp(f, x, v),
    "incubate Jacobian": lambda f, x, v: incubate.autograd.Jacobian(f, x)[:],
    "incubate Jacobian, a row": lambda f, x, v: incubate.autograd.Jacobian(f, x)[1],
    "incubate Jacobian, batch": lambda f, x, v: incubate.autograd.Jacobian(
        in_columns(f), x.reshape([3, 1]), is_batched=True
    )[:],
    "incubate Hessian": lambda f, x, v: incubate.autograd.Hessian(summed(f), x)[:],
    "incubate Hessian, batch": lambda f, x, v: incubate.autograd.Hessian(
        in_columns(f), x.reshape([3, 1]), is_batched=True
    )[:],
}
OF_FUNCTIONS = [
    name for name in RESULTS if name not in ("grad", "Jacobian", "Jacobian, a row", "Hessian")
]
"""These take a point that carries no gradient as well."""


def reduced(result: Any) -> Any:
    """A number that depends on each element of all Tensors in it."""
    if isinstance(result, (list, tuple)):
        parts = [reduced(r) for r in result if r is not None]
        return sum(parts[1:], parts[0])
    weights = np.cos(np.arange(result.size) + 1.0).reshape(result.shape)
    return (result * paddle.to_tensor(weights)).sum()


def wrong_derivatives(name: str, points: Callable[[list[Any]], list[Any]]) -> list[str]:
    """Where the result of a function has another derivative than its differences.

    `points` makes weight, point and direction of three leaves.
    """
    wrong = []
    for body, make in BODIES.items():

        def number(step: float, make: Any = make) -> tuple[Any, list[Any]]:
            leaves = [leaf(p + step * d) for p, d in zip(POINTS, LINE, strict=True)]
            w, x, v = points(leaves)
            return reduced(RESULTS[name](make(w), x, v)), leaves

        value, leaves = number(0.0)
        expected = (number(STEP)[0].item() - number(-STEP)[0].item()) / (2.0 * STEP)
        gradients: list[Any] = [None] * 3
        if not value.stop_gradient:
            gradients = paddle.grad(value, leaves, allow_unused=True)
        found = sum(
            float((g.numpy() * d).sum())
            for g, d in zip(gradients, LINE, strict=True)
            if g is not None
        )
        if abs(found - expected) > 1e-6 * (1.0 + abs(expected)):
            wrong.append(f"{body}: {found} for {expected}")
    return wrong


@pytest.mark.parametrize("name", RESULTS)
def test_by_weight_point_and_direction(name: str) -> None:
    assert not wrong_derivatives(name, lambda leaves: leaves)
    assert not wrong_derivatives(name, lambda leaves: [t * t for t in leaves])


@pytest.mark.parametrize("name", OF_FUNCTIONS)
def test_by_the_weight_alone(name: str) -> None:
    def points(leaves: list[Any]) -> list[Any]:
        return [leaves[0], *(paddle.to_tensor(p) for p in POINTS[1:])]

    assert not wrong_derivatives(name, points)


@pytest.mark.parametrize("function", [incubate.autograd.vjp, incubate.autograd.jvp])
def test_results_are_cut_where_nothing_is_recorded_or_it_is_asked_for(function: Any) -> None:
    w, x = leaf(POINTS[0]), leaf(POINTS[1])
    with paddle.no_grad():
        value, derivative = function(lambda x: x * x * w, x)
    assert (value.stop_gradient, derivative.stop_gradient) == (True, True)
    value, derivative = function(lambda x: x * x * w, x, create_graph=False)
    assert (value.stop_gradient, derivative.stop_gradient) == (True, True)
    np.testing.assert_allclose(derivative.numpy(), 2.0 * POINTS[0] * POINTS[1])


def test_products_of_programs_against_differences() -> None:
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        w, x, v = [paddle.static.data(n, [3], "float64") for n in "wxv"]
        for t in (w, x, v):
            t.stop_gradient = False
        results = []
        for y in (paddle.sin(x * w) * x, x**3 + w * w, paddle.matmul(paddle.outer(x, w), x)):
            results += [paddle.static.forward_grad(y, x, v), *paddle.static.gradients(y, x, v)]
        numbers = [paddle.matmul(r, paddle.sin(w)) * (k + 1.0) for k, r in enumerate(results)]
        value = paddle.add_n(numbers)
        gradients = paddle.static.gradients(value, [w, x, v])
    run = paddle.static.Executor().run

    def fetched(step: float) -> list[Any]:
        values = [p + step * d for p, d in zip(POINTS, LINE, strict=True)]
        return run(main, dict(zip("wxv", values, strict=True)), [value, *gradients])

    _, *found = fetched(0.0)
    expected = (fetched(STEP)[0] - fetched(-STEP)[0]) / (2.0 * STEP)
    derivative = sum(float((g * d).sum()) for g, d in zip(found, LINE, strict=True))
    assert derivative == pytest.approx(float(expected), rel=1e-6)
