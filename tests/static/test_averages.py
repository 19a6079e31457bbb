"""Moving averages of parameters, held to those of PaddlePaddle 2.6.2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import (
    ArgumentError,
    BuildError,
    ExecutionError,
    ModeError,
    NotATensorError,
)

EMA = static.ExponentialMovingAverage


class Training:
    """Gradient descent on a weight of two elements, and its averages."""

    def __init__(self, decay: float = 0.9, dtype: str = "float32", **options: Any) -> None:
        self.main, self.startup = static.Program(), static.Program()
        self.scope, self.exe = static.Scope(), static.Executor()
        with static.program_guard(self.main, self.startup):
            x = static.data("x", [None, 2], dtype)
            start = paddle.nn.initializer.Constant(0.5)
            w = paddle.create_parameter([2, 1], dtype, attr=paddle.ParamAttr("w", start))
            loss = paddle.mean((paddle.matmul(x, w) - 1.0) ** 2.0)
            paddle.optimizer.SGD(0.05).minimize(loss)
            if options.pop("counts", False):
                options["thres_steps"] = static.data("steps", [1], "int64")
            self.ema = EMA(decay, **options)
            self.ema.update()
        self.rng = np.random.RandomState(0)
        self.dtype = dtype
        self.history: list[Any] = []

    def start(self) -> None:
        self.exe.run(self.startup, scope=self.scope)

    def steps(self, count: int, **feed: Any) -> None:
        for _ in range(count):
            x = self.rng.rand(4, 2).astype("float32").astype(self.dtype)
            feed["steps"] = np.array([len(self.history)])
            self.exe.run(self.main, feed={"x": x, **feed}, scope=self.scope)
            self.history.append(self.weight())

    def weight(self) -> Any:
        return np.array(self.scope.find_var("w").get_tensor()).ravel()

    def averaged(self) -> Any:
        before = self.weight()
        with static.scope_guard(self.scope), self.ema.apply(self.exe):
            found = self.weight()
        np.testing.assert_array_equal(self.weight(), before)
        return found


# What the weight is inside of apply() after 1, 2, 5 and 30 steps.
OBSERVED = {
    0.9: [
        [0.5200667977333069, 0.5273730158805847],
        [0.529525101184845, 0.5347095727920532],
        [0.5482836961746216, 0.5726822018623352],
        [0.7705801725387573, 0.7549517750740051],
    ],
    0.999: [
        [0.5200667977333069, 0.5273730158805847],
        [0.5290602445602417, 0.5343498587608337],
        [0.5458813905715942, 0.5679352283477783],
        [0.7078984379768372, 0.7012591361999512],
    ],
}


@pytest.mark.parametrize("decay", OBSERVED)
def test_averages_are_those_of_the_reference(decay: float) -> None:
    training = Training(decay)
    training.start()
    found = []
    for more in (1, 1, 3, 25):
        training.steps(more)
        found.append(training.averaged())
    np.testing.assert_allclose(found, OBSERVED[decay], rtol=1e-5)  # float32, and 0.999 in it
    np.testing.assert_allclose(training.weight(), [0.8251935839653015, 0.8069759011268616], 1e-6)


@pytest.mark.parametrize("counts", [False, True])
def test_an_average_is_a_weighted_sum(counts: bool) -> None:
    training = Training(0.8, "float64", counts=counts)
    training.start()
    for more in (1, 1, 3, 25):
        training.steps(more)
        n = len(training.history)
        decays = [min(0.8, (1 + k) / (10 + k)) if counts else 0.8 for k in range(n)]
        weights = [(1 - decays[k]) * np.prod(decays[k + 1 :]) for k in range(n)]
        expected = np.average(training.history, axis=0, weights=weights)
        np.testing.assert_allclose(training.averaged(), expected, rtol=1e-12)


def test_without_an_update_the_parameters_stay() -> None:
    training = Training()
    training.start()
    np.testing.assert_array_equal(training.averaged(), [0.5, 0.5])


def test_an_exception_restores() -> None:
    training = Training()
    training.start()
    training.steps(3)
    before = training.weight()

    def fail() -> None:
        with training.ema.apply(training.exe):
            assert not np.array_equal(training.weight(), before)
            raise ZeroDivisionError

    with static.scope_guard(training.scope), pytest.raises(ZeroDivisionError):
        fail()
    np.testing.assert_array_equal(training.weight(), before)


def test_restore_by_hand() -> None:
    training = Training()
    training.start()
    training.steps(3)
    before, averaged = training.weight(), training.averaged()
    with static.scope_guard(training.scope):
        with pytest.raises(ExecutionError, match="there is nothing to restore in this scope"):
            training.ema.restore(training.exe)
        with training.ema.apply(training.exe, need_restore=False):
            pass
        np.testing.assert_array_equal(training.weight(), averaged)
        hint = r"in place already.*call restore\(executor\)"
        with pytest.raises(ExecutionError, match=hint), training.ema.apply(training.exe):
            pass
        np.testing.assert_array_equal(training.weight(), averaged)
        training.ema.restore(training.exe)
        np.testing.assert_array_equal(training.weight(), before)
        with training.ema.apply(training.exe):
            training.ema.restore(training.exe)  # earlier than the block does
            np.testing.assert_array_equal(training.weight(), before)
    np.testing.assert_array_equal(training.weight(), before)


def test_applying_changes_no_training() -> None:
    plain, interrupted = Training(), Training()
    for training in (plain, interrupted):
        training.start()
        for _ in range(10):
            training.steps(1)
            if training is interrupted:
                training.averaged()
    np.testing.assert_array_equal(plain.history, interrupted.history)
    np.testing.assert_array_equal(plain.averaged(), interrupted.averaged())


def test_a_program_that_is_fed_and_fetched_inside() -> None:
    training = Training()
    with static.program_guard(training.main, training.startup):
        test = training.main.clone(for_test=True)
    training.start()
    training.steps(2)
    feed = {"x": np.ones((1, 2), np.float32)}
    (var,) = (op for op in test.global_block().ops if op.type == "matmul")
    fetch = var.output_arg_names
    with static.scope_guard(training.scope), training.ema.apply(training.exe):
        inside = training.exe.run(test, feed=feed, fetch_list=fetch)[0]
        assert inside.item() == pytest.approx(training.weight().sum(), rel=1e-6)
    assert not any("ema" in name for op in test.global_block().ops for name in op.output_arg_names)


def test_frozen_parameters_are_left_alone() -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2])
        frozen = paddle.ParamAttr(trainable=False)
        static.nn.fc(x, 3, weight_attr=frozen, bias_attr=paddle.ParamAttr("b"))
        EMA(0.9, name="slow_").update()
    kept = [v.name for v in main.list_vars() if v.persistable and "ema" in v.name]
    assert sorted(name.partition(".")[0] for name in kept) == [
        "slow_b_ema_0",
        "slow_ema_decay_pow_0",
    ]


def test_mistakes() -> None:
    with pytest.raises(ModeError, match=r"ExponentialMovingAverage builds a program, and eager"):
        EMA(0.9)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        with pytest.raises(BuildError, match="has no parameters; build it after the layers"):
            EMA(0.9)
        static.nn.fc(static.data("x", [None, 2]), 3)
        for decay in (1.0, -0.1, float("nan")):
            with pytest.raises(ArgumentError, match=r"decay must be in \[0, 1\), got"):
                EMA(decay)
        with pytest.raises(TypeError, match="decay must be a number, got str"):
            EMA("0.9")
        with pytest.raises(NotATensorError, match="thres_steps must be a Variable"):
            EMA(0.9, thres_steps=3)
        with pytest.raises(TypeError, match="name must be a str"):
            EMA(0.9, name=3)
        ema = EMA(0.9)
    with pytest.raises(ModeError, match="update"):
        ema.update()
    hint = "executor must be a paddle.static.Executor, got NoneType"
    with pytest.raises(TypeError, match=hint), ema.apply(None):
        pass
    with pytest.raises(TypeError, match=r"restore: executor must be"):
        ema.restore(None)
    empty = static.scope_guard(static.Scope())
    missing = pytest.raises(ExecutionError, match="run the startup program first")
    with empty, missing, ema.apply(static.Executor()):
        pass
