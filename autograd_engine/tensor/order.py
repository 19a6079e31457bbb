"""Order statistics. Ranks in a sorted line are arrays, since NaN may shift them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from autograd_engine.core.checks import as_number, is_int
from autograd_engine.core.spec import format_shape, normalize_axes, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ModeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.number_inputs import holds_symbolic
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import carries_gradient
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, constant, shape_of, spec_of
from autograd_engine.tensor.arguments import axis_of, is_open
from autograd_engine.tensor.reduction import Axis, floating

__all__ = ["kthvalue", "median", "mode", "nanmedian", "nanquantile", "quantile", "topk"]


@atomic
def topk(
    x: Any,
    k: int,
    axis: int | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) values along `axis` (the last for None), and their positions.

    They come in order, whatever `sorted` says. Of equal ones the first come first, and NaN is
    larger than any number. The gradient goes to the elements selected.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> values, indices = paddle.topk(paddle.to_tensor([1.0, 3.0, 2.0]), k=2)
    >>> values.tolist(), indices.tolist()
    ([3.0, 2.0], [1, 2])
    """
    x = as_operand("topk", x)
    scalar = not shape_of(x)
    along = axis_of("topk", x, -1 if axis is None else axis, scalars=True)
    x = ops.reshape(x, shape=(1,)) if scalar else x
    k = _rank("topk", x, k, along)
    values, indices = ops.topk(x, k=k, axis=along, largest=largest)
    if scalar:
        return ops.reshape(values, shape=()), ops.reshape(indices, shape=())
    return values, indices


def _rank(op: str, x: Any, k: Any, axis: int) -> Any:
    """`k` as an int; what the run knows is checked by then."""
    size = shape_of(x)[axis]
    if type(k) is int and type(size) is int and 1 <= k <= size:
        return k
    found = as_number(k)
    if is_int(found) and is_open(found):
        return found
    if not is_int(found) or found < 1 or (isinstance(size, int) and found > size):
        raise ArgumentError(f"{op}: k must be 1 to {size} for axis {axis}, got {k!r}")
    return int(found)


class _Lines:
    """`x` with the axes to reduce merged into the last one."""

    def __init__(self, op: str, x: Any, axis: Axis) -> None:
        spec = spec_of(x)
        self.x = x
        self.axes = normalize_axes(op, axis, spec.ndim)
        kept = tuple(a for a in range(spec.ndim) if a not in self.axes)
        self.last = len(kept)
        size = math.prod([spec.shape[a] for a in self.axes])
        if spec.ndim == 0 or not kept:
            x = ops.reshape(x, shape=(-1,))
        else:
            perm = (*kept, *self.axes)
            if perm != tuple(range(spec.ndim)):
                x = ops.transpose(x, perm=perm)
            if not self.axes:
                x = ops.unsqueeze(x, axis=(spec.ndim,))
            elif len(self.axes) > 1:
                merged = size if isinstance(size, int) else -1
                x = ops.reshape(x, shape=(*(0,) * len(kept), merged))
        self.y = x
        self.size = size
        if size == 0:
            raise ArgumentError(
                f"{op}: the lines of {format_shape(spec.shape)} are empty, and an empty set has no "
                f"{op}"
            )

    def counts(self) -> tuple[Any, Any]:
        """How many elements of each line there are, and how many are not NaN, as float64."""
        numbers = ops.sum(ops.equal(self.y, self.y), axis=(self.last,), keepdims=True)
        if isinstance(self.size, int):
            total: Any = float(self.size)
        else:
            ones = ops.full_like(self.y, value=1.0, dtype="float64")
            total = ops.sum(ones, axis=(self.last,), keepdims=True)
        return total, ops.cast(numbers, dtype="float64")

    def positions(self, order: Any, rank: Any) -> Any:
        """Where the elements are that have these places in the order."""
        return ops.take_along_axis(order, ops.cast(rank, dtype="int64"), axis=self.last)

    def restored(self, out: Any, keepdim: bool) -> Any:
        """`out`, whose last axis has size 1, as the result of a reduction."""
        out = ops.squeeze(out, axis=(self.last,))
        return ops.unsqueeze(out, axis=self.axes) if keepdim and self.axes else out


def _middle(lines: _Lines, ignore_nan: bool) -> tuple[Any, Any]:
    """Ranks of the two middle elements; of the first NaN where there is one and it counts."""
    total, numbers = lines.counts()
    if ignore_nan:
        last = ops.maximum(numbers - 1.0, 0.0)  # of NaN alone, the first
        return ops.floor(last / 2.0), ops.ceil(last / 2.0)
    half = (total - 1.0) / 2.0
    if isinstance(half, float):
        middle: Any = (float(math.floor(half)), float(math.ceil(half)))
    else:
        middle = (ops.floor(half), ops.ceil(half))
    has_nan = ops.less_than(numbers, total)
    return ops.where(has_nan, numbers, middle[0]), ops.where(has_nan, numbers, middle[1])


