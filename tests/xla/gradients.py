"""Each row, its gradients and theirs, in programs through XLA and NumPy; a process of its own."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.compiler.concrete_graph import BY_HISTORY
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.testing.modes import call, differentiable, directions, kernel, with_gradient
from tests.compiler.helpers.native_batches import difference
from tests.registry.harness import is_smooth
from tests.registry.samples import SAMPLES
from tests.registry.sampling import Sample

static = paddle.static
TOGETHER = 16
CALLED_BACK = {"histogram", "histogram_bin_edges", "region_max_index"}


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
        positions = differentiable(op, operands) if is_smooth(op, sample) else []
        with static.program_guard(self.program):
            xs = [self.declare(a) for a in operands]
            outputs = call(op, xs, attrs)
            first, second = [], []
            if positions:
                made = with_gradient(op, kernel(op, operands, attrs))
                us = [self.declare(u) for u in directions(made, 1)]
                wanted = [xs[k] for k in positions]
                first = static.gradients(with_gradient(op, outputs), wanted, us)
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
        known = [s for s in samples if has_known_sizes(op, s) and all(a.size for a in s.operands)]
        known.sort(key=lambda s: (not is_smooth(op, s), s.label == "size-1"))
        if known and not (op.random or op.effect or name in BY_HISTORY):
            yield op, known[0]


def has_known_sizes(op: OpDef, sample: Sample) -> bool:
    specs = [Spec(a.shape, a.dtype) for a in sample.operands]
    results = op.infer_tuple(specs, op.complete_attrs(sample.attrs))
    return not any(isinstance(d, Dim) for r in results for d in r.shape)


def differences() -> list[str]:
    chosen, wrong = list(cases()), []
    assert len(chosen) > 250
    for k in range(0, len(chosen), TOGETHER):
        batch = Batch()
        for op, sample in chosen[k : k + TOGETHER]:
            batch.add(op, sample)
        expected, _ = batch.run("numpy")
        found, report = batch.run("jax")
        back = {p.operation for p in report.called_back()}
        if report.backend != "jax" or back - CALLED_BACK:
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
