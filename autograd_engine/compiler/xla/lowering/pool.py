"""Pooling of images."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.ops.kernels.pool import window_elements


@row("max_pool")
def _max_pool(
    run: Run, x: Any, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool
) -> tuple[Any, Any]:
    count, positions = window_elements(x.shape[2:], kernel, stride, padding, ceil_mode)
    shape = (*x.shape[:2], *count)
    elements = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))[:, :, positions]
    first = elements.argmax(-1)[..., None]  # of a window with NaN the first NaN
    out = jnp.take_along_axis(elements, first, axis=-1)
    index = jnp.take_along_axis(jnp.asarray(positions)[None, None], first, axis=-1)
    return out.reshape(shape), index.reshape(shape)


def _flat(run: Run, index: Any, size: Any) -> Any:
    """Positions in images, as positions among all of them."""
    pixels = math.prod(size)
    run.within(index, 0, pixels)
    planes = np.arange(math.prod(index.shape[:2])) * pixels
    return (index.reshape(len(planes), math.prod(index.shape[2:])) + planes[:, None]).reshape(-1)


@row("max_pool_scatter")
def _max_pool_scatter(run: Run, y: Any, index: Any, like: Any) -> Any:
    at = _flat(run, index, like.shape[2:])
    out = jnp.zeros(math.prod(like.shape), y.dtype)
    return out.at[at].add(y.reshape(-1), mode="drop").reshape(like.shape)


@row("max_pool_gather")
def _max_pool_gather(run: Run, x: Any, index: Any) -> Any:
    at = _flat(run, index, x.shape[2:])
    return jnp.take(x.reshape(-1), at, mode="clip").reshape(index.shape)
