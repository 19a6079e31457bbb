"""Inverses and systems of linear equations, for batches of matrices.

Rules follow M. B. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), unless they say otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import COMPLEX, common_dtype
from autograd_engine.core.spec import (
    Array,
    Like,
    Spec,
    broadcast_shapes,
    format_shape,
    may_equal,
)
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.conjugates import as_users_see, conj
from autograd_engine.ops.kernels import lu
from autograd_engine.ops.registry.forms import OF_MATRICES
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import Specs, Work, cubes, nothing, of_matrices


def square(op: str, x: Spec) -> None:
    """Raise ShapeError unless `x` may hold square matrices."""
    if x.ndim < 2 or not may_equal(x.shape[-1:], x.shape[-2:-1]):
        raise ShapeError(
            f"{op}: takes square matrices of shape [..., n, n], got {format_shape(x.shape)}"
        )


def at_least_a_matrix(op: str, x: Spec) -> None:
    """Raise ShapeError unless `x` has two axes."""
    if x.ndim < 2:
        raise ShapeError(
            f"{op}: takes matrices of shape [..., m, n], got {format_shape(x.shape)}; use unsqueeze"
        )


def transposed(xp: Any, x: Any) -> Any:
    """The transpose of each matrix: a rule knows the number of axes, if not their sizes."""
    n = x.ndim
    return xp.transpose(x, perm=(*range(n - 2), n - 1, n - 2))


def adjoint(xp: Any, x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    return transposed(xp, conj(xp, x))


def along_rows(xp: Any, s: Any) -> Any:
    """``s[..., None, :]``, which scales columns."""
    return xp.unsqueeze(s, axis=(s.ndim - 1,))


def along_columns(xp: Any, s: Any) -> Any:
    """``s[..., :, None]``, which scales rows."""
    return xp.unsqueeze(s, axis=(s.ndim,))


def per_matrix(xp: Any, g: Any) -> Any:
    """``g[..., None, None]``"""
    return xp.unsqueeze(g, axis=(g.ndim, g.ndim + 1))


def refused(op: str, x: Array, accepts: Callable[[Array], Any], why: str) -> ArgumentError:
    """The error about the first matrix that LAPACK does not accept."""
    for index in np.ndindex(x.shape[:-2]):
        try:
            accepts(x[index])
        except np.linalg.LinAlgError:
            which = f"matrix {list(index)} of the batch" if index else "the matrix"
            return ArgumentError(f"{op}: {which} {why}")
    return ArgumentError(f"{op}: a matrix {why}")


def check_finite(op: str, x: Array) -> None:
    """Raise ArgumentError unless all of `x` is finite: of inf, LAPACK's iterations may not end."""
    bad = ~np.isfinite(x).all((-2, -1))
    if bad.any():
        index = [int(k) for k in np.argwhere(bad)[0]]
        which = f"matrix {index} of the batch" if index else "the matrix"
        raise ArgumentError(f"{op}: {which} holds inf or NaN; look for them with paddle.isfinite")


SINGULAR = "is singular: it has no inverse; use linalg.pinv or linalg.lstsq"


def infer_square(op: str) -> Callable[..., Spec]:
    def infer(x: Spec, **_: Any) -> Spec:
        square(op, x)
        return Spec(x.shape, x.dtype)

    return infer


# --- inverse


def _inv(x: Array) -> Array:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise refused("inv", x, np.linalg.inv, SINGULAR) from None


def inv_x(xp: Any, g: Any, out: Any) -> Any:
    """out = 1/X gives -out' G out'."""
    return -xp.matmul(xp.matmul(out, g, transpose_x=True), out, transpose_y=True)


defop("inv", _inv, inputs="x", infer=infer_square("inv"), **OF_MATRICES, work=of_matrices(2)).vjp(
    x=inv_x
)


# --- systems: A X = B, or A' X = B


def _infer_system(op: str) -> Callable[..., Spec]:
    def infer(a: Spec, b: Spec, **_: Any) -> Spec:
        square(op, a)
        at_least_a_matrix(op, b)
        if not may_equal(a.shape[-1:], b.shape[-2:-1]):
            raise ShapeError(
                f"{op}: matrices {format_shape(a.shape)} and right sides {format_shape(b.shape)} "
                f"differ in the number of rows, {a.shape[-1]} and {b.shape[-2]}"
            )
        batch = broadcast_shapes(op, a.shape[:-2], b.shape[:-2])
        return Spec((*batch, *b.shape[-2:]), common_dtype([a.dtype, b.dtype]))

    return infer


def _solve(a: Array, b: Array, *, transpose: bool = False) -> Array:
    found = lu.solve(a, b, transpose) if a.ndim == b.ndim == 2 else None
    if found is not None:
        return found
    a = a.swapaxes(-1, -2) if transpose else a
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise refused("solve", a, np.linalg.inv, SINGULAR) from None


def _solve_together(xp: Any, g: Any, a: Any, out: Any, *, transpose: bool) -> Any:
    """A X = B gives A'^-1 G to B and minus that times X' to A; transposed where A was."""
    gb = xp.solve(a, g, transpose=not transpose)
    if transpose:
        return -xp.matmul(out, gb, transpose_y=True), gb
    return -xp.matmul(gb, out, transpose_y=True), gb


