"""What the operations of `linalg` should compute, said in another way.

Determinants are sums over permutations, inverses are quotients of determinants, solutions come from
elimination in exact fractions; transforms are sums over their definitions.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .references_basic import transpose_of

Array = np.ndarray


def each_matrix(f: Callable[..., Any], outputs: int = 1) -> Callable[..., Any]:
    """`f` of single matrices for every matrix of batches that broadcast."""

    def apply(*operands: Array, **attrs: Any) -> Any:
        batch = np.broadcast_shapes(*[a.shape[:-2] for a in operands])
        spread = [np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in operands]
        found = [f(*[a[i] for a in spread], **attrs) for i in np.ndindex(batch)]
        if not found:  # the shapes of the results, from matrices of zeros
            ones = [np.eye(*a.shape[-2:]) for a in spread]
            like = f(*ones, **attrs)
            likes = like if outputs > 1 else (like,)
            out = tuple(np.zeros((*batch, *np.shape(v)), np.asarray(v).dtype) for v in likes)
        else:
            columns = zip(*found, strict=True) if outputs > 1 else [found]
            out = tuple(np.reshape(np.stack(c), (*batch, *np.shape(c[0]))) for c in columns)
        return out if outputs > 1 else out[0]

    return apply


def det(x: Array) -> float:
    """Leibniz: signed products over all permutations."""
    n, total = len(x), 0.0
    for p in itertools.permutations(range(n)):
        inversions = sum(p[i] > p[j] for i in range(n) for j in range(i + 1, n))
        total += (-1) ** inversions * math.prod(x[i, p[i]] for i in range(n))
    return total


def cofactor(x: Array) -> Array:
    out = np.zeros(x.shape)
    for i, j in np.ndindex(x.shape):
        minor = np.delete(np.delete(x, i, 0), j, 1)
        out[i, j] = (-1) ** (i + j) * det(minor)
    return out


def cofactor_tangent(x: Array, y: Array) -> Array:
    """Cofactors are polynomials of degree n - 1: five points give the derivative exactly."""
    h = 1.0
    near, far = (cofactor(x + k * h * y) - cofactor(x - k * h * y) for k in (1, 2))
    return np.asarray((8.0 * near - far) / (12.0 * h))


def solve(a: Array, b: Array, transpose: bool = False) -> Array:
    """Elimination in exact fractions."""
    a = a.T if transpose else a
    n = len(a)
    rows = [[Fraction(float(v)) for v in (*a[i], *b[i])] for i in range(n)]
    for j in range(n):
        k = next(i for i in range(j, n) if rows[i][j])
        rows[j], rows[k] = rows[k], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(n):
            if i != j:
                rows[i] = [v - rows[i][j] * w for v, w in zip(rows[i], rows[j], strict=True)]
    return np.asarray([[float(v) for v in row[n:]] for row in rows]).reshape(b.shape)


def triangular_solve(
    a: Array, b: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Array:
    n = len(a)
    kept = [[a[i, j] if (j > i if upper else j < i) else 0.0 for j in range(n)] for i in range(n)]
    full = np.asarray(kept).reshape(n, n)
    full = full + np.diag(np.ones(n) if unitriangular else np.diag(a))
    return solve(full, b, transpose)


def inv(x: Array) -> Array:
    return solve(x, np.eye(len(x)))


def pinv(x: Array, rcond: float = 1e-15) -> Array:
    """The normal equations, which full rank allows."""
    if not x.size:
        return np.zeros(x.shape[::-1])
    return solve(x.T @ x, x.T) if len(x) >= x.shape[1] else solve(x @ x.T, x).T


def matrix_exp(x: Array) -> Array:
    """The series of x / 64, whose sixth square it is."""
    term = total = np.eye(len(x))
    for k in range(1, 30):
        term = term @ (x / 64.0) / k
        total = total + term
    for _ in range(6):
        total = total @ total
    return np.asarray(total)


def slogdet(x: Array) -> tuple[Array, Array]:
    value = det(x)
    return np.sign(value), np.asarray(math.log(abs(value)))


def mirror(x: Array, upper: bool = False) -> Array:
    out = np.zeros(x.shape)
    for i, j in np.ndindex(x.shape):
        out[i, j] = x[min(i, j), max(i, j)] if upper else x[max(i, j), min(i, j)]
    return out


def cholesky(x: Array, upper: bool = False) -> Array:
    """Row by row, as Cholesky did."""
    n = len(x)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = (x[i, j] + x[j, i]) / 2.0 - math.fsum(out[i, k] * out[j, k] for k in range(j))
            out[i, j] = math.sqrt(rest) if i == j else rest / out[j, j]
    return out.T if upper else out


def orthonormal(columns: list[Array]) -> list[Array]:
    """Gram and Schmidt, twice over."""
    out: list[Array] = []
    for c in columns:
        for _ in range(2):
            for q in out:
                c = c - q * (q @ c)
        out.append(c / math.sqrt(c @ c))
    return out


def qr(x: Array) -> tuple[Array, Array]:
    """R by Gram and Schmidt; the signs are those that LAPACK gives the first rows of R."""
    columns = orthonormal(list(x.T))
    q = np.asarray(columns).reshape(len(columns), len(x)).T
    r = np.triu(q.T @ x)
    signs = np.sign(np.diag(np.linalg.qr(x)[1])) * np.sign(np.diag(r))
    return q * signs, r * signs[:, None]


def qr_complete(x: Array) -> tuple[Array, Array]:
    m, n = x.shape
    if m <= n:
        q = qr(x[:, :m])[0]
        return q, q.T @ x
    q, r = qr(x)
    rest = np.linalg.qr(x, mode="complete")[0][:, n:]  # any basis of what is left will do
    assert np.abs(q.T @ rest).max(initial=0) < 1e-6
    return np.concatenate([q, rest], 1), np.concatenate([r, np.zeros((m - n, n))])


def jacobi(x: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors by rotations, ascending."""
    a, v = (x + x.T) / 2.0, np.eye(len(x))
    for _ in range(30):
        for i, j in itertools.combinations(range(len(x)), 2):
            turn = 0.5 * math.atan2(2.0 * a[i, j], a[j, j] - a[i, i])
            r = np.eye(len(x))
            r[i, i] = r[j, j] = math.cos(turn)
            r[i, j], r[j, i] = math.sin(turn), -math.sin(turn)
            a, v = r.T @ a @ r, v @ r
    order = np.argsort(np.diag(a))
    return np.diag(a)[order], v[:, order]


