"""Products of matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.core.dtypes import HALVES


@row("matmul")
def _matmul(
    run: Run, x: Any, y: Any, *, transpose_x: bool = False, transpose_y: bool = False
) -> Any:
    x, y = jnp.asarray(x), jnp.asarray(y)
    dtype = x.dtype
    if dtype in HALVES:  # products accumulate in float32
        x, y = x.astype(jnp.float32), y.astype(jnp.float32)
    # The axes that are summed over; a transpose that is written as one is made in memory.
    a, b = x.ndim - (2 if transpose_x else 1), y.ndim - (1 if transpose_y else 2)
    batch = tuple(range(x.ndim - 2))
    if x.shape[a] == 1 or x.shape[:-2] != y.shape[:-2]:
        x = jnp.swapaxes(x, -1, -2) if transpose_x else x
        y = jnp.swapaxes(y, -1, -2) if transpose_y else y
        # With nothing to sum over, the product is one of elements.
        out = x * y if x.shape[-1] == 1 else jnp.matmul(x, y)
    elif y.ndim == 2 and y.shape[1 - b] == 1:  # a vector's product takes a fraction of the time
        out = lax.dot_general(x, y.reshape(-1), (((a,), (0,)), ((), ())))[:, None]
    elif x.ndim == 2 and x.shape[1 - a] == 1:
        out = lax.dot_general(x.reshape(-1), y, (((0,), (b,)), ((), ())))[None]
    else:
        out = lax.dot_general(x, y, (((a,), (b,)), (batch, batch)))
    return out.astype(dtype)
