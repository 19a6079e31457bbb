"""Types of linear algebra: products, norms, decompositions."""

from __future__ import annotations

from typing import Any

import autograd_engine.nn.functional as F  # noqa: N812 - the usual name
from autograd_engine import linalg
from autograd_engine.errors import ArgumentError
from autograd_engine.static.nn.parameters import activated
from autograd_engine.static.operator_types.declaring import declare
from autograd_engine.tensor import public as paddle


def _mul(x: Any, y: Any, *, x_num_col_dims: int, y_num_col_dims: int) -> Any:
    """A product of matrices: the first axes of each operand are its rows."""
    for name, v, count in (("x", x, x_num_col_dims), ("y", y, y_num_col_dims)):
        if not 0 < count < v.ndim:
            raise ArgumentError(
                f"mul: {name}_num_col_dims must be 1 to {v.ndim - 1}, for {name} has {v.ndim} "
                f"axes; got {count}"
            )
    if x.ndim - x_num_col_dims > 1:
        x = paddle.flatten(x, x_num_col_dims, -1)
    if y.ndim == 2 and y_num_col_dims == 1:
        return paddle.matmul(x, y)
    shape = y.shape[y_num_col_dims:]
    y = paddle.flatten(y, 0, y_num_col_dims - 1)
    y = paddle.flatten(y, 1, -1) if y.ndim > 2 else paddle.unsqueeze(y, 1) if y.ndim < 2 else y
    product = paddle.matmul(x, y)
    return paddle.unflatten(product, -1, list(shape)) if len(shape) > 1 else product


def _matmul(x: Any, y: Any, **attrs: Any) -> Any:
    product = paddle.matmul(x, y, attrs["transpose_X"], attrs["transpose_Y"])
    return product if attrs["alpha"] == 1.0 else paddle.scale(product, attrs["alpha"])


declare("mul", "X Y -> Out", _mul, x_num_col_dims=1, y_num_col_dims=1)
declare(
    "matmul", "X Y -> Out", _matmul, transpose_X=False, transpose_Y=False, alpha=1.0, head_number=1
)
declare(
    "matmul_v2",
    "X Y -> Out",
    lambda x, y, *, trans_x, trans_y: paddle.matmul(x, y, trans_x, trans_y),
    trans_x=False,
    trans_y=False,
)
declare("bmm", "X Y -> Out", paddle.bmm)
declare("dot", "X Y -> Out", paddle.dot)
declare("mv", "X Vec -> Out", paddle.mv)
declare("kron", "X Y -> Out", paddle.kron)
declare(
    "addmm",
    "Input X Y -> Out",
    lambda input, x, y, **attrs: paddle.addmm(input, x, y, attrs["Beta"], attrs["Alpha"]),
    Alpha=1.0,
    Beta=1.0,
)
declare(
    "cross",
    "X Y -> Out",
    lambda x, y, *, dim: paddle.cross(x, y, 9 if dim == 9 else dim),
    dim=9,
)


def _fc(x: Any, w: Any, bias: Any, *, in_num_col_dims: int, activation_type: str) -> Any:
    out = _mul(x, w, x_num_col_dims=in_num_col_dims, y_num_col_dims=1)
    return activated("fc", out if bias is None else out + bias, activation_type or None)


declare("fc", "Input W Bias? -> Out", _fc, in_num_col_dims=1, activation_type="")
declare("bilinear_tensor_product", "X Y Weight Bias? -> Out", F.bilinear)


# --- norms


def _p_norm(
    x: Any, *, porder: float, axis: int, epsilon: float, keepdim: bool, asvector: bool
) -> Any:
    return linalg.norm(x, porder, None if asvector else axis, keepdim)


def _normalized(x: Any, *, axis: int, epsilon: float, **_: Any) -> Any:
    norm = paddle.sqrt(paddle.sum(paddle.square(x), axis, keepdim=True) + epsilon)
    return x / norm, norm


def _frobenius(x: Any, *, dim: list[int], keep_dim: bool, reduce_all: bool, **_: Any) -> Any:
    axis = None if reduce_all or len(dim) == x.ndim else dim
    return paddle.sqrt(paddle.sum(paddle.square(x), axis, keepdim=keep_dim))


declare(
    "p_norm",
    "X -> Out",
    _p_norm,
    porder=2.0,
    axis=-1,
    epsilon=1e-12,
    keepdim=False,
    asvector=False,
)
declare("norm", "X -> Out Norm", _normalized, axis=int, epsilon=1e-10, is_test=False)
declare(
    "frobenius_norm",
    "X -> Out",
    _frobenius,
    dim=[0],
    keep_dim=False,
    reduce_all=False,
)
declare("squared_l2_norm", "X -> Out", lambda x: paddle.reshape(paddle.sum(paddle.square(x)), [1]))
declare("l1_norm", "X -> Out", lambda x: paddle.sum(paddle.abs(x)))
declare("dist", "X Y -> Out", lambda x, y, *, p: paddle.dist(x, y, p), p=2.0)


# --- matrices

declare("inverse", "Input -> Output", linalg.inv)
declare("determinant", "Input -> Out", linalg.det)
declare("cholesky", "X -> Out", lambda x, *, upper: linalg.cholesky(x, upper), upper=False)
declare(
    "trace",
    "Input -> Out",
    lambda x, *, offset, axis1, axis2: paddle.trace(x, offset, axis1, axis2),
    offset=0,
    axis1=0,
    axis2=1,
)
declare(
    "tril_triu",
    "X -> Out",
    lambda x, *, diagonal, lower: (paddle.tril if lower else paddle.triu)(x, diagonal),
    diagonal=0,
    lower=False,
)
declare(
    "diag_v2",
    "X -> Out",
    lambda x, *, offset, padding_value: paddle.diag(x, offset, padding_value),
    offset=0,
    padding_value=0.0,
)
declare(
    "diag_embed",
    "Input -> Out",
    lambda x, *, offset, dim1, dim2: paddle.diag_embed(x, offset, dim1, dim2),
    offset=0,
    dim1=-2,
    dim2=-1,
)
