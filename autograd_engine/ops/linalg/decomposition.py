"""Decompositions of matrices, for batches of them.

Signs of vectors and the order of values are LAPACK's. What a decomposition leaves open (the sign
of a singular vector) carries no derivative: gradients are those of functions that do not depend
on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim, Size, fresh_dim
from autograd_engine.core.dtypes import COMPLEX, HALVES, complex_dtype, real_dtype
from autograd_engine.core.spec import Array, Spec, format_shape
from autograd_engine.errors import ShapeError
from autograd_engine.ops.conjugates import as_users_see, cast_back, conj, is_complex
from autograd_engine.ops.infer import same
from autograd_engine.ops.linalg.inverse import (
    adjoint,
    along_columns,
    along_rows,
    at_least_a_matrix,
    check_finite,
    infer_square,
    refused,
    square,
)
from autograd_engine.ops.registry.forms import OF_MATRICES
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.pullback import handed_on
from autograd_engine.ops.registry.work import nothing, of_matrices


def smaller(m: Size, n: Size) -> Size:
    if m == n or not (isinstance(m, Dim) or isinstance(n, Dim)):
        return m if m == n else min(m, n)
    return fresh_dim()


def _adjoint(x: Array) -> Array:
    return np.conj(x.swapaxes(-1, -2)) if x.dtype in COMPLEX else x.swapaxes(-1, -2)


def _symmetric(x: Array) -> Array:
    """The symmetric part, which is `x` to the bit where `x` is symmetric."""
    return np.asarray((x + _adjoint(x)) / 2.0)


def _mirror_triangle(x: Array, *, upper: bool = False) -> Array:
    """One triangle, and its mirror image in place of the other."""
    return np.triu(x) + _adjoint(np.triu(x, 1)) if upper else np.tril(x) + _adjoint(np.tril(x, -1))


# A symmetric matrix is its own mirror image, and so is a symmetric change of it: among symmetric
# matrices this is the identity, and its rule says so. The gradient of what reads one triangle is
# then the symmetric one.
defop(
    "mirror_triangle",
    _mirror_triangle,
    inputs="x",
    infer=infer_square("mirror_triangle"),
    stacks="leading",
    work=nothing,
).vjp(x=handed_on)


# --- Cholesky


def _cholesky(x: Array, *, upper: bool = False) -> Array:
    try:
        return np.linalg.cholesky(_symmetric(x), upper=upper)
    except np.linalg.LinAlgError:
        raise refused(
            "cholesky",
            _symmetric(x),
            np.linalg.cholesky,
            "is not positive definite; add a multiple of the identity, or use linalg.eigh",
        ) from None


def _with_mirror_image(xp: Any, m: Any) -> Any:
    """The lower triangle, and its mirror image above, as a matrix that is its own adjoint."""
    lower = xp.tril(m)
    strict = xp.tril(lower, diagonal=-1)
    if is_complex(m):
        diagonal = lower - strict
        lower = strict + 0.5 * (diagonal + adjoint(xp, diagonal))
    return lower + adjoint(xp, strict)


@as_users_see
def _cholesky_x(xp: Any, g: Any, out: Any, *, upper: bool) -> Any:
    """I. Murray, "Differentiation of the Cholesky decomposition" (2016), eq. 10.

    With L the lower factor, the symmetric part of L'^-1 Phi(L' G) L^-1, where Phi takes the lower
    triangle with half of the diagonal.
    """
    lower = adjoint(xp, out) if upper else out
    g = adjoint(xp, g) if upper else g
    product = xp.matmul(conj(xp, lower), xp.tril(g), transpose_x=True)
    phi = _with_mirror_image(xp, product)  # Phi + Phi': its diagonal twice the half
    half = xp.triangular_solve(conj(xp, lower), phi, upper=False, transpose=True)
    whole = xp.triangular_solve(conj(xp, lower), adjoint(xp, half), upper=False, transpose=True)
    return 0.5 * whole


defop(
    "cholesky",
    _cholesky,
    inputs="x",
    infer=infer_square("cholesky"),
    **OF_MATRICES,
    work=of_matrices(1, 3),
).vjp(x=_cholesky_x)


# --- QR


def _qr(x: Array) -> tuple[Array, Array]:
    if x.shape[-2] < x.shape[-1]:
        raise ShapeError(_wide(x.shape))
    q, r = np.linalg.qr(x)
    return q, r


def _wide(shape: Any) -> str:
    return (
        f"qr: a program that does not know the sizes of {format_shape(shape)} takes it for a "
        "matrix with as many rows as columns or more; declare the sizes in static.data"
    )


def _infer_qr(x: Spec) -> tuple[Spec, Spec]:
    at_least_a_matrix("qr", x)
    m, n = x.shape[-2:]
    if not isinstance(m, Dim) and not isinstance(n, Dim) and m < n:
        raise ShapeError(_wide(x.shape))
    return Spec(x.shape, x.dtype), Spec((*x.shape[:-2], n, n), x.dtype)


@as_users_see
def _qr_x(xp: Any, g_q: Any, g_r: Any, q: Any, r: Any) -> Any:
    """S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions with
    application in optimum experimental design" (2010).

    (Gq + Q C) R'^-1, where C is symmetric with the lower triangle of R Gr' - Gq' Q.
    """
    m = xp.matmul(r, conj(xp, g_r), transpose_y=True)
    m = m - xp.matmul(conj(xp, g_q), q, transpose_x=True)
    c = _with_mirror_image(xp, m)
    return adjoint(xp, xp.triangular_solve(r, adjoint(xp, g_q + xp.matmul(q, c))))


defop(
    "qr", _qr, inputs="x", outputs="q r", infer=_infer_qr, **OF_MATRICES, work=of_matrices(4)
).vjp(x=_qr_x)


def _qr_complete(x: Array) -> tuple[Array, Array]:
    q, r = np.linalg.qr(x, mode="complete")
    return q, r


def _infer_qr_complete(x: Spec) -> tuple[Spec, Spec]:
    at_least_a_matrix("qr", x)
    m = x.shape[-2]
    return Spec((*x.shape[:-2], m, m), x.dtype), Spec(x.shape, x.dtype)


# The columns of Q past the rank may be any that complete a basis: they have no derivative.
defop(
    "qr_complete",
    _qr_complete,
    inputs="x",
    outputs="q r",
    infer=_infer_qr_complete,
    **OF_MATRICES,
    work=of_matrices(4),
).vjp(x=NONDIFF)


# --- singular values


def _svd(x: Array) -> tuple[Array, Array, Array]:
    check_finite("svd", x)
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return u, s, vh


def _infer_svd(x: Spec) -> tuple[Spec, Spec, Spec]:
    at_least_a_matrix("svd", x)
    *batch, m, n = x.shape
    k = smaller(m, n)
    s = Spec((*batch, k), real_dtype(x.dtype))
    return Spec((*batch, m, k), x.dtype), s, Spec((*batch, k, n), x.dtype)


def _differences(xp: Any, s: Any) -> Any:
    """s_j - s_i, and 1 on the diagonal."""
    gap = along_rows(xp, s) - along_columns(xp, s)
    return gap + xp.eye_like(gap)


def _skew(xp: Any, m: Any) -> Any:
    return m - adjoint(xp, m)


@as_users_see
def _svd_x(xp: Any, g_u: Any, g_s: Any, g_vh: Any, u: Any, s: Any, vh: Any) -> Any:
    """J. Townsend, "Differentiating the singular value decomposition" (2016).

    U (skew(U' Gu) / E S + S skew(V' Gv) / E + diag(Gs)) V' with E_ij = s_j**2 - s_i**2, and what
    of Gu and Gv lies outside the columns of U and V. The vectors of equal singular values are not
    determined: 0 / 0 where a cotangent arrives at them, and not where one arrives at s alone.
    """
    total = None if g_s is None else xp.matmul(u * along_rows(xp, g_s), vh)
    if g_u is None and g_vh is None:
        return total
    gap = _differences(xp, s * s)
    if g_u is not None:
        skew = _skew(xp, xp.matmul(conj(xp, u), g_u, transpose_x=True))
        inner = skew / gap * along_rows(xp, s)
        if is_complex(u):  # a phase that u and v share
            inner = inner + 0.5 * skew * xp.eye_like(skew) / along_rows(xp, s)
        outer = xp.matmul(u, inner) + xp.residual_over(g_u, u, s)
        part = xp.matmul(outer, vh)
        total = part if total is None else total + part
    if g_vh is not None:
        v, g_v = adjoint(xp, vh), adjoint(xp, g_vh)
        inner = along_columns(xp, s) * (_skew(xp, xp.matmul(vh, g_v)) / gap)
        outer = xp.matmul(inner, vh) + adjoint(xp, xp.residual_over(g_v, v, s))
        part = xp.matmul(u, outer)
        total = part if total is None else total + part
    return total


defop(
    "svd",
    _svd,
    inputs="x",
    outputs="u s vh",
    infer=_infer_svd,
    **OF_MATRICES,
    lazy_cotangents=True,
    work=of_matrices(14),
).vjp(x=_svd_x)


def _svd_full(x: Array) -> tuple[Array, Array, Array]:
    check_finite("svd", x)
    u, s, vh = np.linalg.svd(x)
    return u, s, vh


def _infer_svd_full(x: Spec) -> tuple[Spec, Spec, Spec]:
    at_least_a_matrix("svd", x)
    *batch, m, n = x.shape
    s = Spec((*batch, smaller(m, n)), real_dtype(x.dtype))
    return Spec((*batch, m, m), x.dtype), s, Spec((*batch, n, n), x.dtype)


defop(
    "svd_full",
    _svd_full,
    inputs="x",
    outputs="u s vh",
    infer=_infer_svd_full,
    **OF_MATRICES,
    work=of_matrices(22),
).vjp(x=NONDIFF)


def _coordinates(u: Array, x: Array) -> Array:
    ut = _adjoint(u)
    return np.linalg.solve(ut @ u, ut @ x)


def _residual_over(x: Array, u: Array, s: Array) -> Array:
    """The part of `x` outside of the columns of `u`, its columns divided by `s`.

    Columns of a square matrix leave nothing outside: exact zeros then, so that a singular value of
    0 does no harm.
    """
    if u.shape[-1] == u.shape[-2]:
        return np.zeros(x.shape, x.dtype)
    return np.asarray((x - u @ _coordinates(u, x)) / s[..., None, :])


@as_users_see
def _residual_over_u(xp: Any, g: Any, x: Any, u: Any, s: Any, out: Any) -> Any:
    """The derivative of the projection u (u'u)^-1 u', with H the same of G: -H X+' - out G+'."""
    ut = conj(xp, u)
    gram = xp.matmul(ut, u, transpose_x=True)

    def coordinates(v: Any) -> Any:
        return conj(xp, xp.solve(gram, xp.matmul(ut, v, transpose_x=True)))

    total = xp.matmul(xp.residual_over(g, u, conj(xp, s)), coordinates(x), transpose_y=True)
    return -(total + xp.matmul(out, coordinates(g), transpose_y=True))


@as_users_see
def _residual_over_s(xp: Any, g: Any, u: Any, s: Any, out: Any) -> Any:
    along = conj(xp, out) * xp.residual_over(g, u, conj(xp, s))
    return cast_back(xp, -xp.sum(along, axis=(g.ndim - 2,)), s)


defop("residual_over", _residual_over, inputs="x u s", infer=same, **OF_MATRICES).vjp(
    x=as_users_see(lambda xp, g, u, s: xp.residual_over(g, u, conj(xp, s))),
    u=_residual_over_u,
    s=_residual_over_s,
)


# --- eigenvalues


def _eigh(x: Array) -> tuple[Array, Array]:
    check_finite("eigh", x)
    w, v = np.linalg.eigh(_symmetric(x))
    return w, v


def _infer_eigh(x: Spec) -> tuple[Spec, Spec]:
    square("eigh", x)
    return Spec(x.shape[:-1], real_dtype(x.dtype)), Spec(x.shape, x.dtype)


@as_users_see
def _eigh_x(xp: Any, g_w: Any, g_v: Any, w: Any, v: Any) -> Any:
    """V (skew(V' Gv) / 2E + diag(Gw)) V' with E_ij = w_j - w_i, which is symmetric (Giles)."""
    inside = None
    if g_v is not None:
        skew = _skew(xp, xp.matmul(conj(xp, v), g_v, transpose_x=True))
        inside = xp.matmul(v, 0.5 * skew / _differences(xp, w))
    if g_w is not None:
        values = v * along_rows(xp, g_w)
        inside = values if inside is None else inside + values
    return xp.matmul(inside, conj(xp, v), transpose_y=True)


defop(
    "eigh",
    _eigh,
    inputs="x",
    outputs="w v",
    infer=_infer_eigh,
    **OF_MATRICES,
    lazy_cotangents=True,
    work=of_matrices(9),
).vjp(x=_eigh_x)


def _eig(x: Array) -> tuple[Array, Array]:
    check_finite("eig", x)
    w, v = np.linalg.eig(x.astype(np.float32) if x.dtype in HALVES else x)
    dtype = complex_dtype(v.dtype)
    return w.astype(dtype), v.astype(dtype)


def _infer_eig(x: Spec) -> tuple[Spec, Spec]:
    square("eig", x)
    return Spec(x.shape[:-1], complex_dtype(x.dtype)), Spec(x.shape, complex_dtype(x.dtype))


@as_users_see
def _eig_x(xp: Any, g_w: Any, g_v: Any, x_like: Any, w: Any, v: Any) -> Any:
    """V'^-1 ((V' Gv - V' V Re(diag(V' Gv))) / conj(E) + diag(Gw)) V' with E_ij = w_j - w_i.

    C. Boeddeker et al., "On the computation of complex-valued gradients with application to
    statistically optimum beamforming" (2017), of vectors of length 1, whose phase is left open.
    """
    vt = adjoint(xp, v)
    inside = None
    if g_v is not None:
        m = xp.matmul(vt, g_v)
        one = xp.eye_like(m)
        lengths = xp.sum(m * one, axis=(m.ndim - 2,))
        lengths = xp.cast_like(xp.real_part(lengths), v)
        m = m - xp.matmul(vt, v * along_rows(xp, lengths))
        inside = (m - m * one) / xp.conj(_differences(xp, w))
    if g_w is not None:
        values = along_rows(xp, g_w) * xp.eye_like(vt)
        inside = values if inside is None else inside + values
    return cast_back(xp, xp.solve(vt, xp.matmul(inside, vt)), x_like)


defop(
    "eig",
    _eig,
    inputs="x",
    outputs="w v",
    infer=_infer_eig,
    **OF_MATRICES,
    lazy_cotangents=True,
    work=of_matrices(25),
).vjp(x=_eig_x)
