"""Sums of the gradients that come to one value from several sides.

Gradients of slices are zeros but for a part. A sum of many, each as large as the whole, takes XLA a
time that grows with the square of their number, to compile as to run. So a run remembers of what
`unslice_like` made what part it is, and `add_n` adds the parts where they lie. So it is with rows
of a table that were looked up, which `sgd` updates and no others.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.lowering.getitem import added_at
from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.core.dtypes import HALVES


@row("add_n")
def _add_n(run: Run, *xs: Any) -> Any:
    dtype = xs[0].dtype
    whole = [x for x in xs if not run.parts_of(x)]
    parts = [part for x in xs for part in run.parts_of(x)]
    if dtype in HALVES or not parts or len(xs) < 2:
        wide = [x.astype(jnp.float32) for x in xs] if dtype in HALVES else xs
        return reduce(jnp.add, wide).astype(dtype)
    total = reduce(jnp.add, whole) if whole else jnp.zeros(xs[0].shape, dtype)
    for part, key in parts:
        total = added_at(run, total, key, part)
    if not whole:
        run.note_parts(total, parts)
    return total
