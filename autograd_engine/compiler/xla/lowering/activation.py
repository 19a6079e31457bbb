"""Activations whose kernels look for the few elements that need another formula."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("gelu")
def _gelu(run: Run, x: Any) -> tuple[Any, Any]:
    below = 0.5 * lax.erfc(-math.sqrt(0.5) * x)
    density = jnp.exp(-0.5 * (x * x)) / math.sqrt(2.0 * math.pi)
    at_most = jnp.where(jnp.isinf(x), 0.0, x)
    out = jnp.where(x == -jnp.inf, 0.0, x * below)
    return out, below + at_most * density


@row("sigmoid")
def _sigmoid(run: Run, x: Any) -> Any:
    return jax.nn.sigmoid(x)


@row("softmax")
def _softmax(run: Run, x: Any, *, axis: int) -> Any:
    return jax.nn.softmax(x, axis=axis)
