"""Norms, condition numbers and distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import as_number
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import COMPLEX, FLOATS, DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape, may_equal, normalize_axes, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import as_factor, carries_gradient
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import ints
from autograd_engine.tensor.linalg.decomposition import matrices, part, svdvals
from autograd_engine.tensor.linalg.inverse import square_matrices
from autograd_engine.tensor.reduction import Axis, floating, max, min

__all__ = ["cdist", "dist", "norm", "pdist", "renorm"]


def _order(op: str, p: Any) -> float:
    p = as_number(p)
    if not isinstance(p, (int, float)) or isinstance(p, bool):
        raise ArgumentTypeError(f"{op}: p must be a number, got {p!r}")
    if math.isnan(p):
        raise ArgumentError(f"{op}: p must be a number, got nan")
    return float(p)


def _sizes(x: Any) -> Any:
    """What a norm is of: of complex values their absolute ones."""
    return ops.abs(x) if spec_of(x).dtype in COMPLEX else x


def _vector(x: Any, p: float, axes: tuple[int, ...], keepdim: bool) -> Any:
    """The p-norm over `axes` of a floating or complex `x`."""
    x = _sizes(x)
    if not axes and not spec_of(x).ndim:
        x, axes, keepdim = ops.reshape(x, shape=(1,)), (0,), False
    if math.isinf(p):
        return (max if p > 0 else min)(ops.abs(x), list(axes), keepdim)
    if p == 0:
        count = ops.sum(ops.not_equal(x, 0.0), axis=axes, keepdims=keepdim)
        return ops.cast_like(count, x)
    return ops.p_norm(x, p=p, axis=axes, keepdims=keepdim)


def _matrix(op: str, x: Any, p: Any, axes: tuple[int, int], keepdim: bool) -> Any:
    """The norm over the two axes in the order given: rows, then columns."""
    if p == "fro":
        return ops.p_norm(_sizes(x), p=2.0, axis=tuple(sorted(axes)), keepdims=keepdim)
    order = p if p == "nuc" else abs(_order(op, p))
    if order in ("nuc", 2.0):
        return _of_singular_values(x, p, axes, keepdim)
    if order not in (1.0, math.inf):
        raise ArgumentError(
            f"{op}: p of a matrix norm must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {p!r}; "
            "vector_norm takes any p over several axes"
        )
    summed, rest = axes if order == 1.0 else axes[::-1]
    sums = ops.sum(ops.abs(x), axis=(summed,), keepdims=True)
    out = (max if p > 0 else min)(sums, rest, True)
    return out if keepdim else ops.squeeze(out, axis=tuple(sorted(axes)))


def _of_singular_values(x: Any, p: Any, axes: tuple[int, int], keepdim: bool) -> Any:
    """The sum of the singular values, or the largest or smallest of them."""
    ndim = spec_of(x).ndim
    rest = tuple(a for a in range(ndim) if a not in axes)
    values = svdvals(ops.transpose(x, perm=(*rest, *axes)))
    if p == "nuc":
        out = ops.sum(values, axis=(ndim - 2,), keepdims=False)
    else:
        out = (max if p > 0 else min)(values, ndim - 2)
    return ops.unsqueeze(out, axis=tuple(sorted(axes))) if keepdim else out


def _floats(op: str, x: Any, dtype: DTypeLike | None, argument: str = "x") -> Any:
    x = as_operand(op, x, argument)
    if dtype is not None:
        wanted = to_numpy(dtype)
        if wanted not in FLOATS:
            raise DTypeError(
                f"{op}: dtype must be a floating one, got {wanted.name}; use 'float32'"
            )
        x = ops.cast(x, dtype=wanted.name)
    return x if spec_of(x).dtype in COMPLEX else floating(op, x)


@atomic
def norm(
    x: Any,
    p: float | str | None = None,
    axis: Axis = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Norm of a vector or a matrix; integers give the default float dtype.

    Parameters
    ----------
    x : Tensor or Variable
    p : float, "fro", "nuc" or None
        Of vectors: (sum of abs(x)**p)**(1/p), for inf and -inf the largest and smallest absolute
        value, for 0 the number of elements that are not 0. Of matrices: "fro" the square root of
        the sum of squares, "nuc" the sum of the singular values, 2 and -2 the largest and
        smallest of them, 1 and -1 the largest and smallest sum of absolute values of a column,
        inf and -inf of a row. None: 2 of vectors, "fro" of matrices, the same number.
    axis : int or sequence of int, optional
        Two axes make a matrix, whose rows the first counts. One axis, or more than two, make a
        vector; so do all axes for None.
    keepdim : bool
        Keep the axes, with size 1.
    dtype : dtype, optional
        Cast to this first.

    Notes
    -----
    The gradient where the norm is 0 is 0, for every p. Otherwise that of an element that is 0 is
    0, too, even for p < 1. For p of inf or -inf, elements that tie share it equally. For p = 0
    there is none.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.norm(paddle.to_tensor([3.0, 4.0])).item()
    5.0
    """
    x = _floats("norm", x, dtype)
    ndim = spec_of(x).ndim
    p = as_number(p)
    if isinstance(axis, (Tensor, Variable)):
        axis = list(ints("norm", "axis", axis))
    if p is None:
        p = 2.0 if axis is None or isinstance(axis, int) else "fro"
    if axis is None:
        if p == "nuc" and ndim == 2:
            return _matrix("norm", x, p, (0, 1), keepdim)
        axes = tuple(range(ndim))
    else:
        axes = normalize_axes("norm", axis, ndim)
    if isinstance(axis, (list, tuple)) and len(axes) == 2:
        rows, columns = (normalize_axis("norm", a, ndim) for a in axis)
        return _matrix("norm", x, p, (rows, columns), keepdim)
    if p == "fro":
        p = 2.0
    elif isinstance(p, str):
        raise ArgumentError(
            f"norm: p {p!r} takes a matrix: give two axes; of a vector p is a number or 'fro'"
        )
    return _vector(x, _order("norm", p), axes, keepdim)