def eigh(x: Array) -> tuple[Array, Array]:
    w, v = jacobi(x)
    return w, v * np.sign(np.sum(v * np.linalg.eigh((x + x.T) / 2.0)[1], axis=0))


def svd(x: Array) -> tuple[Array, Array, Array]:
    """From the eigenvectors of x'x or xx'; LAPACK's signs."""
    m, n = x.shape
    if m < n:
        u, s, vh = svd(x.T)
        u, vh = vh.T, u.T
    else:
        w, v = jacobi(x.T @ x)
        s, v = np.sqrt(w[::-1]), v[:, ::-1]
        u, vh = x @ v / s, v.T
    signs = np.sign(np.sum(u * np.linalg.svd(x, full_matrices=False)[0], axis=0))
    return u * signs, s, vh * signs[:, None]


def svd_full(x: Array) -> tuple[Array, Array, Array]:
    u, s, vh = svd(x)
    k = len(s)
    more_u, _, more_vh = np.linalg.svd(x)
    return np.concatenate([u, more_u[:, k:]], 1), s, np.concatenate([vh, more_vh[k:]])


def residual_over(x: Array, u: Array, s: Array) -> Array:
    """The rest of each column after projections on an orthonormal basis."""
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-2]):
        basis = orthonormal(list(u[index].T))
        for k in range(x.shape[-1] if len(basis) < len(u[index]) else 0):
            column = x[index][:, k]
            out[index][:, k] = (column - sum(q * (q @ column) for q in basis)) / s[index][k]
    return out


def lu(x: Array) -> tuple[Array, Array, Array]:
    """Doolittle: each element from those before it, with the largest pivot chosen first."""
    a, (m, n) = x.copy(), x.shape
    pivots, info = [], 0
    for j in range(min(m, n)):
        for i in range(j):
            a[i, j:] = a[i, j:]
        p = max(range(j, m), key=lambda i: (abs(a[i, j]), -i))
        a[[j, p]] = a[[p, j]]
        pivots.append(p + 1)
        if a[j, j] == 0:
            info = info or j + 1
            continue
        for i in range(j + 1, m):
            factor = a[i, j] / a[j, j]
            a[i, j:] = [v - factor * w for v, w in zip(a[i, j:], a[j, j:], strict=True)]
            a[i, j] = factor
    return a, np.asarray(pivots, np.int32), np.asarray(info, np.int32)


def permutation(pivots: Array, m: int) -> list[int]:
    order = list(range(m))
    for i, p in enumerate(pivots.tolist()):
        order[i], order[p - 1] = order[p - 1], order[i]
    return order


def exchange_rows(x: Array, pivots: Array, backwards: bool = False) -> Array:
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-2]):
        order = permutation(pivots[index], x.shape[-2])
        for i, k in enumerate(order):
            out[index][(k, i)[not backwards]] = x[index][(i, k)[not backwards]]
    return out


def permutation_like(pivots: Array, like: Array) -> Array:
    m = like.shape[-2]
    out = np.zeros((*pivots.shape[:-1], m, m))
    for index in np.ndindex(pivots.shape[:-1]):
        for i, k in enumerate(permutation(pivots[index], m)):
            out[index][k, i] = 1.0
    return out


# --- transforms


def factor(scale: str, n: int) -> float:
    return {"none": 1.0, "ortho": n**-0.5, "by_n": 1.0 / n}[scale] if n else 1.0


