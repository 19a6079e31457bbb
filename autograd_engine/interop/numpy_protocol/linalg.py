"""NumPy's products and linear algebra."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from autograd_engine import linalg
from autograd_engine.core.dtypes import finfo
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import (
    UNSET,
    as_tensor,
    as_tensors,
    floating,
    floats,
)
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


@covers("dot")
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    x, y = as_tensors(a, b)
    if not x.ndim or not y.ndim:
        return paddle.multiply(x, y)
    if y.ndim <= 2:
        return paddle.matmul(x, y)
    return paddle.tensordot(x, y, [[x.ndim - 1], [y.ndim - 2]])


covers("inner")(lambda a, b, /: paddle.inner(*as_tensors(a, b)))
covers("outer")(lambda a, b, out=None: paddle.outer(*as_tensors(a, b)))
_linalg_outer: Any = covers("linalg.outer")(lambda x1, x2, /: paddle.outer(*as_tensors(x1, x2)))


@covers("vdot")
def _vdot(a: Any, b: Any, /) -> Any:
    x, y = (paddle.reshape(v, [-1]) for v in as_tensors(a, b))
    return paddle.matmul(paddle.conj(x), y)


covers("kron")(lambda a, b: paddle.kron(*as_tensors(a, b)))


@covers("tensordot")
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    if not isinstance(axes, int):
        axes = [list(k) if isinstance(k, (tuple, list)) else [k] for k in axes]
    x, y = as_tensors(a, b)
    return paddle.tensordot(x, y, axes)


_linalg_tensordot: Any = covers("linalg.tensordot")(
    lambda x1, x2, /, *, axes=2: _tensordot(x1, x2, axes)
)


@covers("einsum")
def _einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    if not operands or not isinstance(operands[0], str):
        raise ArgumentError('np.einsum: give the subscripts as a string first, "ij,jk->ik"')
    dtype = kwargs.get("dtype")
    arrays = as_tensors(*operands[1:])
    return paddle.einsum(operands[0], *(a if dtype is None else a.astype(dtype) for a in arrays))


_matmul: Any = covers("linalg.matmul")(lambda x1, x2, /: paddle.matmul(*as_tensors(x1, x2)))


@covers("linalg.vecdot")
def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x, y = as_tensors(x1, x2)
    return paddle.sum(paddle.conj(x) * y, axis=axis)


covers("linalg.multi_dot")(lambda arrays, *, out=None: linalg.multi_dot(as_tensors(*arrays)))


@covers("cross")
def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = as_tensors(a, b)
    x, y = paddle.moveaxis(x, axisa, -1), paddle.moveaxis(y, axisb, -1)
    x, y = paddle.broadcast_tensors([x, y])
    if x.shape[-1] != 3:
        raise ArgumentError(f"np.cross: vectors must have 3 elements, got {x.shape[-1]}")
    return paddle.moveaxis(paddle.cross(x, y, axis=-1), -1, axisc)


_linalg_cross: Any = covers("linalg.cross")(lambda x1, x2, /, *, axis=-1: _cross(x1, x2, axis=axis))


@covers("trace")
def _trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    x = as_tensor(a)
    return paddle.trace(x if dtype is None else x.astype(dtype), offset, axis1, axis2)


_linalg_trace: Any = covers("linalg.trace")(
    lambda x, /, *, offset=0, dtype=None: _trace(x, offset, -2, -1, dtype)
)


# --- systems and decompositions


_det: Any = covers("linalg.det")(lambda a: linalg.det(floating(a)))


class SlogdetResult(NamedTuple):
    sign: Any
    logabsdet: Any


@covers("linalg.slogdet")
def _slogdet(a: Any) -> SlogdetResult:
    made = linalg.slogdet(floating(a))
    return SlogdetResult(made[0], made[1])


_inv: Any = covers("linalg.inv")(lambda a: linalg.inv(floating(a)))


@covers("linalg.pinv")
def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = UNSET) -> Any:
    x = floating(a)
    cut = rcond if rtol is UNSET or rtol is None else rtol
    if cut is None:
        wide = rtol is None
        cut = max(x.shape[-2:]) * float(finfo(x.dtype.dtype).eps) if wide else 1e-15
    return linalg.pinv(x, rcond=float(cut), hermitian=hermitian)


_solve: Any = covers("linalg.solve")(lambda a, b: linalg.solve(*floats(a, b)))


class LstsqResult(NamedTuple):
    x: Any
    residuals: Any
    rank: Any
    s: Any


@covers("linalg.lstsq")
def _lstsq(a: Any, b: Any, rcond: Any = None) -> LstsqResult:
    x, y = floats(a, b)
    flat = y.ndim == 1
    if flat:
        y = paddle.unsqueeze(y, -1)
    made, _, rank, s = linalg.lstsq(x, y, rcond=rcond)
    if isinstance(rank.shape, tuple) and x.shape[0] > x.shape[1] and int(rank) == x.shape[1]:
        off = paddle.matmul(x, made) - y
        residuals = paddle.sum(off * off, axis=0)
    else:
        residuals = paddle.zeros([0], x.dtype)
    if s is None or 0 in s.shape:
        s = linalg.svdvals(x)
    return LstsqResult(paddle.squeeze(made, -1) if flat else made, residuals, rank, s)


_cholesky: Any = covers("linalg.cholesky")(
    lambda a, /, *, upper=False: linalg.cholesky(floating(a), upper=upper)
)


class QRResult(NamedTuple):
    Q: Any
    R: Any


@covers("linalg.qr")
def _qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"np.linalg.qr: mode must be reduced, complete or r, got {mode!r}")
    made = linalg.qr(floating(a), mode=mode)
    return made if mode == "r" else QRResult(*made)


class SVDResult(NamedTuple):
    U: Any
    S: Any
    Vh: Any


@covers("linalg.svd")
def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    x = floating(a)
    if not compute_uv:
        return linalg.svdvals(x)
    return SVDResult(*linalg.svd(x, full_matrices=full_matrices))


_svdvals: Any = covers("linalg.svdvals")(lambda x, /: linalg.svdvals(floating(x)))


class EigenResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


@covers("linalg.eigh")
def _eigh(a: Any, UPLO: str = "L") -> EigenResult:  # noqa: N803 - NumPy's name
    return EigenResult(*linalg.eigh(floating(a), UPLO))


@covers("linalg.eigvalsh")
def _eigvalsh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803 - NumPy's name
    return linalg.eigvalsh(floating(a), UPLO)


covers("linalg.eig")(lambda a: EigenResult(*linalg.eig(floating(a))))
covers("linalg.eigvals")(lambda a: linalg.eigvals(floating(a)))


_matrix_power: Any = covers("linalg.matrix_power")(lambda a, n: linalg.matrix_power(floating(a), n))
covers("linalg.cond")(lambda x, p=None: linalg.cond(floating(x), p))


@covers("linalg.norm")
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = floating(x)
    if axis is None and ord is None:
        flat = paddle.reshape(x, [-1])
        made = linalg.vector_norm(flat, 2.0)
        return paddle.reshape(made, [1] * x.ndim) if keepdims else made
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 1:
        degree = 2.0 if ord is None else float(ord)
        return linalg.vector_norm(x, degree, axis=axes[0], keepdim=keepdims)
    if len(axes) != 2:
        raise ArgumentError(f"np.linalg.norm: one axis or two, got {len(axes)}; give axis")
    order = "fro" if ord is None else ord
    return linalg.matrix_norm(x, order, axis=list(axes), keepdim=keepdims)


@covers("linalg.matrix_norm")
def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return linalg.matrix_norm(floating(x), "fro" if ord is None else ord, keepdim=keepdims)


@covers("linalg.vector_norm")
def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return linalg.vector_norm(floating(x), float(ord), axis=axis, keepdim=keepdims)


@covers("linalg.tensorinv")
def _tensorinv(a: Any, ind: int = 2) -> Any:
    x = floating(a)
    if ind <= 0:
        raise ArgumentError(f"np.linalg.tensorinv: ind must be positive, got {ind}")
    lead, rest = list(x.shape[:ind]), list(x.shape[ind:])
    flat = paddle.reshape(x, [math.prod(lead), math.prod(rest)])
    return paddle.reshape(linalg.inv(flat), rest + lead)


@covers("linalg.tensorsolve")
def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    x, y = floats(a, b)
    if axes is not None:
        moved = [k % x.ndim for k in axes]
        x = paddle.transpose(x, [k for k in range(x.ndim) if k not in moved] + moved)
    rest = list(x.shape[y.ndim :])
    size = math.prod(rest)
    made = linalg.solve(paddle.reshape(x, [-1, size]), paddle.reshape(y, [-1]))
    return paddle.reshape(made, rest)
