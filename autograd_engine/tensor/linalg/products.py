"""Products of vectors, matrices and arrays of any rank."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim, SymbolicNumber
from autograd_engine.core.spec import (
    Shape,
    format_shape,
    matmul_shape,
    may_equal,
    normalize_axes,
    normalize_axis,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import factor, in_dtype, times

__all__ = [
    "addmm",
    "baddbmm",
    "bmm",
    "cross",
    "dot",
    "inner",
    "kron",
    "matmul",
    "matrix_transpose",
    "mm",
    "mv",
    "outer",
    "tensordot",
    "vecdot",
]


def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Tensor:
    """Matrix product; ``x @ y`` is the same.

    Parameters
    ----------
    x, y : Tensor or Variable
        Matrices of shapes ``[..., m, k]`` and ``[..., k, n]``, whose leading axes broadcast;
        vectors of length k are taken as a row and as a column.
    transpose_x, transpose_y : bool
        Use the transpose of the last two axes. Has no effect on a vector.

    Raises
    ------
    ShapeError
        When the shapes do not fit.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (a @ a).tolist()
    [[7.0, 10.0], [15.0, 22.0]]
    """
    if x.__class__ is Tensor is y.__class__ and x._data.ndim == 2 == y._data.ndim:
        return ops.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)
    x, y = as_operand("matmul", x), as_operand("matmul", y, "y")
    row, column = spec_of(x).ndim == 1, spec_of(y).ndim == 1
    if row or column:
        return _with_vectors(x, y, row, column, transpose_x, transpose_y)
    shape, other = spec_of(x).shape, spec_of(y).shape
    if len(shape) > 2 and len(other) == 2 and not transpose_x:
        other = other[::-1] if transpose_y else other
        if shape[-1] != other[0]:
            matmul_shape("matmul", shape, other)  # so that an error speaks of these shapes
        # One large product instead of many small ones, and in the gradient of y as well. It has
        # other bits, so the ranks alone decide, and not which sizes a program happens to know.
        flat = ops.flatten_lead(x)
        out = ops.matmul(flat, y, transpose_x=False, transpose_y=transpose_y)
        return ops.unflatten_lead(out, x)
    return ops.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)


def _with_vectors(
    x: Any, y: Any, row: bool, column: bool, transpose_x: bool, transpose_y: bool
) -> Any:
    def shape(v: Any, transposed: bool) -> Shape:
        sizes = spec_of(v).shape
        return (*sizes[:-2], *sizes[:-3:-1]) if transposed and len(sizes) > 1 else sizes

    # Checked here, so that an error speaks of the shapes that the caller sees.
    matmul_shape("matmul", shape(x, transpose_x), shape(y, transpose_y))
    out = ops.matmul(
        ops.unsqueeze(x, axis=(0,)) if row else x,
        ops.unsqueeze(y, axis=(1,)) if column else y,
        transpose_x=transpose_x and not row,
        transpose_y=transpose_y and not column,
    )
    ndim = spec_of(out).ndim
    gone = (*((ndim - 2,) if row else ()), *((ndim - 1,) if column else ()))
    return ops.squeeze(out, axis=gone)


def of_dimensions(op: str, x: Any, argument: str, *allowed: int) -> Any:
    x = as_operand(op, x, argument)
    if spec_of(x).ndim not in allowed:
        raise ShapeError(
            f"{op}: {argument} must have {' or '.join(map(str, allowed))} dimensions, got "
            f"{format_shape(spec_of(x).shape)}; use matmul for other ranks"
        )
    return x


def same_sizes(op: str, x: Any, y: Any) -> Any:
    """`y`, seen to have the shape of `x`: when it runs, where a program cannot know."""
    a, b = spec_of(x).shape, spec_of(y).shape
    if not may_equal(a, b):
        raise ShapeError(
            f"{op}: x {format_shape(a)} and y {format_shape(b)} must have one shape; expand one"
        )
    return y if a == b else ops.same_shape(y, x, names=("y", "x"))


def mm(input: Any, mat2: Any, name: str | None = None) -> Tensor:
    """Matrix product, as `matmul` without transposition.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.mm(paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    return matmul(input, mat2)


def bmm(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Products of as many matrices ``[b, m, k]`` with ``[b, k, n]``; batches do not broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 1])).tolist()
    [[[3.0]], [[3.0]]]
    """
    x, y = of_dimensions("bmm", x, "x", 3), of_dimensions("bmm", y, "y", 3)
    a, b = spec_of(x).shape, spec_of(y).shape
    if not may_equal(a[:1], b[:1]):
        raise ShapeError(
            f"bmm: x {format_shape(a)} and y {format_shape(b)} differ in the size of their "
            f"batches, {a[0]} and {b[0]}; use matmul to broadcast"
        )
    return matmul(x, y)


@atomic
def mv(x: Any, vec: Any, name: str | None = None) -> Tensor:
    """Product of a matrix ``[m, n]`` with a vector ``[n]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.mv(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.ones([2])).tolist()
    [3.0, 7.0]
    """
    return matmul(of_dimensions("mv", x, "x", 2), of_dimensions("mv", vec, "vec", 1))


@atomic
def dot(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Inner product of vectors; of matrices, of each row with the same row of the other.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
    11.0
    """
    x, y = of_dimensions("dot", x, "x", 1, 2), of_dimensions("dot", y, "y", 1, 2)
    y = same_sizes("dot", x, y)
    if spec_of(x).ndim == 1:
        return matmul(x, y)
    products = x * y
    return in_dtype(ops.sum(products, axis=(1,)), spec_of(products).dtype)


