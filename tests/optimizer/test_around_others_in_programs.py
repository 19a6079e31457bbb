"""Optimizers around others, in programs: against eager mode, and numbers of Paddle 2.6.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import BuildError, ExecutionError, ModeError
from autograd_engine.incubate.optimizer import (
    GradientMergeOptimizer,
    LookAhead,
    ModelAverage,
    RecomputeOptimizer,
)
from autograd_engine.testing.modes import same_bits

STEPS = np.random.RandomState(0).randn(8, 4, 3).astype("float32")
# What runs of Paddle 2.6.2 leave: the sum of the parameter after each step.
ADAM_OF_THREE = [1.5, 1.5, 1.4, 1.4, 1.4, 1.17043, 1.17043, 1.17043]
SGD = [1.53463, 1.53735, 1.48063, 1.3524, 1.17494, 0.90768, 0.72717, 0.80235]
SLOW = [1.53463, 1.53735, 1.52383, 1.40495, 1.2359, 1.41423, 1.26575, 1.29784]
AVERAGE = [0.28725, 0.39881, 0.07871]


def network(x: Any, w: Any) -> tuple[Any, Any]:
    hidden = paddle.tanh(paddle.matmul(x, w))
    return paddle.mean((hidden - 1.0) * (hidden - 1.0)), hidden


def value(name: str = "w") -> np.ndarray:
    return np.array(static.global_scope().find_var(name).get_tensor())


def trained(
    append: Callable[[Any, Any], Any], backend: str = "numpy", again: bool = False
) -> tuple[list[np.ndarray], Any, Any]:
    """The parameter after each step, what `append` returned, and the executor."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        one_half = paddle.nn.initializer.Constant(0.5)
        w = static.create_parameter([3, 1], "float32", name="w", default_initializer=one_half)
        loss, hidden = network(static.data("x", [4, 3], "float32"), w)
        made = append(loss, hidden)
    executor = static.Executor(backend=backend)
    executor.run(startup)
    program = static.Program.parse_from_string(main.to_string()) if again else main
    found = []
    for x in STEPS:
        executor.run(program, {"x": x}, [loss.name])
        found.append(value())
    before = value()
    executor.run(main.clone(for_test=True), {"x": STEPS[0]}, [loss.name])
    same_bits(value(), before)
    return found, made, executor


def eagerly(step: Callable[[Any, Any, int], None], make: Callable[[Any], Any]) -> list[np.ndarray]:
    w = paddle.create_parameter([3, 1], attr=paddle.nn.initializer.Constant(0.5))
    optimizer, found = make(w), []
    for k, x in enumerate(STEPS):
        loss, _ = network(paddle.to_tensor(x), w)
        loss.backward()
        step(optimizer, w, k)
        found.append(w.numpy())
    return found


def agree(backend: str, one: np.ndarray, other: np.ndarray) -> None:
    """Bit for bit on NumPy."""
    if backend == "numpy":
        same_bits(one, other)
    np.testing.assert_allclose(one, other, rtol=1e-5)


def each_step(optimizer: Any, w: Any, k: int) -> None:
    optimizer.step()
    optimizer.clear_grad()


@pytest.fixture(autouse=True)
def scope() -> Any:
    with static.scope_guard(static.Scope()):
        yield


@pytest.mark.parametrize("backend", ["numpy", "native"])
@pytest.mark.parametrize("avg", [True, False])
def test_gradients_of_several_runs_are_merged(backend: str, avg: bool) -> None:
    def append(loss: Any, _: Any) -> None:
        clip = paddle.nn.ClipGradByGlobalNorm(0.5)
        sgd = paddle.optimizer.Momentum(0.1, grad_clip=clip, weight_decay=0.01)
        GradientMergeOptimizer(sgd, k_steps=3, avg=avg).minimize(loss)

    def make(w: Any) -> Any:
        clip = paddle.nn.ClipGradByGlobalNorm(0.5)
        return paddle.optimizer.Momentum(0.1, parameters=[w], grad_clip=clip, weight_decay=0.01)

    def step(optimizer: Any, w: Any, k: int) -> None:
        if k % 3 == 2:
            if avg:
                w.grad.set_value(w.grad / 3.0)
            each_step(optimizer, w, k)

    expected = eagerly(step, make)
    for again in (False, True):
        for one, other in zip(trained(append, backend, again)[0], expected, strict=True):
            agree(backend, one, other)


