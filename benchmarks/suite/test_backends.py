"""Small programs on each backend, beside the same operations run eagerly.

Run with ``python -m pytest benchmarks/suite/test_backends.py -q --benchmark-group-by=group``. What
they compute is asserted, nothing about time. ``python -m benchmarks.compare`` measures whole
training steps beside other systems.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.nn import functional as F
from benchmarks.suite.steps_ours import eager, program
from benchmarks.suite.workloads import WORKLOADS

BACKENDS = ("eager", "numpy", "native")
Array = np.ndarray[Any, Any]
Step = Callable[[], Any]


def _arrays(*shapes: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def chain(x: Any) -> Any:
    """Elementwise, a quarter of a million elements."""
    y = paddle.tanh(x * 0.5 + 1.0)
    y = paddle.exp(-y * y) * x + F.sigmoid(x)
    return paddle.mean(paddle.sqrt(y * y + 1.0))


def cross_entropy(x: Any) -> Any:
    """Of 256 rows of 1,000 scores."""
    return F.cross_entropy(x, paddle.full([256], 7, "int64"))


def layer_norm(x: Any) -> Any:
    """Of 512 rows of 512."""
    return paddle.mean(paddle.square(F.layer_norm(x, [512]) - 0.25))


LOSSES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "chain": (chain, (512, 512)),
    "cross_entropy": (cross_entropy, (256, 1000)),
    "layer_norm": (layer_norm, (512, 512)),
}


def _available(backend: str) -> None:
    if backend == "native" and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("there is no C compiler")


def gradient_step(name: str, backend: str) -> Step:
    """A loss and its gradient by what it is computed from."""
    loss_of, shape = LOSSES[name]
    (array,) = _arrays(shape)
    if backend == "eager":
        x = paddle.to_tensor(array, stop_gradient=False)

        def step() -> Any:
            loss = loss_of(x)
            return loss.numpy(), paddle.grad(loss, x)[0].numpy()

        return step
    main = static.Program()
    with static.program_guard(main, static.Program()):
        variable = static.data("x", list(shape), "float32")
        variable.stop_gradient = False
        loss = loss_of(variable)
        (gradient,) = static.gradients(loss, variable)
    bound = static.Executor(backend=backend).prepare(main, feed=["x"], fetch_list=[loss, gradient])
    return lambda: bound(array)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", LOSSES)
def test_loss_and_gradient(benchmark: Any, name: str, backend: str) -> None:
    _available(backend)
    benchmark.group = name
    step = gradient_step(name, backend)
    for got, expected in zip(step(), gradient_step(name, "eager")(), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-7)
    benchmark(step)


ADAM = [(784, 512), (512,), (512, 256), (256,), (256, 10), (10,)]


def adam_step(backend: str) -> tuple[Step, Callable[[], list[Array]]]:
    """An update of the parameters of a perceptron by given gradients, and how to look at them."""
    values, grads = _arrays(*ADAM), _arrays(*ADAM)
    if backend == "eager":
        tensors = [paddle.to_tensor(a, stop_gradient=False) for a in values]
        adam = paddle.optimizer.Adam(1e-3, parameters=tensors)
        for tensor, gradient in zip(tensors, grads, strict=True):
            tensor.grad = paddle.to_tensor(gradient)
        return adam.step, lambda: [t.numpy() for t in tensors]
    main, start, scope = static.Program(), static.Program(), static.Scope()
    names = [f"p{i}" for i in range(len(ADAM))]
    with static.program_guard(main, start):
        pairs = [
            (
                static.create_parameter(list(shape), "float32", name=name),
                static.data(f"{name}_gradient", list(shape), "float32"),
            )
            for name, shape in zip(names, ADAM, strict=True)
        ]
        paddle.optimizer.Adam(1e-3).apply_gradients(pairs)
    executor = static.Executor(backend=backend)
    executor.run(start, scope=scope)
    for name, value in zip(names, values, strict=True):
        scope.find_var(name).get_tensor().set(value)
    feed = [f"{name}_gradient" for name in names]
    bound = executor.prepare(main, feed=feed, fetch_list=[], scope=scope)
    return (
        lambda: bound(*grads),
        lambda: [np.array(scope.find_var(name).get_tensor()) for name in names],
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_adam(benchmark: Any, backend: str) -> None:
    _available(backend)
    benchmark.group = "adam"
    (step, values), (reference, expected) = adam_step(backend), adam_step("eager")
    step()
    reference()
    for got, wanted in zip(values(), expected(), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-7)
    benchmark(step)


@pytest.mark.parametrize("backend", BACKENDS)
def test_training_step(benchmark: Any, backend: str) -> None:
    _available(backend)
    benchmark.group = "W1"
    w = WORKLOADS["W1"]
    candidate = eager(w) if backend == "eager" else program(w).step(backend)
    reference = eager(w)
    for _ in range(3):
        loss = reference.finish(reference.step())
        assert candidate.finish(candidate.step()) == pytest.approx(loss, rel=1e-5)
    benchmark(candidate.step)
