"""Which inputs of a graph are state that an update writes."""

from __future__ import annotations

from typing import Any

from autograd_engine.compiler.concrete_graph import Node, Value
from autograd_engine.compiler.planned.lowering import Lowering
from autograd_engine.ops.registry.opdef import REGISTRY

__all__ = ["is_update", "state_of"]


def is_update(node: Node) -> bool:
    """Whether it is the rule of an optimizer."""
    op: Any = node.op
    known = REGISTRY.get(op.name) is op
    return known and op.inputs[:3] == ("param", "grad", "learning_rate")


def state_of(lowering: Lowering, node: Node) -> list[int] | None:
    """Positions of the inputs that an update reads and writes: parameter, then what it keeps.

    None unless it may write them at the end of a run: nothing reads its results, and nothing else
    is written there.
    """
    graph = lowering.graph
    param, _, _, *state = node.operands
    found = []
    for old, new in zip((param, *state), node.results, strict=True):
        targets = lowering.targets.get(id(new))
        if not isinstance(old, Value) or targets is None or len(targets) != 1:
            return None
        (position,) = targets
        if (
            graph.inputs[position] is not old
            or lowering.sources[position] != 1
            or id(new) in lowering.readers
        ):
            return None
        found.append(position)
    return found
