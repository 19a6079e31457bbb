"""Why a gradient is zero or not finite: a backward pass that is watched.

The pass goes only where it leads to the tensor, calls no hooks, writes no ``.grad`` and frees
nothing. Each operation on the way says what reached it and what it handed on; where something
becomes nothing, or finite becomes infinite, what it saved tells why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.autograd.explain.causes import forward_cause, nonfinite_cause, zero_cause
from autograd_engine.autograd.explain.graph_walk import walk
from autograd_engine.autograd.explain.lost_history import (
    described,
    path_between,
    seed_notes,
    shown_path,
)
from autograd_engine.autograd.explain.report import Explanation, Reason
from autograd_engine.autograd.gradient import leads_to
from autograd_engine.core.locations import caller
from autograd_engine.eager.grad_node import lines, output_of
from autograd_engine.eager.hooks import hooks_left_out
from autograd_engine.eager.tape import Edge, Node, Slot, edge_of, run_backward, saved_values
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import GraphFreedError

__all__ = ["explain_value", "preview"]

Array = NDArray[Any]
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
