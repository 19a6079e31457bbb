"""What the suite takes from the engine's public checks, differences, and what has a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.testing.modes import (
    call,
    close,
    differentiable,
    directions,
    eager_orders,
    every_subset,
    gradient,
    inner,
    kernel,
    numpy,
    pushed,
    same_bits,
    static_orders,
    subsets,
    tensors,
    with_gradient,
)

from .sampling import Sample

__all__ = [
    "STEP",
    "call",
    "close",
    "difference_along",
    "differences",
    "differentiable",
    "directions",
    "eager_orders",
    "every_subset",
    "gradient",
    "has_gradient",
    "inner",
    "is_smooth",
    "kernel",
    "numpy",
    "pushed",
    "same_bits",
    "static_orders",
    "subsets",
    "tensors",
    "with_gradient",
]

STEP = 1e-5


def differences(f: Callable[[], float], x: NDArray[Any]) -> NDArray[Any]:
    """Central differences of `f` in each element of `x`, which is written to and restored."""
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        middle = x[index]
        x[index] = middle + STEP
        above = f()
        x[index] = middle - STEP
        below = f()
        x[index] = middle
        out[index] = (above - below) / (2.0 * STEP)
    return out


def difference_along(
    f: Callable[[], float], x: NDArray[Any], direction: NDArray[Any]
) -> NDArray[Any]:
    """The central difference of `f` along a direction in `x`, which is written to and restored."""
    middle = x.copy()
    x[...] = middle + STEP * direction
    above = f()
    x[...] = middle - STEP * direction
    below = f()
    x[...] = middle
    return np.asarray((above - below) / (2.0 * STEP))


def has_gradient(op: OpDef, sample: Sample) -> bool:
    """Some operand has a rule, and the result is floating."""
    out = with_gradient(op, kernel(op, sample.operands, op.complete_attrs(sample.attrs)))
    return bool(differentiable(op, sample.operands)) and out[0].dtype.kind == "f"


def is_smooth(op: OpDef, sample: Sample) -> bool:
    return sample.smooth and has_gradient(op, sample)