@atomic
def vector_norm(
    x: Any,
    p: float = 2.0,
    axis: Axis = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Norm of the vectors over `axis` (of the flat array for None); see `norm`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.vector_norm(paddle.to_tensor([[3.0, 4.0], [0.0, 0.0]]), axis=1).tolist()
    [5.0, 0.0]
    """
    x = _floats("vector_norm", x, dtype)
    axes = normalize_axes("vector_norm", axis, spec_of(x).ndim)
    return _vector(x, _order("vector_norm", p), axes, keepdim)


@atomic
def matrix_norm(
    x: Any,
    p: float | str = "fro",
    axis: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """Norm of the matrices over the two axes in `axis`; see `norm`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.matrix_norm(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), p=1).item()
    6.0
    """
    x = _floats("matrix_norm", x, None)
    ndim = spec_of(x).ndim
    if isinstance(axis, Tensor):
        axis = axis.tolist()
    if not isinstance(axis, (list, tuple)) or len(axis) != 2:
        raise ArgumentError(f"matrix_norm: axis must name two axes, got {axis!r}")
    if ndim < 2:
        raise ShapeError(f"matrix_norm: takes two dimensions or more, got {ndim}; use vector_norm")
    normalize_axes("matrix_norm", list(axis), ndim)
    rows, columns = (normalize_axis("matrix_norm", a, ndim) for a in axis)
    return _matrix("matrix_norm", x, p, (rows, columns), keepdim)


@atomic
def cond(x: Any, p: float | str | None = None, name: str | None = None) -> Tensor:
    """Condition numbers of matrices, with respect to a norm.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``; square unless p is None, 2 or -2.
    p : {None, "fro", "nuc", 1, -1, 2, -2, inf, -inf}
        The norm, as of `linalg.norm`; 2 for None.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.cond(paddle.to_tensor([[4.0, 0.0], [0.0, 2.0]])).item()
    2.0
    """
    if p is None or p in (2, -2):
        values = svdvals(matrices("cond", x))
        largest, smallest = part(values, 0), part(values, -1)
        return smallest / largest if p == -2 else largest / smallest
    if p not in ("fro", "nuc", 1, -1, np.inf, -np.inf):
        raise ArgumentError(
            f"cond: p must be None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf; got {p!r}"
        )
    x = square_matrices("cond", x)
    return matrix_norm(x, p) * matrix_norm(ops.inv(x), p)


# --- distances


@atomic
def dist(x: Any, y: Any, p: float = 2, name: str | None = None) -> Tensor:
    """The p-norm of x - y over all axes; shapes broadcast. Its gradient at 0 is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.dist(paddle.to_tensor([3.0, 4.0]), paddle.zeros([2])).item()
    5.0
    """
    x, y = as_operand("dist", x), as_operand("dist", y, "y")
    rest = floating("dist", ops.subtract(x, y))
    return _vector(rest, _order("dist", p), tuple(range(spec_of(rest).ndim)), False)


_COMPUTE_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@atomic
def cdist(
    x: Any,
    y: Any,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> Tensor:
    """Distances, by the p-norm, between each row of `x` and each row of `y`.

    Parameters
    ----------
    x, y : Tensor or Variable
        Of shapes ``[..., m, d]`` and ``[..., n, d]``, whose leading axes broadcast.
    p : float
        0 or more, and inf.
    compute_mode : str
        Accepted for the reference's sake: differences are always formed, since products of
        matrices lose the digits of small distances.

    Returns
    -------
    Tensor or Variable
        Of shape ``[..., m, n]``. The gradient of rows that coincide is 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[0.0, 0.0], [3.0, 4.0]])
    >>> paddle.cdist(x, x).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    x, y = as_operand("cdist", x), as_operand("cdist", y, "y")
    if compute_mode not in _COMPUTE_MODES:
        raise ArgumentError(
            f"cdist: compute_mode must be one of {', '.join(_COMPUTE_MODES)}, got {compute_mode!r}"
        )
    order = _order("cdist", p)
    if order < 0:
        raise ArgumentError(f"cdist: p must be 0 or more, got {p!r}")
    shapes = [spec_of(v).shape for v in (x, y)]
    for shape in shapes:
        if len(shape) < 2:
            raise ShapeError(
                f"cdist: takes two dimensions or more, got {format_shape(shape)}; use unsqueeze"
            )
    if not may_equal(shapes[0][-1:], shapes[1][-1:]):
        raise ShapeError(
            f"cdist: the rows of x have {shapes[0][-1]} elements, those of y {shapes[1][-1]}; they "
            "must have equally many"
        )
    if order == 2.0 and not any(spec_of(v).dtype in COMPLEX for v in (x, y)):
        return ops.distances(x, y)
    rows = ops.unsqueeze(x, axis=(len(shapes[0]) - 1,))
    others = ops.unsqueeze(y, axis=(len(shapes[1]) - 2,))
    rest = floating("cdist", ops.subtract(rows, others))
    return _vector(rest, order, (spec_of(rest).ndim - 1,), False)


