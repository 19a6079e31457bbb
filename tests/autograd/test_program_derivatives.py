"""`vjp`, `jvp`, Jacobians and Hessians of Variables, against those of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import ModeError
from autograd_engine.incubate import autograd as incubate
from autograd_engine.program.mode import guarded

A = np.random.default_rng(5).normal(size=(2, 3))


@pytest.fixture(autouse=True)
def programs() -> Iterator[Any]:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        yield main


def cube(x: Any) -> Any:
    return x * x * x


def product(x: Any, y: Any) -> Any:
    return paddle.sum(paddle.sin(x) * y)


def several(x: Any, y: Any) -> Any:
    return paddle.tanh(x) * y, paddle.concat([x, y * y])


def alone(x: Any, y: Any) -> Any:
    return x * 2.0


def flat(found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)):
        return [leaf for part in found for leaf in flat(part)]
    return [found]


def blocks(found: Any) -> Any:
    return [m[:] for m in flat(found)]


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "vjp": lambda x, y: incubate.vjp(cube, x),
    "vjp v": lambda x, y: incubate.vjp(cube, x, y),
    "vjp of two": lambda x, y: incubate.vjp(product, [x, y]),
    "vjp of several": lambda x, y: incubate.vjp(several, (x, y), [y, paddle.concat([x, x])]),
    "vjp without": lambda x, y: paddle.autograd.vjp(alone, [x, y]),
    "jvp": lambda x, y: incubate.jvp(cube, x),
    "jvp v": lambda x, y: incubate.jvp(cube, x, y),
    "jvp of two": lambda x, y: incubate.jvp(product, [x, y]),
    "jvp of several": lambda x, y: incubate.jvp(several, [x, y], [y, x]),
    "jvp without": lambda x, y: paddle.autograd.jvp(alone, [x, y], [None, y]),
    "Jacobian": lambda x, y: incubate.Jacobian(cube, x)[:],
    "rows": lambda x, y: [incubate.Jacobian(cube, x)[-1], incubate.Jacobian(cube, x)[0:2, 1]],
    "Jacobian of two": lambda x, y: incubate.Jacobian(several, [x, y])[:],
    "Jacobian and products": lambda x, y: incubate.Jacobian(alone, [x, y])[:, :3] @ x + y,
    "Jacobian of a batch": lambda x, y: incubate.Jacobian(
        lambda z: paddle.sin(z) * paddle.sum(z, axis=1, keepdim=True), x.reshape([3, 1]), True
    )[:],
    "Hessian": lambda x, y: incubate.Hessian(lambda z: paddle.sum(cube(z)), x)[:],
    "Hessian of two": lambda x, y: incubate.Hessian(product, [x, y])[:],
    "Hessian of a batch": lambda x, y: incubate.Hessian(
        lambda z: paddle.sum(cube(z), axis=1, keepdim=True), x.reshape([3, 1]), is_batched=True
    )[:],
    "jacobian": lambda x, y: blocks(paddle.autograd.jacobian(several(x, y), [x, y])),
    "jacobian of a scalar": lambda x, y: blocks(paddle.autograd.jacobian(product(x, y), x)),
    "jacobian of a function": lambda x, y: paddle.autograd.jacobian(several, [x, y]),
    "jacobian of a matrix": lambda x, y: paddle.autograd.jacobian(
        lambda z: paddle.stack([z * x, paddle.sin(z)]), y
    ),
    "jacobian of a batch": lambda x, y: paddle.autograd.jacobian(
        lambda z: z * z.sum(1, keepdim=True), paddle.stack([x, y]), batch_axis=0
    ),
    "hessian": lambda x, y: blocks(paddle.autograd.hessian(product(x, y), [x, y])),
    "hessian of a function": lambda x, y: paddle.autograd.hessian(product, [x, y]),
    "differentiated": lambda x, y: incubate.vjp(
        lambda z: paddle.sum(incubate.Jacobian(cube, z)[:] @ y) + incubate.jvp(cube, z)[1].sum(), x
    ),
}


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_values_are_those_of_tensors(backend: str) -> None:
    wrong = []
    for name, call in CALLS.items():
        with guarded.replaced(False):
            tensors = [paddle.to_tensor(a, stop_gradient=False) for a in A]
            expected = [e.numpy() for e in flat(call(*tensors))]
        main = static.Program()
        with static.program_guard(main):
            x, y = (static.data(n, [3], "float64") for n in "xy")
            x.stop_gradient = y.stop_gradient = False
            found = flat(call(x, y))
            got = static.Executor(backend=backend).run(main, {"x": A[0], "y": A[1]}, found)
        for value, wanted, var in zip(got, expected, found, strict=True):
            close = np.allclose(value, wanted, rtol=1e-12, atol=1e-14)
            if not close or value.shape != wanted.shape or list(var.shape) != list(wanted.shape):
                wrong.append((name, value, wanted))
    assert not wrong


def test_data_stops_gradients_and_has_derivatives(programs: Any) -> None:
    """What is given is differentiated as it is; later walks find no leaf that was not there."""
    x, w = static.data("x", [None, 3], "float64"), static.data("w", [3], "float64")
    w.stop_gradient = False
    _, (gx,) = incubate.vjp(lambda x: paddle.sum(x * w), [x])
    _, tangent = incubate.jvp(lambda x: x @ w, x)
    batch = incubate.Jacobian(lambda x: paddle.sin(x), x, is_batched=True)
    assert batch.shape == [-1, 3, 3]
    (gw,) = static.gradients(paddle.sum(gx * gx), w)
    for n in (1, 4):
        feed = {"x": np.ones((n, 3)), "w": A[0]}
        found = static.Executor().run(programs, feed, [gx, tangent, batch[:, 1], gw])
        np.testing.assert_allclose(found[0], np.tile(A[0], (n, 1)))
        np.testing.assert_allclose(found[1], np.full(n, A[0].sum()))
        np.testing.assert_allclose(found[2], np.tile([0.0, np.cos(1.0), 0.0], (n, 1)))
        np.testing.assert_allclose(found[3], 2 * n * A[0])


def test_in_a_loop_newton_steps() -> None:
    x = static.data("x", [3], "float64")

    def body(i: Any, z: Any) -> Any:
        g = incubate.vjp(lambda z: paddle.sum(paddle.exp(z) - x * z), z)[1]
        curvature = incubate.Hessian(lambda z: paddle.sum(paddle.exp(z) - x * z), z)[:]
        return [i + 1, z - paddle.linalg.solve(curvature, g)]

    start = [paddle.zeros([], "int64"), x * 0.0]
    _, z = static.nn.while_loop(lambda i, _: i < 20, body, start)
    a = np.array([0.5, 1.0, 3.0])
    found = static.Executor().run(static.default_main_program(), {"x": a}, [z])[0]
    np.testing.assert_allclose(found, np.log(a), atol=1e-12)


def test_bad_input(programs: Any) -> None:
    x, free = static.data("x", [3], "float64"), static.data("free", [None], "float64")
    n = static.data("n", [3], "int64")
    tensor = paddle.Tensor(np.ones(3))
    text = repr(programs)
    jacobian, hessian = paddle.autograd.jacobian, paddle.autograd.hessian
    refused: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: incubate.vjp(cube, n), TypeError, r"vjp: xs\[0\] \(n\) is int64"),
        (lambda: incubate.vjp(3.0, x), TypeError, "func must be a function of Variables"),
        (lambda: incubate.vjp(cube, [x, tensor]), TypeError, r"xs\[1\] must be a Variable"),
        (lambda: incubate.vjp(cube, x, [x, x]), ValueError, "v has 2 entries for 1"),
        (lambda: incubate.jvp(cube, x, x[:2]), ValueError, "forward_grad: .* must be equal"),
        (lambda: incubate.vjp(lambda x: "a", x), TypeError, "what func returns"),
        (lambda: incubate.Jacobian(cube, free), ValueError, "sizes say how many rows"),
        (lambda: incubate.Jacobian(paddle.sum, x, True), ValueError, "has no batch axis"),
        (lambda: incubate.Hessian(cube, x), ValueError, "must have one element"),
        (lambda: hessian(cube, x), ValueError, "must have one element"),
        (lambda: jacobian(cube, free), ValueError, "sizes say how many rows"),
        (lambda: incubate.Jacobian(cube, x)[3], IndexError, "row 3 is out of range"),
        (lambda: incubate.vjp(cube, tensor), ModeError, "works on eager tensors"),
    ]
    wrong = []
    for call, error, hint in refused:
        try:
            with pytest.raises(error, match=hint):
                call()
        except BaseException as failure:
            wrong.append((hint, failure))
    assert not wrong
    left = [line for line in repr(programs).splitlines() if line not in text]
    assert not [line for line in left if "GRAD" in line or "TANGENT" in line]
