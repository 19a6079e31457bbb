"""Searching in lines, all at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("searchsorted")
def _searchsorted(run: Run, sorted_sequence: Any, values: Any, *, right: bool = False) -> Any:
    search = partial(jnp.searchsorted, side="right" if right else "left")
    if sorted_sequence.ndim > 1:
        search = jnp.vectorize(search, signature="(n),(m)->(m)")
    return search(jnp.asarray(sorted_sequence), jnp.asarray(values))
