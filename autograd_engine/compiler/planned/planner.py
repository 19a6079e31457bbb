"""From a graph to a planned function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd_engine.compiler.backend import Placement
from autograd_engine.compiler.concrete_graph import Graph, Node, Value
from autograd_engine.compiler.planned import kernels, products, views  # noqa: F401
from autograd_engine.compiler.planned.buffers import (
    Buffer,
    Local,
    Place,
    strides_of,
)
from autograd_engine.compiler.planned.cache_blocks import blocked
from autograd_engine.compiler.planned.function_text import Text
from autograd_engine.compiler.planned.lowering import Lowering
from autograd_engine.compiler.planned.memory import arena, written_over
from autograd_engine.compiler.planned.steps import Elementwise, Step
from autograd_engine.compiler.planned.sums import (
    Sum,
    add_products,
    planned_sums,
    scattered_values,
)
from autograd_engine.compiler.planned.updates import (
    Group,
    Moved,
    groups_of,
    is_update,
    state_of,
    updates_by_rows,
    write_rows,
    write_update,
)
from autograd_engine.compiler.python.function import CompiledFunction

__all__ = ["Plan", "planned"]

Strides = tuple[int, ...] | None


@dataclass(eq=False)
class Plan:
    """A planned function, and where its arrays are.

    Attributes
    ----------
    text : Text
    offsets : dict of Buffer to int
        Where buffers are in the block that is theirs.
    nbytes : int
        Of the block.
    moved : list of Moved
        Inputs that live in blocks of a bound run.
    inner : list of CompiledFunction
        Functions of control flow.
    placements : list of Placement
    """

    text: Text
    offsets: dict[Buffer, int]
    nbytes: int
    moved: list[Moved]
    inner: list[CompiledFunction]
    placements: list[Placement]


def planned(
    graph: Graph, name: str, strides: Sequence[Strides], *, bound: bool, fast: bool
) -> Plan:
    """Plan `graph`.

    Parameters
    ----------
    graph : Graph
    name : str
        Of the function.
    strides : sequence of tuple or None
        Of the inputs; None of what is in C order.
    bound : bool
        Whether updates are made in place, and not returned.
    fast : bool
    """
    inputs = [
        Place(k, v.shape, s or strides_of(v.shape, v.dtype.itemsize), v.dtype)
        for k, (v, s) in enumerate(zip(graph.inputs, strides, strict=True))
    ]
    return _Planner(graph, Lowering(graph, inputs, fast), bound).plan(name)


class _Planner:
    def __init__(self, graph: Graph, lowering: Lowering, bound: bool) -> None:
        self.graph = graph
        self.lowering = lowering
        self.bound = bound
        self.results: list[Local] = []
        self.moved: list[Moved] = []
        self.groups: list[Group] = []
        self.by_rows: list[Node] = []
        self.placements: list[Placement] = []

    def plan(self, name: str) -> Plan:
        lowering = self.lowering
        self._nodes()
        late = self._outputs()
        main = lowering.steps
        lowering.steps = []
        updates = self._updates(late)
        kept = [p for step in updates for p in step.reads()]
        steps = [*blocked(main, kept), *updates]
        written_over(steps, lowering.pinned)
        offsets, nbytes = arena(steps)
        text = Text(name)
        text.write(steps, self.results)
        return Plan(text, offsets, nbytes, self.moved, lowering.inner, self.placements)

    def _nodes(self) -> None:
        """The steps of all nodes but of the updates that are made at the end."""
        lowering, graph = self.lowering, self.graph
        stays = scattered_values(lowering)
        waiting = planned_sums(lowering, stays)
        sums = {id(s.node): s for listed in waiting.values() for s in listed}
        if self.bound:
            self.groups = groups_of(lowering, graph, stays)
            self.by_rows = updates_by_rows(lowering, graph, stays)
        deferred = {id(node) for group in self.groups for node in group.nodes}
        deferred.update(map(id, self.by_rows))
        for value in graph.inputs:
            self._advance(waiting, value)
        rows = set(map(id, self.by_rows))
        for node in graph.nodes:
            if id(node) in deferred:
                where = "its rows alone" if id(node) in rows else "one update of all parameters"
                self.placements.append(_placed(node, where))
                continue
            before = len(lowering.steps)
            lowering.origin = node.origin
            found = sums.get(id(node))
            if found is not None:
                found.finish()
            elif id(node) in lowering.together:
                add_products(lowering, node)
            elif node.results and id(node.results[0]) in lowering.absorbed:
                for one in waiting.get(id(node.results[0]), ()):
                    one.ready.add(id(node.results[0]))
            elif node.results and id(node.results[0]) in stays and node.op.name != "add_n":
                lowering.scatter(node)
            else:
                lowering.node(node)
            self.placements.append(_placed(node, _where(lowering.steps[before:])))
            for value in node.results:
                self._advance(waiting, value)

    def _advance(self, waiting: dict[int, list[Sum]], value: Value) -> None:
        for one in waiting.get(id(value), ()):
            one.advance()

    def _outputs(self) -> list[tuple[int, Value]]:
        """Copy what is returned before any update; what is returned of updates comes later."""
        late = []
        nodes = [*self.by_rows, *(node for group in self.groups for node in group.nodes)]
        made = {id(r) for node in nodes for r in node.results}
        for k, value in enumerate(self.graph.outputs):
            if self.bound and k in self.graph.updates:
                continue
            if id(value) in made:
                late.append((len(self.results), value))
                number = self.lowering.next_local()
                self.results.append(Local(number, value.shape, value.dtype, False))
                continue
            self.results.append(self._returned(value))
        return late

    def _returned(self, value: Value) -> Local:
        lowering = self.lowering
        lowering.origin = None
        source = lowering.operand(value)
        made = Local(lowering.next_local(), value.shape, value.dtype, False)
        node = value.node
        if not self.bound and node is not None and is_update(node) and isinstance(source, Local):
            given = [lowering.operand(v) for k, v in enumerate(node.values) if k != 1]
            lowering.call(_owned, source, *given, makes=[made])
        else:
            lowering.emit("{} = {}.copy('K')", made, source, makes=[made])
        return made

    def _updates(self, late: Sequence[tuple[int, Value]]) -> list[Step]:
        """The steps that write state, which nothing that can fail follows."""
        lowering, graph = self.lowering, self.graph
        if not self.bound:
            return []
        for group in self.groups:
            self.moved += write_update(lowering, group)
        flat, lowering.steps = lowering.steps, []
        before, writes = self._commits()
        for node in self.by_rows:
            merges, rows = write_rows(lowering, node)
            before += merges
            writes += rows
        lowering.steps = []
        places = {m.position: m.place for m in self.moved}
        for k, value in late:
            position = next(i for o, i in graph.updates.items() if graph.outputs[o] is value)
            made = self.results[k]
            place = places.get(position) or lowering.operand(graph.inputs[position])
            lowering.emit("{} = {}.copy('K')", made, place, makes=[made])
        return [*before, *flat, *writes, *lowering.steps]

    def _commits(self) -> tuple[list[Step], list[Step]]:
        """Write the new values of other state over the old ones."""
        lowering, graph = self.lowering, self.graph
        written = set(graph.updates.values())
        taken = {m.position for m in self.moved}
        for node in self.by_rows:
            taken.update(state_of(lowering, node) or ())
        before: list[Step] = []
        writes: list[Step] = []
        for out, position in graph.updates.items():
            value = graph.outputs[out]
            if position in taken:
                continue
            taken.add(position)
            lowering.steps = []
            lowering.origin = value.node.origin if value.node is not None else None
            target = lowering.place(graph.inputs[position])
            source = lowering.operand(value)
            assert target is not None
            if isinstance(source, Place) and source.key == target.key:
                continue
            if isinstance(source, Place):
                shared = isinstance(source.base, int) and source.base in written
            else:
                shared = value.node is None or not is_update(value.node)
            if shared:  # what it reads may be written before
                place = Place.of(value.shape, value.dtype)
                lowering.call(np.copyto, place, source, writes=[place])
                source = place
            before += lowering.steps
            lowering.steps = []
            lowering.call(np.copyto, target, source, writes=[target])
            writes += lowering.steps
        return before, writes


def _where(steps: Sequence[Step]) -> str:
    """What runs an operation, in a word or two."""
    if not steps:
        return "view"
    if any(f in (np.matmul, np.dot) for step in steps for f in step.parts[:1]):
        return "BLAS"
    if any(step.makes for step in steps):
        return "kernel"
    return "ufuncs" if all(isinstance(step, Elementwise) for step in steps) else "NumPy"


def _placed(node: Node, where: str) -> Placement:
    why = "it allocates its results" if where == "kernel" else ""
    line = "" if node.origin is None else str(node.origin.location)
    return Placement(node.op.name, where, why, line)


def _owned(array: Any, *given: Any) -> Any:
    """`array` where it is nobody else's."""
    if array.base is None and all(array is not g for g in given):
        return array
    return array.copy("K")