def _median(op: str, x: Any, axis: Axis, keepdim: bool, mode: str, ignore_nan: bool) -> Any:
    x = as_operand(op, x)
    if mode not in ("avg", "min"):
        raise ArgumentError(f"{op}: mode must be 'avg' or 'min', got {mode!r}")
    if mode == "avg":
        x = floating(op, x)
    lines = _Lines(op, x, axis)
    order = ops.argsort(lines.y, axis=lines.last)
    lower, upper = _middle(lines, ignore_nan)
    index = lines.positions(order, lower)
    if mode == "min":
        values = lines.restored(ops.take_along_axis(lines.y, index, axis=lines.last), keepdim)
        return values if axis is None else (values, lines.restored(index, keepdim))
    value = ops.take_tied(lines.y, index, axis=lines.last)
    if ignore_nan or not isinstance(lines.size, int) or lines.size % 2 == 0:
        other = ops.take_tied(lines.y, lines.positions(order, upper), axis=lines.last)
        value = 0.5 * value + 0.5 * other  # halves first: the sum may be too large
    return lines.restored(value, keepdim)


@overload
def median(
    x: Any,
    axis: int | None = None,
    keepdim: bool = False,
    mode: Literal["avg"] = "avg",
    name: str | None = None,
) -> Tensor: ...


@overload
def median(
    x: Any, axis: int | None = None, keepdim: bool = False, *, mode: str, name: str | None = None
) -> Any: ...


@atomic
def median(
    x: Any,
    axis: int | None = None,
    keepdim: bool = False,
    mode: str = "avg",
    name: str | None = None,
) -> Any:
    """The middle element over `axis` (of all for None); NaN where there is one.

    Parameters
    ----------
    x : Tensor or Variable
    axis : int, optional
    keepdim : bool
        Keep the axes, with size 1.
    mode : {"avg", "min"}
        Of two middle elements, their mean or the smaller.

    Returns
    -------
    Tensor or Variable
        With mode "avg", in the dtype of `x`, integers as the default float; elements that tie
        with a middle one share its gradient equally. With mode "min", the element itself, which
        gets the gradient; and a second result, its position, unless `axis` is None.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.median(paddle.to_tensor([4.0, 1.0, 3.0, 2.0])).item()
    2.5
    """
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise ArgumentTypeError(f"median: axis must be an int or None, got {axis!r}; see nanmedian")
    return _median("median", x, axis, keepdim, mode, ignore_nan=False)


@overload
def nanmedian(
    x: Any,
    axis: Axis = None,
    keepdim: bool = False,
    mode: Literal["avg"] = "avg",
    name: str | None = None,
) -> Tensor: ...


@overload
def nanmedian(
    x: Any, axis: Axis = None, keepdim: bool = False, *, mode: str, name: str | None = None
) -> Any: ...


@atomic
def nanmedian(
    x: Any, axis: Axis = None, keepdim: bool = False, mode: str = "avg", name: str | None = None
) -> Any:
    """The middle element over `axis` of what is not NaN; `axis` may name several axes.

    Parameters and results as of `median`. The position, of several axes, is that in their flat
    array.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nanmedian(paddle.to_tensor([4.0, float("nan"), 3.0])).item()
    3.5
    """
    return _median("nanmedian", x, axis, keepdim, mode, ignore_nan=True)


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(
    op: str, x: Any, q: Any, axis: Axis, keepdim: bool, interpolation: str, ignore_nan: bool
) -> Any:
    x = floating(op, as_operand(op, x))
    if interpolation not in _INTERPOLATIONS:
        raise ArgumentError(
            f"{op}: interpolation must be one of {', '.join(_INTERPOLATIONS)}, got "
            f"{interpolation!r}"
        )
    wanted = _probabilities(op, q)
    lines = _Lines(op, x, axis)
    y, last = lines.y, lines.last
    order = ops.argsort(y, axis=last)
    total, numbers = lines.counts()
    probabilities = wanted.reshape((1,) * last + (-1,))  # an ndarray, a constant in either mode
    if carries_gradient(q):
        probabilities = ops.reshape(ops.cast(q, dtype="float64"), shape=probabilities.shape)
    if ignore_nan:
        rank = ops.multiply(ops.maximum(numbers - 1.0, 0.0), probabilities)
    else:
        has_nan = ops.less_than(numbers, total)
        known = isinstance(total, float)
        whole = (total - 1.0) * probabilities if known else ops.multiply(total - 1.0, probabilities)
        rank = ops.where(has_nan, numbers, whole)
    lower = ops.floor(rank)
    upper = ops.ceil(rank)

    def at(rank: Any) -> Any:
        return ops.take_along_axis(y, lines.positions(order, rank), axis=last)

    if interpolation == "nearest":
        out = at(ops.round(rank))
    elif interpolation in ("lower", "higher"):
        out = at(lower if interpolation == "lower" else upper)
    else:
        low, high = at(lower), at(upper)
        share = ops.cast_like(rank - lower, y) if interpolation == "linear" else 0.5
        # One element alone: no difference is taken, which would be NaN for an infinite one.
        alone = ops.equal(lower, upper)
        step = ops.where(alone, 0.0, high) - ops.where(alone, 0.0, low)
        out = low + share * step
    if wanted.shape[0] == 1:
        return lines.restored(out, keepdim)
    out = ops.transpose(out, perm=(last, *range(last)))
    if keepdim and lines.axes:
        out = ops.unsqueeze(out, axis=tuple(a + 1 for a in lines.axes))
    return out


