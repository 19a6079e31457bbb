"""Incomplete gamma functions: the series of their kernels end where values say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


def _in_double(name: str, function: Callable[[Any, Any], Any]) -> None:
    @row(name)
    def wide(run: Run, x: Any, y: Any) -> Any:
        a, at = jnp.broadcast_arrays(jnp.asarray(x, jnp.float64), jnp.asarray(y, jnp.float64))
        return function(a, at)


_in_double("gammainc", lax.igamma)
_in_double("gammaincc", lax.igammac)
