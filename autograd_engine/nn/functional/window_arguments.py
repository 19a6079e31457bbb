"""Arguments of functions of images: layouts, windows, paddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.core.checks import as_number, is_int, require_floats
from autograd_engine.core.dims import Dim, SymbolicNumber
from autograd_engine.core.spec import Shape, format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.kernels.windows import Ints, Padding, Pair
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.program.symbolic_number import numbers_in

__all__ = [
    "IMAGE_LAYOUTS",
    "Images",
    "IntOrInts",
    "channels_last",
    "images_like",
    "ints",
    "known",
    "paddings",
]

IntOrInts: TypeAlias = int | Sequence[int]

_NUMBER = {1: "one int", 2: "two ints", 3: "three ints", 4: "four ints"}
# By the number of axes: the channels second, and last.
IMAGE_LAYOUTS: Final = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def channels_last(op: str, axes: int, data_format: str) -> bool:
    """Whether the channels come last, in a layout of images with so many axes."""
    second, last = IMAGE_LAYOUTS[axes]
    if data_format not in (second, last):
        raise ArgumentError(
            f"{op}: data_format must be {second!r} or {last!r}, got {data_format!r}"
        )
    return data_format == last


class Images:
    """Images with the channels second, and the way back to the layout they came in.

    Attributes
    ----------
    x : Tensor or Variable
        ``[N, C, *size]``
    last : bool
        The channels came last.
    """

    def __init__(self, op: str, x: Any, axes: int, data_format: str, floating: bool = True) -> None:
        x = as_operand(op, x)
        self.last = channels_last(op, axes, data_format)
        spec = spec_of(x)
        if spec.ndim != axes + 2:
            raise ShapeError(
                f"{op}: x must be [{', '.join(data_format)}], got {format_shape(spec.shape)}"
            )
        if floating:
            require_floats(op, "x", spec.dtype)
        self.x = ops.transpose(x, perm=(0, axes + 1, *range(1, axes + 1))) if self.last else x

    @property
    def shape(self) -> Shape:
        """Of the images with the channels second."""
        return spec_of(self.x).shape

    @property
    def size(self) -> Shape:
        return self.shape[2:]

    def back(self, out: Any) -> Any:
        """`out` in the layout that the images came in."""
        if not self.last:
            return out
        return ops.transpose(out, perm=(0, *range(2, spec_of(out).ndim), 1))


def ints(op: str, argument: str, value: Any, axes: int, least: int = 1) -> Ints:
    """One int for each axis, from an int for all of them or a list; some may be symbolic."""
    if isinstance(value, (Tensor, np.ndarray)):
        value = value.tolist()
    elif isinstance(value, Variable):
        value = numbers_in(value)
    values = tuple(value) if isinstance(value, (list, tuple)) else (value,) * axes
    if not all(map(is_int, values)):
        values = tuple(map(as_number, values))
    checked = [v for v in values if not isinstance(v, SymbolicNumber)]
    if len(values) != axes or any(not is_int(v) or v < least for v in checked):
        raise ArgumentError(
            f"{op}: {argument} must be an int or {_NUMBER[axes]} of at least {least}, got {value!r}"
        )
    what, wanted = f"{op}: {argument}", f"at least {least}"
    return tuple(
        v.within(what, wanted, least) if isinstance(v, SymbolicNumber) else int(v) for v in values
    )


def paddings(
    op: str,
    value: Any,
    size: Shape,
    kernel: Shape,
    stride: Ints,
    dilation: Ints,
    last: bool = False,
) -> Padding:
    """(before, after) for each axis, from what the reference takes as `padding`."""
    axes = len(size)
    if isinstance(value, str):
        if value.upper() == "VALID":
            return ((0, 0),) * axes
        if value.upper() == "SAME":
            return tuple(
                _same(op, *along) for along in zip(size, kernel, stride, dilation, strict=True)
            )
        raise ArgumentError(f"{op}: padding must be 'SAME', 'VALID' or numbers, got {value!r}")
    values: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(values) == axes + 2 and all(isinstance(v, (list, tuple)) for v in values):
        batch, channels = values[0], values.pop(-1 if last else 1)
        if any(v != 0 for v in (*batch, *channels)):
            raise ArgumentError(f"{op}: N and C cannot be padded, got padding={value!r}")
        values = [v for pair in values[1:] for v in pair]
    if any(not is_int(v) or v < 0 for v in values):
        raise ArgumentError(f"{op}: padding must hold non-negative ints, got {value!r}")
    if len(values) == 1:
        values = values * axes
    if len(values) == axes:
        values = [v for v in values for _ in (0, 1)]
    if len(values) != 2 * axes:
        forms = "1 or 2" if axes == 1 else f"1, {axes} or {2 * axes}"
        raise ArgumentError(f"{op}: padding must be {forms} ints, got {value!r}")
    return tuple((int(b), int(a)) for b, a in zip(values[::2], values[1::2], strict=True))


def _same(op: str, size: Any, kernel: Any, stride: int, dilation: int) -> Pair:
    """Padding with which the output has ceil(size / stride) elements; the odd one goes behind."""
    if isinstance(kernel, Dim) or (isinstance(size, Dim) and stride != 1):
        raise ShapeError(f"{op}: padding='SAME' with a stride needs a known size; declare it")
    for step in (stride, dilation):
        if isinstance(step, SymbolicNumber):
            step.refuse(f"{op}: padding='SAME'")
    reach = dilation * (kernel - 1)
    total: int = reach
    if not isinstance(size, Dim):
        total = max((-(-size // stride) - 1) * stride + reach + 1 - size, 0)
    return total // 2, total - total // 2


def known(op: str, what: str, sizes: Shape, remedy: str = "declare it in static.data") -> Ints:
    """`sizes`, all of which must be known while a program is built."""
    if any(isinstance(d, Dim) for d in sizes):
        raise ShapeError(f"{op}: {what} {format_shape(sizes)} must be known; {remedy}")
    return tuple(int(d) for d in sizes)


def images_like(x: Any, channels: int, size: Ints) -> Any:
    """Something of shape ``[N, channels, *size]`` with the batch of `x`, whose values are nobody's.

    It is a view of one element of each image: what operations that end in `_like` or `_input`
    read a shape from.
    """
    first = (slice(None), *[slice(0, 1)] * (spec_of(x).ndim - 1))
    one = ops.reshape(ops.getitem(x, key=first), shape=(-1, 1, *[1] * len(size)))
    return ops.expand(one, shape=(-1, channels, *size))
