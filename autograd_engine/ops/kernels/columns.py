"""Kernels in C along axes that are not the last: columns, and channels of images.

An array is seen as [outer, n, inner] where the axes follow each other, and as [parts, rows, width]
where the axes that are kept lie between those that are not. There is no block in NumPy that would
pay, so where there is no C the rows of the table compute as they do on small arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import BLAS_REALS
from autograd_engine.core.spec import Array, reduced_shape
from autograd_engine.ops.kernels.compiled import LARGE, compiled

__all__ = [
    "in_columns",
    "log_softmax",
    "logsumexp",
    "logsumexp_adjoint",
    "softmax_adjoint",
    "softmax_terms",
    "standardize",
    "standardize_adjoint",
]

_WIDE = 8  # elements side by side that are worth a loop


class _View(NamedTuple):
    """The sizes that a function of that file takes."""

    file: str
    sizes: tuple[int, int, int]


def _view(x: Any, axis: tuple[int, ...]) -> _View | None:
    """How functions in C see `x`, if it is worth it.

    [outer, n, inner] is, by n and inner: so the bits of an image do not depend on their number.
    """
    shape = x.shape
    if x.size < LARGE or x.dtype not in BLAS_REALS:
        return None
    runs: list[tuple[bool, int]] = []  # (reduced, size) of axes that follow each other
    for k, size in enumerate(shape):
        if size != 1:
            reduced = k in axis
            if runs and runs[-1][0] == reduced:
                size *= runs.pop()[1]
            runs.append((reduced, size))
    match [reduced for reduced, _ in runs], [size for _, size in runs]:
        case [True, False], [n, inner]:
            outer = 1
        case [False, True, False], [outer, n, inner]:
            pass
        case [True, False, True], [parts, rows, width] if width >= _WIDE and x.size >= LARGE:
            return _View("standardize", (parts, rows, width))
        case _:
            return None
    if inner < _WIDE or n * inner < LARGE:
        return None
    return _View("columns", (outer, n, inner))


def in_columns(x: Any, axis: tuple[int, ...]) -> bool:
    """Whether C may compute along `axis` here: so nothing else may take it to pieces."""
    return _view(x, axis) is not None


def _function(name: str, x: Array, axis: tuple[int, ...]) -> tuple[Any, tuple[int, int, int]]:
    found = _view(x, axis)
    if found is None:
        return None, (0, 0, 0)
    return compiled(f"{found.file}.{name}", x), found.sizes


def softmax_terms(x: Array, axis: int) -> tuple[Array, Array, Array] | None:
    """softmax along `axis`, the largest elements and the sums of exp(x - largest)."""
    run, sizes = _function("softmax", x, (axis,))
    if run is None:
        return None
    out, kept = np.empty(x.shape, x.dtype), reduced_shape(x.shape, (axis,), keepdims=True)
    largest, total = np.empty(kept, x.dtype), np.empty(kept, x.dtype)
    run(np.ascontiguousarray(x), out, largest, total, *sizes)
    return out, largest, total


def log_softmax(x: Array, axis: int) -> Array | None:
    """(x - max) - log(sum of exp(x - max)) along `axis`."""
    run, sizes = _function("log_softmax", x, (axis,))
    if run is None:
        return None
    out = np.empty(x.shape, x.dtype)
    run(np.ascontiguousarray(x), out, *sizes)
    return out


def logsumexp(x: Array, axis: tuple[int, ...]) -> Array | None:
    """log(sum of exp(x)) along `axis`, which is kept."""
    found = _view(x, axis)
    run = compiled("columns.logsumexp", x) if found and found.file == "columns" else None
    if found is None or run is None:
        return None
    out = np.empty(reduced_shape(x.shape, axis, keepdims=True), x.dtype)
    run(np.ascontiguousarray(x), out, *found.sizes)
    return out


def logsumexp_adjoint(c: Array, x: Array, out: Array, axis: tuple[int, ...]) -> Array | None:
    """c exp(x - out), divided by its sum along `axis`."""
    found = _view(x, axis)
    run = compiled("columns.logsumexp_adjoint", x) if found and found.file == "columns" else None
    if found is None or run is None:
        return None
    dx = np.empty(x.shape, x.dtype)
    run(*map(np.ascontiguousarray, (c, x, out)), dx, *found.sizes)
    return dx


def softmax_adjoint(y: Array, out: Array, axis: int) -> Array | None:
    """out (y - <y, out>) along `axis`."""
    return _adjoint("softmax_adjoint", y, out, axis)


def log_softmax_adjoint(y: Array, out: Array, axis: int) -> Array | None:
    """y - exp(out) sum(y) along `axis`."""
    return _adjoint("log_softmax_adjoint", y, out, axis)


def _adjoint(name: str, y: Array, out: Array, axis: int) -> Array | None:
    run, sizes = _function(name, out, (axis,))
    if run is None:
        return None
    dx = np.empty(out.shape, out.dtype)
    run(np.ascontiguousarray(y), np.ascontiguousarray(out), dx, *sizes)
    return dx


def standardize(
    x: Array, axis: tuple[int, ...], epsilon: float
) -> tuple[Array, Array, Array] | None:
    """(x - mean) / sqrt(variance + epsilon), and the moments with their axes kept."""
    run, sizes = _function("standardize", x, axis)
    if run is None:
        return None
    out, kept = np.empty(x.shape, x.dtype), reduced_shape(x.shape, axis, keepdims=True)
    mean, variance = np.empty(kept, x.dtype), np.empty(kept, x.dtype)
    run(np.ascontiguousarray(x), out, mean, variance, *sizes, epsilon)
    return out, mean, variance


def standardize_adjoint(
    y: Array, out: Array, variance: Array, axis: tuple[int, ...], epsilon: float
) -> Array | None:
    """(y - <y> - out <y out>) / sqrt(variance + epsilon), < > being the mean over `axis`."""
    run, sizes = _function("standardize_adjoint", out, axis)
    if run is None:
        return None
    dx = np.empty(out.shape, out.dtype)
    operands = (np.ascontiguousarray(v) for v in (y, out, variance))
    run(*operands, dx, *sizes, epsilon)
    return dx
