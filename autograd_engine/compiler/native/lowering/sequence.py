"""Sequences: masks of their lengths, and scans over a band of states."""

from __future__ import annotations

import numpy

from autograd_engine.compiler.native.c_code.c_text import c_type
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.dtypes import FLOATS

__all__: list[str] = []


@lowers("sequence_mask")
def _sequence_mask(np: Loops, x: Traced, *, maxlen: int | None, dtype: str) -> Traced:
    if maxlen is None:
        raise NotLowered("the longest sequence decides the size")
    shape = (*x.shape, maxlen)
    mask = np.position(shape, len(shape) - 1) < x.reshape(*x.shape, 1)
    return np.cast(mask, numpy.dtype(dtype))


@lowers("band_scan", "band_scan_adjoint")
def _band_scan(np: Loops, weight: Traced, flow: Traced) -> Traced:
    if flow.dtype not in FLOATS or weight.dtype != flow.dtype:
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
