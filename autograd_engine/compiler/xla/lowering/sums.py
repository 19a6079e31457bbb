"""Sums: of elements, and of the gradients that come to one value from several sides.

Gradients of slices are zeros but for a part. A sum of many, each as large as the whole, takes XLA a
time that grows with the square of their number, to compile as to run. So a run remembers of what
`unslice_like` made what part it is, and `add_n` adds the parts where they lie.
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
    run.parts[id(out)] = out, x, key
    return out


@row("add_n")
def _add_n(run: Run, *xs: Any) -> Any:
    dtype = xs[0].dtype
    whole = [x for x in xs if id(x) not in run.parts]
    of_parts = [run.parts[id(x)] for x in xs if id(x) in run.parts]
    if dtype in HALVES or len(of_parts) < 2:
        wide = [x.astype(jnp.float32) for x in xs] if dtype in HALVES else xs
        return reduce(jnp.add, wide).astype(dtype)
    total = reduce(jnp.add, whole) if whole else jnp.zeros(xs[0].shape, dtype)
    for _, part, key in of_parts:
        total = total.at[key].add(part)
    return total


@row("sum_like")
def _sum_like(run: Run, x: Any, like: Any) -> Any:
    extra = x.ndim - len(like.shape)
    kept = [a for a, n in enumerate(like.shape, extra) if n == 1 and x.shape[a] != 1]
    return jnp.sum(x, axis=(*range(extra), *kept)).reshape(like.shape)