def dft(
    real: Array, imag: Array, axis: int, inverse: bool = False, scale: str = "none"
) -> tuple[Array, Array]:
    n = real.shape[axis]
    sign = 2j if inverse else -2j
    waves = [[cmath.exp(sign * cmath.pi * j * k / n) for k in range(n)] for j in range(n)]
    whole = np.moveaxis(real + 1j * imag, axis, -1) @ np.reshape(waves, (n, n))
    out = np.moveaxis(whole, -1, axis) * factor(scale, n)
    return out.real, out.imag


def half_spectrum(
    x: Array, axis: int, scale: str = "none", doubled: bool = False
) -> tuple[Array, Array]:
    n = x.shape[axis]
    count = n // 2 + 1
    weights = [2.0 if doubled and k > 0 and 2 * k != n else 1.0 for k in range(count)]
    weights = np.expand_dims(weights, tuple(range(1, x.ndim - axis)))
    return tuple(
        np.take(p, range(count), axis) * weights
        for p in dft(x, np.zeros(x.shape), axis, scale=scale)
    )


def from_half_spectrum(
    real: Array, imag: Array, n: int, axis: int, scale: str = "none", doubled: bool = False
) -> Array:
    shape = (*real.shape[:axis], n, *real.shape[axis + 1 :])
    return sum(
        transpose_of(lambda x, k=k: half_spectrum(x, axis, scale, doubled)[k], shape, y)
        for k, y in enumerate((real, imag))
    )


def fourier(x: Array, kind: str, s: Any, axes: Any, norm: str) -> Array:
    """One axis after the other, in NumPy's transforms of one axis."""
    name = {"fftn": "fft", "ifftn": "ifft", "rfftn": "rfft", "irfftn": "irfft", "hfftn": "hfft"}
    last = name.get(kind, "ihfft")
    plain = "ifft" if last in ("ifft", "irfft", "ihfft") else "fft"
    sizes = dict(zip(axes, s or [None] * len(axes), strict=True))
    real_input = last in ("rfft", "ihfft")
    order = [axes[-1], *axes[:-1]] if real_input else [*axes[:-1], axes[-1]]
    for a in order:
        x = getattr(np.fft, last if a == axes[-1] else plain)(x, sizes[a], a, norm)
    return x


def unmerge(x: Array, *likes: Array, sources: Any) -> Array:
    shape = [likes[k].shape[a] for k, a in sources]
    out = np.zeros(shape)
    for index, value in zip(np.ndindex(*shape), x.ravel().tolist(), strict=True):
        out[index] = value
    return out


def merge(x: Array, counts: tuple[int, ...]) -> Array:
    stops = np.cumsum(counts)
    shape = [math.prod(x.shape[b - n : b]) for b, n in zip(stops, counts, strict=True)]
    return np.asarray([v for _, v in np.ndenumerate(x)]).reshape(shape)


REFERENCES: dict[str, Callable[..., Any]] = {
    "inv": each_matrix(inv),
    "solve": each_matrix(solve),
    "triangular_solve": each_matrix(triangular_solve),
    "det": each_matrix(det),
    "cofactor": each_matrix(cofactor),
    "cofactor_tangent": each_matrix(cofactor_tangent),
    "slogdet": each_matrix(slogdet, 2),
    "pinv": each_matrix(pinv),
    "matrix_exp": each_matrix(matrix_exp),
    "eye_like": each_matrix(lambda like: np.eye(*like.shape)),
    "mirror_triangle": each_matrix(mirror),
    "cholesky": each_matrix(cholesky),
    "qr": each_matrix(qr, 2),
    "qr_complete": each_matrix(qr_complete, 2),
    "svd": each_matrix(svd, 3),
    "svd_full": each_matrix(svd_full, 3),
    "residual_over": residual_over,
    "eigh": each_matrix(eigh, 2),
    "eig": each_matrix(lambda x: tuple(v.astype(complex) for v in np.linalg.eig(x)), 2),
    "lu": each_matrix(lu, 3),
    "lu_rectangular": each_matrix(lu, 3),
    "exchange_rows": exchange_rows,
    "permutation_like": permutation_like,
    "merge_axes": merge,
    "unmerge_axes": unmerge,
    "dft": dft,
    "half_spectrum": half_spectrum,
    "from_half_spectrum": from_half_spectrum,
    "from_half_spectrum_like": lambda real, imag, like, axis, **attrs: from_half_spectrum(
        real, imag, like.shape[axis], axis, **attrs
    ),
    "fourier": fourier,
    "real_part": lambda x: np.asarray([v.real for v in x.ravel().tolist()]).reshape(x.shape),
    "imag_part": lambda x: np.asarray([v.imag for v in x.ravel().tolist()]).reshape(x.shape),
    "to_complex": lambda real, imag: real + 1j * imag,
    "angle": lambda x: np.asarray([cmath.phase(v) for v in x.ravel().tolist()]).reshape(x.shape),
}
