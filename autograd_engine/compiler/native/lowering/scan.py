"""Scans along an axis, and where the largest element of a line is: C kernels, line by line."""

from __future__ import annotations

from typing import Any

import numpy

from autograd_engine.compiler.native.c_code.c_text import c_type, lines_of, over_lines
from autograd_engine.compiler.native.lowering.kernel_trace import Loops, NotLowered, Traced, lowers

__all__: list[str] = []


def _scan(
    np: Loops, operands: list[Traced], dtype: Any, axis: int, reverse: bool, step: str
) -> Traced:
    """out[i] is `step` of ``before`` and of what the operands are there, ``v0`` and ``v1``."""
    shape = operands[0].shape
    if operands[0].size == 0:
        return np.zeros(shape, dtype)
    _, size, width = lines_of(shape, axis)
    t = c_type(numpy.dtype(dtype))
    names = [f"x{k}" for k in range(len(operands))]
    pointers = [(f"const {t} *", n) for n in names] + [(f"{t} *", "out")]
    order = f"{size} - 1 - k" if reverse else "k"
    values = "".join(f"{t} v{k} = {n}[at]; " for k, n in enumerate(names))
    back = width if reverse else -width
    first = f"start + {(size - 1) * width if reverse else 0} + j"
    body = (
        f"        for (int64_t j = 0; j < {width}; j++)\n"
        f"            out[{first}] = {names[-1]}[{first}];\n"
        f"        for (int64_t k = 1; k < {size}; k++) {{\n"
        f"            int64_t row = start + ({order}) * {width};\n"
        "#pragma omp simd\n"
        f"            for (int64_t j = 0; j < {width}; j++) {{\n"
        f"                int64_t at = row + j;\n"
        f"                {values}{t} before = out[at + {back}];\n"
        "                (void)v0;\n"
        f"                out[at] = {step};\n"
        "            }\n        }\n"
    )
    text = over_lines(pointers, shape, axis, body)
    given = [np.cast(x, numpy.dtype(dtype)) for x in operands]
    return np.kernel(text, given, [(shape, dtype)])[0]


@lowers("cumsum", "cumprod")
def _cumulated(np: Loops, x: Traced, *, axis: int, reverse: bool = False) -> Traced:
    dtype = np.origin.results[0].dtype
    sign = "+" if np.origin.op.name == "cumsum" else "*"
    step = f"before {sign} v0"
    if dtype.kind != "f":  # integers wrap around
        natural = "uint64_t" if dtype.itemsize == 8 else "uint32_t"
        step = f"({c_type(dtype)})(({natural})before {sign} ({natural})v0)"
    return _scan(np, [x], dtype, axis, reverse, step)


@lowers("logcumsumexp")
def _logcumsumexp(np: Loops, x: Traced, *, axis: int, reverse: bool = False) -> Traced:
    if x.dtype.kind != "f":
        raise NotLowered("it takes floats")
    name = f"logaddexp_{'f32' if x.dtype.char == 'f' else 'f64'}"
    return _scan(np, [x], x.dtype, axis, reverse, f"ae_{name}(before, v0)")


@lowers("linear_recurrence")
def _linear_recurrence(
    np: Loops, a: Traced, b: Traced, *, axis: int, reverse: bool = False
) -> Traced:
    if b.dtype.kind != "f":
        raise NotLowered("it takes floats")
    return _scan(np, [a, b], b.dtype, axis, reverse, "v1 + v0 * before")


@lowers("band_scan", "band_scan_adjoint")
def _band_scan(np: Loops, weight: Traced, flow: Traced) -> Traced:
    if flow.dtype.kind != "f" or weight.dtype != flow.dtype:
        raise NotLowered("it takes floats")
    time, batch, states = flow.shape
    band = weight.shape[-1]
    t = c_type(flow.dtype)
    later = f"w[((t * {batch} + b) * {states} + s + k) * {band} + k]"
    if np.origin.op.name == "band_scan":
        order = f"int64_t t = 1; t < {time}; t++"
        step = (
            f"out[(t * {batch} + b) * {states} + s + k] += {later} * "
            f"out[((t - 1) * {batch} + b) * {states} + s];"
        )
    else:
        order = f"int64_t t = {time} - 1; t > 0; t--"
        step = (
            f"out[((t - 1) * {batch} + b) * {states} + s] += {later} * "
            f"out[(t * {batch} + b) * {states} + s + k];"
        )
    text = (
        f"static void NAME(const {t} *w, const {t} *flow, {t} *out)\n{{\n"
        f"    memcpy(out, flow, {flow.size * flow.dtype.itemsize});\n"
        f"    for ({order})\n"
        f"        for (int64_t b = 0; b < {batch}; b++)\n"
        f"            for (int64_t k = 0; k < {min(band, states)}; k++)\n"
        f"                for (int64_t s = 0; s < {states} - k; s++)\n"
        f"                    {step}\n}}\n"
    )
    return np.kernel(text, [weight, flow], [(flow.shape, flow.dtype)])[0]


# --- extrema


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
        if x.dtype.kind != "f"
        else f"(v {sign} best) | ((v != v) & (best == best))"
    )
    body = (
        _best_so_far(t, size, width, 1, better)
        + "            }\n"
        + f"            out[line * {width} + j] = where;\n        }}\n"
    )
    text = over_lines([(f"const {t} *", "x"), ("int64_t *", "out")], x.shape, axis, body)
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    (out,) = np.kernel(text, [x], [(shape, numpy.int64)])
    return np.in_range(out, 0, size)


def _best_so_far(t: str, size: int, width: int, first: int, better: str) -> str:
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


@lowers("straight_through")
def _straight_through(np: Loops, x: Traced, *, axis: int) -> Traced:
    where = first_extremum(np, x, axis % x.ndim, "argmax")
    here = np.map("equal", np.position(x.shape, axis), where)
    return np.cast(here, x.dtype)


@lowers("cummax", "cummin")
def _running(np: Loops, x: Traced, *, axis: int) -> tuple[Traced, ...]:
    """Values so far, and where the latest of them is; NaN is the extremum from there on."""
    _, size, width = lines_of(x.shape, axis)
    sign = ">=" if np.origin.op.name == "cummax" else "<="
    t = c_type(x.dtype)
    body = (
        _best_so_far(t, size, width, 0, f"(v != v) | ((best == best) & (v {sign} best))")
        + f"                out[start + k * {width} + j] = best;\n"
        + f"                index[start + k * {width} + j] = where;\n"
        + "            }\n        }\n"
    )
    pointers = [(f"const {t} *", "x"), (f"{t} *", "out"), ("int64_t *", "index")]
    text = over_lines(pointers, x.shape, axis, body)
    values, index = np.kernel(text, [x], [(x.shape, x.dtype), (x.shape, numpy.int64)])
    return values, np.in_range(index, 0, size)
