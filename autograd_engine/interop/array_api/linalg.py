"""The standard's linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.interop.numpy_protocol import linalg as numpys
from autograd_engine.interop.numpy_protocol.operands import as_tensor
from autograd_engine.interop.numpy_protocol.shape import (
    _linalg_diagonal as diagonal,
    _matrix_transpose as matrix_transpose,
)

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

cross = numpys._linalg_cross
matmul = numpys._matmul
matrix_norm = numpys._matrix_norm
outer = numpys._linalg_outer
svdvals = numpys._svdvals
tensordot = numpys._linalg_tensordot
trace = numpys._linalg_trace
vecdot = numpys._vecdot
vector_norm = numpys._vector_norm


def cholesky(x: Any, /, *, upper: Any = False) -> Any:
    """The triangular factor of a positive definite matrix."""
    return numpys._cholesky(x, upper=upper)


def det(x: Any, /) -> Any:
    """The determinant."""
    return numpys._det(x)


def eigh(x: Any, /) -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    return numpys._eigh(x)


def eigvalsh(x: Any, /) -> Any:
    """Eigenvalues of a symmetric matrix."""
    return numpys._eigvalsh(x)


def inv(x: Any, /) -> Any:
    """The inverse."""
    return numpys._inv(x)


def matrix_power(x: Any, n: int, /) -> Any:
    """A matrix times itself, `n` factors."""
    return numpys._matrix_power(x, n)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """The rank: how many singular values are not negligible."""
    return np.linalg.matrix_rank(as_tensor(x), rtol=rtol)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The pseudo-inverse."""
    return numpys._pinv(x, rtol=rtol)


def qr(x: Any, /, *, mode: str = "reduced") -> Any:
    """An orthogonal times a triangular matrix."""
    return numpys._qr(x, mode)


def slogdet(x: Any, /) -> Any:
    """Sign and logarithm of the determinant."""
    return numpys._slogdet(x)


def solve(x1: Any, x2: Any, /) -> Any:
    """The solution of a linear system."""
    return numpys._solve(x1, x2)


def svd(x: Any, /, *, full_matrices: Any = True) -> Any:
    """The singular value decomposition."""
    return numpys._svd(x, full_matrices)
