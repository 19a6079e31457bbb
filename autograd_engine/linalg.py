"""Linear algebra, ``paddle.linalg``."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.tensor.diagonal import diagonal as diagonal
from autograd_engine.tensor.linalg.decomposition import (
    cholesky as cholesky,
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    householder_product as householder_product,
    matrix_rank as matrix_rank,
    ormqr as ormqr,
    qr as qr,
    svd as svd,
    svdvals as svdvals,
)
from autograd_engine.tensor.linalg.determinant import *  # noqa: F403
from autograd_engine.tensor.linalg.inverse import (
    cholesky_inverse as cholesky_inverse,
    cholesky_solve as cholesky_solve,
    inv as inv,
    lstsq as lstsq,
    matrix_exp as matrix_exp,
    matrix_power as matrix_power,
    pinv as pinv,
    solve as solve,
    triangular_solve as triangular_solve,
)
from autograd_engine.tensor.linalg.low_rank import *  # noqa: F403
from autograd_engine.tensor.linalg.lu import *  # noqa: F403
from autograd_engine.tensor.linalg.norms import (
    cond as cond,
    matrix_norm as matrix_norm,
    norm as norm,
    vector_norm as vector_norm,
)
from autograd_engine.tensor.linalg.products import (
    cross as cross,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    multi_dot as multi_dot,
    vecdot as vecdot,
)
from autograd_engine.tensor.reduction import corrcoef as corrcoef, cov as cov

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
