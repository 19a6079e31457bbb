"""Training with schedulers: eager mode and programs step by step the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static

lr = paddle.optimizer.lr

SCHEDULERS: dict[str, Callable[[], Any]] = {
    "noam": lambda: lr.NoamDecay(4, 10),
    "piecewise": lambda: lr.PiecewiseDecay([3, 8], [0.1, 0.01, 0.05]),
    "natural": lambda: lr.NaturalExpDecay(0.1, 0.1),
    "inverse": lambda: lr.InverseTimeDecay(0.1, 0.3),
    "exponential": lambda: lr.ExponentialDecay(0.1, 0.9),
    "polynomial": lambda: lr.PolynomialDecay(0.1, 15),
    "step": lambda: lr.StepDecay(0.1, 4, 0.5),
    "multistep": lambda: lr.MultiStepDecay(0.1, [2, 9]),
    "lambda": lambda: lr.LambdaDecay(0.1, lambda e: 1 / (e + 1)),
    "multiplicative": lambda: lr.MultiplicativeDecay(0.1, lambda e: 0.95),
    "cosine": lambda: lr.CosineAnnealingDecay(0.1, 6),
    "restarts": lambda: lr.CosineAnnealingWarmRestarts(0.1, 4, 2),
    "linear": lambda: lr.LinearLR(0.1, 8),
    "warmup": lambda: lr.LinearWarmup(lr.ExponentialDecay(0.1, 0.9), 5, 0.0, 0.1),
    "one cycle": lambda: lr.OneCycleLR(0.2, 20),
    "cyclic": lambda: lr.CyclicLR(0.01, 0.2, 3, 5),
    "plateau": lambda: lr.ReduceOnPlateau(0.3, factor=0.5, patience=1),
}
OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "SGD": paddle.optimizer.SGD,
    "Adam": paddle.optimizer.Adam,
}
STEPS = 20
BATCHES = np.random.RandomState(3).randn(STEPS, 4, 3).astype("float32")
START = np.linspace(-1, 1, 3, dtype="float32").reshape(3, 1)


def network(x: Any, w: Any) -> Any:
    return paddle.mean((paddle.tanh(paddle.matmul(x, w)) - 0.5) ** 2.0)


def move(scheduler: Any, loss: Any) -> None:
    if isinstance(scheduler, lr.ReduceOnPlateau):
        scheduler.step(loss)
    else:
        scheduler.step()


class Eager:
    def __init__(self, make: Callable[..., Any], scheduler: Any) -> None:
        self.w = paddle.create_parameter(
            [3, 1], attr=paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(START))
        )
        self.scheduler = scheduler
        self.optimizer = make(learning_rate=scheduler, parameters=[self.w])

    def step(self, batch: Any) -> Any:
        loss = network(paddle.to_tensor(batch), self.w)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        move(self.scheduler, loss.numpy())
        return self.w.numpy().copy()


class InPrograms:
    def __init__(self, make: Callable[..., Any], scheduler: Any) -> None:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            x = static.data("x", [None, 3])
            attr = paddle.ParamAttr("w", paddle.nn.initializer.Assign(START))
            self.loss = network(x, paddle.create_parameter([3, 1], attr=attr))
            self.optimizer = make(learning_rate=scheduler)
            self.optimizer.minimize(self.loss)
        self.main, self.scheduler = main, scheduler
        self.scope, self.exe = static.Scope(), static.Executor()
        self.exe.run(startup, scope=self.scope)

    def step(self, batch: Any) -> Any:
        feed = {"x": batch}
        (loss,) = self.exe.run(self.main, feed=feed, fetch_list=[self.loss], scope=self.scope)
        move(self.scheduler, loss)
        return np.array(self.scope.find_var("w").get_tensor())


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", SCHEDULERS)
def test_both_modes_train_to_the_same_bits(name: str, optimizer: str) -> None:
    make = OPTIMIZERS[optimizer]
    eager, program = Eager(make, SCHEDULERS[name]()), InPrograms(make, SCHEDULERS[name]())
    rates = set()
    for batch in BATCHES:
        rates.add(eager.scheduler())
        np.testing.assert_array_equal(program.step(batch), eager.step(batch))
        assert program.scheduler() == eager.scheduler()
    assert len(rates) > 1
    assert not np.array_equal(eager.w.numpy(), START)


@pytest.mark.parametrize("mode", [Eager, InPrograms])
def test_each_step_has_the_rate_of_its_epoch(mode: Any) -> None:
    scheduler = lr.PiecewiseDecay([1, 2], [0.0, 0.5, 0.0])
    training = mode(paddle.optimizer.SGD, scheduler)
    np.testing.assert_array_equal(training.step(BATCHES[0]), START)
    moved = training.step(BATCHES[1])
    assert not np.array_equal(moved, START)
    np.testing.assert_array_equal(training.step(BATCHES[2]), moved)
    assert training.optimizer.get_lr() == 0.0


@pytest.mark.parametrize("mode", [Eager, InPrograms])
def test_a_rate_stays_until_the_scheduler_is_stepped(mode: Any) -> None:
    still = lr.ExponentialDecay(0.5, 0.1)
    first = mode(paddle.optimizer.SGD, still)
    second = mode(paddle.optimizer.SGD, lr.LambdaDecay(0.5, lambda e: 1.0))
    for batch in BATCHES[:3]:
        still.step(0)
        np.testing.assert_array_equal(first.step(batch), second.step(batch))


def test_a_resumed_training_goes_on_with_the_same_bits() -> None:
    def training() -> Eager:
        inner = lr.CosineAnnealingDecay(0.1, 6)
        return Eager(paddle.optimizer.Adam, lr.LinearWarmup(inner, 4, 0.0, 0.1))

    whole, first, second = training(), training(), training()
    for batch in BATCHES:
        whole.step(batch)
    for batch in BATCHES[:7]:
        first.step(batch)
    second.w.set_value(first.w.numpy())
    second.w.name = first.w.name
    second.optimizer.set_state_dict(first.optimizer.state_dict())
    assert second.scheduler.state_dict() == first.scheduler.state_dict()
    for batch in BATCHES[7:]:
        second.step(batch)
    np.testing.assert_array_equal(second.w.numpy(), whole.w.numpy())


def test_one_program_serves_all_rates() -> None:
    training = InPrograms(paddle.optimizer.SGD, lr.ExponentialDecay(0.5, 0.5))
    version = training.main.version
    for batch in BATCHES[:5]:
        training.step(batch)
    assert training.main.version == version
    assert training.scheduler.last_epoch == 5
