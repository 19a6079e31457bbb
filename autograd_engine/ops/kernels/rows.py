"""Kernels along the last axes, on blocks of rows that stay in the cache from one pass to the next.

Arrays are seen as [rows, width]. The results of a row depend on that row alone, and have the same
bits in whatever block it falls. C computes them where it can be had (`compiled`), else NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import BLAS_REALS
from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.compiled import LARGE, compiled

__all__ = [
    "FEW",
    "WIDE",
    "between",
    "lines",
    "log_softmax",
    "log_softmax_adjoint",
    "log_softmax_adjoint_into",
    "log_softmax_into",
    "logsumexp",
    "logsumexp_adjoint",
    "row_sums",
    "scaled",
    "short_rows",
    "softmax",
    "softmax_adjoint",
    "softmax_adjoint_into",
    "softmax_into",
    "softmax_lines",
    "standardize",
    "standardize_adjoint",
    "standardize_adjoint_into",
    "standardize_into",
]

_BLOCK = 1 << 19  # elements: fewer would not pay for the calls they take
FEW = 1 << 12  # elements from which on `between` pays
_INNER = 256  # elements of a row, up to which reductions over rows go to C
_SHORT = 8  # width from which C takes rows of softmax: NumPy makes five calls of it
_WORTH = 64  # width from which BLAS and reused arrays outweigh the calls
# From this size and width on, buffers are as short as rows.
_LARGE = 1 << 14
_LONG = 1 << 9
# Up to this width a row is added up by BLAS, in 8 sums or more of which none is long; wider ones
# part by part, whose sums NumPy adds in pairs.
WIDE = 1 << 12
_PART = 1 << 10
_ONES = {dtype: np.ones(WIDE, dtype) for dtype in BLAS_REALS}
_dots: Any = np.vecdot


def lines(x: Array, axis: tuple[int, ...]) -> tuple[int, int] | None:
    """(rows, width) where `axis` are the last axes of `x`, in order, and rows are worth it.

    That is for their width to say, and not for their number: so the bits of a row do not depend on
    how many others there are.
    """
    shape, ndim = x.shape, x.ndim
    if len(axis) == 1:
        width = shape[-1] if axis[0] == ndim - 1 else 0
    else:
        first = ndim - len(axis)
        width = math.prod(shape[first:]) if axis and axis == tuple(range(first, ndim)) else 0
    if width < _WORTH or not x.size or x.dtype not in BLAS_REALS:
        return None
    return x.size // width, width


def softmax_lines(x: Array, axis: int) -> tuple[int, int] | None:
    """`lines` for softmax and its like: in C rows may be shorter, and among many shorter still."""
    shape = x.shape
    width = shape[-1] if axis == len(shape) - 1 else 0
    size = x.size
    worth = (width >= _SHORT and size) or (width and size >= LARGE)
    if worth and compiled("rows.softmax", x) is not None:
        return size // width, width
    return lines(x, (axis,))


def _blocks(rows: int, width: int) -> Iterator[slice]:
    step = max(1, _BLOCK // width)
    return (slice(k, k + step) for k in range(0, rows, step))


class _ShortBuffers:
    """Buffers of ufuncs that are no longer than a row, while rows are many and long.

    A ufunc that spreads a column over rows shorter than its buffer copies it into the buffer first,
    which takes as long as the operation.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        rows, width = shape
        self._size = width // 16 * 16 if rows * width >= _LARGE and width >= _LONG else 0
        self._before = 0

    def __enter__(self) -> None:
        if self._size:
            before = np.getbufsize()
            if self._size < before:
                self._before = np.setbufsize(self._size)

    def __exit__(self, *_: object) -> None:
        if self._before:
            np.setbufsize(self._before)


def short_rows(name: str, x: Any, axis: tuple[int, ...]) -> Any:
    """The reduction in C of that name, where `axis` is the last and its lines are short, or None.

    NumPy takes some ten times longer to start a line than to add an element.
    """
    short = 1 < (x.shape[-1] if x.ndim else 0) < _WORTH and axis == (x.ndim - 1,)
    return compiled(f"reduce.{name}", x) if short and x.size >= LARGE else None


def between(name: str, x: Any, axis: tuple[int, ...]) -> Callable[..., None] | None:
    """What C does over axes of `x` behind which others are left that are short, or None.

    Reductions are ``f(x, out)``, all operands contiguous. The bits are NumPy's, which takes some
    ten to forty times as long: it begins anew with each row. Sums of long rows take half as long.
    """
    stop = len(axis) + axis[0] if axis else 0
    if not 0 < stop < x.ndim or x.size < FEW or axis != tuple(range(axis[0], stop)):
        return None
    count, inner = math.prod(x.shape[axis[0] : stop]), math.prod(x.shape[stop:])
    worth = inner > 1 if name == "sum" else 1 < inner <= _INNER
    run = compiled(f"reduce.{name}_between", x) if worth else None
    if run is None:
        return None
    sizes = x.size // (count * inner), count, inner
    return lambda *operands: run(*operands, *sizes)