def _probabilities(op: str, q: Any) -> Any:
    if isinstance(q, Variable):
        raise ModeError(f"{op}: q must be known while a program is built; give numbers")
    given = q if isinstance(q, (list, tuple)) else [q]
    if holds_symbolic(given):
        parts = [
            v.within(f"{op}: q", "in [0, 1]", 0, 1).variable() if is_open(v) else constant(v)
            for v in given
        ]
        line = [ops.cast(ops.reshape(v, shape=(1,)), dtype="float64") for v in parts]
        return ops.concat(*line, axis=0)
    values = np.asarray(q.numpy() if hasattr(q, "numpy") else q, np.float64)
    if values.ndim > 1 or not values.size:
        raise ArgumentError(f"{op}: q must be a number or a list of them, got {q!r}")
    if not ((values >= 0) & (values <= 1)).all():
        raise ArgumentError(f"{op}: q must be in [0, 1], got {q!r}")
    return values.reshape(-1)


@atomic
def quantile(
    x: Any,
    q: float | Sequence[float],
    axis: Axis = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    name: str | None = None,
) -> Tensor:
    """The values below which the parts `q` of the elements over `axis` lie; NaN where one is.

    Parameters
    ----------
    x : Tensor or Variable
        Integers become the default float.
    q : float or sequence of float
        In [0, 1]. For several, the result has a first axis more, as long as `q`.
    axis : int or sequence of int, optional
    keepdim : bool
        Keep the axes, with size 1.
    interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}
        What to take between two elements; the nearest of two equally near is that of even rank.

    Notes
    -----
    The gradient goes to the elements selected, in the shares in which they enter.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 3.0]), [0.25, 0.5]).tolist()
    [1.5, 2.0]
    """
    return _quantile("quantile", x, q, axis, keepdim, interpolation, ignore_nan=False)


@atomic
def nanquantile(
    x: Any,
    q: float | Sequence[float],
    axis: Axis = None,
    keepdim: bool = False,
    interpolation: str = "linear",
) -> Tensor:
    """As `quantile`, of what is not NaN; NaN of nothing else.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nanquantile(paddle.to_tensor([1.0, float("nan"), 3.0]), 0.5).item()
    2.0
    """
    return _quantile("nanquantile", x, q, axis, keepdim, interpolation, ignore_nan=True)


def _line(op: str, x: Any, axis: int | None) -> tuple[Any, int, bool]:
    """The operand, the axis (the last for None), and whether it was a 0-d array."""
    x = as_operand(op, x)
    ndim = spec_of(x).ndim
    axis = normalize_axis(op, -1 if axis is None else axis, ndim)
    if ndim and spec_of(x).shape[axis] == 0:
        raise ArgumentError(f"{op}: axis {axis} is empty, and an empty set has no {op}")
    return (x, axis, False) if ndim else (ops.reshape(x, shape=(1,)), 0, True)


@atomic
def kthvalue(
    x: Any, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The `k`-th smallest value along `axis` (the last for None), and its position.

    Equal elements count in order of position, and NaN is larger than any number. The gradient
    goes to the element selected.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> value, index = paddle.kthvalue(paddle.to_tensor([3.0, 1.0, 2.0]), 2)
    >>> value.item(), index.item()
    (2.0, 2)
    """
    x, along, scalar = _line("kthvalue", x, axis)
    k = _rank("kthvalue", x, k, along)
    last = builtins.slice(k - 1, k) if keepdim and not scalar else k - 1
    key = (*(builtins.slice(None),) * along, last)
    values, index = topk(x, k, axis=along, largest=False)
    return ops.getitem(values, key=key), ops.getitem(index, key=key)


@atomic
def mode(
    x: Any, axis: int = -1, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The most frequent value along `axis`, of several the smallest, and its last position.

    The gradient goes to the element at that position.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> value, index = paddle.mode(paddle.to_tensor([2.0, 1.0, 2.0]))
    >>> value.item(), index.item()
    (2.0, 2)
    """
    x, along, scalar = _line("mode", x, axis)
    values, index = ops.mode(x, axis=along)
    if keepdim and not scalar:
        return values, index
    return ops.squeeze(values, axis=(along,)), ops.squeeze(index, axis=(along,))
