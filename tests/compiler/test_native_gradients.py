"""First and second gradients of every operation and function, native beside NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from autograd_engine import static
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing.modes import call, differentiable, directions, kernel, with_gradient
from tests.compiler.helpers.native_batches import ALL
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags
from tests.compiler.helpers.native_programs import wrong_in
from tests.functions import harness
from tests.functions.cases import CASES
from tests.registry.samples import SAMPLES
from tests.tiers import by_default

pytestmark = needs_compiler

SIZE = 24


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O0"))
        yield


# --- operations


def _of_operation(name: str, k: int, dtype: Any) -> Callable[[Any], Sequence[Any]] | None:
    op, sample = REGISTRY[name], SAMPLES[name][k]
    operands, attrs = sample.cast(dtype), op.complete_attrs(sample.attrs)
    with np.errstate(all="ignore"):
        outputs = with_gradient(op, kernel(op, operands, attrs))
    positions = differentiable(op, operands)
    if not positions or any(y.dtype.kind != "f" for y in outputs):
        return None

    def build(declare: Any) -> Sequence[Any]:
        xs = [declare(a) for a in operands]
        wanted = [xs[p] for p in positions]
        for x in wanted:
            x.stop_gradient = False
        goals = with_gradient(op, call(op, xs, attrs))
        us = [declare(u) for u in directions(outputs, 1)]
        for u in us:
            u.stop_gradient = False
        first = static.gradients(goals, wanted, us)
        vs = [declare(v) for v in directions([operands[p] for p in positions], 2)]
        pairs = [(g, v) for g, v in zip(first, vs, strict=True) if g is not None]
        if not pairs:
            return first
        second = static.gradients([g for g, _ in pairs], [*wanted, *us], [v for _, v in pairs])
        return [*first, *second]

    return build


OPERATIONS = [
    (name, k)
    for name, op in REGISTRY.items()
    if not (op.random or op.effect) and op.rules
    for k in range(len(SAMPLES.get(name, ())))
]
CHOSEN = OPERATIONS if ALL else OPERATIONS[::4]


@pytest.mark.parametrize(
    "start", by_default(range(0, len(CHOSEN), SIZE), range(0, len(CHOSEN), 4 * SIZE))
)
def test_gradients_of_operations(start: int) -> None:
    parts = []
    for k, (name, sample) in enumerate(CHOSEN[start : start + SIZE]):
        build = _of_operation(name, sample, np.float64 if k % 2 else np.float32)
        if build is not None:
            parts.append((f"{name}-{SAMPLES[name][sample].label}", build))
    assert wrong_in(parts) == []


# --- functions


def _of_function(case: harness.Case, dtype: Any) -> Callable[[Any], Sequence[Any]]:
    operands = harness.operands_in(case, dtype)

    def build(declare: Any) -> Sequence[Any]:
        xs = [declare(a) for a in operands]
        sources = [xs[k] for k in harness.wanted(case)] if case.differentiable else []
        for x in sources:
            x.stop_gradient = False
        outputs = harness.flat(case.call(*xs))
        goals = [y for y in harness.floating(outputs) if not y.stop_gradient]
        if not sources or not goals:
            return outputs
        us = [0.3 + 0.1 * k for k in range(len(goals))]
        along = harness.dot(goals, us)
        first = static.gradients([along], sources)
        vs = [0.7 - 0.1 * k for k in range(len(first))]
        again = harness.dot(first, vs)
        second = static.gradients([again], sources) if again is not None else []
        return [*outputs, *first, *second]

    return build


FUNCTIONS = [
    (f"{name}-{case.label}", case)
    for name, listed in CASES.items()
    for case in listed
    if case.static and case.smooth
]
SOME = FUNCTIONS if ALL else FUNCTIONS[::6]


@pytest.mark.parametrize("start", range(0, len(SOME), SIZE))
def test_functions_and_their_gradients(start: int) -> None:
    chosen = SOME[start : start + SIZE]
    parts = [
        (label, _of_function(case, np.float64 if k % 2 else np.float32))
        for k, (label, case) in enumerate(chosen)
    ]
    assert wrong_in(parts) == []
