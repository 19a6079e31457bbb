"""Convolutions into planned memory: the kernels of `kernels.conv`, with a place to work in."""

from __future__ import annotations

from functools import partial
from typing import Any

from autograd_engine.compiler.concrete_graph import Node, Value
from autograd_engine.compiler.planned.buffers import Place
from autograd_engine.compiler.planned.lowering import Lowering, handles
from autograd_engine.compiler.planned.steps import Code

__all__ = ["SCRATCH"]

SCRATCH = "scratch__"
"""The name of what each run works in; see `kernels.scratch`."""


@handles("conv", "conv_input", "conv_filter")
def _convolution(lowering: Lowering, node: Node) -> bool:
    result = node.results[0]
    if not result.size:
        return False
    operands: list[Any] = [
        lowering.operand(v) if isinstance(v, Value) else v for v in node.operands
    ]
    out = Place.of(result.shape, result.dtype)
    marks = ", ".join(["{}"] * (len(operands) + 2))
    function = partial(node.op.kernel, **node.attrs)
    lowering.emit(f"{{}}({marks})", function, *operands, out, Code(SCRATCH), writes=[out])
    lowering.define(result, out)
    return True
