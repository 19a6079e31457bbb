"""Images in another size, and sampled at any position."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import reduce
from math import floor, prod
from operator import add, mul
from typing import Any

import numpy as np

from autograd_engine.core.checks import as_number, require_bools, require_possible
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.window_arguments import (
    IMAGE_LAYOUTS,
    Images,
    ints,
    known,
)
from autograd_engine.ops.kernels.windows import Ints
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, constant, spec_of
from autograd_engine.tensor.arguments import ints as whole_numbers, is_open, known as known_of
from autograd_engine.tensor.broadcasting import meshgrid

__all__ = [
    "affine_grid",
    "grid_sample",
    "interpolate",
    "upsample",
]

# --- another size

_FILTERS = {
    "NEAREST": ("nearest", (1, 2, 3)),
    "LINEAR": ("linear", (1,)),
    "BILINEAR": ("linear", (2,)),
    "TRILINEAR": ("linear", (3,)),
    "BICUBIC": ("cubic", (2,)),
    "AREA": ("area", (1, 2, 3)),
}


def _scales(scale_factor: Any, axes: int) -> tuple[float, ...]:
    if isinstance(scale_factor, Tensor):
        scale_factor = scale_factor.tolist()
    scales = scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor]
    scales = [as_number(s) for s in scales]
    if len(scales) == 1:
        scales = list(scales) * axes
    numbers = all(isinstance(s, (int, float, np.number)) for s in scales)
    if len(scales) != axes or not numbers or min(scales) <= 0:
        raise ArgumentError(
            f"interpolate: scale_factor must be a positive number or {axes} of them, got "
            f"{scale_factor!r}"
        )
    return tuple(float(s) for s in scales)


@atomic
def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images in another size.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, L]``, ``[N, C, H, W]`` or ``[N, C, D, H, W]``, or with the channels last.
    size : int or sequence of int, optional
        Of the result, without N and C.
    scale_factor : float or sequence of float, optional
        Instead of `size`: the size becomes ``floor(size * scale_factor)``.
    mode : {"nearest", "linear", "bilinear", "trilinear", "bicubic", "area"}
        "linear", "bilinear" and "trilinear" are for one, two and three axes, "bicubic" for two;
        "area" is the mean of the bins of `adaptive_avg_pool2d`.
    align_corners : bool
        The centres of the first and the last pixels stay where they are; otherwise the edges of
        the image do. Not for "nearest" and "area".
    align_mode : {0, 1}
        For the linear modes without `align_corners`: pixel p of the result lies at
        ``(p + 1/2) / scale - 1/2`` (0) or at ``p / scale`` (1).
    data_format : str, optional
        "NCL", "NCHW" or "NCDHW" (the default, by the number of axes), or "NLC", "NHWC", "NDHWC".
    recompute_scale_factor : bool, optional
        Work the scale out anew from the sizes, which `floor` may have changed.
    antialias : bool
        For "bilinear" and "bicubic": average over as many pixels as one of the result covers.

    Raises
    ------
    ArgumentError, ShapeError, DTypeError

    Notes
    -----
    Linear in `x`. The cubic filter is that of Keys (1981) with a = -0.75, with antialias -0.5.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[[[0.0, 1.0]]]])
    >>> interpolate(x, size=[1, 4], mode="bilinear").tolist()
    [[[[0.0, 0.25, 0.75, 1.0]]]]
    >>> interpolate(x, scale_factor=2).tolist()
    [[[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]]]
    """
    op = "interpolate"
    x = as_operand(op, x)
    axes = spec_of(x).ndim - 2
    if axes not in IMAGE_LAYOUTS:
        raise ShapeError(
            f"{op}: x must have 3, 4 or 5 dimensions, got {format_shape(spec_of(x).shape)}"
        )
    kind, allowed = _FILTERS.get(str(mode).upper(), ("", ()))
    if axes not in allowed:
        names = [m.lower() for m, (_, ranks) in _FILTERS.items() if axes in ranks]
        raise ArgumentError(
            f"{op}: mode must be one of {names} for {axes + 2} dimensions, got {mode!r}"
        )
    if align_corners and kind in ("nearest", "area"):
        raise ArgumentError(f"{op}: align_corners has no meaning with mode {mode!r}")
    if antialias and str(mode).upper() not in ("BILINEAR", "BICUBIC"):
        raise ArgumentError(f"{op}: antialias is for 'bilinear' and 'bicubic', not {mode!r}")
    if recompute_scale_factor is not None:
        require_bools(op, recompute_scale_factor=recompute_scale_factor)
    if align_mode not in (0, 1):
        raise ArgumentError(f"{op}: align_mode must be 0 or 1, got {align_mode!r}")
    layout = (data_format or IMAGE_LAYOUTS[axes][0]).replace("NCW", "NCL").replace("NWC", "NLC")
    images = Images(op, x, axes, layout)
    if (size is None) == (scale_factor is None):
        raise ArgumentError(f"{op}: give one of size and scale_factor")
    sizes: tuple[int | None, ...] = (None,) * axes
    scales: tuple[float | None, ...] = (None,) * axes
    if size is not None:
        sizes = ints(op, "size", size, axes)
        require_possible(op, sizes, " of size")
    else:
        scales = _scales(scale_factor, axes)
        if recompute_scale_factor or kind == "area":
            plane = known(op, "the size of x", images.size, "declare it, or give size")
            sizes = tuple(floor(n * s) for n, s in zip(plane, scales, strict=True) if s is not None)
            scales = (None,) * axes
        for n, s in zip(images.size, scales, strict=True):
            if s is not None and not isinstance(n, Dim) and n * s < 1:
                raise ShapeError(f"{op}: scale_factor {s} leaves nothing of {n} pixels")
    if kind == "area":
        return images.back(ops.adaptive_avg_pool(images.x, size=sizes))
    out = ops.resample(
        images.x,
        size=sizes,
        scale=scales,
        mode=kind,
        align_corners=bool(align_corners),
        align_mode=align_mode,
        antialias=bool(antialias),
    )
    return images.back(out)


