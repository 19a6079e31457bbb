"""Arguments of functions of boxes and of the images that they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import as_number, require_floats
from autograd_engine.core.dtypes import INTEGERS
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, constant, spec_of

__all__ = ["counts", "floats", "integers", "numbers", "parted"]


def _shaped(op: str, argument: str, x: Any, axes: Sequence[Any]) -> Any:
    """`x`, of which ints among `axes` say the size, and names do not."""
    x = constant(x) if isinstance(x, np.ndarray) else as_operand(op, x, argument)
    shape = spec_of(x).shape
    fits = len(shape) == len(axes) and all(
        isinstance(wanted, str) or may_equal((size,), (wanted,))
        for size, wanted in zip(shape, axes, strict=True)
    )
    if not fits:
        wanted = ", ".join(str(a) for a in axes)
        raise ShapeError(f"{op}: {argument} must be [{wanted}], got {format_shape(shape)}")
    return x


def floats(op: str, argument: str, x: Any, *axes: Any) -> Any:
    """`x` as floats ``[*axes]``."""
    x = _shaped(op, argument, x, axes)
    require_floats(op, argument, spec_of(x).dtype)
    return x


def integers(op: str, argument: str, x: Any, *axes: Any) -> Any:
    """`x` as int64 ``[*axes]``."""
    x = _shaped(op, argument, x, axes)
    dtype = spec_of(x).dtype
    if dtype not in INTEGERS:
        raise DTypeError(
            f"{op}: {argument} must hold integers, got {dtype.name}; use {argument}.astype('int32')"
        )
    return ops.cast(x, dtype="int64")


def counts(op: str, argument: str, x: Any, boxes: Any) -> Any:
    """Of which image each box is, ``[R]``, from how many each image has, ``[N]``."""
    number = integers(op, argument, x, "N")
    total = spec_of(boxes).shape[0]
    if hasattr(number, "_data") and (number.numpy().min(initial=0) < 0 or number.sum() != total):
        raise ArgumentError(
            f"{op}: {argument} must say how many boxes each image has, of {total}; got "
            f"{number.tolist()}"
        )
    place = ops.cumsum(ops.full_like(boxes[:, 0], value=1, dtype="int64"), axis=0)
    ends = ops.unsqueeze(ops.cumsum(number, axis=0), axis=(0,))
    passed = ops.greater_than(ops.unsqueeze(place, axis=(1,)), ends)
    return ops.sum(ops.cast(passed, dtype="int64"), axis=(1,))


def numbers(op: str, argument: str, value: Any, count: int | None = None) -> list[float]:
    """Numbers from one or a list of them."""
    values = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
    values = [as_number(v) for v in values]
    plain = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    if not plain or (count is not None and len(values) != count):
        many = "numbers" if count is None else f"{count} numbers"
        raise ArgumentError(f"{op}: {argument} must be {many}, got {value!r}")
    return [float(v) for v in values]


def parted(op: str, anchors: Any) -> list[tuple[float, float]]:
    """Width and height of each anchor, which are listed one after the other."""
    values = numbers(op, "anchors", anchors)
    if not values or len(values) % 2:
        raise ArgumentError(
            f"{op}: anchors must be widths and heights in turn, got {list(anchors)!r}"
        )
    return list(zip(values[::2], values[1::2], strict=True))