def row_sums(x: Array) -> Array:
    """Sums of the rows of an array of float32 or float64 whose rows are contiguous."""
    run = compiled("sums.sum", x) if x.shape[1] >= _WORTH else None
    if run is not None:
        return np.asarray(run(x))
    rows, width = x.shape
    ones = _ONES[x.dtype]
    if width <= WIDE:
        return np.asarray(_dots(x, ones[:width]))
    parts = width // _PART
    whole = x[:, : parts * _PART].reshape(rows, parts, _PART)
    total = np.add.reduce(_dots(whole, ones[:_PART]), axis=1)
    return np.asarray(total + _dots(x[:, parts * _PART :], ones[: width % _PART]))


def _row_sums(x: Array) -> Array:
    return row_sums(x)[:, None]


def _row_dots(x: Array, y: Array) -> Array:
    """Inner products of the rows of two contiguous arrays, as a column."""
    if x.shape[1] > WIDE:
        return np.asarray(np.add.reduce(x * y, axis=1, keepdims=True))
    return np.asarray(_dots(x, y)[:, None])


def logsumexp(x: Array, axis: tuple[int, ...]) -> Array | None:
    """log(sum of exp) of each row, by C: none among others, where `lines` sees some."""
    shape = lines(x, axis)
    run = None if shape is None else compiled("rows.logsumexp", x)
    return None if shape is None or run is None else np.asarray(run(_rows(x, shape)))


def logsumexp_adjoint(c: Array, x: Array, out: Array, axis: tuple[int, ...]) -> Array | None:
    """c exp(x - out), divided by its sum, for each row: by C, as `logsumexp`."""
    return _beside("rows.logsumexp_adjoint", c, x, out, lines(x, axis))


