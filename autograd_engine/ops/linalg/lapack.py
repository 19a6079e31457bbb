"""Decompositions in the precision of their operands.

NumPy's functions compute float32 in float64, which gives a digit more than LAPACK does in float32
and takes up to twice the time. PyTorch, JAX, SciPy and Paddle compute in float32, and so does this:
of 127 x 127 normal numbers, singular values are off by 4e-7 of the largest, as they are there. The
generalized ufuncs behind NumPy's functions have a loop for each precision, but are no public names:
where they are called otherwise, NumPy's functions compute.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

import numpy as np

from autograd_engine.core.dtypes import COMPLEX64, FLOAT32
from autograd_engine.core.spec import Array

__all__ = ["cholesky", "eigh", "svd"]

_ufuncs: Any = getattr(np.linalg, "_umath_linalg", None)
# What stands for matrices and vectors with complex entries, and for those that are real.
_SINGLE: Final = {FLOAT32: ("f", "f"), COMPLEX64: ("F", "f")}


def _failed(error: str, flag: int) -> NoReturn:
    raise np.linalg.LinAlgError("LAPACK found no decomposition")


def _in_single(name: str, results: str, x: Array) -> Any:
    """The results of a ufunc on float32 or complex64, real ones marked ``r``; None of others."""
    letters, ufunc = _SINGLE.get(x.dtype), getattr(_ufuncs, name, None)
    if letters is None or ufunc is None:
        return None
    given, real = letters
    signature = f"{given}->{results.replace('m', given).replace('r', real)}"
    if signature not in ufunc.types:
        return None
    with np.errstate(call=_failed, invalid="call", over="ignore", divide="ignore", under="ignore"):
        return ufunc(x, signature=signature)


def svd(x: Array, *, full: bool) -> tuple[Array, Array, Array]:
    """U, the singular values and V' of matrices; `full`: with all columns of U and V."""
    found = _in_single("svd_f" if full else "svd_s", "mrm", x)
    u, s, vh = np.linalg.svd(x, full_matrices=full) if found is None else found
    return u, s, vh


def eigh(x: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of symmetric matrices, of which the lower triangle is read."""
    found = _in_single("eigh_lo", "rm", x)
    w, v = np.linalg.eigh(x) if found is None else found
    return w, v


def cholesky(x: Array, *, upper: bool) -> Array:
    """The triangular factor of positive definite matrices."""
    found = _in_single("cholesky_up" if upper else "cholesky_lo", "m", x)
    return np.linalg.cholesky(x, upper=upper) if found is None else np.asarray(found)