@atomic
def pdist(x: Any, p: float = 2.0, name: str | None = None) -> Tensor:
    """Distances, by the p-norm, between each two rows of the matrix `x`, as a vector.

    Row by row of the upper triangle of ``cdist(x, x, p)``, without its diagonal.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.pdist(paddle.to_tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).shape
    paddle.Size([3])
    """
    x = as_operand("pdist", x)
    shape = spec_of(x).shape
    if len(shape) != 2:
        raise ShapeError(f"pdist: takes a matrix, got {format_shape(shape)}")
    if isinstance(shape[0], Dim):
        raise ShapeError(
            f"pdist: the number of rows of {format_shape(shape)} must be known while a program is "
            "built; declare it in static.data, or use cdist"
        )
    order = _order("pdist", p)
    if order < 0:
        raise ArgumentError(f"pdist: p must be 0 or more, got {p!r}")
    first, second = (i.astype(np.int64) for i in np.triu_indices(shape[0], 1))
    rest = ops.gather(x, first, axis=0) - ops.gather(x, second, axis=0)
    return _vector(floating("pdist", rest), order, (1,), False)


@atomic
def renorm(x: Any, p: float, axis: int, max_norm: float) -> Tensor:
    """Each slice along `axis` scaled down to a p-norm of `max_norm` where it has a larger one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.renorm(paddle.to_tensor([[3.0, 4.0], [0.0, 1.0]]), 2.0, 0, 2.5).tolist()
    [[1.5, 2.0], [0.0, 1.0]]
    """
    x = floating("renorm", as_operand("renorm", x))
    ndim = spec_of(x).ndim
    if ndim < 2:
        raise ShapeError(f"renorm: takes two dimensions or more, got {ndim}")
    along = normalize_axis("renorm", axis, ndim)
    if not p > 0 or not max_norm >= 0:
        raise ArgumentError(
            f"renorm: p must be positive and max_norm not negative, got {p!r} and {max_norm!r}"
        )
    size = _vector(x, _order("renorm", p), tuple(a for a in range(ndim) if a != along), True)
    limit = max_norm if carries_gradient(max_norm) else float(max_norm)
    limit = as_factor(limit, spec_of(x).dtype)
    large = ops.greater_than(size, limit)
    return x * ops.where(large, limit / ops.where(large, size, 1.0), 1.0)
