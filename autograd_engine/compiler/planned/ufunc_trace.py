"""Which ufuncs an elementwise kernel calls, in which order.

Kernels are NumPy expressions. Run once more, with stand-ins in the place of arrays and of NumPy,
they say which calls they are, and no formula is written a second time. What a kernel does besides
(look at values, ask for shapes, change how NumPy warns) raises `NotTraced`: it is called then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np

from autograd_engine.core.dtypes import (
    BLAS_REALS,
    BOOLS,
    INT32,
    INT64,
    REALS_AND_BOOLS,
    result_type,
)
from autograd_engine.core.spec import Array, Spec, reduced_shape
from autograd_engine.ops.kernels.elementwise import ufunc_of
from autograd_engine.ops.registry.stand_ins import (
    OPERATOR_UFUNCS,
    PYTHON_UFUNCS,
    bind_operators,
    run_on,
)

__all__ = ["Call", "NotTraced", "Traced", "traced"]

DType = np.dtype[Any]
Source = int | Array
"""Number of an operand or of the result of a call, counted on from the operands; or a constant."""


class NotTraced(Exception):
    """The kernel does something besides calling ufuncs."""


class Call(NamedTuple):
    """One call: of a ufunc, of `np.where`, or a cast where `function` is None.

    `quiet` is what `np.errstate` is told meanwhile; `reduces` holds axis, keepdims and initial of
    a reduction; `alike` says that it is given elements that follow each other (`rounded_alike`).
    """

    function: Any
    sources: tuple[Source, ...]
    dtype: DType
    quiet: tuple[tuple[str, str], ...] = ()
    reduces: tuple[Any, bool, Any] | None = None
    alike: bool = False


class Traced(NamedTuple):
    """The calls of a kernel, and where its results are among operands and results of calls."""

    calls: tuple[Call, ...]
    results: tuple[int, ...]


class _Term:
    """What stands for an array."""

    __slots__ = ("dtype", "known_shape", "number", "trace")
    __array_ufunc__ = None  # ndarrays leave operators to us

    def __init__(self, trace: _Trace, number: int, dtype: DType, shape: Any = None) -> None:
        self.trace = trace
        self.number = number
        self.dtype = dtype
        self.known_shape = shape

    def __getattr__(self, name: str) -> Any:
        shape = self.known_shape
        if shape is None or name not in ("shape", "ndim", "size"):
            raise NotTraced(f"it asks for {name}")
        return shape if name == "shape" else len(shape) if name == "ndim" else math.prod(shape)

    def _refuse(self, *_: Any) -> Any:
        raise NotTraced("it looks at values")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotTraced("it makes an array of it")

    __bool__ = __int__ = __float__ = __index__ = __iter__ = __len__ = __getitem__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __pow__(self, other: Any) -> _Term:
        return self.trace.call(np.power, (self, other))

    def __rpow__(self, other: Any) -> _Term:
        return self.trace.call(np.power, (other, self))

    def astype(self, dtype: Any, copy: bool = True) -> _Term:
        return self.trace.cast(self, np.dtype(dtype))


bind_operators(_Term, lambda self, name, xs: self.trace.call(OPERATOR_UFUNCS[name], xs))


class _Trace:
    """The calls so far; stands for NumPy in a kernel."""

    newaxis = None
    inf, nan, pi = np.inf, np.nan, np.pi

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.operands = 0
        self.quiet: tuple[tuple[str, str], ...] = ()

    def __getattr__(self, name: str) -> Any:
        known = getattr(np, name, None)
        if isinstance(known, np.ufunc) and known.signature is None and known.nout == 1:
            return _Ufunc(self, known)
        if isinstance(known, type) or name in ("finfo", "iinfo", "dtype"):
            return known
        raise NotTraced(f"it calls numpy.{name}")

    @contextmanager
    def errstate(self, **kinds: str) -> Iterator[None]:
        before, self.quiet = self.quiet, (*self.quiet, *kinds.items())
        yield
        self.quiet = before

    def zeros(self, shape: Any, dtype: Any) -> Array:
        if shape != ():
            raise NotTraced("it makes an array")
        return np.zeros((), dtype)

    def operand(self, dtype: DType, shape: Any = None) -> _Term:
        self.operands += 1
        return _Term(self, self.operands - 1, dtype, shape)

    def _append(self, call: Call, shape: Any) -> _Term:
        self.calls.append(call._replace(quiet=self.quiet))
        return _Term(self, self.operands + len(self.calls) - 1, call.dtype, shape)

    def call(self, ufunc: np.ufunc, operands: Sequence[Any], *, alike: bool = False) -> _Term:
        if not any(isinstance(v, _Term) for v in operands):
            raise NotTraced("it computes with constants")
        kinds = [_kind(v) for v in operands]
        try:
            dtypes = ufunc.resolve_dtypes((*kinds, None))
        except TypeError as error:
            raise NotTraced(str(error)) from error
        sources = [
            v.number if isinstance(v, _Term) else _constant(v, dtype)
            for v, dtype in zip(operands, dtypes[:-1], strict=True)
        ]
        return self._append(Call(ufunc, tuple(sources), dtypes[-1], alike=alike), _meet(operands))

    def reduce(
        self,
        ufunc: np.ufunc,
        x: _Term,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
    ) -> _Term:
        if x.known_shape is None or out is not None or dtype not in (None, x.dtype):
            raise NotTraced("it reduces")
        if x.dtype not in BLAS_REALS:
            raise NotTraced("it reduces integers")
        axes = axis if isinstance(axis, tuple) else (axis,)
        axes = tuple(a % len(x.known_shape) for a in axes)
        shape = reduced_shape(x.known_shape, axes, keepdims)
        call = Call(ufunc, (x.number,), x.dtype, reduces=(axis, keepdims, initial))
        return self._append(call, shape)

    def cast(self, x: _Term, dtype: DType) -> _Term:
        if x.dtype == dtype:
            return x
        if x.dtype not in REALS_AND_BOOLS or dtype not in REALS_AND_BOOLS:
            raise NotTraced("it casts complex numbers")
        return self._append(Call(None, (x.number,), dtype), x.known_shape)

    def where(self, condition: Any, x: Any, y: Any) -> _Term:
        if not isinstance(condition, _Term) or condition.dtype not in BOOLS:
            raise NotTraced("it selects by no mask")
        dtype = result_type(_meeting(x), _meeting(y))
        if dtype not in BLAS_REALS and dtype not in (INT32, INT64):
            raise NotTraced(f"it selects among {dtype}")
        sources: list[Source] = [condition.number]
        for v in (x, y):
            if isinstance(v, _Term):
                if v.dtype != dtype:
                    raise NotTraced("it selects among two dtypes")
                sources.append(v.number)
            else:
                sources.append(_constant(v, dtype))
        return self._append(Call(np.where, tuple(sources), dtype), _meet((condition, x, y)))

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        if not isinstance(x, _Term):
            raise NotTraced("it makes a constant")
        return x if dtype is None else self.cast(x, np.dtype(dtype))


class _Ufunc:
    """A ufunc in a kernel that is traced; or `rounded_alike` of one."""

    def __init__(self, trace: _Trace, kernel: Any) -> None:
        self.trace = trace
        self.ufunc = cast("np.ufunc", ufunc_of(kernel))
        self.alike = self.ufunc is not kernel

    def __call__(self, *operands: Any, **options: Any) -> _Term:
        if options or len(operands) != self.ufunc.nin:
            raise NotTraced("it passes options to a ufunc")
        return self.trace.call(self.ufunc, operands, alike=self.alike)

    def __getattr__(self, name: str) -> Any:
        if name != "reduce":
            raise NotTraced(f"it calls {name} of a ufunc")
        return partial(self.trace.reduce, self.ufunc)


def _kind(value: Any) -> Any:
    """What `resolve_dtypes` is told of an operand: the type of a Python number, which is weak."""
    if isinstance(value, (_Term, np.ndarray, np.generic)):
        return value.dtype
    if type(value) in (bool, int, float):
        return np.dtype(np.bool_) if type(value) is bool else type(value)
    raise NotTraced(f"it computes with {type(value).__name__}")


def _meet(operands: Sequence[Any]) -> Any:
    shapes = [v.known_shape for v in operands if isinstance(v, _Term)]
    return None if None in shapes else np.broadcast_shapes(*shapes)


def _meeting(value: Any) -> Any:
    return value.dtype if isinstance(value, (_Term, np.ndarray, np.generic)) else value


def _constant(value: Any, dtype: DType) -> Array:
    if getattr(value, "ndim", 0):
        raise NotTraced("it computes with an array of its own")
    if isinstance(value, (np.ndarray, np.generic)):
        return np.array(value)
    with np.errstate(all="raise"):
        try:
            return np.asarray(value, dtype)
        except (OverflowError, FloatingPointError) as error:
            raise NotTraced(str(error)) from error


def traced(
    kernel: Callable[..., Any],
    operands: Sequence[DType | Spec | None],
    attrs: dict[str, Any],
    multiple: bool,
    shapes: Sequence[tuple[int, ...]] | None = None,
) -> Traced:
    """The calls of `kernel` on operands of these dtypes, or Specs where it is given Specs.

    With `shapes` the kernel may ask for shapes, and reduce.

    Raises
    ------
    NotTraced
    """
    trace = _Trace()
    known = iter(shapes or ())
    terms = [
        v if isinstance(v, Spec) or v is None else trace.operand(v, next(known, None))
        for v in operands
    ]
    function: Any
    if ufunc_of(kernel) is not None or kernel in PYTHON_UFUNCS:
        function = _Ufunc(trace, PYTHON_UFUNCS.get(kernel, kernel))
    elif isinstance(kernel, FunctionType):
        function = run_on(kernel, trace, partial(_Ufunc, trace))
    else:
        raise NotTraced("it is not written in Python")
    made = function(*terms, **attrs)
    results = made if multiple else (made,)
    if not all(isinstance(r, _Term) for r in results):
        raise NotTraced("its results are constants")
    return Traced(tuple(trace.calls), tuple(r.number for r in results))
