"""What kernels compute with when they are traced."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from autograd_engine.compiler.native.ir import Term

if TYPE_CHECKING:
    from autograd_engine.compiler.native.tracing.kernel_trace import StepWriter

__all__ = ["NotLowered", "Traced"]

Shape = tuple[int, ...]
Dtype = np.dtype[Any]


class NotLowered(Exception):
    """Why an operation is left to NumPy."""


_Binary: TypeAlias = "Callable[[Traced, Any], Traced]"
_Unary: TypeAlias = "Callable[[Traced], Traced]"


def _binary(name: str) -> tuple[_Binary, _Binary]:
    """An operator, and the one with its operands the other way round."""

    def call(self: Traced, other: Any) -> Any:
        return self.loops.map(name, self, other) if _computes(other) else NotImplemented

    def reflected(self: Traced, other: Any) -> Any:
        return self.loops.map(name, other, self) if _computes(other) else NotImplemented

    return call, reflected


def _computes(value: Any) -> bool:
    return isinstance(value, (Traced, int, float, bool, np.generic, np.ndarray))


def _unary(name: str) -> _Unary:
    return lambda self: self.loops.map(name, self)


class Traced:
    """What a kernel takes for an ndarray: a term of the program that is being written."""

    __slots__ = ("loops", "term")
    __array_ufunc__ = None  # ndarrays leave operators to us

    def __init__(self, loops: StepWriter, term: Term) -> None:
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
    def T(self) -> Traced:  # noqa: N802
        return self.transpose(tuple(reversed(range(self.ndim))))

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise NotLowered("its kernel looks at values")

    __int__ = __float__ = __index__ = __iter__ = __bool__

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

    # --- operators

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide")
    __mod__, __rmod__ = _binary("remainder")
    __pow__, __rpow__ = _binary("power")
    __and__, __rand__ = _binary("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift")
    __gt__, __lt__ = _binary("greater")[0], _binary("less")[0]
    __ge__, __le__ = _binary("greater_equal")[0], _binary("less_equal")[0]
    __eq__, __ne__ = _binary("equal")[0], _binary("not_equal")[0]  # type: ignore[assignment]
    __neg__ = _unary("negative")
    __abs__ = _unary("absolute")
    __invert__ = _unary("invert")
    __hash__ = object.__hash__

    def __matmul__(self, other: Traced) -> Traced:
        return self.loops.matmul(self, other)
