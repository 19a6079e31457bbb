"""Reductions, and where the largest element of a line is."""

from __future__ import annotations

import math

import numpy

from autograd_engine.compiler.native.c_code.c_text import c_type, lines_of, over_lines
from autograd_engine.compiler.native.lowering.like import spread
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.dtypes import FLOATS, finfo

__all__ = ["best_so_far", "first_extremum", "p_norm"]

Axes = tuple[int, ...]


@lowers("sum")
def _sum(np: Loops, x: Traced, *, axis: Axes, keepdims: bool = False) -> Traced:
    return np.reduce("sum", x, axis, keepdims)


@lowers("mean")
def _mean(np: Loops, x: Traced, *, axis: Axes, keepdims: bool = False) -> Traced:
    count = math.prod(x.shape[a] for a in axis)
    if not count:
        raise NotLowered("an array is empty")
    return np.reduce("sum", x, axis, keepdims) / count


@lowers("logsumexp")
def _logsumexp(np: Loops, x: Traced, *, axis: Axes, keepdims: bool = False) -> Traced:
    largest = np.reduce("max", x, axis, True)
    largest = np.where(np.map("isinf", largest), 0.0, largest)
    total = np.reduce("sum", np.map("exp", x - largest), axis, True)
    out = np.map("log", total) + largest
    return out if keepdims else np.squeeze(out, axis)


@lowers("p_norm")
def p_norm(np: Loops, x: Traced, *, p: float, axis: Axes, keepdims: bool = False) -> Traced:
    """Where powers leave the range of the dtype, they are taken relative to the largest."""
    size = abs(x)
    out = _of_sizes(np, size, p, axis)
    if p > 1 and x.size:
        info = finfo(x.dtype)
        small = float(info.tiny / info.eps) ** (1 / p)
        largest = np.reduce("max", size, axis, True)
        largest = np.where((largest > 0) & np.map("isfinite", largest), largest, 1)
        relative = largest * _of_sizes(np, size / largest, p, axis)
        out = np.where((out > small) & np.map("isfinite", out), out, relative)
    return out if keepdims else np.squeeze(out, axis)


def _of_sizes(np: Loops, size: Traced, p: float, axis: Axes) -> Traced:
    if p == 1:
        return np.reduce("sum", size, axis, True)
    if p == 2:
        return np.map("sqrt", np.reduce("sum", size * size, axis, True))
    return np.map("power", np.reduce("sum", np.map("power", size, p), axis, True), 1.0 / p)


@lowers("logsumexp_adjoint")
def _logsumexp_adjoint(
    np: Loops, c: Traced, x: Traced, out: Traced, *, axis: Axes, keepdims: bool = False
) -> Traced:
    y = spread(np, out, x, axis, keepdims)
    # Of equal infinities: 1 for the positive, 0 for the negative ones.
    apart = np.where(x == y, np.where(x == -math.inf, x, 0.0), x - y)
    weights = np.map("exp", apart)
    total = np.reduce("sum", weights, axis, True)
    total = np.where(total == 0.0, 1.0, total)
    dx: Traced = weights * (spread(np, c, x, axis, keepdims) / total)
    return dx


@lowers("norm_adjoint")
def _norm_adjoint(
    np: Loops, c: Traced, x: Traced, norm: Traced, *, axis: Axes, keepdims: bool = False
) -> Traced:
    zero = norm == 0.0
    norm, c = np.where(zero, 1.0, norm), np.where(zero, 0.0, c)
    dx: Traced = spread(np, c, x, axis, keepdims) * (x / spread(np, norm, x, axis, keepdims))
    return dx


def _centered(np: Loops, x: Traced, axis: Axes, correction: float) -> tuple[Traced, float]:
    """`x` less its mean, and the degrees of freedom."""
    count = math.prod(x.shape[a] for a in axis)
    if count <= correction:
        raise NotLowered("no degree of freedom is left")
    return x - np.reduce("sum", x, axis, True) / count, count - correction


