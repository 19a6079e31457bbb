"""Where a tensor was lost on the way to the loss.

The graph of the loss does not hold what is not connected to it. There are two ends to look from:
operations of the loss's graph that take an operand as a constant, and live operations that lead on
from the tensor. Notes of cuts (see `eager.cuts`) join them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.autograd.explain.graph_walk import arrows, base_of, walk
from autograd_engine.autograd.explain.report import Reason
from autograd_engine.eager.grad_node import lines, output_of, saved_entries
from autograd_engine.eager.graph_cuts import (
    NO_GRAPH,
    Cut,
    cut_of,
    recent_blocks,
    recent_cuts,
)
from autograd_engine.eager.tape import Edge, Node, Slot, edge_of
from autograd_engine.eager.tensor import Tensor

__all__ = [
    "cut_reason",
    "cuts_from",
    "cuts_perhaps_from",
    "described",
    "lost_reasons",
    "path_between",
    "readers",
]

_MOST = 5


def readers(x: Tensor) -> list[Node]:
    """Live operations that lead on from `x`, oldest first."""
    target = edge_of(x)
    reached: set[Edge] = {target}
    found = []
    nodes = [o for o in gc.get_objects() if isinstance(o, Node)]
    for node in sorted(nodes, key=lambda n: -n.seq):
        if node is not target and any(e in reached for e in node.edges):
            reached.add(node)
            if not isinstance(node, Slot):
                found.append(node)
    return found


def path_between(root: Edge, target: Edge) -> list[Edge]:
    """The shortest way from `root` back to `target`, both included; empty where there is none."""
    target = output_of(target)[0]
    start = output_of(root)[0]
    came: dict[Edge, Edge] = {}
    level: list[Edge] = [start]
    seen = {start}
    while level and target not in seen:
        following: list[Edge] = []
        for edge in level:
            if isinstance(edge, Node):
                for _, source, _ in arrows(edge):
                    if source not in seen:
                        seen.add(source)
                        came[source] = edge
                        following.append(source)
        level = following
    if target not in seen:
        return []
    way = [target]
    while way[-1] is not start:
        way.append(came[way[-1]])
    return way[::-1]


def described(edge: Edge) -> str:
    """An operation with its line, or a leaf by name."""
    if isinstance(edge, Node):
        return f"{edge.name} at {lines(edge.location)}"
    return f"leaf {edge.name}"


def shown_path(edges: list[Edge], remarks: dict[Edge, str] | None = None) -> list[str]:
    """A line for each, without the middle of a long way."""

    def text(edge: Edge) -> str:
        remark = (remarks or {}).get(edge)
        return described(edge) + (f"  ({remark})" if remark else "")

    texts = [text(e) for e in edges[:8]]
    if len(edges) > 16:
        texts.append(f"... {len(edges) - 16} operations between ...")
    return texts + [text(e) for e in edges[max(8, len(edges) - 8) :]]


class Constant(NamedTuple):
    """An operand that an operation of the loss's graph takes as a constant."""

    node: Node
    name: str
    has_rule: bool
    value: Any  # an ndarray or a Spec, None where it is not kept
    cut: Cut | None

    def __str__(self) -> str:
        return f"{self.name} of {self.node.name} at {lines(self.node.location)}"


def _constants(root: Edge) -> Iterator[Constant]:
    for node in walk([root]):
        if not isinstance(node, Node):
            continue
        op, wanted = node.pullback.op, node.pullback.wanted
        kept = {n.partition("[")[0]: v for n, v in saved_entries(node)}
        for position, name in enumerate(op.inputs):
            if position in wanted or (op.variadic and name == op.inputs[-1]):
                continue
            value = kept.get(name)
            cut = None
            if isinstance(value, np.ndarray):
                cut = cut_of(value) or cut_of(base_of(value))
            yield Constant(node, name, op.rule_at(position) is not None, value, cut)


def _unrecorded(constants: list[Constant]) -> bool:
    """Whether one of them is, as far as a tensor holds it still, the result of an operation."""
    arrays = {id(c.value) for c in constants if c.has_rule and isinstance(c.value, np.ndarray)}
    return bool(arrays) and any(
        type(o) is Tensor and o._stop and not hasattr(o, "_grad") and id(o._data) in arrays
        for o in gc.get_objects()
    )


_CUTS = {
    NO_GRAPH: ("no_create_graph", "pass create_graph=True where it is differentiated again"),
    "detach()": ("detached", "compute with the tensor itself where gradients are to flow"),
    "set_value()": ("set_value", "assign to another name, or use an in-place operation"),
    "stop_gradient = True": ("stop_gradient", "set it to False before it is used"),
    "numpy()": ("left_graph", "compute with the tensor: functions of NumPy lose the history"),
    "to_tensor()": ("left_graph", "to_tensor copies values alone: use the tensor, or x.clone()"),
}


def cut_reason(cut: Cut, before: str = "", certain: bool = True) -> Reason:
    """A noted cut, as a reason."""
    if cut.kind in _CUTS:
        kind, instead = _CUTS[cut.kind]
        text = f"{before}cut by {cut.kind} at {lines(cut.location)}, from {cut.source}: {instead}"
    elif cut.kind == "cast":
        kind = "integer_cast"
        text = (
            f"{before}cut by the cast to integers at {lines(cut.location)}, from {cut.source}: no "
            "gradient flows through integers; stay in floating point"
        )
    else:
        kind = "not_differentiable"
        text = (
            f"{before}cut by {cut.kind} at {lines(cut.location)}, from {cut.source}: {cut.kind} "
            "has no gradient with respect to that operand"
        )
    return Reason(kind, text, str(cut.location), certain)


