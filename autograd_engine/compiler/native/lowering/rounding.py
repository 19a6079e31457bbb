"""Division and rounding whose kernels are more than an expression."""

from __future__ import annotations

import numpy

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.dtypes import EXACT, INTEGERS, UINT64

__all__: list[str] = []


@lowers("remainder", "floor_divide")
def _dividing(np: Loops, x: Traced, y: Traced) -> Traced:
    dtype = np.meeting((x, y))
    if dtype not in INTEGERS:
        return np.map(np.origin.op.name, x, y)
    if dtype == UINT64:
        raise NotLowered("integers of 64 bits without a sign are divided by NumPy")
    y = np.cast(y, dtype)
    if y.term.buffer is None:
        if not y.term.number:
            raise NotLowered("it divides by 0")
    else:
        wide = np.cast(y, numpy.dtype(numpy.int64))
        y = np.cast(np.check(_NO_ZERO.format(wide.size), wide), dtype)
    return np.map(np.origin.op.name, x, y)


_NO_ZERO = (
    "static int64_t NAME(const int64_t *x)\n{{\n    int64_t bad = 0;\n"
    "    for (int64_t i = 0; i < {}; i++) bad |= x[i] == 0;\n    return bad;\n}}\n"
)


@lowers("round")
def _round(np: Loops, x: Traced, *, decimals: int = 0) -> Traced:
    if x.dtype in EXACT:
        if decimals < 0:
            raise NotLowered("integers are rounded to tens by NumPy")
        return x
    if decimals == 0:
        return np.map("rint", x)
    power = 10.0 ** abs(decimals)
    up = decimals > 0
    out = np.map("rint", x * power) / power if up else np.map("rint", x / power) * power
    return np.where(np.map("isfinite", out), out, x)
