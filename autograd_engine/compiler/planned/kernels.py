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
from autograd_engine.ops.kernels import rows
from autograd_engine.ops.kernels.columns import in_columns

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


def _by_rows(
    lowering: Lowering, node: Node, shape: tuple[int, int] | None, columns: bool, function: Any
) -> bool:
    """Call `function` on operands and results as tables, of that `shape` or one column.

    Without a shape the kernel is called as it is, if it may compute along `columns` in C.
    """
    if shape is None:
        if columns:
            lowering.kernel(node)
        return columns
    given: list[Place] = []
    for operand in node.operands:
        place = lowering.place(operand)
        if place is None:
            return False
        given.append(place)
    given = [lowering.packed(p) for p in given]  # as the kernels copy them
    outs = [Place.of(v.shape, v.dtype) for v in node.results]
    tables = [p.shaped((shape[0], p.size // shape[0])) for p in (*given, *outs)]
    lowering.call(function, *tables, writes=tables[len(given) :])
    for result, place in zip(node.results, outs, strict=True):
        lowering.define(result, place)
    return True


def _spec(node: Node, k: int) -> Any:
    """That of an operand: kernels ask of arrays no more."""
    value = node.operands[k]
    assert isinstance(value, Value)
    return value.spec


@handles("log_softmax", "log_softmax_adjoint", "softmax", "softmax_adjoint")
def _softmax(lowering: Lowering, node: Node) -> bool:
    function = {
        "log_softmax": rows.log_softmax_into,
        "log_softmax_adjoint": rows.log_softmax_adjoint_into,
        "softmax": rows.softmax_into,
        "softmax_adjoint": rows.softmax_adjoint_into,
    }[node.op.name]
    spec, axis = _spec(node, -1), node.attrs["axis"]
    shape = rows.softmax_lines(spec, axis)
    return _by_rows(lowering, node, shape, in_columns(spec, (axis,)), function)


@handles("standardize", "standardize_adjoint")
def _standardize(lowering: Lowering, node: Node) -> bool:
    adjoint = node.op.name == "standardize_adjoint"
    function = rows.standardize_adjoint_into if adjoint else rows.standardize_into
    function = partial(function, epsilon=node.attrs["epsilon"])
    spec, axis = _spec(node, adjoint), node.attrs["axis"]
    return _by_rows(lowering, node, rows.lines(spec, axis), in_columns(spec, axis), function)
