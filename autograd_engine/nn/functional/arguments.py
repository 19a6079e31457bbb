"""What the functions of this package share: operands that are floats, reductions of losses."""

from __future__ import annotations

import math
import sys
from typing import Any, Final

from autograd_engine.core.checks import as_number
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import COMPLEX, FLOATS, HALVES, INTEGERS, get_default_numpy_dtype
from autograd_engine.core.locations import user_frame_from, warn_at
from autograd_engine.core.spec import broadcast_shapes, format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, shape_of, spec_of
from autograd_engine.tensor.reduction import mean, sum as sum_over

__all__ = [
    "above_zero",
    "LAYOUTS",
    "as_floats",
    "as_integers",
    "check_number",
    "check_reduction",
    "check_same_shape",
    "float_pair",
    "narrow",
    "reduce_loss",
    "warn_of_broadcast",
    "widen",
]

# Where the channels are, of arrays of any number of axes.
LAYOUTS: Final = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def as_floats(op: str, x: Any, argument: str = "x") -> Any:
    """`x` as an operand; integers and bools in the default float dtype."""
    if x.__class__ is Tensor and x._data.dtype in FLOATS:
        return x
    x = as_operand(op, x, argument)
    dtype = spec_of(x).dtype
    if dtype in FLOATS:
        return x
    if dtype in COMPLEX:
        raise DTypeError(
            f"{op}: {argument} is {dtype.name}, and {op} takes real numbers; use paddle.real or "
            "paddle.abs"
        )
    return ops.cast(x, dtype=get_default_numpy_dtype().name)


def widen(x: Any) -> Any:
    """float16 as float32, for sums and powers that leave the range of float16; others as is."""
    dtype = x._data.dtype if x.__class__ is Tensor else spec_of(x).dtype
    return ops.cast(x, dtype="float32") if dtype in HALVES else x


def narrow(x: Any, like: Any) -> Any:
    """`x` in the dtype of `like`: undoes `widen`."""
    if x.__class__ is Tensor is like.__class__ and x._data.dtype is like._data.dtype:
        return x
    return x if spec_of(x).dtype == spec_of(like).dtype else ops.cast_like(x, like)


def check_number(op: str, argument: str, value: Any, *, fills: bool = False) -> float:
    """A number, which is NaN only where it `fills` something."""
    if value.__class__ is float and value == value:
        return value
    found = as_number(value)
    if isinstance(found, SymbolicNumber):
        return found  # type: ignore[return-value]
    wrong = isinstance(found, bool) or not isinstance(found, (int, float))
    if wrong or (found != found and not fills):
        raise ArgumentError(f"{op}: {argument} must be a number, got {value!r}")
    return float(found)


def above_zero(op: str, argument: str, value: Any) -> float:
    """A number above 0."""
    found = check_number(op, argument, value)
    if isinstance(found, SymbolicNumber):
        checked: float = found.within(f"{op}: {argument}", "above 0", math.ulp(0.0))
        return checked
    if not found > 0.0:
        raise ArgumentError(f"{op}: {argument} must be above 0, got {value}")
    return found


def as_integers(op: str, x: Any, argument: str, more: str = "") -> Any:
    """`x` as an operand, once it is seen to hold integers."""
    if x.__class__ is Tensor and x._data.dtype in INTEGERS:
        return x
    x = as_operand(op, x, argument)
    dtype = spec_of(x).dtype
    if dtype not in INTEGERS:
        raise DTypeError(
            f"{op}: {argument} must hold integers, got {dtype.name}; use "
            f"{argument}.astype('int64'){more}"
        )
    return x


def float_pair(op: str, input: Any, label: Any, first: str = "input") -> tuple[Any, Any]:
    return as_floats(op, input, first), as_floats(op, label, "label")


def check_same_shape(op: str, input: Any, label: Any, first: str = "input") -> None:
    a, b = shape_of(input), shape_of(label)
    if a != b and not may_equal(a, b):
        raise ShapeError(
            f"{op}: {first} and label must have one shape, got {format_shape(a)} and "
            f"{format_shape(b)}"
        )


def warn_of_broadcast(op: str, x: Any, y: Any, first: str = "input", second: str = "label") -> None:
    """A loss of [4, 1] beside [4] is one of 16 pairs, which hardly anybody means.

    A single element beside the others, a target that all share, is none of that.
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x._data.shape == y._data.shape:
        return
    a, b = spec_of(as_operand(op, x, first)).shape, spec_of(as_operand(op, y, second)).shape
    if may_equal(a, b) or all(n == 1 for n in a) or all(n == 1 for n in b):
        return
    broadcast_shapes(op, a, b)
    warn_at(
        user_frame_from(sys._getframe(1)),
        f"{op}: {first} has shape {format_shape(a)} and {second} {format_shape(b)}; they are "
        "broadcast, which compares each with others than its own: reshape one to the shape of the "
        "other",
        UserWarning,
    )


def check_reduction(op: str, reduction: str, *more: str) -> None:
    known = ("mean", "sum", *more, "none")
    if reduction not in known:
        listed = ", ".join(map(repr, known[:-1]))
        raise ArgumentError(f"{op}: reduction must be {listed} or 'none', got {reduction!r}")


def reduce_loss(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    return mean(loss) if reduction == "mean" else sum_over(loss)
