"""Linear algebra, ``paddle.linalg``."""

from autograd_engine.tensor.linalg.contractions import cross, multi_dot
from autograd_engine.tensor.linalg.decomposition import (
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    lu,
    lu_unpack,
    qr,
    svd,
    svdvals,
)
from autograd_engine.tensor.linalg.inverse import (
    cholesky_inverse,
    cholesky_solve,
    det,
    inv,
    lu_solve,
    matrix_exp,
    matrix_power,
    slogdet,
    solve,
    triangular_solve,
)
from autograd_engine.tensor.linalg.least_squares import (
    cond,
    lstsq,
    matrix_rank,
    pinv,
)
from autograd_engine.tensor.linalg.norms import matrix_norm, norm, vector_norm
from autograd_engine.tensor.linalg.products import matmul, matrix_transpose, vecdot
from autograd_engine.tensor.reduction.statistics import corrcoef, cov
from autograd_engine.tensor.shape.diagonals import diagonal

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "corrcoef",
    "cov",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "lstsq",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "triangular_solve",
    "vecdot",
    "vector_norm",
]


def __dir__() -> list[str]:
    return __all__
