"""The operators and methods that Tensor and Variable share.

The table below binds names to functions on both classes (`autograd_engine.bindings`), so that an
operator costs one call; this class declares them for readers and type checkers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from autograd_engine.core.dtypes import EXACT, INEXACT
from autograd_engine.core.size import ElementCount, Size
from autograd_engine.errors import ArgumentError, DTypeError

__all__ = ["OPERATORS", "REFLECTED", "HoldsNumber", "Operand", "no_gradients_of"]

# Python's name of an operator -> the operation
OPERATORS: Final = {
    "__add__": "add",
    "__sub__": "subtract",
    "__mul__": "multiply",
    "__truediv__": "divide",
    "__floordiv__": "floor_divide",
    "__mod__": "remainder",
    "__eq__": "equal",
    "__ne__": "not_equal",
    "__gt__": "greater_than",
    "__ge__": "greater_equal",
    "__lt__": "less_than",
    "__le__": "less_equal",
    "__neg__": "negative",
    "__abs__": "abs",
    "__invert__": "bitwise_not",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
}
REFLECTED: Final = {
    "__radd__": "add",
    "__rsub__": "subtract",
    "__rmul__": "multiply",
    "__rtruediv__": "divide",
    "__rfloordiv__": "floor_divide",
    "__rmod__": "remainder",
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
    "__rlshift__": "bitwise_left_shift",
    "__rrshift__": "bitwise_right_shift",
}


_O = TypeVar("_O", bound="Operand")


class HoldsNumber:
    """What may stand where a number is asked for, as it holds one."""

    __slots__ = ()

    def _number(self) -> Any:
        """Its one number; itself where it has more, or its gradient would be lost."""
        return self


class Operand(HoldsNumber):
    """What is common to eager tensors and the variables of a program."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> Size: ...
        @property
        def dtype(self) -> Any: ...

    @property
    def size(self) -> ElementCount:
        """The number of elements; ``x.size()`` is the shape, and ``x.size(0)`` the first size."""
        return ElementCount(self.shape)

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are recorded for it; none come to integers and bools."""
        return not self.stop_gradient and self.dtype not in EXACT

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise ArgumentError(f"requires_grad must be True or False, got {value!r:.40}")
        if value and self.dtype not in INEXACT:
            raise no_gradients_of("requires_grad=True", self.dtype)
        self.stop_gradient = not value  # type: ignore[misc]

    def requires_grad_(self: _O, requires_grad: bool = True) -> _O:
        """Set ``requires_grad``, and return this tensor."""
        self.requires_grad = requires_grad
        return self

    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __rpow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __pos__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __invert__(self) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __rand__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...
        def __ror__(self, other: Any) -> Any: ...
        def __xor__(self, other: Any) -> Any: ...
        def __rxor__(self, other: Any) -> Any: ...
        def __lshift__(self, other: Any) -> Any: ...
        def __rlshift__(self, other: Any) -> Any: ...
        def __rshift__(self, other: Any) -> Any: ...
        def __rrshift__(self, other: Any) -> Any: ...
        def __eq__(self, other: Any) -> Any: ...
        def __ne__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...


def no_gradients_of(asked: str, dtype: Any) -> DTypeError:
    return DTypeError(
        f"{asked} needs a floating dtype, got {dtype.name}: make the tensor with dtype='float32'"
    )