@atomic
def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`interpolate` by another name."""
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


# --- any position


@atomic
def affine_grid(
    theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None
) -> Tensor:
    """Where the pixels of an image come from under affine maps, for `grid_sample`.

    Parameters
    ----------
    theta : Tensor or Variable
        ``[N, 2, 3]``, or ``[N, 3, 4]`` for volumes.
    out_shape : sequence of int
        ``[N, C, H, W]``, or ``[N, C, D, H, W]``, of the result of `grid_sample`.
    align_corners : bool
        Whether -1 and 1 are the centres of the outermost pixels, or their edges.

    Returns
    -------
    ``[N, H, W, 2]``, or ``[N, D, H, W, 3]``: each position as (x, y) or (x, y, z).

    Raises
    ------
    ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> theta = paddle.to_tensor([[[2.0, 0.0, 0.0], [0.0, 1.0, 0.5]]])
    >>> affine_grid(theta, [1, 1, 1, 2]).tolist()
    [[[[-2.0, 0.5], [2.0, 0.5]]]]
    """
    op = "affine_grid"
    theta = as_operand(op, theta, "theta")
    shape, spec = whole_numbers(op, "out_shape", out_shape), spec_of(theta)
    axes = len(shape) - 2
    if axes not in (2, 3) or min(known_of(shape[1:]), default=1) < 1:
        raise ArgumentError(
            f"{op}: out_shape must be [N, C, H, W] or [N, C, D, H, W], got {out_shape!r}"
        )
    batch = spec.shape[:1]
    if is_open(shape[0]):
        batch = (shape[0].dim,)  # type: ignore[attr-defined]
    elif shape[0] >= 0:
        batch = shape[:1]
    if not may_equal(spec.shape, (*batch, axes, axes + 1)):
        raise ShapeError(
            f"{op}: theta must be {format_shape((*batch, axes, axes + 1))} for out_shape "
            f"{list(shape)}, got {format_shape(spec.shape)}"
        )
    size = shape[2:]
    base = _positions(size, align_corners)
    base = base.astype(spec.dtype) if isinstance(base, np.ndarray) else ops.cast_like(base, theta)
    out = ops.matmul(base, theta, transpose_y=True)
    return ops.reshape(out, shape=(shape[0] if is_open(shape[0]) else 0, *size, axes))


def _positions(size: tuple[Any, ...], align_corners: bool) -> Any:
    """Homogeneous positions (x, y, 1) of all pixels, the last axis of the image first."""
    rows = (1, -1, len(size) + 1)
    if len(known_of(size)) == len(size):
        lines = [_line(n, align_corners) for n in size]
        mesh = [*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size)]
        return np.stack(mesh, axis=-1).reshape(rows)
    open_mesh = meshgrid(*[_open_line(n, align_corners) for n in size])[::-1]
    ones = ops.full_like(open_mesh[0], value=1.0, dtype=None)
    return ops.reshape(ops.stack(*open_mesh, ones, axis=len(size)), shape=rows)


def _line(n: int, align_corners: bool) -> Any:
    """n positions from -1 to 1; one alone lies in the middle."""
    if align_corners:
        return np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1)
    return (2.0 * np.arange(n) + 1.0) / n - 1.0


def _open_line(n: Any, align_corners: bool) -> Any:
    """The same, of as many as the run knows."""
    if not is_open(n):
        return constant(_line(n, align_corners))
    if not align_corners:
        steps = ops.range(start=0, end=n, step=1, dtype="float64")
        return (2.0 * steps + 1.0) / n - 1.0
    line = ops.linspace(start=-1.0, stop=1.0, num=n)
    return ops.where(ops.greater_than(n.variable(), 1), line, ops.zeros_like(line))


@atomic
def grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Tensor:
    """Images sampled at the positions in `grid`; differentiable in both.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``, or ``[N, C, D, H, W]``, of known size.
    grid : Tensor or Variable
        ``[N, OH, OW, 2]``, or ``[N, OD, OH, OW, 3]``: positions (x, y) or (x, y, z), where -1 and 1
        are the ends of an axis.
    mode : {"bilinear", "nearest"}
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside: zeros, the nearest pixel of the image, or its reflection.
    align_corners : bool
        Whether -1 and 1 are the centres of the outermost pixels, or their edges.

    Returns
    -------
    ``[N, C, OH, OW]``, or ``[N, C, OD, OH, OW]``

    Raises
    ------
    ShapeError, ArgumentError, DTypeError

    Notes
    -----
    Between pixels the result is linear along each axis. At a pixel the derivative in `grid` is
    that towards the next one; for "nearest" it is 0. A position that is no number counts as
    outside. Jaderberg et al., "Spatial transformer networks" (2015).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[[[0.0, 1.0]]]])
    >>> grid_sample(x, paddle.to_tensor([[[[-0.5, 0.0], [1.0, 0.0]]]])).tolist()
    [[[[0.25, 1.0]]]]
    """
    op = "grid_sample"
    x, grid = as_operand(op, x), as_operand(op, grid, "grid")
    axes = 3 if spec_of(x).ndim == 5 else 2
    images = Images(op, x, axes, IMAGE_LAYOUTS[axes][0])
    if mode not in ("bilinear", "nearest"):
        raise ArgumentError(f"{op}: mode must be 'bilinear' or 'nearest', got {mode!r}")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ArgumentError(
            f"{op}: padding_mode must be 'zeros', 'border' or 'reflection', got {padding_mode!r}"
        )
    shape = spec_of(grid).shape
    if len(shape) != axes + 2 or shape[-1] != axes or not may_equal(shape[:1], images.shape[:1]):
        raise ShapeError(
            f"{op}: grid must be [N, {'OD, ' if axes == 3 else ''}OH, OW, {axes}] with the N of x "
            f"{format_shape(images.shape)}, got {format_shape(shape)}"
        )
    channels, *plane = known(op, "the channels and the size of x", images.shape[1:])
    if min(plane) < 1:
        raise ShapeError(f"{op}: x {format_shape(images.shape)} has no pixels")
    size = tuple(plane)
    # The grid counts axes from the last one.
    at = [
        inside(_pixel(part, n, align_corners), n, padding_mode, align_corners)
        for part, n in zip(reversed(ops.unstack(grid, axis=axes + 1)), size, strict=True)
    ]
    if mode == "nearest":
        return _pick(images.x, [ops.round(c) for c in at], channels, size)
    return interpolated(images.x, at, channels, size)


def interpolated(x: Any, at: Sequence[Any], channels: int, size: Ints) -> Any:
    """Images ``[N, channels, *size]`` at positions among their pixels, a coordinate for each axis.

    Positions are ``[N, ...]``, with as many axes as the images have of space.
    """
    below = [ops.floor(c) for c in at]
    share = [c - b for c, b in zip(at, below, strict=True)]

    def term(corner: tuple[int, ...]) -> Any:
        factors = (s if step else 1.0 - s for step, s in zip(corner, share, strict=True))
        weight = reduce(mul, factors)
        place = [b + 1.0 if step else b for step, b in zip(corner, below, strict=True)]
        return _pick(x, place, channels, size) * ops.unsqueeze(weight, axis=(1,))

    return reduce(add, map(term, itertools.product((0, 1), repeat=len(size))))


def _pixel(part: Any, n: int, align_corners: bool) -> Any:
    """Positions from -1 to 1 as positions among n pixels."""
    if align_corners:
        return (part + 1.0) * ((n - 1) / 2.0)
    return (part + 1.0) * (n / 2.0) - 0.5


def inside(c: Any, n: int, padding_mode: str = "zeros", align_corners: bool = True) -> Any:
    """Positions as `padding_mode` takes them."""
    if padding_mode == "zeros":
        # What is a pixel or more outside is far outside: any such place gives 0, finite as it is.
        near = ops.logical_and(ops.greater_than(c, -1.0), ops.less_than(c, float(n)))
        return ops.where(near, c, -2.0)
    if padding_mode == "reflection":
        low = 0.0 if align_corners else -0.5
        span = n - 1.0 - 2.0 * low
        if span == 0.0:
            return c * 0.0
        c = c - low
        c = ops.where(ops.less_than(c, 0.0), -c, c)
        c = c - ops.floor(c / (2.0 * span)) * (2.0 * span)
        c = ops.where(ops.greater_than(c, span), 2.0 * span - c, c) + low
    c = ops.where(ops.greater_equal(c, 0.0), c, 0.0)
    return ops.where(ops.less_equal(c, n - 1.0), c, n - 1.0)


def _pick(x: Any, place: Sequence[Any], channels: int, size: Ints) -> Any:
    """The pixels at whole positions, 0 where there is none."""
    within = (
        ops.logical_and(ops.greater_equal(c, 0.0), ops.less_equal(c, n - 1.0))
        for c, n in zip(place, size, strict=True)
    )
    there = reduce(ops.logical_and, within)
    indices = (
        ops.cast(ops.where(there, c, 0.0), dtype="int64") * prod(size[a + 1 :])
        for a, c in enumerate(place)
    )
    flat = reduce(add, indices)
    planes = (-1, channels, *[-1] * len(size))
    index = ops.expand(ops.unsqueeze(flat, axis=(1,)), shape=planes)
    return ops.where(ops.unsqueeze(there, axis=(1,)), ops.max_pool_gather(x, index), 0.0)