@atomic
def vecdot(x: Any, y: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """Inner products of the vectors along `axis`; the other axes broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.vecdot(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.ones([2])).tolist()
    [3.0, 7.0]
    """
    products = as_operand("vecdot", x) * as_operand("vecdot", y, "y")
    return ops.sum(products, axis=normalize_axes("vecdot", axis, spec_of(products).ndim))


def _added(op: str, input: Any, product: Any, beta: float, alpha: float) -> Any:
    input = as_operand(op, input, "input")
    beta, alpha = factor(op, "beta", beta, input), factor(op, "alpha", alpha, product)
    return times(input, beta) + times(product, alpha)


@atomic
def addmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """beta * input + alpha * (x @ y) of matrices; `input` broadcasts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.addmm(paddle.ones([2]), paddle.ones([2, 3]), paddle.ones([3, 2]), beta=2.0).tolist()
    [[5.0, 5.0], [5.0, 5.0]]
    """
    x, y = of_dimensions("addmm", x, "x", 2), of_dimensions("addmm", y, "y", 2)
    return _added("addmm", input, matmul(x, y), beta, alpha)


@atomic
def baddbmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """beta * input + alpha * (x @ y) of batches of matrices; `input` broadcasts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.ones([2, 1, 1])
    >>> paddle.baddbmm(x, x, x, alpha=3.0).tolist()
    [[[4.0]], [[4.0]]]
    """
    return _added("baddbmm", input, bmm(x, y), beta, alpha)


def matrix_transpose(x: Any, name: str | None = None) -> Tensor:
    """The last two axes exchanged.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.matrix_transpose(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    x = as_operand("matrix_transpose", x)
    n = spec_of(x).ndim
    if n < 2:
        raise ShapeError(f"matrix_transpose: takes two dimensions or more, got {n}; use unsqueeze")
    return ops.transpose(x, perm=(*range(n - 2), n - 1, n - 2))


# --- arrays of any rank, chains of matrices


def _flat(x: Any) -> Any:
    return ops.merge_axes(x, counts=(spec_of(x).ndim,))


@atomic
def outer(x: Any, y: Any, name: str | None = None) -> Tensor:
    """All products of an element of `x` with one of `y`, which are flattened: ``[size, size]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.outer(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    x, y = as_operand("outer", x), as_operand("outer", y, "y")
    return ops.unsqueeze(_flat(x), axis=(1,)) * ops.unsqueeze(_flat(y), axis=(0,))


@atomic
def inner(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Sums of products over the last axes of both; with a 0-d array, the product.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.inner(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.ones([2])).tolist()
    [3.0, 7.0]
    """
    x, y = as_operand("inner", x), as_operand("inner", y, "y")
    if not spec_of(x).ndim or not spec_of(y).ndim:
        return x * y
    return tensordot(x, y, [[spec_of(x).ndim - 1], [spec_of(y).ndim - 1]])


@atomic
def kron(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Kronecker product: each element of `x` replaced by its product with `y`.

    The one of fewer axes gets new ones of size 1 in front.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.kron(paddle.to_tensor([[1, 2]]), paddle.to_tensor([[1], [10]])).tolist()
    [[1, 2], [10, 20]]
    """
    x, y = as_operand("kron", x), as_operand("kron", y, "y")
    a, b = spec_of(x).ndim, spec_of(y).ndim
    n = max(a, b)
    # x[..., i, j, 1, 1] * y[1, 1, ..., k, l], then i with k and j with l: whose gradients are sums
    # over neighbouring axes.
    x = ops.unsqueeze(x, axis=(*range(n - a), *range(n, 2 * n)))
    y = ops.unsqueeze(y, axis=tuple(range(2 * n - b)))
    pairs = tuple([k + half for k in range(n) for half in (0, n)])
    return ops.merge_axes(ops.transpose(x * y, perm=pairs), counts=(2,) * n)


@atomic
def cross(x: Any, y: Any, axis: int = 9, name: str | None = None) -> Tensor:
    """Cross product of vectors of three elements.

    Parameters
    ----------
    x, y : Tensor or Variable
        Of one shape.
    axis : int
        Along which the vectors lie; 9, which stands for none, takes the first axis of size 3.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.cross(paddle.to_tensor([1.0, 0.0, 0.0]), paddle.to_tensor([0.0, 1.0, 0.0])).tolist()
    [0.0, 0.0, 1.0]
    """
    x, y = as_operand("cross", x), as_operand("cross", y, "y")
    y = same_sizes("cross", x, y)
    shape = spec_of(x).shape
    if not isinstance(axis, SymbolicNumber) and axis == 9:
        if 3 not in shape:
            raise ShapeError(f"cross: {format_shape(shape)} has no axis of size 3; give one")
        axis = shape.index(3)
    axis = normalize_axis("cross", axis, len(shape))
    if not isinstance(shape[axis], Dim) and shape[axis] != 3:
        raise ShapeError(
            f"cross: axis {axis} of {format_shape(shape)} has size {shape[axis]}; vectors have 3"
        )

    return ops.cross(x, y, axis=axis)


def _contracted(op: str, axes: Any, ndims: tuple[int, int]) -> tuple[list[int], list[int]]:
    """The axes to sum over, of x and of y."""
    if isinstance(axes, (Tensor, np.ndarray)):
        axes = axes.tolist()
    if isinstance(axes, (int, np.integer)) and not isinstance(axes, bool):
        if not 0 <= axes <= min(ndims):
            raise ArgumentError(f"{op}: axes must be 0 to {min(ndims)}, or lists; got {axes}")
        pair = [list(range(ndims[0] - int(axes), ndims[0])), list(range(int(axes)))]
    elif isinstance(axes, (list, tuple)):
        lists = [list(a) for a in axes if isinstance(a, (list, tuple))]
        if lists and len(lists) != len(axes):
            raise ArgumentTypeError(f"{op}: axes must be an int, or lists of ints; got {axes!r}")
        pair = [*lists, *lists][:2] if lists else [list(axes), list(axes)]
        shorter, longer = sorted(pair, key=len)
        shorter += longer[len(shorter) :]  # what is missing from one is as in the other
    else:
        raise ArgumentTypeError(f"{op}: axes must be an int, or lists of ints; got {axes!r}")
    first, second = (
        [normalize_axis(op, a, n) for a in p] for p, n in zip(pair, ndims, strict=True)
    )
    for p in (first, second):
        if len(set(p)) != len(p):
            raise ShapeError(f"{op}: axes {axes!r} name an axis twice")
    return first, second


@atomic
def tensordot(x: Any, y: Any, axes: Any = 2, name: str | None = None) -> Tensor:
    """Sums of products over pairs of axes, as one matrix product.

    Parameters
    ----------
    x, y : Tensor or Variable
    axes : int or sequence
        How many of the last axes of `x` meet the first of `y`; or a list of axes that are summed
        in both; or one list for each. A list that is too short goes on as the other does.

    Returns
    -------
    Tensor or Variable
        The other axes of `x`, then those of `y`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.tensordot(paddle.ones([2, 3, 4]), paddle.ones([3, 4, 5])).tolist()[0]
    [12.0, 12.0, 12.0, 12.0, 12.0]
    """
    x, y = as_operand("tensordot", x), as_operand("tensordot", y, "y")
    a, b = spec_of(x).shape, spec_of(y).shape
    over_x, over_y = _contracted("tensordot", axes, (len(a), len(b)))
    sizes, other = tuple(a[i] for i in over_x), tuple(b[i] for i in over_y)
    if not may_equal(sizes, other):
        raise ShapeError(
            f"tensordot: axes {over_x} of {format_shape(a)} have sizes {format_shape(sizes)}, axes "
            f"{over_y} of {format_shape(b)} have {format_shape(other)}; they must be equal"
        )
    rows = [i for i in range(len(a)) if i not in over_x]
    columns = [i for i in range(len(b)) if i not in over_y]
    n = len(over_x)
    left = ops.merge_axes(ops.transpose(x, perm=(*rows, *over_x)), counts=(len(rows), n))
    right = ops.merge_axes(ops.transpose(y, perm=(*over_y, *columns)), counts=(n, len(columns)))
    sources = (*((0, i) for i in rows), *((1, i) for i in columns))
    return ops.unmerge_axes(matmul(left, right), x, y, sources=sources)


def _chain(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to split each part of a chain of products, by the number of multiplications."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    cut: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = {
                k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            }
            cut[i, j] = min(costs, key=costs.__getitem__)
            cost[i, j] = costs[cut[i, j]]
    return cut


@atomic
def multi_dot(x: Sequence[Any], name: str | None = None) -> Tensor:
    """Product of two or more matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors, taken as a row and as a column. Where a program does not
    know a size, the products are taken from the left.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> paddle.linalg.multi_dot([paddle.ones([2]), a, paddle.ones([2])]).item()
    10.0
    """
    if not isinstance(x, (list, tuple)) or len(x) < 2:
        raise ArgumentError("multi_dot: takes a list of two matrices or more")
    xs = [as_operand("multi_dot", v, f"x[{k}]") for k, v in enumerate(x)]
    for k, v in enumerate(xs):
        of_dimensions("multi_dot", v, f"x[{k}]", *((2,) if 0 < k < len(xs) - 1 else (1, 2)))
    first, last = spec_of(xs[0]).shape, spec_of(xs[-1]).shape
    row, column = len(first) == 1, len(last) == 1
    if row:
        xs[0] = ops.unsqueeze(xs[0], axis=(0,))
    if column:
        xs[-1] = ops.unsqueeze(xs[-1], axis=(1,))
    for a, b in itertools.pairwise(xs):
        matmul_shape("multi_dot", spec_of(a).shape, spec_of(b).shape)
    sizes = [spec_of(xs[0]).shape[0], *(spec_of(v).shape[1] for v in xs)]
    known = [d for d in sizes if not isinstance(d, Dim)]
    cut = _chain(known) if len(known) == len(sizes) else {}

    def part(i: int, j: int) -> Any:
        if i == j:
            return xs[i]
        k = cut.get((i, j), j - 1)
        return matmul(part(i, k), part(k + 1, j))

    gone = (*((0,) if row else ()), *((1,) if column else ()))
    out = part(0, len(xs) - 1)
    return ops.squeeze(out, axis=gone) if gone else out
