"""Products of matrices; what is too small for a BLAS is a loop."""

from __future__ import annotations

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.dtypes import FLOATS

__all__: list[str] = []


@lowers("matmul")
def _matmul(
    np: Loops, x: Traced, y: Traced, *, transpose_x: bool = False, transpose_y: bool = False
) -> Traced:
    x = x.swapaxes(-1, -2) if transpose_x else x
    y = y.swapaxes(-1, -2) if transpose_y else y
    if x.shape[-1] == 1:
        return x * y
    if _small_by_vectors(x, y):
        return _by_vectors(np, x, y)
    return np.matmul(x, y)


# So many numbers of a matrix are multiplied by a vector while a BLAS is called.
_SMALL_MATRIX = 4096


def _small_by_vectors(x: Traced, y: Traced) -> bool:
    """Whether it is a small matrix by a vector, or many of them."""
    size = x.shape[-1] * x.shape[-2]
    return y.shape[-1] == 1 and size <= _SMALL_MATRIX and x.dtype in FLOATS


def _by_vectors(np: Loops, x: Traced, y: Traced) -> Traced:
    """Products that are added up along the axis of the matrix that suits its memory."""
    if x.term.strides[-1] == 1 or x.shape[-1] == 1:
        return np.reduce("sum", x * y.swapaxes(-1, -2), -1, True)
    return np.expand_dims(np.reduce("sum", x.swapaxes(-1, -2) * y, -2), -1)