@lowers("variance")
def _variance(
    np: Loops, x: Traced, *, axis: Axes, correction: float, keepdims: bool = False
) -> Traced:
    rest, freedom = _centered(np, x, axis, correction)
    out: Traced = np.reduce("sum", rest * rest, axis, keepdims) / freedom
    return out


@lowers("variance_adjoint")
def _variance_adjoint(
    np: Loops, c: Traced, x: Traced, *, axis: Axes, correction: float, keepdims: bool = False
) -> Traced:
    rest, freedom = _centered(np, x, axis, correction)
    dx: Traced = spread(np, c * (2.0 / freedom), x, axis, keepdims) * rest
    return dx


@lowers("deviation")
def _deviation(
    np: Loops, x: Traced, *, axis: Axes, correction: float, keepdims: bool = False
) -> Traced:
    rest, freedom = _centered(np, x, axis, correction)
    out: Traced = p_norm(np, rest, p=2.0, axis=axis, keepdims=keepdims) / math.sqrt(freedom)
    return out


@lowers("deviation_adjoint")
def _deviation_adjoint(
    np: Loops,
    c: Traced,
    x: Traced,
    out: Traced,
    *,
    axis: Axes,
    correction: float,
    keepdims: bool = False,
) -> Traced:
    rest, freedom = _centered(np, x, axis, correction)
    dx: Traced = _norm_adjoint(np, c / freedom, rest, out, axis=axis, keepdims=keepdims)
    return dx


@lowers("mean_square")
def _mean_square(np: Loops, x: Traced, y: Traced, *, axis: Axes) -> Traced:
    apart = x - y
    out: Traced = _mean(np, apart * apart, axis=axis)
    return out


@lowers("mean_square_adjoint")
def _mean_square_adjoint(np: Loops, c: Traced, x: Traced, y: Traced, *, axis: Axes) -> Traced:
    apart = x - y
    count = math.prod(apart.shape[a] for a in axis)
    if not count:
        raise NotLowered("an array is empty")
    dx: Traced = spread(np, c / count * 2.0, apart, axis, False) * apart
    return dx


@lowers("argmax", "argmin")
def _arg(np: Loops, x: Traced, *, axis: int, keepdims: bool = False) -> Traced:
    _, size, _ = lines_of(x.shape, axis)
    if not size:
        raise NotLowered("it has no largest element")
    found = first_extremum(np, x, axis, "argmax" if np.origin.op.name == "argmax" else "argmin")
    return found if keepdims else np.squeeze(found, axis)


def first_extremum(np: Loops, x: Traced, axis: int, name: str) -> Traced:
    """Where the extremum of each line is, the first of several; the first NaN is it."""
    _, size, width = lines_of(x.shape, axis)
    sign = ">" if name == "argmax" else "<"
    t = c_type(x.dtype)
    better = (
        f"v {sign} best"
        if x.dtype not in FLOATS
        else f"(v {sign} best) | ((v != v) & (best == best))"
    )
    body = (
        best_so_far(t, size, width, 1, better)
        + "            }\n"
        + f"            out[line * {width} + j] = where;\n        }}\n"
    )
    text = over_lines([(f"const {t} *", "x"), ("int64_t *", "out")], x.shape, axis, body)
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    (out,) = np.kernel(text, [x], [(shape, numpy.int64)])
    return np.in_range(out, 0, size)


def best_so_far(t: str, size: int, width: int, first: int, better: str) -> str:
    """The beginning of loops through lines, which keep the best element, and where it is."""
    return (
        f"        for (int64_t j = 0; j < {width}; j++) {{\n"
        f"            {t} best = x[start + j];\n            int64_t where = 0;\n"
        f"            for (int64_t k = {first}; k < {size}; k++) {{\n"
        f"                {t} v = x[start + k * {width} + j];\n"
        f"                int better = {better};\n"
        "                best = better ? v : best;\n"
        "                where = better ? k : where;\n"
    )
