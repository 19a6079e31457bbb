"""Trainings that are interrupted and go on, in the same process or in another.

As a script: ``resumed_training.py MODE FIRST LAST DIRECTORY NAME...`` goes on with each training
from its checkpoint in the directory, and writes there what comes out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine import nn, optimizer, static

lr = optimizer.lr
CLIP = nn.ClipGradByGlobalNorm


def plateau() -> Any:
    return lr.ReduceOnPlateau(0.05, patience=1, factor=0.5, cooldown=1)


# What a training needs besides its parameters: a schedule, and an optimizer on it.
TRAININGS: dict[str, tuple[Callable[[], Any], Callable[..., Any]]] = {
    "SGD": (plateau, optimizer.SGD),
    "Momentum": (
        lambda: lr.StepDecay(0.05, 2, 0.5),
        lambda *a, **k: optimizer.Momentum(*a, use_nesterov=True, weight_decay=1e-3, **k),
    ),
    "Adam": (
        lambda: lr.CosineAnnealingDecay(0.02, 7),
        lambda *a, **k: optimizer.Adam(*a, grad_clip=CLIP(0.5), amsgrad=True, **k),
    ),
    "AdamW": (
        lambda: lr.LinearWarmup(lr.ExponentialDecay(0.02, 0.9), 5, 0.001, 0.02),
        lambda *a, **k: optimizer.AdamW(*a, grad_clip=CLIP(0.5), weight_decay=0.05, **k),
    ),
    "Lamb": (
        lambda: lr.NoamDecay(8, 4, 0.5),
        lambda *a, **k: optimizer.Lamb(*a, lamb_weight_decay=0.01, **k),
    ),
    "RMSProp": (
        lambda: lr.OneCycleLR(0.01, 10),
        lambda *a, **k: optimizer.RMSProp(*a, centered=True, momentum=0.9, **k),
    ),
    "Adagrad": (lambda: lr.CyclicLR(0.01, 0.05, 2), optimizer.Adagrad),
    "Adadelta": (lambda: lr.PolynomialDecay(0.5, 8), optimizer.Adadelta),
    "Adamax": (lambda: lr.MultiplicativeDecay(0.02, lambda _: 0.9), optimizer.Adamax),
    "NAdam": (lambda: lr.MultiStepDecay(0.02, [2, 5], 0.5), optimizer.NAdam),
    "RAdam": (lambda: lr.LambdaDecay(0.02, lambda n: 0.9**n), optimizer.RAdam),
    "ASGD": (
        lambda: lr.InverseTimeDecay(0.02, 0.1),
        lambda *a, **k: optimizer.ASGD(*a, batch_num=3, **k),
    ),
    "Rprop": (lambda: lr.PiecewiseDecay([2, 5], [0.02, 0.01, 0.005]), optimizer.Rprop),
}
STEPS, HALF = 10, 4


def data(step: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(step)
    return rng.standard_normal((16, 4)).astype("f4"), rng.standard_normal((16, 2)).astype("f4")


def network() -> Any:
    return nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2)
    )


def advance(schedule: Any, loss: float) -> None:
    schedule.step(loss) if isinstance(schedule, lr.ReduceOnPlateau) else schedule.step()


class OnTensors:
    """A training on Tensors, eager or compiled."""

    def __init__(self, name: str, compiled: bool) -> None:
        make_schedule, make = TRAININGS[name]
        self.model, self.schedule = network(), make_schedule()
        self.optimizer = make(self.schedule, parameters=self.model.parameters())
        self.step = paddle.jit.to_static(self._step) if compiled else self._step

    def _step(self, x: Any, y: Any) -> Any:
        loss = nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return loss

    def run(self, first: int, last: int) -> list[float]:
        losses = []
        for step in range(first, last):
            x, y = data(step)
            losses.append(self.step(paddle.to_tensor(x), paddle.to_tensor(y)).item())
            advance(self.schedule, losses[-1])
        return losses

    def state(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rng": paddle.get_rng_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.model.set_state_dict(state["model"])
        self.optimizer.set_state_dict(state["optimizer"])
        paddle.set_rng_state(state["rng"])


class InAProgram:
    """The same as a program, whose variables live in the global scope."""

    def __init__(self, name: str, seed: int = 0) -> None:
        make_schedule, make = TRAININGS[name]
        self.schedule = make_schedule()
        self.main, startup = static.Program(), static.Program()
        self.main.random_seed = seed
        with static.program_guard(self.main, startup):
            x = static.data("x", [None, 4], "float32")
            y = static.data("y", [None, 2], "float32")
            self.model = network()
            self.loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer = make(self.schedule)
            self.optimizer.minimize(self.loss)
        self.exe = static.Executor()
        self.exe.run(startup)

    def run(self, first: int, last: int) -> list[float]:
        losses = []
        for step in range(first, last):
            x, y = data(step)
            losses.append(float(self.exe.run(self.main, {"x": x, "y": y}, [self.loss])[0]))
            advance(self.schedule, losses[-1])
        return losses

    def state(self) -> dict[str, Any]:
        own = self.main.generator
        return {
            "program": self.main.state_dict(),
            "schedule": self.schedule.state_dict(),
            "rng": paddle.get_rng_state(),
            "own rng": None if own is None else own.bit_generator.state,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.main.set_state_dict(state["program"])
        self.schedule.set_state_dict(state["schedule"])
        paddle.set_rng_state(state["rng"])
        if self.main.generator is not None:
            self.main.generator.bit_generator.state = state["own rng"]


class ByObjects(InAProgram):
    """A program, of which what a training on Tensors would save is saved."""

    state = OnTensors.state
    restore = OnTensors.restore


MODES: dict[str, Callable[[str], Any]] = {
    "eager": lambda name: OnTensors(name, False),
    "to_static": lambda name: OnTensors(name, True),
    "program": InAProgram,
    "seeded": lambda name: InAProgram(name, 11),
    "objects": ByObjects,
}


def begun(mode: str, name: str) -> Any:
    """A training before its first step, in a process that has nothing else in it."""
    paddle.seed(7)
    with paddle.utils.unique_name.guard():
        return MODES[mode](name)


def outcome(training: Any, losses: list[float]) -> dict[str, Any]:
    """All that could differ, as arrays by name."""
    found: dict[str, Any] = {"losses": np.array(losses), "next": paddle.rand([3]).numpy()}

    def collect(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, part in value.items():
                collect(part, f"{path}.{key}")
        elif isinstance(value, (int, float)):
            found[path] = np.array(repr(value))
        elif isinstance(value, paddle.Tensor):
            found[path] = value.numpy()
        elif not isinstance(value, (str, list, type(None))):
            found[path] = np.array(value)

    collect(training.state(), "state")
    return found


def resumed(mode: str, name: str, directory: Path) -> dict[str, Any]:
    training = begun(mode, name)
    training.restore(paddle.load(directory / f"{name}.pd"))
    losses = training.run(HALF, STEPS)
    return outcome(training, losses)


if __name__ == "__main__":
    mode, directory, *names = sys.argv[1:]
    for name in names:
        with static.scope_guard(static.Scope()):
            np.savez(Path(directory) / f"{name}.npz", **resumed(mode, name, Path(directory)))
