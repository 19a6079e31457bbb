"""A stand-in for NumPy whose functions write steps instead of computing.

The kernels of most operations are NumPy expressions. Run once more with this module in the place of
NumPy and `Traced` in the place of arrays, they say what loops they are, and nothing of them is
written a second time. What a kernel does that has no counterpart here raises `NotLowered`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import FunctionType
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autograd_engine.compiler.native.c_code import scalars
from autograd_engine.compiler.native.tracing.step_writer import NATIVE_DTYPES, StepWriter
from autograd_engine.compiler.native.tracing.traced_value import NotLowered, Traced
from autograd_engine.ops.kernels.elementwise import ufunc_of
from autograd_engine.ops.registry.stand_ins import run_on

__all__ = [
    "NATIVE_DTYPES",
    "ROWS",
    "Loops",
    "NotLowered",
    "Traced",
    "lowers",
    "traced_kernel",
]

Row = Callable[..., Any]

ROWS: Final[dict[str, Row]] = {}


def lowers(*names: str) -> Callable[[Row], Row]:
    """Register how operations are lowered: ``row(np, *operands, **attrs)``.

    Operands are `Traced`, or Specs where only shape and dtype are asked for; `np` is a `Loops`. It
    returns what the kernel returns, or raises `NotLowered`.
    """

    def register(row: Row) -> Row:
        ROWS.update(dict.fromkeys(names, row))
        return row

    return register


class _Ufunc:
    """``np.add``, with ``np.add.reduce``."""

    def __init__(self, loops: Loops, name: str) -> None:
        self.loops = loops
        self.name = name

    def __call__(self, *operands: Any, **options: Any) -> Traced:
        dtype = options.pop("dtype", None)
        if options:
            raise NotLowered(f"its kernel gives {self.name} {', '.join(options)}")
        out = self.loops.map(self.name, *operands)
        return out if dtype is None else self.loops.cast(out, np.dtype(dtype))

    def reduce(
        self,
        x: Traced,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
    ) -> Traced:
        kind = _REDUCTIONS.get(self.name)
        if kind is None:
            raise NotLowered(f"it reduces by {self.name}")
        if dtype is not None:
            x = self.loops.cast(x, np.dtype(dtype))
        return self.loops.reduce(kind, x, axis, keepdims)


_REDUCTIONS: Final = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}


class Loops(StepWriter):
    """The program that is being written, and NumPy's functions on it."""

    newaxis = None
    dtype = np.dtype
    inf = math.inf
    nan = math.nan
    pi = math.pi

    def __getattr__(self, name: str) -> Any:
        if name in scalars.SCALARS:
            return _Ufunc(self, name)
        if name in _AS_THEY_ARE:
            return getattr(np, name)
        raise NotLowered(f"its kernel calls numpy.{name}")

    # --- NumPy's functions that are no ufuncs

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        x = self.operand(x, None if dtype is None else np.dtype(dtype))
        return x if dtype is None else self.cast(x, np.dtype(dtype))

    array = ascontiguousarray = asarray

    def zeros_like(self, x: Traced) -> Traced:
        return self.number(0, x.dtype, x.shape)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Traced:
        return self.number(0, dtype, shape)

    def ones(self, shape: Any, dtype: Any = np.float64) -> Traced:
        return self.number(1, dtype, shape)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Traced:
        return self.broadcast_to(self.asarray(value, dtype), shape)

    def abs(self, x: Any) -> Traced:
        return self.map("absolute", x)

    def copy(self, x: Traced) -> Traced:
        return x

    def where(self, condition: Any, x: Any, y: Any) -> Traced:
        common = self.meeting((x, y))
        typed = [self.cast(self.operand(v, common), common) for v in (x, y)]
        condition = self.operand(condition)
        if condition.dtype.kind != "b":
            condition = self.map("not_equal", condition, 0)
        if condition.term.buffer is None:
            chosen = typed[0 if condition.term.number else 1]
            shape = np.broadcast_shapes(condition.shape, *[v.shape for v in typed])
            return Traced(self, chosen.term.broadcast(shape))
        return self.mapped("where", [condition, *typed], common)

    def clip(self, x: Any, low: Any, high: Any) -> Traced:
        return self.map("minimum", self.map("maximum", x, low), high)

    def expand_dims(self, x: Traced, axis: Any) -> Traced:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        return Traced(self, x.term.expanded(normalize_axis_tuple(axes, x.ndim + len(axes))))

    def squeeze(self, x: Traced, axis: Any = None) -> Traced:
        if axis is None:
            axis = tuple(k for k, d in enumerate(x.shape) if d == 1)
        drop = normalize_axis_tuple(axis, x.ndim)
        return Traced(self, x.term.transposed([k for k in range(x.ndim) if k not in drop]))

    def broadcast_to(self, x: Any, shape: Any) -> Traced:
        return Traced(self, self.operand(x).term.broadcast(tuple(shape)))

    def reshape(self, x: Traced, shape: Any) -> Traced:
        return x.reshape(shape)

    def transpose(self, x: Traced, axes: Any) -> Traced:
        return x.transpose(tuple(axes))

    def moveaxis(self, x: Traced, source: int, target: int) -> Traced:
        order = [k for k in range(x.ndim) if k != source % x.ndim]
        order.insert(target % x.ndim, source % x.ndim)
        return x.transpose(tuple(order))

    def flip(self, x: Traced, axis: Any) -> Traced:
        for a in normalize_axis_tuple(axis, x.ndim):
            size = x.shape[a]
            x = Traced(self, x.term.sliced(a, size - 1, size, -1)) if size else x
        return x

    def concatenate(self, xs: Sequence[Traced], axis: int = 0) -> Traced:
        xs = [self.operand(x) for x in xs]
        dtype = self.meeting(xs)
        axis %= xs[0].ndim
        shape = list(xs[0].shape)
        shape[axis] = sum(x.shape[axis] for x in xs)
        parts, start = [], 0
        for x in xs:
            key = (slice(None),) * axis + (slice(start, start + x.shape[axis]),)
            parts.append((self.cast(x, dtype), operator.itemgetter(key)))
            start += x.shape[axis]
        return self.assembled(tuple(shape), dtype, parts)

    def stack(self, xs: Sequence[Traced], axis: int = 0) -> Traced:
        return self.concatenate([self.expand_dims(self.operand(x), axis) for x in xs], axis)

    def split(self, x: Traced, stops: Any, axis: int = 0) -> list[Traced]:
        edges = [0, *(int(s) for s in stops), x.shape[axis]]
        lead = (slice(None),) * (axis % x.ndim)
        return [x[(*lead, slice(a, b))] for a, b in pairwise(edges)]


_AS_THEY_ARE: Final = frozenset(
    {
        "errstate", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
        "uint64", "bool_", "dtype", "finfo", "iinfo", "cumsum", "broadcast_shapes", "integer",
        "floating", "result_type", "ndarray", "generic", "lib",
    }
)  # fmt: skip


def traced_kernel(kernel: Callable[..., Any], loops: Loops) -> Callable[..., Any]:
    """`kernel` with `loops` in the place of NumPy, and the functions that it calls likewise."""
    ufunc = ufunc_of(kernel)
    if ufunc is not None:
        return lambda *operands: loops.map(ufunc.__name__, *operands)
    if not isinstance(kernel, FunctionType):
        return kernel  # an operator
    known = loops.kernels.get(kernel)
    if known is not None:
        return known

    def stand_in(value: Any) -> Any:
        found = ufunc_of(value)
        assert found is not None
        return getattr(loops, found.__name__) if found.__name__ in scalars.SCALARS else value

    clone: Callable[..., Any] = run_on(kernel, loops, stand_in)
    loops.kernels[kernel] = clone
    return clone
