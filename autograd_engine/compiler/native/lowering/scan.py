"""Scans along an axis: C kernels, line by line."""

from __future__ import annotations

from typing import Any

import numpy

from autograd_engine.compiler.native.c_code.c_text import c_type, lines_of, over_lines
from autograd_engine.compiler.native.lowering.movement import along, replaced
from autograd_engine.compiler.native.lowering.reduction import best_so_far
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.dtypes import FLOATS, short_name

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
    dtype = np.results[0].dtype
    sign = "+" if np.origin.op.name == "cumsum" else "*"
    step = f"before {sign} v0"
    if dtype not in FLOATS:  # integers wrap around
        natural = "uint64_t" if dtype.itemsize == 8 else "uint32_t"
        step = f"({c_type(dtype)})(({natural})before {sign} ({natural})v0)"
    return _scan(np, [x], dtype, axis, reverse, step)


@lowers("logcumsumexp")
def _logcumsumexp(np: Loops, x: Traced, *, axis: int, reverse: bool = False) -> Traced:
    if x.dtype not in FLOATS:
        raise NotLowered("it takes floats")
    name = f"logaddexp_{short_name(x.dtype)}"
    return _scan(np, [x], x.dtype, axis, reverse, f"ae_{name}(before, v0)")


@lowers("linear_recurrence")
def _linear_recurrence(
    np: Loops, a: Traced, b: Traced, *, axis: int, reverse: bool = False
) -> Traced:
    if b.dtype not in FLOATS:
        raise NotLowered("it takes floats")
    return _scan(np, [a, b], b.dtype, axis, reverse, "v1 + v0 * before")


@lowers("shift")
def _shift(np: Loops, x: Traced, *, axis: int, reverse: bool = False, fill: float = 0.0) -> Traced:
    n = x.shape[axis]
    end = np.full(replaced(x.shape, axis, 1), fill, x.dtype)
    if reverse:
        return np.concatenate([x[along(axis, slice(1, n))], end], axis)
    return np.concatenate([end, x[along(axis, slice(0, n - 1))]], axis)


@lowers("product_of_others")
def _product_of_others(np: Loops, x: Traced, *, axis: int) -> Traced:
    if x.dtype not in FLOATS:
        raise NotLowered("it takes floats")

    def before(reverse: bool) -> Traced:
        products = _scan(np, [x], x.dtype, axis, reverse, "before * v0")
        found: Traced = _shift(np, products, axis=axis, reverse=reverse, fill=1.0)
        return found

    return before(False) * before(True)


@lowers("exp_difference")
def _exp_difference(np: Loops, x: Traced, y: Traced) -> Traced:
    difference = x - y
    equal = (difference != difference) & (x == y)
    return np.map("exp", np.where(equal, np.map("minimum", x, 0), difference))


@lowers("cummax", "cummin")
def _running(np: Loops, x: Traced, *, axis: int) -> tuple[Traced, ...]:
    """Values so far, and where the latest of them is; NaN is the extremum from there on."""
    _, size, width = lines_of(x.shape, axis)
    sign = ">=" if np.origin.op.name == "cummax" else "<="
    t = c_type(x.dtype)
    body = (
        best_so_far(t, size, width, 0, f"(v != v) | ((best == best) & (v {sign} best))")
        + f"                out[start + k * {width} + j] = best;\n"
        + f"                index[start + k * {width} + j] = where;\n"
        + "            }\n        }\n"
    )
    pointers = [(f"const {t} *", "x"), (f"{t} *", "out"), ("int64_t *", "index")]
    text = over_lines(pointers, x.shape, axis, body)
    values, index = np.kernel(text, [x], [(x.shape, x.dtype), (x.shape, numpy.int64)])
    return values, np.in_range(index, 0, size)
