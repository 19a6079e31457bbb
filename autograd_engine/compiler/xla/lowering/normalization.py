"""The adjoint of standardisation, whose kernel writes over its operands."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.ops.nn.normalization import affine


@row("standardize_adjoint")
def _standardize_adjoint(
    run: Run, y: Any, out: Any, variance: Any, *, axis: Any, epsilon: float
) -> Any:
    count = max(math.prod(out.shape[a] for a in axis), 1)
    along_out = (y * out).sum(axis, keepdims=True) / count
    mean = y.sum(axis, keepdims=True) / count
    return (y - out * along_out - mean) / jnp.sqrt(variance + epsilon)


@row("standardize_affine")
def _standardize_affine(run: Run, x: Any, weight: Any, bias: Any, **attrs: Any) -> Any:
    return affine(run, x, weight, bias, **attrs)


@row("standardize")
def _standardize(run: Run, x: Any, *, axis: Any, epsilon: float) -> Any:
    mean = x.mean(axis, keepdims=True)
    variance = jnp.square(x - mean).mean(axis, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + epsilon), mean, variance
