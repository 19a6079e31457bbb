"""Numbers that only the run knows, required to be such as the program was built for."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("axis_position")
def _axis_position(
    run: Run, axis: Any, *, function: str, ndim: int, axes: tuple[int, ...]
) -> Any:
    numbers = range(-ndim, ndim)
    known = [n if n in axes else n % ndim for n in numbers]
    positions = np.array([axes.index(n) if n in axes else -1 for n in known], np.int64)
    number = axis.reshape(())
    run.within(number, -ndim, ndim)
    position = jnp.asarray(positions)[jnp.clip(number + ndim, 0, 2 * ndim - 1)]
    run.require(position >= 0)
    return position


@row("within")
def _within(run: Run, number: Any, *, what: str, wanted: str, least: float, most: float) -> Any:
    run.require((number >= least) & (number <= most))
    return number
