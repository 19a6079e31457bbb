"""Convolutions of which each element of a window is moved (Dai and others 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.checks import positive_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import Shape, format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.conv import conv2d
from autograd_engine.nn.functional.resample import inside, interpolated
from autograd_engine.nn.functional.window_arguments import Images, IntOrInts, ints, known
from autograd_engine.ops.kernels.windows import Ints
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["deform_conv2d"]


def _grid(kernel: Ints, count: Ints, stride: Ints, padding: Ints, dilation: Ints) -> list[Any]:
    """Where each element of each window lies if it is not moved, ``[kh kw, OH, OW]`` by axis."""
    along = [
        np.arange(o) * s - p + np.arange(k)[:, None] * d
        for k, o, s, p, d in zip(kernel, count, stride, padding, dilation, strict=True)
    ]
    shape = (*kernel, *count)
    rows = np.broadcast_to(along[0][:, None, :, None], shape)
    columns = np.broadcast_to(along[1][None, :, None, :], shape)
    return [c.reshape(-1, *count) for c in (rows, columns)]


def _checked(op: str, argument: str, x: Any, wanted: Shape) -> Any:
    x = as_operand(op, x, argument)
    if not may_equal(spec_of(x).shape, wanted):
        raise ShapeError(
            f"{op}: {argument} must be {format_shape(wanted)}, got {format_shape(spec_of(x).shape)}"
        )
    return x


@atomic
def deform_conv2d(
    x: Any,
    offset: Any,
    weight: Any,
    bias: Any = None,
    stride: IntOrInts = 1,
    padding: IntOrInts = 0,
    dilation: IntOrInts = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Any = None,
    name: str | None = None,
) -> Tensor:
    """`conv2d` of which each element of a window is read some way off, between pixels.

    Dai and others 2017; with `mask` Zhu and others 2019.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``, of known size.
    offset : Tensor or Variable
        ``[N, 2 deformable_groups kh kw, OH, OW]``: for each element of a window how far it moves
        down, then how far to the right.
    weight : Tensor or Variable
        ``[out, C / groups, kh, kw]``
    bias : Tensor or Variable, optional
        ``[out]``
    stride, padding, dilation : int or two ints
    deformable_groups : int
        Channels are divided into so many, which move in their own ways.
    groups : int
    mask : Tensor or Variable, optional
        ``[N, deformable_groups kh kw, OH, OW]``, which multiplies what is read.

    Returns
    -------
    ``[N, out, OH, OW]``. At a pixel the derivative in `offset` is that towards the next one.

    Raises
    ------
    ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, weight = paddle.to_tensor([[[[0.0, 1.0, 4.0]]]]), paddle.ones([1, 1, 1, 1])
    >>> offset = paddle.to_tensor([[[[0.0, 0.0, 0.0]], [[0.5, 0.0, -1.5]]]])
    >>> paddle.vision.ops.deform_conv2d(x, offset, weight).tolist()
    [[[[0.5, 1.0, 0.5]]]]
    """
    op = "deform_conv2d"
    x = Images(op, x, 2, "NCHW").x
    weight = as_operand(op, weight, "weight")
    if spec_of(weight).ndim != 4:
        raise ShapeError(
            f"{op}: weight must be [out, C / groups, kh, kw], got "
            f"{format_shape(spec_of(weight).shape)}"
        )
    batch = spec_of(x).shape[0]
    channels, *plane = known(op, "the channels and the size of x", spec_of(x).shape[1:])
    filters, _, *window = known(op, "weight", spec_of(weight).shape)
    size, kernel = tuple(plane), tuple(window)
    steps, gaps = ints(op, "stride", stride, 2), ints(op, "dilation", dilation, 2)
    pads = ints(op, "padding", padding, 2, least=0)
    parts = positive_int(op, "deformable_groups", deformable_groups)
    if channels % parts:
        raise ArgumentError(f"{op}: deformable_groups={parts} must divide {channels} channels")
    count = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, steps, pads, gaps, strict=True)
    )
    if min(count) < 1 or min(size) < 1:
        raise ShapeError(
            f"{op}: a window of {list(kernel)} does not fit x {format_shape(spec_of(x).shape)}"
        )
    taps = kernel[0] * kernel[1]
    offset = _checked(op, "offset", offset, (batch, 2 * parts * taps, *count))
    lead = -1 if isinstance(batch, Dim) else batch * parts
    moved = ops.reshape(ops.cast_like(offset, x), shape=(lead, taps, 2, *count))
    grid = _grid(kernel, count, steps, pads, gaps)
    at = []
    for a, base in enumerate(grid):
        place = ops.getitem(moved, key=(slice(None), slice(None), a)) + ops.cast_like(base, x)
        at.append(inside(ops.flatten_axes(place, start=1, stop=2), size[a]))
    planes = ops.reshape(x, shape=(lead, channels // parts, *size))
    read = interpolated(planes, at, channels // parts, size)
    if mask is not None:
        mask = _checked(op, "mask", mask, (batch, parts * taps, *count))
        read = read * ops.reshape(
            ops.cast_like(mask, x), shape=(lead, 1, taps * count[0], count[1])
        )
    first = -1 if isinstance(batch, Dim) else batch
    read = ops.reshape(read, shape=(first, channels * taps, *count))
    flat = ops.reshape(weight, shape=(filters, -1, 1, 1))
    return conv2d(read, flat, bias, groups=groups)
