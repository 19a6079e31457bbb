"""A stand-in for NumPy whose functions write steps instead of computing.

The kernels of most operations are NumPy expressions. Run once more with this module in the place of
NumPy and `Traced` in the place of arrays, they say what loops they are, and nothing of them is
written a second time. What a kernel does that has no counterpart here raises `NotLowered`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CellType, FunctionType
from typing import Any, Final

import numpy as np

from autograd_engine.codegen.native import scalars
from autograd_engine.codegen.native.ir import (
    Assemble,
    Buffer,
    Check,
    Kernel,
    Map,
    Product,
    Reduce,
    Step,
    Term,
    contiguous_strides,
)

__all__ = ["NATIVE_DTYPES", "Loops", "NotLowered", "Traced", "traced_kernel"]

Shape = tuple[int, ...]
Dtype = np.dtype[Any]

NATIVE_DTYPES: Final = frozenset("fd?bBhHiIlLqQ")


class NotLowered(Exception):
    """Why an operation is left to NumPy."""


class Traced:
    """What a kernel takes for an ndarray: a term of the program that is being written."""

    __slots__ = ("loops", "term")
    __array_ufunc__ = None  # ndarrays leave operators to us

    def __init__(self, loops: Loops, term: Term) -> None:
        self.loops = loops
        self.term = term

    def __repr__(self) -> str:
        return f"Traced({self.term!r})"

    @property
    def shape(self) -> Shape:
        return self.term.shape

    @property
    def dtype(self) -> Dtype:
        return self.term.dtype

    @property
    def ndim(self) -> int:
        return len(self.term.shape)

    @property
    def size(self) -> int:
        return self.term.size

    @property
    def T(self) -> Traced:
        return self.transpose(tuple(reversed(range(self.ndim))))

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise NotLowered("its kernel looks at values")

    __int__ = __float__ = __index__ = __iter__ = __bool__  # type: ignore[assignment]

    def _as(self, term: Term) -> Traced:
        return Traced(self.loops, term)

    # --- movements

    def reshape(self, *shape: Any) -> Traced:
        if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = tuple(shape[0])
        sizes = [int(d) for d in shape]
        if -1 in sizes:
            rest = math.prod(d for d in sizes if d != -1)
            sizes[sizes.index(-1)] = self.size // rest if rest else 0
        if math.prod(sizes) != self.size:
            raise NotLowered("the sizes do not fit")
        found = self.term.reshaped(tuple(sizes))
        if found is None:
            found = self.loops.copied(self).term.reshaped(tuple(sizes))
        assert found is not None
        return self._as(found)

    def ravel(self) -> Traced:
        return self.reshape(-1)

    def transpose(self, *perm: Any) -> Traced:
        if len(perm) == 1 and not isinstance(perm[0], int):
            perm = tuple(perm[0])
        return self._as(self.term.transposed([p % self.ndim for p in perm]))

    def swapaxes(self, a: int, b: int) -> Traced:
        perm = list(range(self.ndim))
        perm[a], perm[b] = perm[b], perm[a]
        return self._as(self.term.transposed(perm))

    def __getitem__(self, key: Any) -> Traced:
        entries = key if isinstance(key, tuple) else (key,)
        taken = sum(e is not None and e is not Ellipsis for e in entries)
        term, axis = self.term, 0
        for entry in entries:
            if entry is Ellipsis:
                axis += self.ndim - taken
            elif entry is None:
                term, axis = term.expanded([axis]), axis + 1
            elif isinstance(entry, slice):
                start, stop, step = entry.indices(term.shape[axis])
                count = len(range(start, stop, step))
                term, axis = term.sliced(axis, start if count else 0, count, step), axis + 1
            elif isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
                size = term.shape[axis]
                if not -size <= entry < size:
                    raise NotLowered("an index is out of range")
                term = term.dropped(axis, int(entry) % size)
            else:
                raise NotLowered("it is indexed by arrays")
        return self._as(term)

    def astype(self, dtype: Any, copy: bool = True) -> Traced:
        return self.loops.cast(self, np.dtype(dtype))

    def copy(self) -> Traced:
        return self

    def sum(self, axis: Any = None, keepdims: bool = False) -> Traced:
        return self.loops.reduce("sum", self, axis, keepdims)

    def item(self) -> Any:
        raise NotLowered("its kernel looks at values")


def _operator(name: str, reflected: bool = False) -> Callable[[Traced, Any], Any]:
    def call(self: Traced, other: Any) -> Any:
        if not isinstance(other, (Traced, int, float, bool, np.generic, np.ndarray)):
            return NotImplemented
        operands = (other, self) if reflected else (self, other)
        return self.loops.map(name, *operands)

    return call


_OPERATORS: Final = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
for _python, _name in _OPERATORS.items():
    setattr(Traced, f"__{_python}__", _operator(_name))
    setattr(Traced, f"__r{_python}__", _operator(_name, reflected=True))
for _python, _name in {
    "gt": "greater",
    "ge": "greater_equal",
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
}.items():
    setattr(Traced, f"__{_python}__", _operator(_name))
for _python, _name in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
    setattr(Traced, f"__{_python}__", lambda self, _n=_name: self.loops.map(_n, self))
setattr(Traced, "__matmul__", lambda self, other: self.loops.matmul(self, other))  # noqa: B010
setattr(Traced, "__hash__", object.__hash__)  # noqa: B010


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


class Loops:
    """The program that is being written, and NumPy's functions on it.

    Attributes
    ----------
    steps : list of Step
    origin : object
        The node of the graph that steps come from.
    """

    newaxis = None
    dtype = np.dtype
    inf = math.inf
    nan = math.nan
    pi = math.pi

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.buffers = 0
        self.origin: Any = None
        self.guards: dict[int, list[Step]] = {}  # by buffer: what says that it holds indices
        self.checked: dict[Any, Traced] = {}
        self.ranges: dict[int, tuple[int, int]] = {}  # by buffer: from, and below what, it lies
        self.values: dict[int, Traced] = {}  # of the graph, by identity

    def __getattr__(self, name: str) -> Any:
        if name in scalars.SCALARS:
            return _Ufunc(self, name)
        if name in _AS_THEY_ARE:
            return getattr(np, name)
        raise NotLowered(f"its kernel calls numpy.{name}")

    # --- steps

    def buffer(self, shape: Shape, dtype: Any) -> Buffer:
        self.buffers += 1
        return Buffer(tuple(shape), np.dtype(dtype), self.buffers)

    def all_of(self, buffer: Buffer) -> Traced:
        return Traced(self, Term(buffer, buffer.shape, contiguous_strides(buffer.shape)))

    def add(self, step: Step) -> Step:
        self.steps.append(step)
        return step

    def number(self, value: Any, dtype: Any) -> Traced:
        dtype = np.dtype(dtype)
        return Traced(self, Term(None, (), (), number=dtype.type(value).item(), dtype=dtype))

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
        return np.result_type(
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
        if function in ("isinf", "isfinite") and common.kind != "f":
            return self.full(operands[0].shape, function == "isfinite", bool)
        typed = [self.operand(v, common) for v in operands]
        if scalar.same_dtype:
            if scalar.floating and common.kind not in "f":
                common = np.dtype(np.float64)
            typed = [self.cast(v, common) for v in typed]
        dtype = np.dtype(np.bool_) if scalar.boolean else common
        if dtype.char not in NATIVE_DTYPES:
            raise NotLowered(f"{dtype.name} is left to NumPy")
        if all(v.term.buffer is None for v in typed) and not hasattr(np, function):
            typed[0] = self.copied(typed[0])
        if all(v.term.buffer is None for v in typed):
            with np.errstate(all="ignore"):
                values = [v.dtype.type(v.term.number) for v in typed]
                shape = np.broadcast_shapes(*[v.shape for v in typed])
                made = self.number(getattr(np, function)(*values), dtype)
            return Traced(self, made.term.broadcast(shape))
        return self.mapped(function, typed, dtype)

    def mapped(
        self, function: str, operands: Sequence[Traced], dtype: Dtype, axis: int = 0
    ) -> Traced:
        shape = np.broadcast_shapes(*[v.shape for v in operands])
        out = self.buffer(shape, dtype)
        args = tuple(v.term.broadcast(shape) for v in operands)
        step = self.add(Map(function, args, out, self.origin, axis))
        if guards := self.guards_of(operands):
            self.guards[out.number] = guards
            step.after += guards
        return self.all_of(out)

    def cast(self, x: Any, dtype: Dtype) -> Traced:
        x = self.operand(x, dtype)
        if x.dtype == dtype:
            return x
        if dtype.char not in NATIVE_DTYPES:
            raise NotLowered(f"{dtype.name} is left to NumPy")
        if x.term.buffer is None:
            with np.errstate(all="ignore"):
                made = self.number(x.dtype.type(x.term.number).astype(dtype), dtype)
            return Traced(self, made.term.broadcast(x.shape))
        return self.mapped("cast", [x], dtype)

    def copied(self, x: Traced) -> Traced:
        """The same elements in C order, in memory of their own."""
        return self.mapped("copy", [x], x.dtype)

    def packed(self, x: Traced) -> Traced:
        return x if x.term.contiguous else self.copied(x)

    def position(self, shape: Shape, axis: int, dtype: Any = np.int64) -> Traced:
        """The index of each element along an axis."""
        out = self.buffer(shape, dtype)
        self.add(Map("position", (), out, self.origin, axis % len(shape)))
        return self.all_of(out)

    def gathered(self, table: Traced, index: Traced, axis: int, shape: Shape) -> Traced:
        """``table`` at `index` along `axis`; both broadcast to `shape`, but for that axis."""
        seen = list(shape)
        seen[axis] = table.shape[axis]
        term = table.term.broadcast(tuple(seen))
        out = self.buffer(shape, table.dtype)
        step = Map("gather", (term, index.term.broadcast(shape)), out, self.origin, axis)
        step.after += self.guards_of([index])
        self.add(step)
        return self.all_of(out)

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
        out = self.buffer(whole, x.dtype)
        index = at.term.broadcast(shape).expanded([0])
        step = Map("gather", (table, index), out, self.origin, 0)
        step.after += self.guards_of([at])
        self.add(step)
        return self.all_of(out)[0]

    def guards_of(self, operands: Sequence[Traced]) -> list[Step]:
        """The checks that must have run before these are indices."""
        found: dict[int, Step] = {}
        for v in operands:
            buffer = v.term.buffer
            for step in self.guards.get(buffer.number, ()) if buffer is not None else ():
                found[id(step)] = step
        return list(found.values())

    def reduce(self, kind: str, x: Traced, axis: Any, keepdims: bool = False) -> Traced:
        if axis is None:
            axis = tuple(range(x.ndim))
        axes = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
        axes = tuple(sorted(a % x.ndim for a in axes))
        if kind in ("any", "all"):
            x = self.map("not_equal", x, 0) if x.dtype.kind != "b" else x
        elif x.dtype.kind in "biu" and kind in ("sum", "prod"):
            wide = np.uint64 if x.dtype.kind == "u" else np.int64
            x = self.cast(x, np.dtype(wide))
        kept = tuple(d for k, d in enumerate(x.shape) if k not in axes)
        if any(x.shape[a] == 0 for a in axes):
            if kind in ("max", "min"):
                raise NotLowered("it reduces nothing")
            nothing = self.number(kind in ("prod", "all"), x.dtype)
            shape = tuple(1 if k in axes else d for k, d in enumerate(x.shape))
            return Traced(self, nothing.term.broadcast(shape if keepdims else kept))
        if x.term.buffer is None:
            x = self.copied(x)
        if all(x.shape[a] == 1 for a in axes):
            keep = [k for k in range(x.ndim) if k not in axes]
            term = x.term.seen(kept, tuple(x.term.strides[k] for k in keep))
            result = Traced(self, term)
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
        if dtype.kind != "f" or a.ndim < 2 or b.ndim < 2:
            raise NotLowered("BLAS multiplies matrices of float32 or float64")
        a, b = self._matrix(self.cast(a, dtype)), self._matrix(self.cast(b, dtype))
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        shape = (*lead, a.shape[-2], b.shape[-1])
        if b.ndim == 2 and a.ndim > 2:  # one product of more rows
            rows = a.term.reshaped((math.prod(a.shape[:-1]), a.shape[-1]))
            if rows is not None and _is_matrix(rows):
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
        return x if _is_matrix(x.term) else self.copied(x)

    def assembled(
        self,
        shape: Shape,
        dtype: Any,
        parts: Sequence[tuple[Traced, Callable[[Traced], Traced]]],
        fill: Any = 0,
        adds: bool = False,
    ) -> Traced:
        """An array that is `fill` but for parts; each comes with what selects its region."""
        out = self.buffer(shape, dtype)
        whole = self.all_of(out)
        regions = [(self.cast(p, np.dtype(dtype)), select(whole)) for p, select in parts]
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

    # --- NumPy's functions that are no ufuncs

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        x = self.operand(x, None if dtype is None else np.dtype(dtype))
        return x if dtype is None else self.cast(x, np.dtype(dtype))

    array = ascontiguousarray = asarray

    def zeros_like(self, x: Traced) -> Traced:
        return Traced(self, self.number(0, x.dtype).term.broadcast(x.shape))

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Traced:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return Traced(self, self.number(0, dtype).term.broadcast(shape))

    def ones(self, shape: Any, dtype: Any = np.float64) -> Traced:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return Traced(self, self.number(1, dtype).term.broadcast(shape))

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Traced:
        made = self.operand(value, None if dtype is None else np.dtype(dtype))
        made = made if dtype is None else self.cast(made, np.dtype(dtype))
        return Traced(self, made.term.broadcast(tuple(shape)))

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
        ndim = x.ndim + len(axes)
        return Traced(self, x.term.expanded([a % ndim for a in axes]))

    def squeeze(self, x: Traced, axis: Any = None) -> Traced:
        axes = (axis,) if isinstance(axis, int) else axis
        if axes is None:
            axes = [k for k, d in enumerate(x.shape) if d == 1]
        drop = {a % x.ndim for a in axes}
        keep = [k for k in range(x.ndim) if k not in drop]
        term = x.term
        return Traced(
            self,
            term.seen(tuple(term.shape[k] for k in keep), tuple(term.strides[k] for k in keep)),
        )

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
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        for a in axes:
            size = x.shape[a]
            x = Traced(self, x.term.sliced(a % x.ndim, size - 1, size, -1)) if size else x
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
        return [x[(*lead, slice(a, b))] for a, b in zip(edges, edges[1:], strict=False)]


_AS_THEY_ARE: Final = frozenset(
    {
        "errstate", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
        "uint64", "bool_", "dtype", "finfo", "iinfo", "cumsum", "broadcast_shapes", "integer",
        "floating", "result_type", "ndarray", "generic", "lib",
    }
)  # fmt: skip


def _is_matrix(term: Term) -> bool:
    """Whether BLAS can read it: one of the last two strides is 1."""
    if term.buffer is None:
        return False
    (rows, columns), (s, t) = term.shape[-2:], term.strides[-2:]
    if columns == 1 and rows == 1:
        return True
    by_rows = (t == 1 or columns == 1) and (s >= columns or rows == 1)
    by_columns = (s == 1 or rows == 1) and (t >= rows or columns == 1)
    return by_rows or by_columns


def traced_kernel(kernel: Callable[..., Any], loops: Loops) -> Callable[..., Any]:
    """`kernel` with `loops` in the place of NumPy, and the functions that it calls likewise."""
    if isinstance(kernel, np.ufunc):
        return lambda *operands: loops.map(kernel.__name__, *operands)
    if not isinstance(kernel, FunctionType):
        return kernel  # an operator
    return _clone(kernel, loops, {})


def _clone(function: FunctionType, loops: Loops, made: dict[FunctionType, Any]) -> Any:
    if function in made:
        return made[function]
    if not function.__module__.startswith(("autograd_engine.ops", "autograd_engine.kernels")):
        return function
    scope = dict(function.__globals__)
    scope["np"] = loops
    cells = tuple(CellType() for _ in function.__closure__ or ())
    clone = made[function] = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, cells or None
    )
    clone.__kwdefaults__ = function.__kwdefaults__
    for name in _names(function.__code__):
        if name in scope:
            scope[name] = _stand_in(scope[name], loops, made)
    for new, old in zip(cells, function.__closure__ or (), strict=True):
        new.cell_contents = _stand_in(old.cell_contents, loops, made)
    return clone


def _stand_in(value: Any, loops: Loops, made: dict[FunctionType, Any]) -> Any:
    """What a kernel finds under a name when it is traced."""
    if isinstance(value, FunctionType):
        return _clone(value, loops, made)
    if isinstance(value, np.ufunc):
        return getattr(loops, value.__name__) if value.__name__ in scalars.SCALARS else value
    if isinstance(value, BuiltinFunctionType) and value.__name__ == "reduce":
        ufunc = value.__self__
        if isinstance(ufunc, np.ufunc) and ufunc.__name__ in scalars.SCALARS:
            return getattr(loops, ufunc.__name__).reduce
    return value


def _names(code: Any) -> set[str]:
    """What a function and those inside of it look up."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found
