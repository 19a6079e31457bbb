"""Many operations in one graph, so that one compilation covers them all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.compiler.concrete_graph import Graph, NotConcrete, Value
from autograd_engine.compiler.native import NativeFunction, compile_native
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import OpDef

Array = NDArray[Any]

ALL = bool(os.environ.get("AUTOGRAD_ENGINE_TEST_ALL"))
"""Whether everything is tried that otherwise a part is picked from."""

TOLERANCE = {"f": 1e-5, "d": 1e-12}


@dataclass
class Call:
    """An operation on arrays, with what it is called."""

    op: OpDef
    operands: Sequence[Array]
    attrs: dict[str, Any]
    label: str
    expected: list[Array] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)


class Batch:
    """Calls in one graph."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.arrays: list[Array] = []
        self.calls: list[Call] = []

    def input(self, array: Array) -> Value:
        self.arrays.append(array)
        return self.graph.input(Spec(array.shape, array.dtype))

    def add(self, call: Call) -> bool:
        """Whether its sizes are known, so that it is in."""
        op = call.op
        with np.errstate(all="ignore"):
            made = op.kernel(*call.operands, **call.attrs)
        call.expected = [np.array(a) for a in (made if op.multiple else (made,))]
        count = len(self.arrays)
        values = [
            self.input(a) if op.reads_value(k) else Spec(a.shape, a.dtype)
            for k, a in enumerate(call.operands)
        ]
        try:
            results = self.graph.call(op, values, call.attrs)
        except NotConcrete:
            del self.arrays[count:], self.graph.inputs[count:]
            return False
        call.outputs = list(range(len(self.graph.outputs), len(self.graph.outputs) + len(results)))
        self.graph.outputs += results
        self.calls.append(call)
        return True

    def compiled(self) -> NativeFunction:
        return compile_native(self.graph)

    def wrong(self, function: NativeFunction) -> list[str]:
        """What the calls return that is not what their kernels do."""
        got = function(*self.arrays)
        found = []
        for call in self.calls:
            for k, expected in zip(call.outputs, call.expected, strict=True):
                text = difference(got[k], expected)
                if text:
                    found.append(f"{call.label}: {text}")
        return found


def batched(calls: Iterable[Call], size: int) -> list[Batch]:
    """Batches of calls, which a run reads alone."""
    batches = [Batch()]
    for call in calls:
        if len(batches[-1].calls) == size:
            batches.append(Batch())
        batches[-1].add(call)
    return batches


def difference(actual: Array, expected: Array, scale: float = 1.0, beside: float = 0.0) -> str:
    """How two arrays differ by more than rounding; empty where they do not.

    Elements are compared beside the largest of the array, for they may be sums of terms as large,
    and beside the size of what they were computed from.
    """
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype} for {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {actual.shape} for {expected.shape}"
    if expected.dtype.kind == "c":
        actual, expected = (np.stack([a.real, a.imag]) for a in (actual, expected))
    if expected.dtype.kind != "f":
        equal = np.array_equal(actual, expected)
        return "" if equal else f"{actual.ravel()[:6]} for {expected.ravel()[:6]}"
    with np.errstate(all="ignore"):
        finite = np.isfinite(expected)
        same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        if not np.all(same | finite):
            bad = np.flatnonzero(~(same | finite))[:4]
            return f"{actual.ravel()[bad]} for {expected.ravel()[bad]}"
        largest = np.max(np.abs(expected[finite]), initial=beside)
        error = np.abs(actual[finite].astype(np.float64) - expected[finite])
        limit = TOLERANCE.get(expected.dtype.char, 1e-2) * scale
        if not np.all(error <= limit * max(float(largest), float(np.finfo(expected.dtype).tiny))):
            worst = int(np.nanargmax(np.where(np.isnan(error), np.inf, error)))
            return (
                f"{actual[finite].ravel()[worst]!r} for {expected[finite].ravel()[worst]!r}, "
                f"beside {largest!r}"
            )
    return ""