def test_merged_gradients_of_adam_are_those_of_the_reference() -> None:
    found, (updates, pairs), _ = trained(
        lambda loss, _: GradientMergeOptimizer(paddle.optimizer.Adam(0.1), 3).minimize(loss)
    )
    assert [op.type for op in updates] == ["adam"]
    assert [(p.name, g.name) for p, g in pairs] == [("w", "w@GRAD")]
    np.testing.assert_allclose([w.sum() for w in found], ADAM_OF_THREE, atol=2e-5)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_looking_ahead_has_the_bits_of_eager_mode(backend: str) -> None:
    found, _, _ = trained(
        lambda loss, _: LookAhead(paddle.optimizer.SGD(0.1), alpha=0.2, k=3).minimize(loss), backend
    )
    expected = eagerly(
        each_step, lambda w: LookAhead(paddle.optimizer.SGD(0.1, parameters=[w]), 0.2, 3)
    )
    for one, other in zip(found, expected, strict=True):
        agree(backend, one, other)
    np.testing.assert_allclose([w.sum() for w in found], SLOW, atol=2e-5)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_averages_are_those_of_eager_mode_and_of_the_reference(backend: str) -> None:
    def append(loss: Any, _: Any) -> Any:
        paddle.optimizer.SGD(0.1).minimize(loss)
        return ModelAverage(0.15, min_average_window=2, max_average_window=4)

    found, average, executor = trained(append, backend)
    np.testing.assert_allclose([w.sum() for w in found], SGD, atol=2e-5)
    averages: list[np.ndarray] = []

    def make(w: Any) -> Any:
        return paddle.optimizer.SGD(0.1, parameters=[w]), ModelAverage(0.15, [w], 2, 4)

    def step(both: Any, w: Any, k: int) -> None:
        both[0].step()
        both[1].step()
        both[0].clear_grad()
        with both[1].apply():
            averages.append(w.numpy())

    eagerly(step, make)
    last = value()
    with average.apply(executor):
        agree(backend, value(), averages[-1])
        np.testing.assert_allclose(value().ravel(), AVERAGE, atol=2e-5)
        with pytest.raises(ExecutionError, match="in place already"), average.apply(executor):
            pass
    same_bits(value(), last)
    with average.apply(executor, need_restore=False):
        pass
    agree(backend, value(), averages[-1])
    average.restore(executor)
    average.restore(executor)
    same_bits(value(), last)


def test_recomputing_keeps_the_bits() -> None:
    def append(loss: Any, hidden: Any) -> Any:
        optimizer = RecomputeOptimizer(paddle.optimizer.SGD(0.1))
        with pytest.raises(BuildError, match="call _set_checkpoints"):
            optimizer.minimize(loss)
        optimizer._set_checkpoints([hidden])
        return optimizer.minimize(loss)

    found, _, _ = trained(append)
    expected = eagerly(each_step, lambda w: paddle.optimizer.SGD(0.1, parameters=[w]))
    for one, other in zip(found, expected, strict=True):
        same_bits(one, other)


class Failing(paddle.optimizer.SGD):
    """Its updates are appended, and then it fails."""

    def apply_gradients(self, params_grads: Any) -> Any:
        super().apply_gradients(params_grads)
        raise ZeroDivisionError


def test_bad_input() -> None:
    with static.program_guard(static.Program()):
        sgd = paddle.optimizer.SGD(0.1)
    for make in (RecomputeOptimizer, GradientMergeOptimizer):
        with pytest.raises(ModeError, match=make.__name__):
            make(sgd)
    with pytest.raises(ModeError, match="pass parameters"):
        LookAhead(sgd)
    main = static.Program()
    with static.program_guard(main, static.Program()):
        with pytest.raises(TypeError, match="optimizer must be an optimizer, got int"):
            RecomputeOptimizer(3)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="takes a list of Variables or names"):
            RecomputeOptimizer(sgd)._set_checkpoints(3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="k_steps"):
            GradientMergeOptimizer(sgd, 0)
        with pytest.raises(BuildError, match="has no parameters"):
            ModelAverage(0.15)
        w = static.create_parameter([2], "float32", name="w")
        loss = paddle.sum(w)
        text = repr(main)
        for optimizer in (GradientMergeOptimizer(Failing(0.1), 2), LookAhead(Failing(0.1))):
            with pytest.raises(ZeroDivisionError):
                optimizer.minimize(loss)
            assert repr(main) == text
        average = ModelAverage(0.15)
        with pytest.raises(TypeError, match="executor must be"), average.apply():
            pass
