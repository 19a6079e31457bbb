"""The shape of a tensor as users see it."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, overload

__all__ = ["ElementCount", "OpenSize", "Size"]


class Size(tuple[int, ...]):
    """A shape: a tuple that is equal to, and can be joined with, a list of sizes as well."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list):
            other = tuple(other)
        return tuple.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __add__(self, other: Any) -> Any:
        return (
            self.__class__((*self, *other)) if isinstance(other, (list, tuple)) else NotImplemented
        )

    def __radd__(self, other: Any) -> Any:
        return (
            self.__class__((*other, *self)) if isinstance(other, (list, tuple)) else NotImplemented
        )

    def __mul__(self, times: SupportsIndex) -> Size:
        return self.__class__(tuple.__mul__(self, times))

    __rmul__ = __mul__

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return self.__class__(found) if key.__class__ is slice else found

    def numel(self) -> int:
        """The number of elements of an array of this shape."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"paddle.Size({list(self)})"


class OpenSize(Size):
    """The shape of a variable of a program, -1 for an unknown size; it is shown as a tuple."""

    __slots__ = ()

    __repr__ = tuple.__repr__


class ElementCount(int):
    """The number of elements of a tensor, which gives the sizes when it is called, as in torch."""

    shape: Size

    def __new__(cls, shape: Size) -> ElementCount:
        self = super().__new__(cls, math.prod(shape))
        self.shape = shape
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (int(self),)

    @overload
    def __call__(self, dim: None = None) -> Size: ...
    @overload
    def __call__(self, dim: SupportsIndex) -> int: ...
    def __call__(self, dim: SupportsIndex | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]
