"""Kernels of the table that write into planned memory.

Convolutions, with a place to work in, and softmax and standardisation of long rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from autograd_engine.compiler.concrete_graph import Node, Value
from autograd_engine.compiler.planned.buffers import Place
from autograd_engine.compiler.planned.lowering import Lowering, handles
from autograd_engine.compiler.planned.steps import Code
from autograd_engine.core.spec import Spec
from autograd_engine.ops.kernels import rows

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
    function = partial(node.op.kernel, **node.attrs)
    lowering.call(function, *operands, out, Code(SCRATCH), writes=[out])
    lowering.define(result, out)
    return True


def _places(lowering: Lowering, node: Node) -> list[Place] | None:
    """The operands in C order; they are copied, as the kernels copy them."""
    found: list[Place] = []
    for value in node.operands:
        place = lowering.place(value)
        if place is None:
            return None
        found.append(place)
    return [lowering.packed(p) for p in found]


def _lines(node: Node, k: int, axis: Any) -> tuple[int, int] | None:
    value = node.operands[k]
    assert isinstance(value, Value)
    return rows.lines(Spec(value.shape, value.dtype), axis)  # type: ignore[arg-type]


def _write(
    lowering: Lowering,
    node: Node,
    shape: tuple[int, int],
    function: Any,
    operands: list[Place],
    shapes: list[tuple[int, int]],
) -> None:
    outs = [Place.of(v.shape, v.dtype) for v in node.results]
    tables = [p.shaped(s) for p, s in zip(operands, shapes, strict=True)]
    results = [p.shaped((shape[0], p.size // shape[0])) for p in outs]
    lowering.call(function, *tables, *results, writes=results)
    for value, place in zip(node.results, outs, strict=True):
        lowering.define(value, place)


@handles("softmax", "softmax_adjoint")
def _softmax(lowering: Lowering, node: Node) -> bool:
    name = node.op.name
    shape = _lines(node, len(node.operands) - 1, (node.attrs["axis"],))
    places = _places(lowering, node) if shape is not None else None
    if shape is None or places is None:
        return False
    function = rows.softmax_into if name == "softmax" else rows.softmax_adjoint_into
    _write(lowering, node, shape, function, places, [shape] * len(places))
    return True


@handles("standardize", "standardize_adjoint")
def _standardize(lowering: Lowering, node: Node) -> bool:
    adjoint = node.op.name == "standardize_adjoint"
    shape = _lines(node, 1 if adjoint else 0, node.attrs["axis"])
    places = _places(lowering, node) if shape is not None else None
    if shape is None or places is None:
        return False
    function = rows.standardize_adjoint_into if adjoint else rows.standardize_into
    function = partial(function, epsilon=node.attrs["epsilon"])
    shapes = [shape, shape, (shape[0], 1)] if adjoint else [shape]
    _write(lowering, node, shape, function, places, shapes)
    return True
