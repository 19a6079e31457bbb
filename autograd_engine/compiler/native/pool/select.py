"""C kernels of the pooling operations: maxima with their indices, means, and their adjoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.native.c_code.c_kernel import CKernel, element_type, known
from autograd_engine.compiler.native.pool.axes import bin_axes, window_axes
from autograd_engine.compiler.native.pool.maximum import gather, maximum, scatter
from autograd_engine.compiler.native.pool.mean import mean, mean_input
from autograd_engine.core.spec import Spec

__all__ = ["OPERATIONS", "pool"]

OPERATIONS: Final = (
    "max_pool",
    "adaptive_max_pool",
    "max_pool_scatter",
    "max_pool_gather",
    "avg_pool",
    "avg_pool_input",
    "adaptive_avg_pool",
    "adaptive_avg_pool_input",
)


def pool(
    op_name: str,
    operand_specs: Sequence[Spec],
    result_specs: Sequence[Spec],
    attrs: Mapping[str, Any],
    workers: int,
) -> CKernel | None:
    """The C kernel of one of `OPERATIONS`.

    Parameters
    ----------
    op_name : str
    operand_specs, result_specs : sequence of Spec
        As in the table of operations; the operand that only tells a shape has no pointer.
    attrs : mapping
        Of the operation.
    workers : int
        The most threads that the kernel is called on: ``ae_threads()``.

    Returns
    -------
    CKernel or None
        None for dtypes and sizes that are not supported.
    """
    first, result = operand_specs[0], result_specs[0]
    t, shapes = element_type(first.dtype), known((*operand_specs, *result_specs))
    if t is None or result.dtype != first.dtype or shapes is None:
        return None
    name, given, made = f"ae_{op_name}", shapes[0], shapes[len(operand_specs)]
    if op_name in ("max_pool_scatter", "max_pool_gather"):
        if operand_specs[1].dtype != np.int64:
            return None
        build = scatter if op_name == "max_pool_scatter" else gather
        image, out = (made if op_name == "max_pool_scatter" else given), shapes[1]
        return build(name, t, prod(out[:2]), prod(image[2:]), prod(out[2:]))
    image, out = (made, given) if op_name.endswith("_input") else (given, made)
    if 0 in image[2:] or 0 in out[2:]:
        return None
    planes = prod(image[:2])
    adaptive = op_name.startswith("adaptive")
    axes = bin_axes(image, out) if adaptive else window_axes(image, out, attrs)
    if op_name in ("max_pool", "adaptive_max_pool"):
        return maximum(name, t, planes, axes)
    make = mean_input if op_name.endswith("_input") else mean
    exclusive, divisor = attrs.get("exclusive", True), attrs.get("divisor")
    return make(name, t, planes, axes, exclusive, divisor, workers)