def cuts_from(x: Tensor) -> list[Reason]:
    """Where values computed from `x` left the graph, as far as that is still to be seen."""
    onward = readers(x)
    return [cut_reason(cut, certain=False) for cut in recent_cuts() if _is_from(cut, x, onward)]


def cuts_perhaps_from(x: Tensor) -> list[Reason]:
    """The latest lines where values left a graph, those computed from `x` first.

    Where the graph is gone, what was cut off cannot be told to come from `x` or from elsewhere.
    """
    own = x._node.seq if x._node is not None else getattr(x, "_born", None)
    known = cuts_from(x)
    places = {reason.location for reason in known}
    others = [
        cut_reason(cut, certain=False)
        for cut in recent_cuts()
        if cut.seq is not None and (own is None or cut.seq < own)
    ]
    return [*known, *(r for r in others if r.location not in places)][:_MOST]


def _is_from(cut: Cut, x: Tensor, onward: list[Node]) -> bool:
    if cut.seq is None:
        return cut.leaf_is(x)
    own = x._node.seq if x._node is not None else None
    return cut.seq == own or any(node.seq == cut.seq for node in onward)


def lost_reasons(x: Tensor, loss: Tensor | None) -> tuple[list[Reason], list[str]]:
    """Why nothing flows from `loss` to `x`; and the path to where it ends, where that is known.

    A cut is certain where values computed from `x` were cut off and the graph of the loss reads
    them; where one of the two can be seen, it is likely.
    """
    onward = readers(x)
    own = x._node.seq if x._node is not None else getattr(x, "_born", None)
    constants = [] if loss is None else list(_constants(edge_of(loss)))
    read_at = {id(c.cut): c for c in constants if c.cut is not None}
    before = None if loss is None or loss._node is None else loss._node.seq
    ranked: list[tuple[int, Reason, list[str]]] = []
    for cut in _relevant(recent_cuts(), [c.cut for c in constants if c.cut is not None], before):
        from_x = _is_from(cut, x, onward)
        at = read_at.get(id(cut))
        if at is not None and loss is not None:
            lead = f"{at.node.name} at {lines(at.node.location)} reads {at.name} as a constant: "
            path = shown_path(path_between(edge_of(loss), at.node))
            ranked.append((0 if from_x else 1, cut_reason(cut, lead, certain=from_x), path))
        elif from_x:
            ranked.append((2, cut_reason(cut, certain=False), []))
        elif cut.seq is not None and (own is None or cut.seq < own):
            ranked.append((4, cut_reason(cut, certain=False), []))
    ranked.sort(key=lambda item: item[0])
    likely = [reason for rank, reason, _ in ranked if rank < 4][:_MOST]
    path = ranked[0][2] if likely else []
    if likely and likely[0].certain:
        return likely, path
    blocks = _blocks(before, own)
    first = blocks if blocks and _unrecorded(constants) else []
    return [
        *likely,
        *first,
        _not_connected(x, loss, onward, constants),
        *_not_differentiable(constants),
        *[reason for rank, reason, _ in ranked if rank == 4][:3],
        *([] if first else blocks),
    ], path


def _relevant(cuts: list[Cut], read: list[Cut], before: int | None) -> list[Cut]:
    """Cuts that the loss reads; then those made before the loss, the latest first."""
    listed = {id(c) for c in read}
    older = [c for c in cuts if before is None or c.when > before]
    return [*{id(c): c for c in read}.values(), *(c for c in older if id(c) not in listed)]


def _blocks(before: int | None, own: int | None) -> list[Reason]:
    """Blocks without recording that began between."""
    return [
        Reason(
            "no_grad",
            f"what ran in the {b.kind} block at {lines(b.location)} was not recorded: compute what "
            "is to be differentiated outside of it",
            str(b.location),
            certain=False,
        )
        for b in recent_blocks()
        if (before is None or b.when > before) and (own is None or b.when < own)
    ][:3]


def _not_differentiable(constants: list[Constant]) -> list[Reason]:
    """Operands of the loss's graph of which no gradient can be taken."""
    texts: dict[str, Reason] = {}
    for c in constants:
        if not c.has_rule and not c.name.startswith("like"):
            dtype = f"{c.value.dtype.name} " if c.value is not None else ""
            text = (
                f"{dtype}input {c.name!r} of {c.node.name} at {lines(c.node.location)} is not "
                "differentiable: what is only used there has no gradient"
            )
            texts[text] = Reason("not_differentiable", text, str(c.node.location), certain=False)
    return list(texts.values())[:3]


def _not_connected(
    x: Tensor,
    loss: Tensor | None,
    onward: list[Node],
    constants: list[Constant],
) -> Reason:
    if onward:
        last = onward[-1]
        uses = (
            f"what was computed from it ends in {last.name} at {lines(last.location)}, which is "
            "not part of the graph of the loss"
        )
    else:
        uses = (
            "no live graph reads it: no recorded operation has used it, or what was computed from "
            "it is gone"
        )
    if loss is None or loss._stop:
        return Reason("not_connected", uses)
    places = [str(c) for c in constants if c.has_rule]
    entry = ""
    if places:
        more = f" and {len(places) - 3} more" if len(places) > 3 else ""
        entry = f". The graph of the loss takes these as constants: {'; '.join(places[:3])}{more}"
    return Reason(
        "not_connected",
        f"it is not connected to the loss: {uses}{entry}. Check that the loss is computed from "
        "this very tensor",
    )


def seed_notes(loss: Tensor) -> list[str]:
    """What is to be said of a loss that is no scalar."""
    if loss.size == 1:
        return []
    return [
        f"the loss has shape {list(loss.shape)}; an omitted seed is ones of shape "
        f"{tuple(loss.shape)}, so what is differentiated is the sum of its elements. Did you "
        "forget .mean()? Else pass grad_tensor"
    ]
