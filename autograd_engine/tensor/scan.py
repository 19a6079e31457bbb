"""Running sums, products and extrema along an axis; differences and integrals."""

from __future__ import annotations

import builtins
from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import BOOLS, DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape, may_equal, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import axis_of, factor, in_dtype

__all__ = [
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "diff",
    "logcumsumexp",
    "trapezoid",
]


def _scan(
    op: str, x: Any, axis: int | None, dtype: DTypeLike | None = None, argument: str = "axis"
) -> tuple[Any, int, bool]:
    """The operand of a scan, the axis, and whether the result is to become 0-d again.

    The flat array for None. A 0-d array is scanned as a line of one element.
    """
    x = as_operand(op, x)
    if dtype is not None:
        x = ops.cast(x, dtype=to_numpy(dtype).name)
    ndim = spec_of(x).ndim
    if axis is None:
        if ndim != 1:
            x = ops.reshape(x, shape=(-1,))
        return x, 0, False
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise ArgumentTypeError(
            f"{op}: {argument} must be an int, got {axis!r} ({type(axis).__name__})"
        )
    if not ndim and axis in (0, -1):
        return ops.reshape(x, shape=(1,)), 0, True
    return x, normalize_axis(op, axis, ndim), False


def _scanned(out: Any, scalar: bool) -> Any:
    return ops.reshape(out, shape=()) if scalar else out


