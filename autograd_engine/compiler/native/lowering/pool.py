"""Pooling, by C kernels of its own."""

from __future__ import annotations

import math
from math import prod
from typing import Any

from autograd_engine.compiler.native.lowering.conv import by_kernel, spec_of
from autograd_engine.compiler.native.lowering.indexing import last_of, row_numbers
from autograd_engine.compiler.native.pool import select as pooling
from autograd_engine.compiler.native.runtime import threads
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers
from autograd_engine.core.spec import Like

__all__: list[str] = []


@lowers("last_writes")
def _last_writes(np: Loops, index: Traced, like: Like) -> Traced:
    """Which of the positions in an image are the last of their value."""
    pixels = math.prod(like.shape[2:])
    rows = row_numbers(np, index, pixels, wraps=False)
    images = math.prod(index.shape[:2])
    return last_of(np, rows, images, pixels).reshape(index.shape)


@lowers("avg_pool", "avg_pool_input", "adaptive_avg_pool", "adaptive_avg_pool_input")
def _mean_pool(np: Loops, *operands: Any, **attrs: Any) -> Traced:
    return _pooled(np, operands, attrs)[0]


@lowers("max_pool", "adaptive_max_pool")
def _max_pool(np: Loops, x: Traced, **attrs: Any) -> tuple[Traced, ...]:
    out, index = _pooled(np, (x,), attrs)
    return out, np.in_range(index, 0, prod(x.shape[2:]))


@lowers("max_pool_scatter", "max_pool_gather")
def _at_maxima(np: Loops, x: Traced, index: Traced, *like: Any) -> Traced:
    """Positions in an image that `max_pool` did not find are checked."""
    image = like[0] if like else x
    index = row_numbers(np, index, prod(image.shape[2:]), wraps=False)
    return _pooled(np, (x, index, *like), {})[0]


def _pooled(np: Loops, operands: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Traced, ...]:
    given = list(map(spec_of, operands))
    made = pooling.pool(np.origin.op.name, given, np.results, attrs, threads())
    return by_kernel(np, made, operands)
