"""Updates of tables of which a step has read some rows: only these are written.

The gradient is `Scattered`: what was read, and where. `sgd` updates these rows alone, which is what
a dense gradient would do, and so do rules in `lazy_mode`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.compiler.concrete_graph import Graph, Node
from autograd_engine.compiler.planned.buffers import Local
from autograd_engine.compiler.planned.lowering import Lowering
from autograd_engine.compiler.planned.states import is_update, state_of
from autograd_engine.ops.registry.scattered_cotangent import Scattered, is_row_sparse, merged_rows
from autograd_engine.ops.update import on_rows, sgd_rows

__all__ = ["updates_by_rows", "write_rows"]

Array = NDArray[Any]
Merged = tuple[Array, Array] | Array


def updates_by_rows(lowering: Lowering, graph: Graph, scattered: set[int]) -> list[Node]:
    """The updates of a graph that write rows, in place and at the end."""
    return [
        node
        for node in graph.nodes
        if is_update(node)
        and id(node.operands[1]) in scattered
        and (node.op.name == "sgd" or node.attrs.get("lazy_mode") is True)
        and not node.attrs.get("coeff")  # all rows decay
        and state_of(lowering, node) is not None
    ]


def write_rows(lowering: Lowering, node: Node) -> tuple[list[Any], list[Any]]:
    """The steps that may fail, and those that write."""
    lowering.origin = node.origin
    lowering.steps = []
    grad = lowering.scattered[id(node.operands[1])]
    merged = Local(lowering.next_local(), (), np.dtype(object), False, grad.roots)
    lowering.emit("{} = {}({})", merged, _merged, grad, makes=[merged])
    before, lowering.steps = lowering.steps, []
    param, _, rate, *state = [lowering.operand(v) for v in node.values]
    function = partial(_write, node.op.kernel, node.attrs)
    marks = "".join([", {}"] * len(state))
    lowering.emit(f"{{}}({{}}, {{}}, {{}}{marks})", function, param, merged, rate, *state)
    writes, lowering.steps = lowering.steps, []
    return before, writes


def _merged(grad: Any) -> Merged:
    """The rows that have a gradient, with it; else a dense gradient."""
    if grad.__class__ is not Scattered:
        return np.asarray(grad)
    if is_row_sparse(grad):
        return merged_rows(grad)
    dense: Array = grad.dense()
    return dense


def _write(
    rule: Callable[..., Any],
    attrs: dict[str, Any],
    param: Array,
    merged: Merged,
    rate: Array,
    *state: Array,
) -> None:
    """Write the new rows of a parameter and its state."""
    olds: Sequence[Array] = (param, *state)
    if not isinstance(merged, tuple):
        made = rule(param, merged, rate, *state, **attrs)
        for old, new in zip(olds, made if state else (made,), strict=True):
            np.copyto(old, new)
        return
    rows, values = merged
    if not state:
        sgd_rows(param, rows, values, rate)
        return
    attrs = {**attrs, "lazy_mode": False}
    for old, new in zip(
        olds, on_rows(rule, param, rows, values, rate, *state, **attrs), strict=True
    ):
        if old.ndim:
            old[rows] = new
        else:
            np.copyto(old, new)