@atomic
def cumsum(
    x: Any, axis: int | None = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Sums of all elements so far along `axis` (of the flat array for None).

    Parameters
    ----------
    x : Tensor or Variable
    axis : int, optional
    dtype : dtype, optional
        Cast to this first, and return it. Otherwise integers and bools sum as int64, floats in
        their dtype.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.cumsum(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1).tolist()
    [[1.0, 3.0], [3.0, 7.0]]
    """
    x, along, scalar = _scan("cumsum", x, axis, dtype)
    return in_dtype(_scanned(ops.cumsum(x, axis=along), scalar), dtype)


@atomic
def cumprod(
    x: Any,
    dim: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Products of all elements so far along `dim` (of the flat array for None).

    Derivatives of any order are right where elements are 0: nothing is divided out.

    Parameters
    ----------
    x : Tensor or Variable
    dim : int, optional
    dtype : dtype, optional
        Cast to this first, and return it. Otherwise products keep the dtype of `x`; those of bools
        are int64.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.cumprod(paddle.to_tensor([2.0, 3.0, 4.0]), dim=0).tolist()
    [2.0, 6.0, 24.0]
    """
    x, along, scalar = _scan("cumprod", x, dim, dtype, "dim")
    return in_dtype(_scanned(ops.cumprod(x, axis=along), scalar), dtype)


@atomic
def logcumsumexp(
    x: Any, axis: int | None = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """log of the sum of exp of all elements so far along `axis`, without overflow.

    Elements of -inf get a gradient of 0. Integers give the default float dtype, also where `dtype`,
    to which `x` is cast first, is one of theirs.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> [round(v, 3) for v in paddle.logcumsumexp(paddle.to_tensor([1e4, 1e4])).tolist()]
    [10000.0, 10000.693]
    """
    x, along, scalar = _scan("logcumsumexp", x, axis, dtype)
    return _scanned(ops.logcumsumexp(x, axis=along), scalar)


def _extrema(op: str, x: Any, axis: int | None, dtype: DTypeLike) -> tuple[Any, Any]:
    x, along, scalar = _scan(op, x, axis)
    chosen = to_numpy(dtype).name
    if chosen not in ("int32", "int64"):
        raise DTypeError(f"{op}: dtype of the indices must be int32 or int64, got {chosen}")
    values, index = getattr(ops, op)(x, axis=along)
    if chosen != "int64":
        index = ops.cast(index, dtype=chosen)
    return _scanned(values, scalar), _scanned(index, scalar)


@atomic
def cummax(
    x: Any, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The largest element so far along `axis` (of the flat array for None), and its position.

    Of equal ones it is the latest, which gets the gradient. NaN is the largest from where it
    stands.

    Returns
    -------
    values, indices
        `indices` have `dtype`, int32 or int64.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> values, indices = paddle.cummax(paddle.to_tensor([1.0, 3.0, 2.0, 3.0]))
    >>> values.tolist(), indices.tolist()
    ([1.0, 3.0, 3.0, 3.0], [0, 1, 1, 3])
    """
    return _extrema("cummax", x, axis, dtype)


@atomic
def cummin(
    x: Any, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The smallest element so far along `axis` (of the flat array for None), and its position.

    Of equal ones it is the latest, which gets the gradient. NaN is the smallest from where it
    stands.

    Returns
    -------
    values, indices
        `indices` have `dtype`, int32 or int64.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> values, indices = paddle.cummin(paddle.to_tensor([2.0, 3.0, 1.0]))
    >>> values.tolist(), indices.tolist()
    ([2.0, 2.0, 1.0], [0, 0, 2])
    """
    return _extrema("cummin", x, axis, dtype)


# --- differences and integrals


def _cut(x: Any, axis: int, part: builtins.slice) -> Any:
    return ops.getitem(x, key=(*(builtins.slice(None),) * axis, part))


_LATER, _EARLIER = builtins.slice(1, None), builtins.slice(None, -1)


@atomic
def diff(
    x: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = None,
    append: Any = None,
    name: str | None = None,
) -> Tensor:
    """Differences of neighbours along `axis`, taken `n` times; of bools, whether they differ.

    Parameters
    ----------
    x : Tensor or Variable
    n : int
        0 or more.
    axis : int
    prepend, append : Tensor or Variable, optional
        Joined to `x` along `axis` before.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.diff(paddle.to_tensor([1.0, 4.0, 9.0])).tolist()
    [3.0, 5.0]
    """
    x = as_operand("diff", x)
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise ArgumentError(f"diff: n must be an int from 0 on, got {n!r}")
    along = axis_of("diff", x, axis)
    ends = {"prepend": prepend, "append": append}
    given = {k: as_operand("diff", v, k) for k, v in ends.items() if v is not None}
    if given:
        parts = [given.get("prepend"), x, given.get("append")]
        x = ops.concat(*[p for p in parts if p is not None], axis=along)
    if not n:
        return ops.assign(x)
    combine = ops.not_equal if spec_of(x).dtype in BOOLS else ops.subtract
    if n > 1000 and isinstance(spec_of(x).shape[along], Dim):
        raise ArgumentError(f"diff: n must be at most 1000 for an axis of unknown size, got {n}")
    for _ in range(n):
        if spec_of(x).shape[along] == 0:  # and stays so
            break
        x = combine(_cut(x, along, _LATER), _cut(x, along, _EARLIER))
    return x


def _areas(op: str, y: Any, x: Any, dx: float | None, axis: int) -> tuple[Any, int]:
    """The area under each piece between two neighbours along `axis`, and that axis."""
    y = as_operand(op, y, "y")
    along = axis_of(op, y, axis)
    if x is not None and dx is not None:
        raise ArgumentError(f"{op}: give the points x or their distance dx, not both")
    heights = _cut(y, along, _LATER) + _cut(y, along, _EARLIER)
    if x is None:
        return heights * ((1.0 if dx is None else factor(op, "dx", dx, y)) / 2.0), along
    x = as_operand(op, x)
    ys, xs = spec_of(y).shape, spec_of(x).shape
    if len(xs) == 1:
        fits = may_equal(xs, (ys[along],))
        widths = diff(x)
        behind = len(ys) - 1 - along
        if behind:
            widths = ops.unsqueeze(widths, axis=tuple(range(1, behind + 1)))
    else:
        fits = may_equal(xs, ys)
        widths = diff(x, axis=along)
    if not fits:
        raise ShapeError(
            f"{op}: x of shape {format_shape(xs)} must have the shape of y, {format_shape(ys)}, or "
            f"one point for each of the {ys[along]} elements along axis {along}"
        )
    return heights * widths / 2.0, along


@atomic
def trapezoid(
    y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> Tensor:
    """Integral of `y` along `axis` by the trapezoidal rule.

    Parameters
    ----------
    y : Tensor or Variable
        Values of the function.
    x : Tensor or Variable, optional
        Where they were taken: of the shape of `y`, or one point for each element along `axis`.
    dx : float, optional
        The distance of the points, 1 when neither is given.
    axis : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.trapezoid(paddle.to_tensor([1.0, 2.0, 4.0]), dx=0.5).item()
    2.25
    """
    areas, along = _areas("trapezoid", y, x, dx, axis)
    return ops.sum(areas, axis=(along,), keepdims=False)


@atomic
def cumulative_trapezoid(
    y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> Tensor:
    """Integrals of `y` from its first point to each later one; arguments as of `trapezoid`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.cumulative_trapezoid(paddle.to_tensor([1.0, 2.0, 4.0])).tolist()
    [1.5, 4.5]
    """
    areas, along = _areas("cumulative_trapezoid", y, x, dx, axis)
    return ops.cumsum(areas, axis=along)
