"""Pooling along one, two or three axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, overload

from autograd_engine.core.checks import as_number, is_int, positive_int
from autograd_engine.core.dims import Dim, SymbolicNumber
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import check_number, widen
from autograd_engine.nn.functional.window_arguments import (
    IMAGE_LAYOUTS,
    Images,
    IntOrInts,
    images_like,
    ints,
    known,
    paddings,
)
from autograd_engine.ops.infer import index_dtype
from autograd_engine.ops.kernels.windows import Ints, Padding
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

Sizes: TypeAlias = int | Sequence[int | None]


def _window(op: str, images: Images, kernel_size: Any, stride: Any, padding: Any) -> dict[str, Any]:
    """The attributes that all pooling operations have."""
    given = tuple([tuple(v) if v.__class__ is list else v for v in (kernel_size, stride, padding)])
    size = images.size
    plain = _are_ints(given) and _are_ints(size)
    windows = _known_windows if plain else _windows
    kernel, steps, pads = windows(op, size, images.last, *given)
    return {"kernel": kernel, "stride": steps, "padding": pads}


def _are_ints(values: Any) -> bool:
    """Whether they are ints of Python, None, or tuples of these: equal ones mean the same."""
    for v in values:
        if v.__class__ is not int and v is not None and not (v.__class__ is tuple and _are_ints(v)):
            return False
    return True


def _windows(
    op: str, size: Any, last: bool, kernel_size: Any, stride: Any, padding: Any
) -> tuple[Ints, Ints, Padding]:
    axes = len(size)
    kernel = ints(op, "kernel_size", kernel_size, axes)
    steps = kernel if stride is None else ints(op, "stride", stride, axes)
    pads = paddings(op, padding, size, kernel, steps, (1,) * axes, last)
    for k, (before, after) in zip(kernel, pads, strict=True):
        if max(before, after) >= k:
            raise ArgumentError(f"{op}: padding {padding!r} must be below the window {kernel}")
    return kernel, steps, pads


_known_windows = lru_cache(maxsize=256)(_windows)


# --- maximum


def _max_pool(
    axes: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    return_mask: bool,
    ceil_mode: bool,
    data_format: str,
) -> Any:
    op = f"max_pool{axes}d"
    images = Images(op, x, axes, data_format)
    window = _window(op, images, kernel_size, stride, padding)
    out, index = ops.max_pool(images.x, **window, ceil_mode=bool(ceil_mode))
    return (images.back(out), _mask(images.back(index))) if return_mask else images.back(out)


def _mask(index: Any) -> Any:
    """Positions in the dtype that the reference has them in."""
    return ops.cast(index, dtype="int32")


@atomic
def max_pool1d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The maximum of each window of ``[N, C, L]``; see `max_pool2d`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
    [[[3.0, 2.0]]]
    """
    return _max_pool(1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


@overload
def max_pool2d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    return_mask: Literal[False] = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor: ...
@overload
def max_pool2d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    *,
    return_mask: Literal[True],
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any: ...
@atomic
def max_pool2d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The maximum of each window; the first element that attains it gets the gradient.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``, or ``[N, H, W, C]`` with ``data_format="NHWC"``.
    kernel_size, stride : int or two ints
        The stride is that of the window where None.
    padding : int, two ints, four ints, pairs, "SAME" or "VALID"
        As in `conv2d`; below the window. Padding is never the maximum.
    return_mask : bool
        Return also the position ``h * W + w`` of each maximum in its plane, as int32.
    ceil_mode : bool
        Whether a last window that runs over the end counts.

    Returns
    -------
    ``[N, C, (H + padding - kh) // stride + 1, ...]``; NaN for windows that hold one.

    Raises
    ------
    ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> max_pool2d(paddle.reshape(paddle.arange(4.0), [1, 1, 2, 2]), 2).tolist()
    [[[[3.0]]]]
    """
    return _max_pool(2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@atomic
def max_pool3d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The maximum of each window of volumes; see `max_pool2d`."""
    return _max_pool(3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


# --- mean


def _avg_pool(
    axes: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    exclusive: bool,
    divisor_override: float | None,
    data_format: str,
) -> Any:
    op = f"avg_pool{axes}d"
    images = Images(op, x, axes, data_format)
    window = _window(op, images, kernel_size, stride, padding)
    divisor = None
    if divisor_override is not None:
        divisor = check_number(op, "divisor_override", divisor_override)
        if not divisor > 0:
            raise ArgumentError(f"{op}: divisor_override {divisor_override} is not positive")
    out = ops.avg_pool(
        images.x,
        **window,
        ceil_mode=bool(ceil_mode),
        exclusive=bool(exclusive),
        divisor=divisor,
    )
    return images.back(out)


@atomic
def avg_pool1d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean of each window of ``[N, C, L]``; see `avg_pool2d`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
    [[[2.0, 1.0]]]
    """
    return _avg_pool(1, x, kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


@atomic
def avg_pool2d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The mean of each window.

    Parameters
    ----------
    x, kernel_size, stride, padding, ceil_mode, data_format
        As in `max_pool2d`.
    exclusive : bool
        Padding does not count among the elements that the sum is divided by.
    divisor_override : float, optional
        Divide by this instead.

    Raises
    ------
    ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> avg_pool2d(paddle.reshape(paddle.arange(4.0), [1, 1, 2, 2]), 2).tolist()
    [[[[1.5]]]]
    """
    return _avg_pool(
        2, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format
    )


@atomic
def avg_pool3d(
    x: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of volumes; see `avg_pool2d`."""
    return _avg_pool(
        3, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format
    )


# --- adaptive: the number of windows is given, not their size


def _bins(op: str, output_size: Any, axes: int) -> tuple[int | None, ...]:
    """How many along each axis; None where the axis stays as it is."""
    given = tuple(output_size) if output_size.__class__ is list else output_size
    return (_known_bins if _are_ints((given,)) else _bins_of)(op, given, axes)


def _bins_of(op: str, output_size: Any, axes: int) -> tuple[int | None, ...]:
    sizes = tuple(output_size) if isinstance(output_size, (list, tuple)) else (output_size,) * axes
    sizes = tuple([as_number(s) for s in sizes])
    given = [s for s in sizes if s is not None]
    known_sizes = [s for s in given if not isinstance(s, SymbolicNumber)]
    if len(sizes) != axes or not all(map(is_int, given)) or min(known_sizes, default=1) < 1:
        raise ArgumentError(
            f"{op}: output_size must be an int of at least 1 or None, or {axes} of them; got "
            f"{output_size!r}"
        )
    return tuple(None if s is None else positive_int(op, "output_size", s) for s in sizes)


_known_bins = lru_cache(maxsize=256)(_bins_of)


def _adaptive_avg_pool(axes: int, x: Any, output_size: Any, data_format: str) -> Any:
    op = f"adaptive_avg_pool{axes}d"
    images = Images(op, x, axes, data_format)
    return images.back(ops.adaptive_avg_pool(images.x, size=_bins(op, output_size, axes)))


def _adaptive_max_pool(axes: int, x: Any, output_size: Any, return_mask: bool) -> Any:
    op = f"adaptive_max_pool{axes}d"
    images = Images(op, x, axes, IMAGE_LAYOUTS[axes][0])
    out, index = ops.adaptive_max_pool(images.x, size=_bins(op, output_size, axes))
    return (out, _mask(index)) if return_mask else out


@atomic
def adaptive_avg_pool1d(x: Any, output_size: Sizes, name: str | None = None) -> Tensor:
    """The means of `output_size` bins of ``[N, C, L]``; see `adaptive_avg_pool2d`."""
    return _adaptive_avg_pool(1, x, output_size, "NCL")


@atomic
def adaptive_avg_pool2d(
    x: Any, output_size: Sizes, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """The means of bins that divide the plane.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``, or ``[N, H, W, C]`` with ``data_format="NHWC"``.
    output_size : int, or two ints or None
        Bins along height and width; None keeps the size. Bin i of o goes from row
        ``floor(i H / o)`` to ``ceil((i + 1) H / o)``: bins may overlap.

    Raises
    ------
    ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> adaptive_avg_pool2d(paddle.to_tensor([[[[1.0, 2.0, 4.0]]]]), [1, 2]).tolist()
    [[[[1.5, 3.0]]]]
    """
    return _adaptive_avg_pool(2, x, output_size, data_format)


@atomic
def adaptive_avg_pool3d(
    x: Any, output_size: Sizes, data_format: str = "NCDHW", name: str | None = None
) -> Tensor:
    """The means of bins that divide volumes; see `adaptive_avg_pool2d`."""
    return _adaptive_avg_pool(3, x, output_size, data_format)


@atomic
def adaptive_max_pool1d(
    x: Any, output_size: Sizes, return_mask: bool = False, name: str | None = None
) -> Any:
    """The maxima of `output_size` bins of ``[N, C, L]``; see `adaptive_max_pool2d`."""
    return _adaptive_max_pool(1, x, output_size, return_mask)


@atomic
def adaptive_max_pool2d(
    x: Any, output_size: Sizes, return_mask: bool = False, name: str | None = None
) -> Any:
    """The maxima of bins that divide the plane; the first element of a tie gets the gradient.

    Bins are those of `adaptive_avg_pool2d`; `return_mask` as in `max_pool2d`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> adaptive_max_pool2d(paddle.to_tensor([[[[1.0, 2.0, 4.0]]]]), [1, 2]).tolist()
    [[[[2.0, 4.0]]]]
    """
    return _adaptive_max_pool(2, x, output_size, return_mask)


@atomic
def adaptive_max_pool3d(
    x: Any, output_size: Sizes, return_mask: bool = False, name: str | None = None
) -> Any:
    """The maxima of bins that divide volumes; see `adaptive_max_pool2d`."""
    return _adaptive_max_pool(3, x, output_size, return_mask)


# --- fractional: bins of nearly equal sizes, which begin at random


def _fractional_max_pool(
    axes: int, x: Any, output_size: Any, kernel_size: Any, random_u: Any, return_mask: bool
) -> Any:
    op = f"fractional_max_pool{axes}d"
    x = Images(op, x, axes, IMAGE_LAYOUTS[axes][0]).x
    size = _bins(op, output_size, axes)
    kernel = None if kernel_size is None else ints(op, "kernel_size", kernel_size, axes)
    u = None if random_u is None else check_number(op, "random_u", random_u)
    if u is not None and not 0.0 < u < 1.0:
        raise ArgumentError(f"{op}: random_u must be between 0 and 1, got {random_u!r}")
    index = ops.fractional_max_index(x, size=size, kernel=kernel, u=u)
    out = ops.max_pool_gather(x, index)
    return (out, _mask(index)) if return_mask else out


@atomic
def fractional_max_pool2d(
    x: Any,
    output_size: Sizes,
    kernel_size: IntOrInts | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """The maximum of each bin of nearly equal bins, which begin at random (Graham 2014).

    Along an axis of n elements bin i of o begins at ``floor((i + u) n / o) - floor(u n / o)`` and
    ends where the next begins, the random number u being such that none is empty.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``
    output_size : int, or two ints or None
        Bins along height and width, not more than elements; None keeps the size.
    kernel_size : int or two ints, optional
        Windows of this size instead, which may overlap.
    random_u : float, optional
        Above 0 and below 1; drawn in each call where None.
    return_mask : bool
        Return also the position ``h * W + w`` of each maximum in its plane, as int32.

    Raises
    ------
    ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[[[2.0, 4.0, 3.0, 1.0, 5.0, 2.0, 3.0]]]])
    >>> fractional_max_pool2d(x, [1, 5], random_u=0.3).tolist()
    [[[[2.0, 4.0, 1.0, 5.0, 3.0]]]]
    """
    return _fractional_max_pool(2, x, output_size, kernel_size, random_u, return_mask)


@atomic
def fractional_max_pool3d(
    x: Any,
    output_size: Sizes,
    kernel_size: IntOrInts | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """The maximum of each bin of volumes; see `fractional_max_pool2d`."""
    return _fractional_max_pool(3, x, output_size, kernel_size, random_u, return_mask)


# --- power means


def _lp_pool(
    axes: int,
    x: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    data_format: str,
) -> Any:
    op = f"lp_pool{axes}d"
    images = Images(op, x, axes, data_format)
    window = _window(op, images, kernel_size, stride, padding)
    p = check_number(op, "norm_type", norm_type)
    if not p > 0:
        raise ArgumentError(f"{op}: norm_type must be positive, got {norm_type!r}")
    if p == math.inf:
        out, _ = ops.max_pool(images.x, **window, ceil_mode=bool(ceil_mode))
        return images.back(out)
    powers = ops.pow(widen(images.x), p)
    total = ops.avg_pool(powers, **window, ceil_mode=bool(ceil_mode), exclusive=True, divisor=1.0)
    # The root of 1 stands in where all of a window is 0, so that its gradient there is 0.
    there = ops.not_equal(total, 0.0)
    root = ops.pow(ops.where(there, total, 1.0), 1.0 / p)
    out = ops.where(there, root, total)
    return images.back(ops.cast_like(out, images.x))


@atomic
def lp_pool1d(
    x: Any,
    norm_type: float,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """``(sum x**p)**(1/p)`` over each window of sequences; see `lp_pool2d`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> lp_pool1d(paddle.to_tensor([[[3.0, 4.0]]]), 2, 2).tolist()
    [[[5.0]]]
    """
    return _lp_pool(1, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


@atomic
def lp_pool2d(
    x: Any,
    norm_type: float,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """``(sum x**p)**(1/p)`` over each window; of zeros it is 0, with gradient 0.

    It is the p-norm where p is even or no element is negative.

    Parameters
    ----------
    norm_type : float
        p, above 0; the maximum for infinity.
    x, kernel_size, stride, padding, ceil_mode, data_format
        As in `max_pool2d`.
    """
    return _lp_pool(2, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


# --- the maxima put back


def _unpooled_size(
    op: str, images: Images, kernel: Ints, stride: Ints, padding: Padding, output_size: Any
) -> Ints:
    """`output_size`, which may name all axes, or the size that pooling has taken away."""
    least = tuple(
        (n + -1) * s + (k - b - a)
        for n, s, k, (b, a) in zip(images.size, stride, kernel, padding, strict=True)
    )
    if output_size is None:
        return known(op, "the size of the result", least, "declare it, or give output_size")
    given = tuple(output_size) if isinstance(output_size, (list, tuple)) else output_size
    if isinstance(given, tuple) and len(given) == len(kernel) + 2:
        given = given[2:]
    size = ints(op, "output_size", given, len(kernel))
    checked = list(size)
    wanted = f"within the stride {list(stride)} of {format_shape(least)}"
    for k, (d, n, s) in enumerate(zip(size, least, stride, strict=True)):
        if isinstance(n, Dim):
            continue
        if isinstance(d, SymbolicNumber):
            checked[k] = d.within(f"{op}: output_size", wanted, n - s + 1, n + s - 1)
        elif not n - s < d < n + s:
            raise ArgumentError(f"{op}: output_size {list(size)} must be {wanted}")
    return tuple(checked)


def _max_unpool(
    axes: int,
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    output_size: Any,
) -> Any:
    op = f"max_unpool{axes}d"
    second, _ = IMAGE_LAYOUTS[axes]
    if data_format != second:
        raise ArgumentError(f"{op}: data_format must be {second!r}, got {data_format!r}")
    images = Images(op, x, axes, data_format)
    window = _window(op, images, kernel_size, stride, padding)
    size = _unpooled_size(op, images, **window, output_size=output_size)
    indices = as_operand(op, indices, "indices")
    index_dtype(op, "indices", spec_of(indices))
    if not may_equal(spec_of(indices).shape, images.shape):
        raise ShapeError(
            f"{op}: indices {format_shape(spec_of(indices).shape)} must have the shape of x, "
            f"{format_shape(images.shape)}"
        )
    (channels,) = known(op, "the channels", images.shape[1:2])
    like = images_like(images.x, channels, size)
    kept = ops.where(ops.last_writes(indices, like), images.x, 0.0)
    return ops.max_pool_scatter(kept, indices, like)


@atomic
def max_unpool1d(
    x: Any,
    indices: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    data_format: str = "NCL",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Zeros with the maxima of `max_pool1d` put back; see `max_unpool2d`."""
    return _max_unpool(1, x, indices, kernel_size, stride, padding, data_format, output_size)


@atomic
def max_unpool2d(
    x: Any,
    indices: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    data_format: str = "NCHW",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Zeros with the maxima of `max_pool2d` put back where they were.

    Parameters
    ----------
    x : Tensor or Variable
        ``[N, C, H, W]``
    indices : Tensor or Variable
        Of the same shape: positions in planes of the result, as from
        ``max_pool2d(..., return_mask=True)``. Of several elements with one position the last
        stays, and alone has a gradient.
    kernel_size, stride, padding
        Those of the pooling.
    output_size : sequence of int, optional
        Height and width of the result (or all four sizes), which a stride leaves open.

    Raises
    ------
    IndexError
        For a position that is not in the plane.
    ShapeError, ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[[[1.0, 2.0], [4.0, 3.0]]]])
    >>> out, indices = max_pool2d(x, 2, return_mask=True)
    >>> max_unpool2d(out, indices, 2).tolist()
    [[[[0.0, 0.0], [4.0, 0.0]]]]
    """
    return _max_unpool(2, x, indices, kernel_size, stride, padding, data_format, output_size)


@atomic
def max_unpool3d(
    x: Any,
    indices: Any,
    kernel_size: IntOrInts,
    stride: IntOrInts | None = None,
    padding: Any = 0,
    data_format: str = "NCDHW",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Zeros with the maxima of `max_pool3d` put back; see `max_unpool2d`."""
    return _max_unpool(3, x, indices, kernel_size, stride, padding, data_format, output_size)