def _work_of_solve(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    """A decomposition, and two substitutions."""
    a, _ = operands
    return Work(cubes(a, 2, 3) + 2 * a.shape[-1] * results[0].size)


defop(
    "solve",
    _solve,
    inputs="a b",
    infer=_infer_system("solve"),
    broadcasts=2,
    dtypes="floating",
    work=_work_of_solve,
    amp="always high",
).vjp_together("a b", _solve_together)


def _triangular_solve(
    a: Array,
    b: Array,
    *,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Array:
    """Back substitution. LAPACK's general solver does just that to an upper triangle."""
    t = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        diagonal = np.arange(t.shape[-1])
        t[..., diagonal, diagonal] = 1.0
    if transpose:
        t = t.swapaxes(-1, -2)
    try:
        if upper != transpose:
            return np.linalg.solve(t, b)
        # Turned upside down, a lower triangle is an upper one.
        return np.linalg.solve(t[..., ::-1, ::-1], b[..., ::-1, :])[..., ::-1, :]
    except np.linalg.LinAlgError:
        why = "has a zero on its diagonal, so that it is singular"
        raise refused("triangular_solve", t, np.linalg.inv, why) from None


def _triangular_solve_a(
    xp: Any, g: Any, a: Any, out: Any, *, upper: bool, transpose: bool, unitriangular: bool
) -> Any:
    """As that of `solve`, in the triangle that was read."""
    gb = xp.triangular_solve(
        a, g, upper=upper, transpose=not transpose, unitriangular=unitriangular
    )
    left, right = (out, gb) if transpose else (gb, out)
    full = -xp.matmul(left, right, transpose_y=True)
    if upper:
        return xp.triu(full, diagonal=1 if unitriangular else 0)
    return xp.tril(full, diagonal=-1 if unitriangular else 0)


def _work_of_substitution(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    return Work(operands[0].shape[-1] * results[0].size)


defop(
    "triangular_solve",
    _triangular_solve,
    inputs="a b",
    infer=_infer_system("triangular_solve"),
    broadcasts=2,
    dtypes="floating",
    work=_work_of_substitution,
    amp="always high",
).vjp(
    a=_triangular_solve_a,
    b=lambda xp, g, a, *, upper, transpose, unitriangular: xp.triangular_solve(
        a, g, upper=upper, transpose=not transpose, unitriangular=unitriangular
    ),
)


# --- pseudo-inverse


def _pinv(x: Array, *, rcond: float = 1e-15) -> Array:
    check_finite("pinv", x)
    return np.linalg.pinv(x, rcond)


def _infer_pinv(x: Spec, *, rcond: float = 1e-15) -> Spec:
    at_least_a_matrix("pinv", x)
    return Spec((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)


@as_users_see
def pinv_x(xp: Any, g: Any, x: Any, out: Any) -> Any:
    """G. H. Golub and V. Pereyra (1973), while the rank stays as it is.

    With P the pseudo-inverse and ' the adjoint: -P' G P' + (I - X P) G' P P' + P' P G' (I - P X).
    """
    pt, gt = adjoint(xp, out), adjoint(xp, g)
    right = xp.matmul(gt, xp.matmul(out, pt))
    left = xp.matmul(xp.matmul(pt, out), gt)
    total = right - xp.matmul(x, xp.matmul(out, right))
    total = total + (left - xp.matmul(xp.matmul(left, out), x))
    return total - xp.matmul(xp.matmul(pt, g), pt)


defop("pinv", _pinv, inputs="x", infer=_infer_pinv, **OF_MATRICES, work=of_matrices(16)).vjp(
    x=pinv_x
)


# --- exponential

# N. J. Higham, "The scaling and squaring method for the matrix exponential revisited" (2005).
_PADE = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
]
_THETA = 5.371920351148152


def _matrix_exp(x: Array) -> Array:
    wide: Array = x.astype(np.complex128 if x.dtype in COMPLEX else np.float64)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        squarings = _squarings(np.max(np.sum(np.abs(wide), axis=-2), initial=0.0), _THETA)
        a: Array = wide / 2.0**squarings
        a2 = a @ a
        a4, one = a2 @ a2, np.eye(x.shape[-1])
        a6, b = a2 @ a4, _PADE
        odd: Array = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2)
        odd = a @ (odd + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
        even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2)
        even = even + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
        out = np.linalg.solve(even - odd, even + odd)
        return np.asarray(_squared(out, squarings).astype(x.dtype))


def _squarings(norm: Any, largest: float) -> int:
    """How often a matrix of that norm is halved until its norm is no larger."""
    return math.ceil(math.log2(norm / largest)) if largest < norm < math.inf else 0


def _squared(x: Array, times: int) -> Array:
    for _ in range(times):
        x = x @ x
    return x


def _matrix_exp_x(xp: Any, g: Any, x: Any) -> Any:
    """exp of [[X', G], [0, X']] has the gradient in its upper right corner (R. Mathias, 1996)."""
    n = x.ndim
    xt = transposed(xp, x)
    top = xp.concat(xt, g, axis=n - 1)
    bottom = xp.concat(xp.zeros_like(xt), xt, axis=n - 1)
    out = xp.matrix_exp(xp.concat(top, bottom, axis=n - 2))
    upper = xp.split_like(out, top, bottom, axis=n - 2)[0]
    return xp.split_like(upper, xt, g, axis=n - 1)[1]


defop(
    "matrix_exp",
    _matrix_exp,
    inputs="x",
    infer=infer_square("matrix_exp"),
    **OF_MATRICES,
    work=of_matrices(16),
).vjp(x=_matrix_exp_x)


# --- the identity, in the shape of another


def _eye_like(like: Like) -> Array:
    out = np.zeros(like.shape, like.dtype)
    diagonal = np.arange(min(like.shape[-2:]))
    out[..., diagonal, diagonal] = 1
    return out


defop("eye_like", _eye_like, inputs="like", infer=lambda like: like, work=nothing).vjp(like=NONDIFF)
