"""Sums: of elements, and of the gradients that come to one value from several sides.

Gradients of slices are zeros but for a part. A sum of many, each as large as the whole, takes XLA a
time that grows with the square of their number, to compile as to run. So a run remembers of what
`unslice_like` made what part it is, and `add_n` adds the parts where they lie. So it is with rows
of a table that were looked up, which `sgd` updates and no others.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.core.dtypes import HALVES


@row("unslice_like")
def _unslice_like(run: Run, x: Any, like: Any, *, key: Any) -> Any:
    out = jnp.zeros(like.shape, x.dtype).at[key].set(x)
    run.note_parts(out, [(x, key)])
    return out


@row("add_n")
def _add_n(run: Run, *xs: Any) -> Any:
    dtype = xs[0].dtype
    whole = [x for x in xs if not run.parts_of(x)]
    parts = [part for x in xs for part in run.parts_of(x)]
    if dtype in HALVES or len(parts) < 2:
        wide = [x.astype(jnp.float32) for x in xs] if dtype in HALVES else xs
        return reduce(jnp.add, wide).astype(dtype)
    total = reduce(jnp.add, whole) if whole else jnp.zeros(xs[0].shape, dtype)
    for part, key in parts:
        total = total.at[key].add(part)
    if not whole:
        run.note_parts(total, parts)
    return total


@row("sgd")
def _sgd(run: Run, param: Any, grad: Any, learning_rate: Any) -> Any:
    """p - lr g; of a table, where few rows were looked up, these rows."""
    parts = run.parts_of(grad)
    if not parts:
        return param - grad * learning_rate
    for part, key in parts:
        param = param.at[key].add(-(part * learning_rate))
    return param


@row("sum_like")
def _sum_like(run: Run, x: Any, like: Any) -> Any:
    extra = x.ndim - len(like.shape)
    kept = [a for a, n in enumerate(like.shape, extra) if n == 1 and x.shape[a] != 1]
    return jnp.sum(x, axis=(*range(extra), *kept)).reshape(like.shape)
