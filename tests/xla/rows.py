"""Every row of the table through XLA, beside its kernel; run in a process of its own."""

from __future__ import annotations

import json
import sys
from typing import Any

import jax
import numpy as np

import autograd_engine.compiler.xla.operators  # noqa: F401 - with all rows
from autograd_engine.compiler.xla.rows import ROWS
from autograd_engine.compiler.xla.run import Run, XlaUnavailable
from autograd_engine.core.dtypes import bfloat16
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from tests.compiler.helpers.native_batches import TOLERANCE, difference
from tests.registry.samples import SAMPLES
from tests.registry.sampling import Sample

Call = tuple[str, tuple[Any, ...], dict[str, Any], list[Any]]


def tried(op: OpDef) -> list[Sample]:
    """The samples of a row that may be lowered differently.

    Nothing in a step lies in steps in memory; and of what is computed element by element one shape
    is as good as another.
    """
    found: dict[str, Sample] = {}
    for sample in SAMPLES.get(op.name, ()):
        spread = op.tangent == "elementwise" and len({a.shape for a in sample.operands}) < 2
        key = [sample.attrs, [a.dtype for a in sample.operands]] if spread else sample.label
        if "strided" not in sample.label:
            found.setdefault(str(key), sample)
    return list(found.values())


def calls_of(op: OpDef, dtype: Any) -> list[Call]:
    """The samples of a row, each with what its kernel makes of it."""
    found: list[Call] = []
    for sample in tried(op):
        attrs, operands = op.complete_attrs(sample.attrs), sample.cast(dtype)
        with np.errstate(all="ignore"):
            made = op.kernel(*operands, **attrs)
        expected = [np.array(a) for a in (made if op.multiple else (made,))]
        found.append((f"{op.name}-{sample.label}", operands, attrs, expected))
    return found


def first_of_each(op: OpDef, dtype: Any) -> list[Call]:
    return calls_of(op, dtype)[:1]


WITH_OTHER_WAYS = frozenset(
    ("activation", "attention", "like", "loss", "normalization", "order", "pool", "reduction")
) | {"recurrent", "resample", "scan", "sequence", "update"}


def large(op: OpDef, dtype: Any) -> list[Call]:
    """A sample of a row made long, and one made wide: kernels have other ways for such arrays."""
    found: list[Call] = []
    if op.module not in WITH_OTHER_WAYS or op.name == "gate_slopes":  # whose sizes say one another
        return found
    for axis, least in ((0, 1 << 14), (-1, 1 << 8)):
        for sample in SAMPLES.get(op.name, ()):
            call = larger(op, sample, dtype, axis, least)
            if call is not None:
                found.append(call)
                break
    return found