def scaled(c: Array, x: Array, norm: Array, axis: tuple[int, ...]) -> Array | None:
    """c (x / norm), for each row: by C, of whatever width, as the bits are NumPy's."""
    if x.dtype in BLAS_REALS and axis == (x.ndim - 1,) and x.shape[-1] > 1:
        return _beside("sums.scaled", c, x, norm, (x.size // x.shape[-1], x.shape[-1]))
    return _beside("sums.scaled", c, x, norm, lines(x, axis))


def _beside(
    name: str, c: Array, x: Array, y: Array, shape: tuple[int, int] | None
) -> Array | None:
    """The C function of that name: of rows, and of a number before and behind each."""
    run = None if shape is None else compiled(name, x)
    if shape is None or run is None:
        return None
    dx: Array = run(c.reshape(-1), _rows(x, shape), y.reshape(-1))
    return dx.reshape(x.shape)


def _rows(x: Array, shape: tuple[int, int]) -> Array:
    return np.ascontiguousarray(x).reshape(shape)


def softmax(x: Array, shape: tuple[int, int]) -> Array:
    """exp(x) / sum of it, for each row."""
    out = np.empty(x.shape, x.dtype)  # of its own shape: nothing has to ask what a view is of
    softmax_into(_rows(x, shape), out.reshape(shape))
    return out


def softmax_into(given: Array, out: Array) -> None:
    """`softmax` of contiguous rows, in other memory."""
    run = compiled("rows.softmax", given)
    if run is not None:
        run(given, out)
        return
    with _ShortBuffers(given.shape):
        for block in _blocks(*given.shape):
            e = out[block]
            np.divide(e, _exponentials(given[block], e)[:, None], e)


# exp(x) of a row that adds up to less may have lost elements that count; see `_exponentials`.
_LEAST = 2.0**-24


def _exponentials(x: Array, e: Array) -> Array:
    """Write exp(x) to `e`, or exp(x - max) for rows that need it; the sums of rows.

    The maximum is there so that nothing overflows, and so that not all of a row underflows. Finding
    and subtracting it takes a third of the time, and most rows do well without: those whose sum is
    finite and not below `_LEAST`. What underflows there is less than 2^-102 of the sum. Which way a
    row goes depends on the row alone.
    """
    with np.errstate(over="ignore", under="ignore"):
        np.exp(x, out=e)
        sums = row_sums(e)
    if np.minimum.reduce(sums) >= _LEAST and np.maximum.reduce(sums) < np.inf:
        return sums
    where = np.flatnonzero(~((sums >= _LEAST) & (sums < np.inf)))
    few = x[where]
    few -= np.maximum.reduce(few, axis=1, keepdims=True)
    e[where] = few = np.exp(few)
    sums[where] = row_sums(few)
    return sums


def log_softmax(x: Array, shape: tuple[int, int]) -> Array:
    """(x - max) - log(sum of exp(x - max)), for each row."""
    out = np.empty(x.shape, x.dtype)
    log_softmax_into(_rows(x, shape), out.reshape(shape))
    return out


def log_softmax_into(given: Array, out: Array) -> None:
    """`log_softmax` of contiguous rows, in other memory."""
    run = compiled("rows.log_softmax", given)
    if run is not None:
        run(given, out)
        return
    with _ShortBuffers(given.shape):
        for block in _blocks(*given.shape):
            x, d = given[block], out[block]
            np.subtract(x, np.maximum.reduce(x, axis=1, keepdims=True), d)
            np.subtract(d, np.log(_row_sums(np.exp(d))), d)


def softmax_adjoint(g: Array, out: Array, shape: tuple[int, int]) -> Array:
    """out (g - <g, out>), for each row."""
    return _adjoint(softmax_adjoint_into, g, out, shape)


def _adjoint(into: Callable[..., None], g: Array, out: Array, shape: tuple[int, int]) -> Array:
    dx = np.empty(out.shape, out.dtype)
    into(_rows(g, shape), _rows(out, shape), dx.reshape(shape))
    return dx


def softmax_adjoint_into(g: Array, out: Array, dx: Array) -> None:
    """`softmax_adjoint` of contiguous rows."""
    run = compiled("rows.softmax_adjoint", out)
    if run is not None:
        run(g, out, dx)
        return
    with _ShortBuffers(out.shape):
        for block in _blocks(*out.shape):
            u, y, d = g[block], out[block], dx[block]
            np.subtract(u, _row_dots(u, y), d)
            np.multiply(y, d, d)


def log_softmax_adjoint(g: Array, out: Array, shape: tuple[int, int]) -> Array:
    """g - exp(out) sum(g), for each row."""
    return _adjoint(log_softmax_adjoint_into, g, out, shape)


def log_softmax_adjoint_into(g: Array, out: Array, dx: Array) -> None:
    """`log_softmax_adjoint` of contiguous rows."""
    run = compiled("rows.log_softmax_adjoint", out)
    if run is not None:
        run(g, out, dx)
        return
    with _ShortBuffers(out.shape):
        for block in _blocks(*out.shape):
            u, d = g[block], dx[block]
            np.exp(out[block], d)
            np.multiply(d, _row_sums(u), d)
            np.subtract(u, d, d)


def standardize(x: Array, shape: tuple[int, int], epsilon: float) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon), and the moments as columns."""
    out = np.empty(shape, x.dtype)
    mean, variance = np.empty((shape[0], 1), x.dtype), np.empty((shape[0], 1), x.dtype)
    standardize_into(_rows(x, shape), out, mean, variance, epsilon=epsilon)
    return out.reshape(x.shape), mean, variance


def standardize_into(
    given: Array, out: Array, mean: Array, variance: Array, *, epsilon: float
) -> None:
    """`standardize` of contiguous rows."""
    run = compiled("standardize.standardize", given)
    if run is not None:
        run(given, out, mean, variance, 1, *given.shape, epsilon)
        return
    width = given.shape[1]
    with _ShortBuffers(given.shape):
        for block in _blocks(*given.shape):
            part, d = given[block], out[block]
            m = mean[block] = _row_sums(part) / width
            np.subtract(part, m, d)
            v = variance[block] = _row_dots(d, d) / width
            np.divide(d, np.sqrt(v + epsilon), d)


def standardize_adjoint(
    g: Array, out: Array, variance: Array, shape: tuple[int, int], epsilon: float
) -> Array:
    """(g - <g> - out <g out>) / sqrt(variance + epsilon), for each row, < > being its mean."""
    dx = np.empty(shape, out.dtype)
    column = variance.reshape(-1, 1)
    standardize_adjoint_into(_rows(g, shape), _rows(out, shape), column, dx, epsilon=epsilon)
    return dx.reshape(out.shape)


def standardize_adjoint_into(
    g: Array, out: Array, variance: Array, dx: Array, *, epsilon: float
) -> None:
    """`standardize_adjoint` of contiguous rows; `variance` is a column."""
    run = compiled("standardize.standardize_adjoint", out)
    if run is not None:
        run(g, out, np.ascontiguousarray(variance), dx, 1, *out.shape, epsilon)
        return
    width, scale = out.shape[1], np.sqrt(variance + epsilon)
    with _ShortBuffers(out.shape):
        for block in _blocks(*out.shape):
            u, y, d = g[block], out[block], dx[block]
            np.multiply(y, _row_dots(u, y) / width, d)
            np.subtract(u, d, d)
            np.subtract(d, _row_sums(u) / width, d)
            np.divide(d, scale[block], d)
