"""Determinants of batches of matrices.

The gradient of a determinant is the matrix of cofactors, which singular matrices have too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import finfo, real_dtype
from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops.kernels.branches import surely
from autograd_engine.ops.linalg.inverse import (
    infer_square,
    per_matrix,
    square,
    transposed,
)
from autograd_engine.ops.registry.forms import OF_MATRICES
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import of_matrices


def _det(x: Array) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.linalg.det(x))


def _infer_per_matrix(op: str) -> Callable[..., Spec]:
    def infer(x: Spec) -> Spec:
        square(op, x)
        return Spec(x.shape[:-2], x.dtype)

    return infer


defop(
    "det", _det, inputs="x", infer=_infer_per_matrix("det"), **OF_MATRICES, work=of_matrices(2, 3)
).vjp(x=lambda xp, g, x: per_matrix(xp, g) * xp.cofactor(x))


def _adjoint(x: Array) -> Array:
    return x.conj().swapaxes(-1, -2)


def _others(s: Array) -> Array:
    """For each element along the last axis the product of all others, without a division."""
    ones = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([ones, s[..., :-1]], -1), -1)
    behind = np.cumprod(np.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1]
    return np.asarray(before * behind)


def _orientation(u: Array, vh: Array) -> Array:
    return np.asarray(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _svd(x: Array) -> tuple[Array, Array, Array]:
    """The decomposition, all NaN where `x` is not finite: of inf, LAPACK's may not end."""
    finite = np.asarray(np.isfinite(x).all((-2, -1)))
    if surely(finite.all()):
        u, s, vh = np.linalg.svd(x)
        return u, s, vh
    u, s, vh = np.linalg.svd(np.where(finite[..., None, None], x, 0.0))
    s = np.where(finite[..., None], s, np.nan)
    return u, s, vh


def _cofactor_of_any(x: Array) -> Array:
    u, s, vh = _svd(x)
    return np.asarray(_orientation(u, vh) * ((u.conj() * _others(s)[..., None, :]) @ vh.conj()))


def _cofactor(x: Array) -> Array:
    """det(X) / X' where X is far from singular, by the singular values where it is not."""
    if not x.size:
        return np.zeros_like(x)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        out = _by_inverse(x)
        return _cofactor_of_any(x) if out is None else out


def _by_inverse(x: Array) -> Array | None:
    """Where that is accurate; None where a matrix has no inverse at all."""
    try:
        inverse = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        return None
    condition = np.linalg.norm(x, 1, (-2, -1)) * np.linalg.norm(inverse, 1, (-2, -1))
    out = np.asarray(np.linalg.det(x)[..., None, None] * inverse.swapaxes(-1, -2))
    near = np.asarray(condition * math.sqrt(finfo(x.dtype).eps) > 1.0)
    if near.any():
        out[near] = _cofactor_of_any(x[near])
    return out


defop("cofactor", _cofactor, inputs="x", infer=infer_square("cofactor"), **OF_MATRICES).vjp(
    x=lambda xp, g, x: xp.cofactor_tangent(x, g)
)


def _cofactor_tangent(x: Array, y: Array) -> Array:
    """The second derivative of the determinant along `y`, a symmetric linear map.

    Of a diagonal matrix S it has, with p_ij the product of all elements of S but i and j, the
    elements sum_k p_ik y_kk on the diagonal and -p_ij y_ji off it.
    """
    if not x.size:
        return np.zeros_like(x)
    n = x.shape[-1]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        u, s, vh = _svd(x)
        rows = np.repeat(s[..., None, :], n, axis=-2)
        diagonal = np.arange(n)
        rows[..., diagonal, diagonal] = 1.0
        p = _others(rows)
        p[..., diagonal, diagonal] = 0.0
        inside = _adjoint(u) @ y @ _adjoint(vh)
        out = -p * inside.swapaxes(-1, -2)
        out[..., diagonal, diagonal] = np.einsum("...ij,...jj->...i", p, inside)
        return np.asarray(_orientation(u, vh) * (u.conj() @ out @ vh.conj()))


def _cofactor_tangent_x(xp: Any, g: Any, x: Any, y: Any) -> Any:
    """The third derivative of the determinant, of nonsingular matrices.

    With B = 1/X' the second is det(X) (<g, B> <y, B> - <g, B y' B>).
    """
    b = transposed(xp, xp.inv(x))
    axes = (x.ndim - 2, x.ndim - 1)

    def inner(p: Any, q: Any) -> Any:
        return xp.sum(p * q, axis=axes, keepdims=True)

    def around(v: Any) -> Any:
        return xp.matmul(xp.matmul(b, v, transpose_y=True), b)

    of_g, of_y = around(g), around(y)
    along_g, along_y = inner(g, b), inner(y, b)
    both = xp.matmul(xp.matmul(of_y, g, transpose_y=True), b)
    both = both + xp.matmul(xp.matmul(of_g, y, transpose_y=True), b)
    total = (along_g * along_y - inner(g, of_y)) * b - along_y * of_g - along_g * of_y + both
    return per_matrix(xp, xp.det(x)) * total


defop(
    "cofactor_tangent",
    _cofactor_tangent,
    inputs="x y",
    infer=lambda x, y: infer_square("cofactor_tangent")(x),
    **OF_MATRICES,
).vjp(x=_cofactor_tangent_x, y=lambda xp, g, x: xp.cofactor_tangent(x, g))


def _slogdet(x: Array) -> tuple[Array, Array]:
    sign, logarithm = np.linalg.slogdet(x)
    return np.asarray(sign), np.asarray(logarithm)


def _infer_slogdet(x: Spec) -> tuple[Spec, Spec]:
    out = _infer_per_matrix("slogdet")(x)
    return out, Spec(out.shape, real_dtype(x.dtype))


defop(
    "slogdet",
    _slogdet,
    inputs="x",
    outputs="sign logdet",
    nondiff_outputs="sign",
    infer=_infer_slogdet,
    **OF_MATRICES,
    work=of_matrices(2, 3),
).vjp(x=lambda xp, g_logdet, x: per_matrix(xp, g_logdet) * transposed(xp, xp.inv(x)))
