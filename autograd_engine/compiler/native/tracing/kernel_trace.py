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
from autograd_engine.compiler.native.ir import (
    Assemble,
    Buffer,
    Check,
    Kernel,
    Map,
    Product,
    Reduce,
    Step,
    Term,
    term_of,
)
from autograd_engine.compiler.native.tracing.traced_value import NotLowered, Traced
from autograd_engine.core.dtypes import (
    BOOLS,
    EXACT,
    FLOAT32,
    FLOATS,
    HALVES,
    UNSIGNED,
    result_type,
)
from autograd_engine.core.spec import reduced_shape
from autograd_engine.ops.kernels.elementwise import ufunc_of
from autograd_engine.ops.registry.stand_ins import run_on

__all__ = [
    "ROWS",
    "Loops",
    "NotLowered",
    "Traced",
    "lowers",
    "traced_kernel",
]


Shape = tuple[int, ...]
Dtype = np.dtype[Any]


class StepWriter:
    """The program that is being written.

    Attributes
    ----------
    steps : list of Step
    blas : bool
        Whether matrices are multiplied here.
    origin : object
        The node of the graph that steps come from.
    results : list of Spec
        What it is to make: in float32, where that is what it computes in.
    guards : dict of int to list of Step
        By the number of a buffer: the checks that must run before what it holds are indices.
    checked : dict
        What checks have found in order, by what they look at.
    ranges : dict of int to (int, int)
        By the number of a buffer: from which number, and below which, its integers are.
    held : dict of int to dtype
        By the number of a buffer of float32: floats of 16 bits that its values are all among, so
        that nothing is left to round.
    quiet : set of int
        Numbers of buffers of float32 that arithmetic made of such: their NaN end in zeros.
    values : dict of int to Traced
        Values of the graph, by identity.
    kernels : dict
        Kernels that were made to run on stand-ins, by themselves.
    """

    def __init__(self, blas: bool = True) -> None:
        self.blas = blas
        self.steps: list[Step] = []
        self.buffers = 0
        self.origin: Any = None
        self.results: list[Any] = []
        self.guards: dict[int, list[Step]] = {}
        self.checked: dict[Any, Traced] = {}
        self.ranges: dict[int, tuple[int, int]] = {}
        self.held: dict[int, Dtype] = {}
        self.quiet: set[int] = set()
        self.values: dict[int, Traced] = {}
        self.kernels: dict[Callable[..., Any], Callable[..., Any]] = {}

    # --- steps

    def buffer(self, shape: Shape, dtype: Any) -> Buffer:
        self.buffers += 1
        return Buffer(tuple(shape), np.dtype(dtype), self.buffers)

    def all_of(self, buffer: Buffer) -> Traced:
        return Traced(self, term_of(buffer))

    def add(self, step: Step) -> Step:
        self.steps.append(step)
        return step

    def number(self, value: Any, dtype: Any, shape: Any = ()) -> Traced:
        """An array whose elements all have one value."""
        dtype = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        number = np.asarray(value).astype(dtype) if dtype in HALVES else dtype.type(value)
        return Traced(self, Term(None, shape, (0,) * len(shape), number=number.item(), dtype=dtype))

    def operand(self, value: Any, dtype: Dtype | None = None) -> Traced:
        """Anything that a kernel computes with, in `dtype` where it is a Python number."""
        if isinstance(value, Traced):
            return value
        if isinstance(value, (np.ndarray, np.generic)):
            if value.ndim == 0:
                return self.number(value.item(), value.dtype)
            buffer = self.buffer(value.shape, value.dtype)
            buffer.constant = np.ascontiguousarray(value)
            return self.all_of(buffer)
        return self.number(value, dtype if dtype is not None else np.asarray(value).dtype)

    def meeting(self, operands: Sequence[Any]) -> Dtype:
        """The dtype of NumPy's result: Python numbers are weak."""
        return result_type(
            *[v.dtype if isinstance(v, (Traced, np.ndarray, np.generic)) else v for v in operands]
        )

    def map(self, function: str, *operands: Any) -> Traced:
        """A scalar function of corresponding elements."""
        scalar = scalars.SCALARS.get(function)
        if scalar is None:
            raise NotLowered(f"it applies {function}")
        if not any(isinstance(v, Traced) for v in operands):
            return self.operand(getattr(np, function)(*operands))
        common = self.meeting(operands)
        if function in ("isinf", "isfinite") and common not in FLOATS:
            return self.number(function == "isfinite", bool, operands[0].shape)
        typed = [self.operand(v, common) for v in operands]
        if common in HALVES:
            if function in _OF_BITS:
                raise NotLowered(f"{function} of {common.name} is NumPy's")
            out = self.map(function, *[self.cast(v, FLOAT32) for v in typed])
            return out if scalar.boolean else self.cast(out, common)
        if scalar.same_dtype:
            if scalar.floating and common not in FLOATS:
                common = np.dtype(np.float64)
            typed = [self.cast(v, common) for v in typed]
        dtype = np.dtype(np.bool_) if scalar.boolean else common
        if not scalars.runs_in_c(dtype):
            raise NotLowered(f"{dtype.name} is left to NumPy")
        if all(v.term.buffer is None for v in typed) and not hasattr(np, function):
            typed[0] = self.copied(typed[0])
        if all(v.term.buffer is None for v in typed):
            with np.errstate(all="ignore"):
                values = [v.dtype.type(v.term.number) for v in typed]
                shape = np.broadcast_shapes(*[v.shape for v in typed])
                return self.number(getattr(np, function)(*values), dtype, shape)
        return self.mapped(function, typed, dtype)

    def mapped(
        self, function: str, operands: Sequence[Traced], dtype: Dtype, axis: int = 0
    ) -> Traced:
        shape = np.broadcast_shapes(*[v.shape for v in operands])
        out = self.buffer(shape, dtype)
        if dtype == FLOAT32:
            self._note_halves(function, operands, out)
        args = tuple(v.term.broadcast(shape) for v in operands)
        step = self.add(Map(function, args, out, self.origin, axis))
        if guards := self.guards_of(operands):
            self.guards[out.number] = guards
            step.after += guards
        return self.all_of(out)

    def cast(self, value: Any, dtype: Dtype) -> Traced:
        x = self.operand(value, dtype)
        if x.dtype == dtype:
            return x
        if not scalars.runs_in_c(dtype):
            raise NotLowered(f"{dtype.name} is left to NumPy")
        if x.term.buffer is None:
            with np.errstate(all="ignore"):
                number = np.asarray(x.term.number, x.dtype).astype(dtype)
                return self.number(number, dtype, x.shape)
        if x.dtype in HALVES and dtype == FLOAT32:
            return Traced(self, x.term.taken_in(dtype))
        if dtype in HALVES and self._held(x, dtype):
            return self.mapped("copy", [x], dtype)
        quiet = dtype in HALVES and x.dtype == FLOAT32 and self._is_quiet(x)
        return self.mapped("nearest" if quiet else "cast", [x], dtype)

    def _note_halves(self, function: str, operands: Sequence[Traced], out: Buffer) -> None:
        """Note what is known of a float32 that is computed of floats of 16 bits."""
        values = operands[1:] if function == "where" else operands
        if function in _SELECTS:
            for half in {h for v in values if (h := self._half_of(v)) is not None}:
                if all(self._held(v, half) for v in values):
                    self.held[out.number] = half
        keeps = function in _SELECTS or function in _ARITHMETIC
        if keeps and all(map(self._is_quiet, values)):
            self.quiet.add(out.number)

    def _is_quiet(self, x: Traced) -> bool:
        return self._half_of(x) is not None or (
            x.term.buffer is None or x.term.buffer.number in self.quiet
        )

    def _half_of(self, x: Traced) -> Dtype | None:
        """A dtype of 16 bits that holds all values of `x`, if one is known."""
        buffer = x.term.buffer
        if buffer is None:
            return None
        return buffer.dtype if buffer.dtype in HALVES else self.held.get(buffer.number)

    def _held(self, x: Traced, half: Dtype) -> bool:
        """Whether values of `x` are known to be some of this dtype of 16 bits."""
        if x.term.buffer is None:
            with np.errstate(all="ignore"):
                number = float(x.term.number)
                return number != number or float(np.asarray(number).astype(half)) == number
        return self._half_of(x) == half

    def copied(self, x: Traced) -> Traced:
        """The same elements in C order, in memory of their own."""
        return self.mapped("copy", [x], x.dtype)

    def stored(self, x: Traced) -> Traced:
        """With elements that are in memory in their dtype."""
        return self.copied(x) if x.term.converted else x

    def packed(self, x: Traced) -> Traced:
        return x if x.term.contiguous and not x.term.converted else self.copied(x)

    def position(self, shape: Shape, axis: int) -> Traced:
        """The index of each element along an axis."""
        out = self.buffer(shape, np.int64)
        self.add(Map("position", (), out, self.origin, axis % len(shape)))
        return self.all_of(out)

    def gathered(self, table: Traced, index: Traced, axis: int, shape: Shape) -> Traced:
        """``table`` at `index` along `axis`; both broadcast to `shape`, but for that axis."""
        seen = list(shape)
        seen[axis] = table.shape[axis]
        return self._looked_up(
            table.term.broadcast(tuple(seen)), index.term.broadcast(shape), axis, index
        )

    def elements(
        self,
        x: Traced,
        shape: Shape,
        strides: Shape,
        at: Traced,
        *,
        unit: int = 1,
        offset: int = 0,
    ) -> Traced:
        """Elements of the memory of `x`: `strides` along `shape`, and `unit` times `at`.

        Parameters
        ----------
        at : Traced
            Broadcasts to `shape`.
        offset : int
            Where the first of them is, counted from the first element of `x`.
        """
        whole = (1, *shape)
        table = x.term.seen(whole, (unit, *strides), offset)
        return self._looked_up(table, at.term.broadcast(shape).expanded([0]), 0, at)[0]

    def _looked_up(self, table: Term, at: Term, axis: int, index: Traced) -> Traced:
        """`table` at places along `axis`, which are those of `index`."""
        out = self.buffer(at.shape, table.dtype)
        step = self.add(Map("gather", (table, at), out, self.origin, axis))
        step.after += self.guards_of([index])
        return self.all_of(out)

    def guards_of(self, operands: Sequence[Traced]) -> list[Step]:
        """The checks that must have run before these are indices."""
        found: dict[int, Step] = {}
        for v in operands:
            buffer = v.term.buffer
            for step in self.guards.get(buffer.number, ()) if buffer is not None else ():
                found[id(step)] = step
        return list(found.values())

    def reduce(self, kind: str, x: Traced, axis: Any, keepdims: bool = False) -> Traced:
        axis = range(x.ndim) if axis is None else axis
        axes = tuple(sorted(normalize_axis_tuple(axis, x.ndim)))
        if x.dtype in HALVES:
            found = self.reduce(kind, self.cast(x, FLOAT32), axes, keepdims)
            return found if found.dtype in BOOLS else self.cast(found, x.dtype)
        if kind in ("any", "all"):
            x = self.map("not_equal", x, 0) if x.dtype not in BOOLS else x
        elif x.dtype in EXACT and kind in ("sum", "prod"):
            wide = np.uint64 if x.dtype in UNSIGNED else np.int64
            x = self.cast(x, np.dtype(wide))
        kept = tuple(d for k, d in enumerate(x.shape) if k not in axes)
        if any(x.shape[a] == 0 for a in axes):
            if kind in ("max", "min"):
                raise NotLowered("it reduces nothing")
            shape = reduced_shape(x.shape, axes, keepdims)
            return self.number(kind in ("prod", "all"), x.dtype, shape)
        if x.term.buffer is None:
            x = self.copied(x)
        if all(x.shape[a] == 1 for a in axes):
            result = Traced(self, x.term.transposed([k for k in range(x.ndim) if k not in axes]))
        else:
            out = self.buffer(kept, x.dtype)
            self.add(Reduce(kind, x.term, axes, out, self.origin))
            result = self.all_of(out)
        return Traced(self, result.term.expanded(axes)) if keepdims else result

    def sum(self, x: Traced, axis: Any = None, keepdims: bool = False) -> Traced:
        return self.reduce("sum", x, axis, keepdims)

    def matmul(self, a: Traced, b: Traced) -> Traced:
        """Of matrices, and stacks of them."""
        dtype = self.meeting((a, b))
        if dtype in HALVES:
            return self.cast(self.matmul(self.cast(a, FLOAT32), self.cast(b, FLOAT32)), dtype)
        if dtype not in FLOATS or a.ndim < 2 or b.ndim < 2:
            raise NotLowered("BLAS multiplies matrices of float32 or float64")
        if not self.blas:
            raise NotLowered("NumPy ships no BLAS that C could call")
        a, b = self._matrix(self.cast(a, dtype)), self._matrix(self.cast(b, dtype))
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        shape = (*lead, a.shape[-2], b.shape[-1])
        if b.ndim == 2 and a.ndim > 2:  # one product of more rows
            rows = a.term.reshaped((math.prod(a.shape[:-1]), a.shape[-1]))
            if rows is not None and rows.matrix() is not None:
                flat = self.matmul(Traced(self, rows), b)
                return flat.reshape(shape)
        out = self.buffer(shape, dtype)
        self.add(
            Product(
                a.term.broadcast((*lead, *a.shape[-2:])),
                b.term.broadcast((*lead, *b.shape[-2:])),
                out,
                self.origin,
            )
        )
        return self.all_of(out)

    def _matrix(self, x: Traced) -> Traced:
        if x.term.matrix() is not None:
            return x
        return self.copied(x)

    def assembled(
        self,
        shape: Shape,
        dtype: Any,
        parts: Sequence[tuple[Traced, Callable[[Traced], Traced]]],
        fill: Any = 0,
        adds: bool = False,
    ) -> Traced:
        """An array that is `fill` but for parts; each comes with what selects its region."""
        if adds and dtype in HALVES:
            return self.cast(self.assembled(shape, FLOAT32, parts, fill, adds), np.dtype(dtype))
        out = self.buffer(shape, dtype)
        whole = self.all_of(out)
        regions = [(self.cast(p, np.dtype(dtype)), select(whole)) for p, select in parts]
        if adds:
            regions = [(self.stored(p), r) for p, r in regions]
        step = Assemble(
            [(p.term.broadcast(r.shape), r.term) for p, r in regions if r.size],
            out,
            self.origin,
            fill=fill,
            adds=adds,
        )
        self.add(step)
        return whole

    def kernel(
        self,
        text: str,
        operands: Sequence[Traced],
        results: Sequence[tuple[Shape, Any]],
        scratch: int = 0,
        helpers: tuple[str, ...] = (),
        inplace: dict[int, int] | None = None,
    ) -> tuple[Traced, ...]:
        """C text of its own; see `ir.Kernel`."""
        outs = [self.buffer(shape, dtype) for shape, dtype in results]
        args = tuple(self.packed(x).term for x in operands)
        step = Kernel(text, args, outs, self.origin, scratch, helpers)
        step.inplace = inplace or {}
        step.after += self.guards_of(operands)
        self.add(step)
        return tuple(map(self.all_of, outs))

    def check(self, text: str, operand: Traced) -> Traced:
        """`operand`, which is read only after `text` has found it in order."""
        packed = self.packed(operand)
        term = packed.term
        assert term.buffer is not None
        key = (text, term.buffer.number, term.offset, term.shape)
        seen = self.checked.get(key)
        if seen is None:
            step = self.add(Check(text, (term,), [], self.origin))
            seen = self.checked[key] = self.copied(packed)
            assert seen.term.buffer is not None
            self.guards[seen.term.buffer.number] = [step]
            self.steps[-1].after.append(step)
        return seen

    def in_range(self, x: Traced, low: int, high: int) -> Traced:
        """`x`, which is known to hold integers from `low` to below `high`."""
        if x.term.buffer is not None:
            self.ranges[x.term.buffer.number] = (low, high)
        return x


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


# What returns one of its operands, or a number with fewer digits.
_SELECTS: Final = frozenset(
    (
        "copy", "where", "maximum", "minimum", "fmax", "fmin", "absolute", "fabs", "negative",
        "copysign", "sign", "floor", "ceil", "trunc", "rint",
    )
)  # fmt: skip
# What processors do themselves: of NaN they return NaN with the same digits.
_ARITHMETIC: Final = frozenset(
    ("add", "subtract", "multiply", "divide", "true_divide", "square", "reciprocal", "sqrt")
)
# What depends on how numbers lie, which rounding to fewer bits does not give.
_OF_BITS: Final = frozenset(("nextafter", "product_error"))


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
        if condition.dtype not in BOOLS:
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
