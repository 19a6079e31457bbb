"""Why a tensor has no gradient, or one that is zero or not finite.

Where there is none, something stands between it and the loss. Where there is one, a backward pass
is watched. It goes only where it leads to the tensor, calls no hooks, writes no ``.grad`` and frees
nothing. Each operation on the way says what reached it and what it handed on; where something
becomes nothing, or finite becomes infinite, what it saved tells why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograd_engine.autograd.explain.causes import forward_cause, nonfinite_cause, zero_cause
from autograd_engine.autograd.explain.graph_walk import walk
from autograd_engine.autograd.explain.lost_history import (
    cut_reason,
    cuts_from,
    cuts_perhaps_from,
    described,
    lost_reasons,
    path_between,
    readers,
    seed_notes,
    shown_path,
)
from autograd_engine.autograd.explain.report import Explanation, Reason
from autograd_engine.autograd.gradient import leads_to
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.core.locations import caller
from autograd_engine.core.spec import Array
from autograd_engine.eager.grad_node import freed_at, lines, output_of
from autograd_engine.eager.graph_cuts import cut_of, recent_blocks
from autograd_engine.eager.hooks import hooks_left_out
from autograd_engine.eager.tape import Edge, Node, Slot, edge_of, run_backward, saved_values
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import GraphFreedError

__all__ = ["explain_tensor", "explain_value", "preview"]

_MOST = 6


def explain_value(x: Tensor, subject: str, grad: Array, loss: Tensor | None) -> Explanation:
    """A gradient that is there."""
    state = state_of(grad)
    notes = [] if loss is None else seed_notes(loss)
    if state == "partly zero":
        notes.insert(0, f"{grad.size - np.count_nonzero(grad)} of {grad.size} elements are zero")
    if state == "not finite":
        counts = int(np.isnan(grad).sum()), int(np.isinf(grad).sum())
        notes.insert(0, f"{counts[0]} NaN and {counts[1]} infinite of {grad.size} elements")
    cleared = getattr(x.grad, "_cleared", None)
    if state == "zero" and cleared is not None:
        text = (
            f"it was set to zeros at {lines(cleared)}, and no backward pass has added to it since: "
            "read .grad before clearing it"
        )
        return Explanation(
            subject, state, (Reason("cleared", text, str(cleared)),), (), tuple(notes)
        )
    if state == "fine":
        return Explanation(subject, state, (), (), tuple(notes))
    if loss is None:
        notes.append(
            "give the loss to see which operation did it: explain(x, loss), before backward() or "
            "after backward(retain_graph=True)"
        )
        return Explanation(subject, state, (), (), tuple(notes))
    watched = _watched(x, loss)
    if isinstance(watched, str):
        return Explanation(subject, state, (), (), (*notes, watched))
    reasons, path = _reasons(x, loss, watched)
    if not reasons and state != "partly zero":
        reasons = [_elsewhere(x, state, watched)]
    return Explanation(subject, state, tuple(reasons), tuple(path), tuple(notes))


def preview(x: Tensor, loss: Tensor) -> tuple[list[Reason], list[str], list[str]]:
    """Of a gradient that is not there yet: reasons, the path, and what it would be."""
    watched = _watched(x, loss)
    if isinstance(watched, str):
        return [], [], [watched]
    reasons, path = _reasons(x, loss, watched)
    state = state_of(watched.result) if watched.result is not None else "zero"
    words = {
        "fine": "finite and not zero",
        "partly zero": "finite, zero in places",
        "zero": "zero everywhere",
        "not finite": "not finite",
    }
    return reasons, path, [f"the gradient of this loss would be {words[state]}"]


def state_of(grad: Array) -> str:
    if not np.isfinite(grad).all():
        return "not finite"
    nonzero = np.count_nonzero(grad)
    if grad.size and not nonzero:
        return "zero"
    return "fine" if nonzero == grad.size else "partly zero"


@dataclass
class Watched:
    """What a watched pass has found."""

    result: Array | None = None
    zeros: list[tuple[Node, Reason]] = field(default_factory=list)
    broken: list[tuple[Node, Reason]] = field(default_factory=list)
    contributors: dict[Edge, list[Node]] = field(default_factory=dict)
    shown: set[Edge] = field(default_factory=set)  # whose magnitudes are of interest
    magnitude: dict[Edge, str] = field(default_factory=dict)
    hooked: list[Node] = field(default_factory=list)

    def observe(
        self, node: Node, g: Any, edges: tuple[Edge, ...], results: tuple[Any, ...]
    ) -> None:
        """Called by the walk for each operation, newest first."""
        if hasattr(node, "hooks"):
            self.hooked.append(node)
        arrived = _arrays(g)
        live = any(np.count_nonzero(a) for a in arrived)
        sound = all(np.isfinite(a).all() for a in arrived)
        if node in self.shown:
            self.magnitude[node] = _magnitude(arrived)
        if not live:
            self._cancelled(node)
        if isinstance(node, Slot):
            if live and edges:  # none where the slot itself was asked for
                self.contributors.setdefault(edges[0], []).append(node)
            return
        for edge, result in zip(edges, results, strict=True):
            if result is None:
                continue
            given = np.asarray(result)
            if np.count_nonzero(given):
                self.contributors.setdefault(edge, []).append(node)
            elif live and given.size:
                self.zeros.append((node, zero_cause(node, edge, arrived, saved_values(node))))
            if sound and not np.isfinite(given).all():
                values = saved_values(node)
                self.broken.append((node, nonfinite_cause(node, arrived, given, values)))

    def _cancelled(self, edge: Edge) -> None:
        """All that reached `edge` adds up to zero, though its parts were not."""
        parts = self.contributors.get(edge, [])
        if len(parts) > 1:
            named = " and ".join(f"{n.name} at {n.location}" for n in parts[:3])
            what = described(output_of(edge)[0])
            text = f"the gradients that reach {what} from {named} cancel: their sum is exactly zero"
            at = parts[0]
            self.zeros.append((at, Reason("cancelled", text, str(at.location))))

    def finish(self, target: Edge, result: Any) -> None:
        self.result = None if result is None else np.asarray(result)
        if self.result is not None:
            self.magnitude[target] = _magnitude([self.result])
            if not isinstance(target, Node) and not np.count_nonzero(self.result):
                self._cancelled(target)


def _arrays(g: Any) -> list[Array]:
    """The cotangents of all outputs."""
    values = g.values() if isinstance(g, dict) else [g]
    return [np.asarray(v) for v in values if v is not None]


def _magnitude(arrays: list[Array]) -> str:
    size = sum(a.size for a in arrays)
    bad = sum(int(a.size - np.isfinite(a).sum()) for a in arrays)
    if bad:
        return f"{bad} of {size} not finite"
    zeros = size - sum(int(np.count_nonzero(a)) for a in arrays)
    largest = max((float(np.abs(a).max()) for a in arrays if a.size), default=0.0)
    return f"largest {largest:.3g}" + (f", {zeros} of {size} zero" if zeros else "")


def _watched(x: Tensor, loss: Tensor) -> Watched | str:
    """The watched pass from `loss` to `x`; a sentence where it cannot be run."""
    if loss._stop:
        return "the loss carries no gradient"
    root, target = edge_of(loss), edge_of(x)
    watched = Watched()
    way = path_between(root, target)
    watched.shown = {*way[:8], *way[-8:]}
    try:
        needed = leads_to([root], {target}, set())
        if root not in needed:
            return "this loss does not depend on it: the gradient comes from another pass"
        with hooks_left_out(), np.errstate(all="ignore"):
            found = run_backward(
                [(root, np.ones(loss._data.shape, loss._data.dtype))],
                at=caller(),
                retain=True,
                needed=needed,
                capture={target},
                observe=watched.observe,
            )
            watched.finish(target, found.get(target))
    except GraphFreedError as error:
        return f"{error}; then explain(x, loss) can follow the gradient"
    return watched


def _reasons(x: Tensor, loss: Tensor, watched: Watched) -> tuple[list[Reason], list[str]]:
    result = watched.result
    target = edge_of(x)
    way = path_between(edge_of(loss), target)
    path = shown_path(way, watched.magnitude)
    if result is not None and not np.isfinite(result).all():
        found = [reason for _, reason in watched.broken]
        forward = forward_cause(walk([edge_of(loss)]), loss)
        if forward is not None:
            # What a branch not taken holds does not matter to a loss that is finite.
            found.insert(len(found) if np.isfinite(loss._data).all() else 0, forward)
        return _distinct(found), path
    if result is None or not np.count_nonzero(result):
        reasons = _distinct([reason for _, reason in watched.zeros])
        if not reasons and result is not None and not result.size:
            reasons = [Reason("zero_derivative", "it has no elements")]
        return reasons, path
    return [], path


def _distinct(reasons: list[Reason]) -> list[Reason]:
    return list({r.text: r for r in reasons}.values())[:_MOST]


def _elsewhere(x: Tensor, state: str, watched: Watched) -> Reason:
    """The pass gives something else than what is in ``.grad``."""
    hooked = [f"{n.name} at {n.location}" for n in watched.hooked]
    hooks = getattr(x, "_hooks", None)
    if hooks is not None and hooks.before:
        hooked.append(f"the leaf {x.name}")
    word = "zero" if state == "zero" else "not finite"
    if hooked:
        return Reason(
            "hook",
            f"the rules give a gradient that is not {word}, so a hook has made it so: there are "
            f"hooks on {'; '.join(hooked[:3])}"
            if state == "zero"
            else f"the rules give a finite gradient, so a hook has made it {word}: there are hooks "
            f"on {'; '.join(hooked[:3])}",
        )
    return Reason(
        "other_pass",
        f"this loss alone gives a gradient that is {'finite' if state != 'zero' else 'not zero'}: "
        ".grad is the sum over all passes since it was cleared, and another pass made it "
        f"{word}. Clear it before the pass that you look at",
    )


def explain_tensor(x: Tensor, loss: Tensor | None) -> Explanation:
    """`explain` for tensors."""
    grad = x.grad
    subject = _subject(x)
    if grad is not None:
        return explain_value(x, subject, np.asarray(grad._data), loss)
    reasons, path = _why_none(x, loss)
    notes = [] if loss is None else seed_notes(loss)
    if x._node is not None and not x._stop and reasons and reasons[0].kind == "not_retained":
        notes.append("paddle.grad(loss, x) gives the gradient of any tensor without retaining it")
    if loss is not None and reasons and reasons[-1].kind in ("no_backward", "not_retained"):
        more, path, note = preview(x, loss)
        reasons += more
        notes += note
    return Explanation(subject, "none", tuple(reasons), tuple(path), tuple(notes))


def _subject(x: Tensor) -> str:
    spec = f"{x._data.dtype.name}{list(x.shape)}"
    if x._node is None:
        return f"{'leaf ' if not x._stop else ''}{x.name} ({spec})"
    return f"{x.name} ({spec}), the result of {x._node.name} at {lines(x._node.location)}"


def _why_none(x: Tensor, loss: Tensor | None) -> tuple[list[Reason], list[str]]:
    if x._data.dtype not in FLOATS:
        return [
            Reason(
                "not_floating",
                f"it holds {x._data.dtype.name}, and only floating tensors carry gradients: make "
                "it with dtype='float32'",
            )
        ], []
    if x._stop:
        return [why_stopped(x)], []
    reasons = []
    if x._node is not None and not getattr(x, "_retains", False):
        at = x._node.location
        reasons.append(
            Reason(
                "not_retained",
                f"it is no leaf: made by {x._node.name} at {lines(at)}, and not retained; call "
                "x.retain_grads() before backward()",
                str(at),
            )
        )
    if loss is None:
        return (reasons or _without_loss(x)), []
    if loss._stop:
        why = why_stopped(loss)
        text = f"the loss carries no gradient: {why.text}"
        return [*reasons, *cuts_from(x), Reason(why.kind, text, why.location)], []
    connected, freed = _connected(edge_of(x), edge_of(loss))
    if connected:
        return (reasons or [_not_run(x)]), []
    if freed is not None:
        return [*reasons, *_freed(x, freed, bool(reasons))], []
    more, path = lost_reasons(x, loss)
    return [*reasons, *more], path


def why_stopped(x: Tensor) -> Reason:
    """Why `x`, whose stop_gradient is True, has that."""
    cut = cut_of(x._data)
    if x._node is not None:
        at = None if cut is None else str(cut.location)
        where = "" if cut is None else f" at {lines(cut.location)}"
        return Reason(
            "stop_gradient",
            f"stop_gradient was set to True{where}: set it to False before it is used",
            at,
        )
    if cut is not None:
        return cut_reason(cut)
    if hasattr(x, "_grad"):
        return Reason(
            "stop_gradient",
            "its stop_gradient is True, which is the default of tensors that are made from "
            "values: make it with stop_gradient=False, or set x.stop_gradient = False before it "
            "is used",
        )
    blocks = "; ".join(f"{b.kind} at {lines(b.location)}" for b in recent_blocks()[:3])
    return Reason(
        "not_recorded",
        "it is the result of an operation that was not recorded: no operand of it carried a "
        "gradient, or the operation has none (a comparison, argmax, floor), or it "
        "ran where nothing is "
        "recorded" + (f" ({blocks})" if blocks else "") + ". Call explain on its operands",
    )


def _not_run(x: Tensor) -> Reason:
    cleared = getattr(x, "_cleared", None)
    if cleared is not None:
        return Reason(
            "cleared",
            f"its gradient was cleared at {lines(cleared)}, and no backward pass has reached it "
            "since: call backward() first and read .grad before clearing",
            str(cleared),
        )
    return Reason(
        "no_backward",
        "the loss depends on it, and no backward pass has run: call loss.backward() "
        "(paddle.grad returns gradients and writes no .grad)",
    )


def _without_loss(x: Tensor) -> list[Reason]:
    """What is known of the leaf alone."""
    if hasattr(x, "_cleared"):
        return [_not_run(x)]
    found = readers(x)
    if found:
        first = found[0]
        more = f" ({len(found)} operations lead on from it)" if len(found) > 1 else ""
        return [
            Reason(
                "no_backward",
                f"{first.name} at {lines(first.location)} reads it{more}, and no backward pass has "
                "run there: call backward() on a result, or explain(x, loss)",
                str(first.location),
            )
        ]
    unused = Reason(
        "unused",
        "no graph that is alive reads it: no recorded operation has used it, or the results "
        "are gone or were differentiated already. Call explain(x, loss) with the loss at hand",
    )
    known = cuts_from(x)
    return [*known, unused] if known else [unused, *cuts_perhaps_from(x)]


def _connected(target: Edge, root: Edge) -> tuple[bool, Node | None]:
    """Whether the graph of `root` leads to `target`; and the newest operation that was freed."""
    edges = walk([root])
    freed = None
    for edge in edges:
        if edge is target or root is target:
            return True, None
        if isinstance(edge, Node):
            if any(e is target for e in edge.edges):
                return True, None
            if freed is None and freed_at(edge) is not None:
                freed = edge
    return isinstance(target, Slot) and root is target, freed


def _freed(x: Tensor, node: Node, known: bool) -> list[Reason]:
    at: Any = freed_at(node)
    again = (
        "Call that pass with retain_graph=True and explain(x, loss) after it, or explain before it"
    )
    if known or x._node is not None:
        return [
            Reason(
                "graph_freed",
                f"the graph was freed by the backward pass at {lines(at)}, so what lies between "
                f"cannot be looked at. {again}",
                str(at),
            )
        ]
    if hasattr(x, "_cleared"):
        return [_not_run(x)]
    return [
        Reason(
            "not_reached",
            f"the backward pass at {lines(at)} went through the graph of the loss and freed it "
            "without reaching this leaf: the loss does not depend on it (or that pass was "
            f"paddle.grad, which writes no .grad). {again}",
            str(at),
        ),
        *cuts_perhaps_from(x),
    ]
