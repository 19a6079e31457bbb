"""What the suite takes from the engine's public checks, and which samples have a gradient."""

from __future__ import annotations

from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.testing.modes import (
    STEP,
    call,
    close,
    differences,
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


def has_gradient(op: OpDef, sample: Sample) -> bool:
    """Some operand has a rule, and the result is floating."""
    out = with_gradient(op, kernel(op, sample.operands, op.complete_attrs(sample.attrs)))
    return bool(differentiable(op, sample.operands)) and out[0].dtype.kind == "f"


def is_smooth(op: OpDef, sample: Sample) -> bool:
    return sample.smooth and has_gradient(op, sample)
