"""Elements that are repeated, when it is known how many come of it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("repeat_index")
def _repeat_index(run: Run, repeats: Any, like: Any, *, axis: int, total: int) -> Any:
    run.require(repeats >= 0)
    run.require(repeats.sum() == total)
    if not (repeats.size and total):
        return jnp.zeros(total, jnp.int64)
    return jnp.repeat(jnp.arange(repeats.size), repeats, total_repeat_length=total)