def larger(op: OpDef, sample: Sample, dtype: Any, axis: int, least: int) -> Call | None:
    """A sample with some operands repeated along an axis; None where that is none."""
    attrs, operands = op.complete_attrs(sample.attrs), sample.cast(dtype)
    if not (operands and operands[0].ndim and operands[0].size):
        return None
    size = operands[0].size if axis == 0 else operands[0].shape[-1]
    times = -(-least // size)
    alike = [a.ndim and a.shape[axis] == operands[0].shape[axis] for a in operands]
    for chosen in (alike, [k == 0 for k in range(len(operands))]):
        given = tuple(
            np.concatenate([a] * times, axis) if c else a
            for a, c in zip(operands, chosen, strict=True)
        )
        try:
            specs = op.infer_tuple([Spec(a.shape, a.dtype) for a in given], attrs)
            with np.errstate(all="ignore"):
                made = op.kernel(*given, **attrs)
        except Exception:  # of sizes that do not fit
            continue
        expected = [np.array(a) for a in (made if op.multiple else (made,))]
        if any(np.any(np.abs(a) > 1e30) for a in expected if a.dtype == dtype):
            continue  # near where numbers end, the order of a sum decides
        if [a.shape for a in expected] == [s.shape for s in specs] and len(expected) < 10:
            return f"{op.name}-{sample.label}-by-{times}", given, attrs, expected
    return None


def sweep(
    names: list[str], dtype: Any, together: int = 24, calls_of: Any = calls_of
) -> dict[str, Any]:
    """How each row is lowered, and what differs; samples of so many rows are one function."""
    ways: dict[str, set[str]] = {}
    wrong: list[str] = []
    chosen = [REGISTRY[n] for n in names if n in SAMPLES]
    chosen = [op for op in chosen if not (op.random or op.effect)]
    for k in range(0, len(chosen), together):
        calls = [(op, call) for op in chosen[k : k + together] for call in calls_of(op, dtype)]

        def every(given: Any, calls: list[tuple[OpDef, Call]] = calls) -> Any:
            made: list[Any] = []
            for (op, (_, _, attrs, _)), operands in zip(calls, given, strict=True):
                run, found = Run(), ways.setdefault(op.name, set())
                try:
                    results = run.call(op, operands, attrs)
                except XlaUnavailable:
                    found.add("refused")
                    made.append(None)
                else:
                    found.update(one.way for one in run.lowered)
                    made.append((list(results), run.flags))
            return made

        with jax.enable_x64(True):
            given = [operands for _, (_, operands, _, _) in calls]
            results = jax.device_get(jax.jit(every)(given))
        for (op, (label, _, _, expected)), result in zip(calls, results, strict=True):
            if result is None:
                continue
            arrays, flags = result
            texts = []
            for at, pair in enumerate(zip(map(np.asarray, arrays), expected, strict=True)):
                found, wanted = map(directed, pair) if (op.name, at) in DIRECTIONS else pair
                texts.append(apart(found, wanted, LEAST.get(op.name, 0.0)))
            if not all(flags):
                texts.append("it is said to be out of range")
            wrong += [f"{label}: {text}" for text in texts if text]
    return {"ways": {n: sorted(w) for n, w in ways.items()}, "wrong": wrong}


def apart(found: Any, wanted: Any, beside: float) -> str:
    if bfloat16() not in (found.dtype, wanted.dtype):
        return difference(found, wanted, 10, beside)
    if found.dtype != wanted.dtype:
        return f"dtype {found.dtype} for {wanted.dtype}"
    # Of which NumPy does not know that it is a float.
    as_known = (a.astype(np.float32) for a in (found, wanted))
    return difference(*as_known, 2.0**-6 / TOLERANCE["f"], beside)


def directed(vectors: Any) -> Any:
    """Columns, known but for a factor of absolute value 1, with the largest element real."""
    if not vectors.size:
        return vectors
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(-2, keepdims=True), -2)
    return vectors * (np.abs(largest) / largest)


# Results of which only the direction is known.
DIRECTIONS = frozenset([("eig", 1)])

# Where results are small beside what they are the difference of.
LEAST = {"logistic_loss": 1e-12}


def accepted() -> list[str]:
    """What NumPy refuses, and a step does not."""
    x, ones, far = np.arange(6.0).reshape(2, 3), np.ones((2, 2)), np.array([0, 5])
    refused: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("index", (x, far), {"key": ("index",)}),
        ("setitem", (x, np.array(1.0), far), {"key": ("index",)}),
        ("gather", (x, far), {"axis": 0}),
        ("take_tied", (x, np.array([[0], [7]])), {"axis": 1}),
        ("floor_divide", (np.array([1, 2]), np.array([1, 0])), {}),
        ("inv", (ones,), {}),
        ("eigh", (ones * np.nan,), {}),
        ("gather_tree", (np.zeros((2, 1, 2), int), np.full((2, 1, 2), 2)), {}),
        ("exchange_rows", (ones, np.array([1, 3])), {}),
    ]
    found = []
    for name, operands, attrs in refused:
        op = REGISTRY[name]
        run = Run()
        with jax.enable_x64(True):
            run.call(op, [jax.numpy.asarray(a) for a in operands], op.complete_attrs(attrs))
            back = any(one.way == "called back" for one in run.lowered)
            if back or all(bool(f) for f in run.flags):
                found.append(name)
    return found


def elsewhere() -> list[str]:
    """Rows that do not lie in the family of their operation."""
    return [n for n, r in ROWS.items() if r.__module__.rpartition(".")[2] != REGISTRY[n].module]


if __name__ == "__main__":
    names, wide = list(REGISTRY), np.dtype(np.float32)
    made = {"large": lambda: sweep(names, wide, calls_of=large), "all": lambda: sweep(names, wide)}
    made["float16"] = lambda: sweep(names, np.dtype(np.float16), calls_of=first_of_each)
    # What a kernel computes in float32 is the same for both.
    own = [n for n in names if REGISTRY[n].halves == "as they are" or n in ROWS]
    made["bfloat16"] = lambda: sweep(own, bfloat16(), calls_of=first_of_each)
    print(json.dumps({"elsewhere": elsewhere(), **made[sys.argv[1]](), "accepted": accepted()}))
