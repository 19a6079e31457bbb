"""Decompositions of matrices. What is not in `__all__` is reached as ``paddle.linalg.<name>``."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.checks import require_bools
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import finfo
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["cholesky", "eigvalsh"]


def matrices(op: str, x: Any, argument: str = "x") -> Any:
    """`x` as an operand of at least two dimensions."""
    x = as_operand(op, x, argument)
    if spec_of(x).ndim < 2:
        raise ShapeError(
            f"{op}: {argument} must hold matrices, of shape [..., m, n]; got "
            f"{format_shape(spec_of(x).shape)}"
        )
    return x


def swap(x: Any) -> Any:
    """The transpose of each matrix."""
    n = spec_of(x).ndim
    return ops.transpose(x, perm=(*range(n - 2), n - 1, n - 2))


def part(x: Any, *key: Any) -> Any:
    return ops.getitem(x, key=(Ellipsis, *key))


def cholesky(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """Cholesky factor of symmetric positive definite matrices: x = L L' or, upper, x = U' U.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., n, n]``. The lower triangle is read, or with `upper` the upper one. The gradient is
        symmetric.
    upper : bool

    Raises
    ------
    ArgumentError
        When a matrix is not positive definite.

    Notes
    -----
    Gradient: I. Murray, "Differentiation of the Cholesky decomposition" (2016).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.cholesky(paddle.to_tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    x = matrices("cholesky", x)
    return ops.cholesky(ops.mirror_triangle(x, upper=upper), upper=upper)


def qr(x: Any, mode: str = "reduced", name: str | None = None) -> Any:
    """Q R with orthonormal columns of Q and an upper triangle R.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``; k is the smaller of m and n.
    mode : {"reduced", "complete", "r"}
        Q ``[..., m, k]`` and R ``[..., k, n]``; Q ``[..., m, m]`` and R ``[..., m, n]``; R of
        "reduced" alone.

    Returns
    -------
    Q and R, or R

    Notes
    -----
    Differentiable where the first k columns of `x` are linearly independent; "complete" only where
    it is the same as "reduced", since the further columns of Q are not determined. A program must
    know the sizes of matrices with more columns than rows.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> q, r = paddle.linalg.qr(paddle.to_tensor([[3.0], [4.0]]))
    >>> paddle.abs(r).tolist()
    [[5.0]]
    """
    x = matrices("qr", x)
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    m, n = spec_of(x).shape[-2:]
    wide = not isinstance(m, Dim) and not isinstance(n, Dim) and m < n
    if mode == "complete" and m != n and not wide:
        return ops.qr_complete(x)
    if wide:
        # The first m columns decide Q; it turns the others into those of R.
        q, r = ops.qr(part(x, slice(0, m)))
        rest = ops.matmul(q, part(x, slice(m, None)), transpose_x=True)
        r = ops.concat(r, rest, axis=spec_of(x).ndim - 1)
    else:
        q, r = ops.qr(x)
    return r if mode == "r" else (q, r)


def svd(
    x: Any, full_matrices: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Singular value decomposition U, S, V' with x = U diag(S) V'.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``; k is the smaller of m and n.
    full_matrices : bool
        U ``[..., m, m]`` and V' ``[..., n, n]``, instead of ``[..., m, k]`` and ``[..., k, n]``.
        Not differentiable unless m = n, since what is added is not determined.

    Returns
    -------
    U, S (the largest first) and V'

    Notes
    -----
    The gradient of a function of S alone is right at all matrices, to first order. That through U
    and V is of functions that do not depend on the signs of their columns, and asks for singular
    values that differ (and for m != n are not 0): where two are equal it is NaN.
    J. Townsend, "Differentiating the singular value decomposition" (2016).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> u, s, vh = paddle.linalg.svd(paddle.to_tensor([[0.0, 2.0], [1.0, 0.0]]))
    >>> s.tolist()
    [2.0, 1.0]
    """
    x = matrices("svd", x)
    m, n = spec_of(x).shape[-2:]
    return ops.svd_full(x) if full_matrices and m != n else ops.svd(x)


def svdvals(x: Any, name: str | None = None) -> Tensor:
    """Singular values, the largest first.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.svdvals(paddle.to_tensor([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [2.0, 1.0]
    """
    return ops.svd(matrices("svdvals", x))[1]


def _triangle(op: str, uplo: Any) -> bool:
    if uplo not in ("L", "U"):
        raise ArgumentError(f"{op}: UPLO must be 'L' or 'U', the triangle to read; got {uplo!r}")
    return bool(uplo == "U")


def eigh(x: Any, UPLO: str = "L", name: str | None = None) -> tuple[Tensor, Tensor]:  # noqa: N803
    """Eigenvalues, in ascending order, and orthonormal eigenvectors of symmetric matrices.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., n, n]``
    UPLO : {"L", "U"}
        The triangle that is read, the other counting as its mirror image. The gradient is
        symmetric.

    Returns
    -------
    values ``[..., n]`` and vectors ``[..., n, n]``, one in each column

    Notes
    -----
    The gradient of a function of the values alone is right at all matrices, to first order. That
    through the vectors is of functions that do not depend on their signs, and asks for eigenvalues
    that differ: where two are equal it is NaN.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.eigh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
    [1.0, 2.0]
    """
    x = matrices("eigh", x)
    return ops.eigh(ops.mirror_triangle(x, upper=_triangle("eigh", UPLO)))


def eigvalsh(x: Any, UPLO: str = "L", name: str | None = None) -> Tensor:  # noqa: N803
    """Eigenvalues of symmetric matrices, in ascending order; see `linalg.eigh`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.eigvalsh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 2.0]
    """
    x = matrices("eigvalsh", x)
    return ops.eigh(ops.mirror_triangle(x, upper=_triangle("eigvalsh", UPLO)))[0]


def eig(x: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of square matrices, complex.

    Notes
    -----
    Vectors have length 1, and any phase: gradients are those of functions that do not depend on it.
    Those of the vectors need eigenvalues that differ.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.eig(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
    [(2+0j), (1+0j)]
    """
    x = matrices("eig", x)
    return ops.eig(x)


def eigvals(x: Any, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices, complex; see `linalg.eig`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.eigvals(paddle.to_tensor([[0.0, -1.0], [1.0, 0.0]])).tolist()
    [1j, -1j]
    """
    x = matrices("eigvals", x)
    return ops.eig(x)[0]


@atomic
def householder_product(x: Any, tau: Any, name: str | None = None) -> Tensor:
    """The first columns of a product of Householder reflections I - tau v v'.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]`` with m >= n. v of reflection i is column i, with 1 in place i and 0 above.
    tau : Tensor or Variable
        ``[..., k]`` with k <= n, known while a program is built.

    Returns
    -------
    ``[..., m, n]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0], [1.0]])
    >>> paddle.linalg.householder_product(x, paddle.to_tensor([1.0])).tolist()
    [[0.0], [-1.0]]
    """
    x = matrices("householder_product", x)
    tau = as_operand("householder_product", tau, "tau")
    (m, n), k = spec_of(x).shape[-2:], spec_of(tau).shape[-1] if spec_of(tau).ndim else None
    if k is None or isinstance(k, Dim) or (not isinstance(n, Dim) and k > n):
        raise ShapeError(
            f"householder_product: tau {format_shape(spec_of(tau).shape)} must have a known last "
            f"size of at most {n}, the number of columns of x"
        )
    if not isinstance(m, Dim) and not isinstance(n, Dim) and m < n:
        raise ShapeError(
            f"householder_product: x {format_shape(spec_of(x).shape)} has more columns than rows"
        )
    out = ops.eye_like(x)
    vectors = ops.tril(x, diagonal=-1) + out
    for i in reversed(range(k)):
        v = part(vectors, slice(i, i + 1))
        scale = ops.unsqueeze(part(tau, slice(i, i + 1)), axis=(spec_of(tau).ndim,))
        out = out - scale * ops.matmul(v, ops.matmul(v, out, transpose_x=True))
    return out


@atomic
def ormqr(
    x: Any, tau: Any, y: Any, left: bool = True, transpose: bool = False, name: str | None = None
) -> Tensor:
    """The product of `y` with the Q that `householder_product` gives of `x` and `tau`.

    Parameters
    ----------
    x, tau : Tensor or Variable
        As of `householder_product`: Q is of the shape of `x`.
    y : Tensor or Variable
        ``[..., m, n]``
    left : bool
        ``Q y``, or with False ``y Q``.
    transpose : bool
        With the transpose of Q in its place.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([[1.0], [1.0]]), paddle.to_tensor([[2.0]])
    >>> paddle.linalg.ormqr(x, paddle.to_tensor([1.0]), y).tolist()
    [[0.0], [-2.0]]
    """
    op = "ormqr"
    x, tau, y = matrices(op, x), as_operand(op, tau, "tau"), matrices(op, y, "y")
    require_bools(op, left=left, transpose=transpose)
    if not spec_of(tau).ndim:
        raise ShapeError(f"{op}: tau must have an axis of coefficients, got a 0-d array")
    q = householder_product(x, tau)
    m, n = (spec_of(q).shape[-1 - k] for k in ((0, 1) if transpose else (1, 0)))
    fits = spec_of(y).shape[-2 if left else -1]
    if not may_equal((n if left else m,), (fits,)):
        raise ShapeError(
            f"{op}: Q{' transposed' * transpose} is {format_shape((m, n))}, which has no product "
            f"with y {format_shape(spec_of(y).shape)} {'behind' if left else 'in front of'} it"
        )
    if left:
        return ops.matmul(q, y, transpose_x=transpose)
    return ops.matmul(y, q, transpose_y=transpose)


def known_sizes(op: str, x: Any) -> tuple[int, int]:
    m, n = spec_of(x).shape[-2:]
    if isinstance(m, Dim) or isinstance(n, Dim):
        raise ShapeError(
            f"{op}: the sizes of the matrices {format_shape(spec_of(x).shape)} must be known; "
            "declare them in static.data"
        )
    return m, n


@atomic
def matrix_rank(
    x: Any,
    tol: Any = None,
    hermitian: bool = False,
    atol: Any = None,
    rtol: Any = None,
    name: str | None = None,
) -> Tensor:
    """How many singular values exceed a threshold; int64, no gradient.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., m, n]``
    tol : float, optional
        The threshold.
    hermitian : bool
        The matrices are symmetric: the lower triangle is read.
    atol, rtol : float, optional
        The threshold is the larger of `atol` and `rtol` times the largest singular value. Without
        any of the three, rtol is the larger of m and n times the epsilon of the dtype.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.linalg.matrix_rank(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    x = matrices("matrix_rank", x)
    values = ops.abs(eigvalsh(x)) if hermitian else svdvals(x)
    last = spec_of(values).ndim - 1
    if tol is not None:
        if atol is not None or rtol is not None:
            raise ArgumentError("matrix_rank: give tol, or atol and rtol, not both")
        threshold: Any = _threshold(tol)
    else:
        if rtol is None:
            unit = 0.0 if atol is not None else float(finfo(spec_of(values).dtype).eps)
            rtol = unit * max(known_sizes("matrix_rank", x)) if unit else 0.0
        threshold = 0.0 if atol is None else _threshold(atol)
        if spec_of(values).shape[-1] != 0:
            largest = ops.max(values, axis=(last,), keepdims=True)
            threshold = ops.maximum(largest * _threshold(rtol), threshold)
    return ops.sum(ops.greater_than(values, threshold), axis=(last,))


def _threshold(value: Any) -> Any:
    """A number, or one for each matrix with an axis for its singular values."""
    if isinstance(value, (int, float)):
        return float(value)
    value = as_operand("matrix_rank", value, "tol")
    return ops.unsqueeze(value, axis=(spec_of(value).ndim,))
