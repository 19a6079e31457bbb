"""Each row, its gradients and theirs, in programs through XLA and NumPy; a process of its own."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.testing.modes import call, differentiable, directions, kernel, with_gradient
from tests.compiler.helpers.native_batches import difference
from tests.registry.harness import is_smooth
from tests.registry.samples import SAMPLES
from tests.registry.sampling import Sample

static = paddle.static
TOGETHER = 16


class Batch:
    """Rows in one program, in float64."""

    def __init__(self) -> None:
        self.program = static.Program()
        self.feed: dict[str, Any] = {}
        self.asked: dict[str, Any] = {}

    def declare(self, value: Any) -> Any:
        name = f"x{len(self.feed)}"
        self.feed[name] = value
        x = static.data(name, list(value.shape), value.dtype)
        x.stop_gradient = False
        return x

    def add(self, op: OpDef, sample: Sample) -> None:
        """What it returns, the gradients of that, and of these along one direction."""
        operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
        positions = differentiable(op, operands)
        with static.program_guard(self.program):
            xs = [self.declare(a) for a in operands]
            outputs = call(op, xs, attrs)
            goals = with_gradient(op, outputs)
            made = with_gradient(op, kernel(op, operands, attrs))
            us = [self.declare(u) for u in directions(made, 1)]
            wanted = [xs[k] for k in positions]
            first = static.gradients(goals, wanted, us)
            vs = [self.declare(v) for v in directions([operands[k] for k in positions], 2)]
            second = static.gradients(first, [*wanted, *us], vs)
        for order, variables in enumerate((outputs, first, second)):
            for k, v in enumerate(variables):
                if v is not None:
                    self.asked[f"{op.name}-{sample.label}, order {order}, {k}"] = v.name

    def run(self, backend: str) -> tuple[list[Any], Any]:
        executor, names = static.Executor(backend=backend), list(self.asked.values())
        found = executor.run(self.program, self.feed, names)
        return found, executor.explain(self.program, self.feed, names)


def cases() -> Iterator[tuple[OpDef, Sample]]:
    for name, samples in SAMPLES.items():
        op = REGISTRY[name]
        smooth = [s for s in samples if is_smooth(op, s) and all(a.size for a in s.operands)]
        if smooth and not (op.random or op.effect):
            yield op, next((s for s in smooth if s.label != "size-1"), smooth[0])


def differences() -> list[str]:
    chosen, wrong = list(cases()), []
    assert len(chosen) > 250
    for k in range(0, len(chosen), TOGETHER):
        batch = Batch()
        for op, sample in chosen[k : k + TOGETHER]:
            batch.add(op, sample)
        expected, _ = batch.run("numpy")
        found, report = batch.run("jax")
        if report.backend != "jax" or report.called_back():
            wrong.append(f"{report.backend}: {report.reasons}, {report.called_back()}")
        for label, a, e in zip(batch.asked, found, expected, strict=True):
            text = difference(a, e, 1e4)
            wrong += [f"{label}: {text}"] if text else []
    return wrong


if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)
    paddle.enable_static()
    paddle.set_flags({"FLAGS_runs_before_compiling": 0})
    print(json.dumps(differences()))
