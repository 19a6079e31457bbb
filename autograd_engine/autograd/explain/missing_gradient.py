"""Why a tensor has no gradient: what stands between it and the loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.autograd.explain.graph_walk import walk
from autograd_engine.autograd.explain.lost_history import (
    cut_reason,
    cuts_from,
    cuts_perhaps_from,
    lost_reasons,
    readers,
    seed_notes,
)
from autograd_engine.autograd.explain.report import Explanation, Reason
from autograd_engine.eager.grad_node import freed_at, lines
from autograd_engine.eager.graph_cuts import cut_of, recent_blocks
from autograd_engine.eager.tape import Edge, Node, Slot, edge_of
from autograd_engine.eager.tensor import Tensor

__all__ = ["explain_tensor"]


def explain_tensor(x: Tensor, loss: Tensor | None) -> Explanation:
    """`explain` for tensors."""
    grad = x.grad
    subject = _subject(x)
    if grad is not None:
        from autograd_engine.autograd.explain.values import explain_value

        return explain_value(x, subject, np.asarray(grad._data), loss)
    reasons, path = _why_none(x, loss)
    notes = [] if loss is None else seed_notes(loss)
    if x._node is not None and not x._stop and reasons and reasons[0].kind == "not_retained":
        notes.append("paddle.grad(loss, x) gives the gradient of any tensor without retaining it")
    if loss is not None and reasons and reasons[-1].kind in ("no_backward", "not_retained"):
        from autograd_engine.autograd.explain.values import preview

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
    if x._data.dtype.kind != "f":
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
