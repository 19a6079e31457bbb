"""All parameters of one kind as one: their updates on flat arrays, in place.

A bound run holds parameters, and what an optimizer keeps of them, in blocks: each parameter is a
view of one. Gradients are computed into one block too, and the rule, whose calls were found by
tracing its kernel, runs over the blocks. Numbers of each parameter (powers of the decay rates) are
vectors; where they are all equal, as they are after as many steps each, the rule runs over all
parameters at once, else over one after the other.

Of tables of which a step has read some rows, only these are written. Their gradient is `Scattered`:
what was read, and where. `sgd` updates these rows alone, which is what a dense gradient would do,
and so do rules in `lazy_mode`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.compiler.concrete_graph import Graph, Node, Value
from autograd_engine.compiler.planned.buffers import (
    Buffer,
    Local,
    Place,
    contiguous,
)
from autograd_engine.compiler.planned.cache_blocks import BLOCK, looped
from autograd_engine.compiler.planned.lowering import Lowering
from autograd_engine.compiler.planned.steps import (
    Elementwise,
    Loop,
    Pass,
    Step,
)
from autograd_engine.compiler.planned.ufunc_trace import Traced
from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.elementwise import EXACT
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.scattered_cotangent import Scattered, is_row_sparse, merged_rows
from autograd_engine.ops.update import on_rows, sgd_rows

__all__ = [
    "Group",
    "Moved",
    "groups_of",
    "write_update",
    "is_update",
    "state_of",
    "updates_by_rows",
    "write_rows",
]


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


class Moved(NamedTuple):
    """Where the state of an input is in a bound run."""

    position: int
    place: Place


class Group:
    """Updates that are made together.

    Attributes
    ----------
    nodes : list of Node
        The largest parameter first.
    traced : Traced
        The calls of the rule.
    """

    def __init__(self, traced: Traced) -> None:
        self.nodes: list[Node] = []
        self.traced = traced


def groups_of(lowering: Lowering, graph: Graph, scattered: set[int]) -> list[Group]:
    """The updates of a graph that can be made in place, at the end."""
    groups: dict[Any, Group] = {}
    for node in graph.nodes:
        if not is_update(node):
            continue
        param, grad, rate, *state = node.values
        numbers = tuple(not v.shape for v in state)
        if (
            id(grad) in scattered
            or rate.shape
            or (not param.shape and state)
            or not param.size
            or any(v.dtype != param.dtype for v in node.values)
            or any(v.shape not in (param.shape, ()) for v in state)
            or state_of(lowering, node) is None
        ):
            continue
        traced = lowering.trace_of(node)
        if traced is None or not _numbers_are_exact(traced, numbers):
            continue
        key = (node.op, param.dtype, id(traced), id(rate), numbers, not param.shape)
        groups.setdefault(key, Group(traced)).nodes.append(node)
    for group in groups.values():
        group.nodes.sort(key=lambda node: -_param(node).size)
    return list(groups.values())


def _param(node: Node) -> Value:
    param = node.operands[0]
    assert isinstance(param, Value)
    return param


def _numbers_are_exact(traced: Traced, of_state: Sequence[bool]) -> bool:
    """Whether what is computed of numbers has the same bits in a vector."""
    numbers = [False, False, True, *of_state]
    for call in traced.calls:
        of = [numbers[s] if isinstance(s, int) else True for s in call.sources]
        numbers.append(all(of))
        if call.function is np.where or call.reduces is not None:
            return False
        if all(of) and call.function not in EXACT:
            return False
    return True


def write_update(lowering: Lowering, group: Group) -> list[Moved]:
    """The steps of an update; where the state is from now on."""
    nodes = group.nodes
    first = nodes[0]
    lowering.origin = first.origin
    dtype = first.results[0].dtype
    sizes = [_param(node).size for node in nodes]
    positions = [state_of(lowering, node) for node in nodes]
    of_elements = list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))
    moved: list[Moved] = []
    blocks: list[Place] = []
    members: dict[Any, list[Place]] = {}

    for k, value in enumerate(first.operands):
        assert isinstance(value, Value)
        if k == 2:
            rate = lowering.place(value)
            assert rate is not None
            blocks.append(rate)
            members[rate.key] = [rate] * len(nodes)
            continue
        is_number = k > 2 and not value.shape
        spans = [(j, j + 1) for j in range(len(nodes))] if is_number else of_elements
        whole = Place.of((spans[-1][1],), dtype, persistent=k != 1)
        parts = [whole.part(a, b) for a, b in spans]
        members[whole.key] = parts
        blocks.append(whole)
        for node, part, held in zip(nodes, parts, positions, strict=True):
            operand = node.operands[k]
            assert isinstance(operand, Value)
            assert held is not None
            if k == 1:
                _put(lowering, operand, part, whole)
                continue
            moved.append(Moved(held[max(k - 2, 0)], part.shaped(operand.shape)))
    _Writer(lowering, group, blocks, members, sizes).write()
    return moved


def _put(lowering: Lowering, grad: Value, part: Place, whole: Place) -> None:
    """Have a gradient computed into its part of the block, or copy it there."""
    place = lowering.operand(grad)
    if isinstance(place, Place) and isinstance(place.base, Buffer) and contiguous(place):
        root, shift = place.base.root()
        if (
            not root.persistent
            and root not in lowering.pinned
            and shift + place.offset == 0
            and root.nbytes == place.nbytes
        ):
            assert isinstance(whole.base, Buffer)
            root.put_into(whole.base, part.offset)
            lowering.pinned.add(whole.base)
            return
    lowering.copied(place, part.shaped(grad.shape))


class _Writer:
    """The steps of one group: on vectors of numbers first, then on blocks.

    Parameters
    ----------
    blocks : sequence of Place
        Of the operands.
    members : dict
        By the key of a block, what belongs to each parameter.
    sizes : sequence of int
        Of the parameters.
    """

    def __init__(
        self,
        lowering: Lowering,
        group: Group,
        blocks: Sequence[Place],
        members: dict[Any, list[Place]],
        sizes: Sequence[int],
    ) -> None:
        self.lowering = lowering
        self.group = group
        self.members = members
        self.sizes = sizes
        self.known = list(blocks)
        operands = list(group.nodes[0].values)
        alone = not operands[0].shape
        self.is_number = [k == 2 or (not alone and not v.shape) for k, v in enumerate(operands)]
        positions = (0, *range(3, len(operands)))
        self.results = {
            number: position
            for number, position in zip(group.traced.results, positions, strict=True)
            if number != position
        }

    def write(self) -> None:
        lowering = self.lowering
        body: list[Elementwise] = []
        late: list[tuple[Place, Place]] = []
        first = len(self.known)
        last = self._last_reads()
        for k, call in enumerate(self.group.traced.calls):
            number = all(self.is_number[s] for s in call.sources if isinstance(s, int))
            sources = [
                lowering.number(s) if not isinstance(s, int) else self._source(s, number)
                for s in call.sources
            ]
            position = self.results.get(first + k)
            if number:
                out = Place.of((len(self.sizes),), call.dtype)
                lowering.apply(call.function, sources, out, call.quiet)
                if position is not None:
                    late.append((out, self.known[position]))
            else:
                whole = self.known[0]
                if position is not None and last.get(position, -1) <= k:
                    out = self.known[position]
                else:
                    out = Place.of(whole.shape, call.dtype)
                body.append(Elementwise(call.function, sources, out, lowering.origin, call.quiet))
            self.known.append(out)
            self.is_number.append(number)
        for number_of, position in self.results.items():
            out, target = self.known[number_of], self.known[position]
            if not self.is_number[number_of] and out is not target:
                body.append(Elementwise(None, (out,), target, lowering.origin))
        lowering.steps += self._passes(body)
        for out, target in late:
            lowering.copied(out, target)

    def _source(self, k: int, number: bool) -> Place:
        """Of numbers that meet a block the first; `members` says which are meant besides."""
        place = self.known[k]
        if number or not self.is_number[k] or not place.shape:
            return place
        each = [
            Place(place.base, (), (), place.dtype, place.offset + j * place.strides[0])
            for j in range(len(self.sizes))
        ]
        self.members[each[0].key] = each
        return each[0]

    def _last_reads(self) -> dict[int, int]:
        last: dict[int, int] = {}
        for k, call in enumerate(self.group.traced.calls):
            for source in call.sources:
                if isinstance(source, int):
                    last[source] = k
        return last

    def _passes(self, body: list[Elementwise]) -> list[Step]:
        total = self.known[0].nbytes
        vectors = [
            place
            for k, place in enumerate(self.known[: len(self.group.nodes[0].operands)])
            if self.is_number[k] and place.shape
        ]
        guarded = len(self.sizes) > 1 and bool(vectors)
        if not guarded and total <= BLOCK:
            return list(body)
        uses: Counter[Any] = Counter()
        for step in body:
            uses.update(set(step.touched()))
        for place in self.known[:2]:
            uses[place.base] += 1  # a gradient is no scratch
        loop = looped(body, uses)
        if not guarded:
            return [loop]
        block = loop.passes[0].block
        each = [
            Pass(
                tuple(self.members.get(p.key, [p] * len(self.sizes))[j] for p in loop.slots),
                size,
                min(size, block),
            )
            for j, size in enumerate(self.sizes)
        ]
        instead = Loop(loop.body, loop.slots, loop.kinds, each, loop.scratch)
        return [
            Loop(loop.body, loop.slots, loop.kinds, loop.passes, loop.scratch, vectors, instead)
        ]


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
    lowering.call(_merged, grad, makes=[merged])
    before, lowering.steps = lowering.steps, []
    param, _, rate, *state = [lowering.operand(v) for v in node.values]
    function = partial(_write, node.op.kernel, node.attrs)
    lowering.call(function, param, merged, rate, *state)
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
