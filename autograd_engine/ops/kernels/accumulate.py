"""Adding up values at index arrays, in which an index may be repeated.

`np.add.at` takes about ten nanoseconds for an element in general, and about one where array, index
and values are contiguous and have one axis. So the index is spelled out for single elements, a
block of rows at a time: blocks that fit in the cache, and not an index as large as the values.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import accumulation_dtype
from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.compiled import compiled

__all__ = ["WORTH", "accumulator", "add_elements", "add_rows"]

WORTH: Final = 32  # values from which the calls of NumPy take longer: C gives the same bits

_BLOCK = 1 << 17  # elements whose indices are spelled out at a time


def accumulator(shape: Any, dtype: np.dtype[Any]) -> Array:
    """Zeros to add to. For float16 they are float32: 2048 + 1 is 2048 in float16."""
    return np.zeros(shape, accumulation_dtype(dtype))


def _in_c(out: Array, given: int, needed: int) -> Any:
    """The function in C for so many values, which it does not count."""
    return compiled("indexing.add_rows", out) if WORTH <= given == needed else None


def add_elements(out: Array, positions: Array, values: Array) -> None:
    """Add each of `values` to the element of `out` (contiguous) at its flat position.

    In order, so that results have the same bits whatever the layout of the operands.
    """
    flat = np.ascontiguousarray(values, out.dtype).reshape(-1)
    run = _in_c(out, flat.size, positions.size)
    if run is not None:
        at = np.ascontiguousarray(positions, np.int64)
        run(out, np.where(at < 0, at + out.size, at), flat, 1, out.size, at.size, 1)
        return
    np.add.at(out.reshape(-1), positions.reshape(-1), flat)


def add_rows(out: Array, rows: Array, values: Array) -> None:
    """Add rows of `values` [b, n, d] to those of `out` [b, r, d] (contiguous) at their indices."""
    blocks, size, width = out.shape
    run = _in_c(out, values.size, blocks * len(rows) * width)
    if run is not None:
        given = np.ascontiguousarray(values, out.dtype)
        at = np.ascontiguousarray(rows, np.int64)
        run(out, at, given, blocks, size, len(rows), width)
        return
    if blocks != 1:
        rows = (np.arange(blocks)[:, None] * size + rows).reshape(-1)
    if width == 1:
        add_elements(out, rows, values)
        return
    values = np.ascontiguousarray(values, out.dtype).reshape(-1)
    flat = out.reshape(-1)
    starts, columns = rows * width, np.arange(width)
    step = max(1, _BLOCK // max(1, width))
    for k in range(0, len(rows) if width else 0, step):
        block = (starts[k : k + step, None] + columns).reshape(-1)
        np.add.at(flat, block, values[k * width : k * width + len(block)])
