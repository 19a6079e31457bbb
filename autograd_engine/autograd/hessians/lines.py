"""The lines of a Hessian: the gradient of a recording, and the tangents of the gradient.

The two passes are those of the general way, by the same rules: pullbacks of the recording in
reverse, then `push` along the recording and along the lines of that reverse pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_engine.autograd.batching.batched import Batching
from autograd_engine.autograd.forward.pushforward import push
from autograd_engine.autograd.gradient import leads_to
from autograd_engine.autograd.hessians.kernel_trace import (
    Line,
    Lines,
    Value,
    compiled,
)
from autograd_engine.autograd.hessians.sparse_directions import OneHotBatching
from autograd_engine.core.spec import Spec
from autograd_engine.eager.tape import Edge, Node
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.ops.registry.scattered_cotangent import dense

__all__ = ["NoPlan", "Plan", "built"]

Plan = Callable[[Sequence[Any]], tuple[Any, ...]]


class NoPlan(Exception):
    """The recording holds something that is worked out the general way."""


def built(
    root: Any, nodes: list[Node], start: dict[Edge, int], inputs: Sequence[Tensor]
) -> tuple[Plan | None, str, int]:
    """The plan, the name of its text, and how many bytes its constants take; None if there is none.

    Parameters
    ----------
    root : ndarray
        The value of the function.
    nodes : list of Node
        Its recording; the root is the first.
    start : dict
        Which input each node where a history starts stands for.
    inputs : sequence of Tensor
    """
    for node in nodes:
        if node in start:
            continue
        op = node.pullback.op
        if REGISTRY.get(op.name) is not op:
            # What rules of the user's read besides their arguments may change between calls.
            return None, "", 0
    try:
        xp = Lines()
        given, saved = _saved_values(xp, nodes, start)
        needed = leads_to([nodes[0]], set(start), set())
        nodes = sorted([node for node in nodes if node in needed], key=lambda node: node.seq)
        gradients, specs = _reverse(xp, nodes, start, saved, root, len(inputs))
        reverse = list(xp.lines)
        wanted = []
        for j in range(len(inputs)):
            wanted += _columns(xp, nodes, start, saved, specs, reverse, gradients, inputs, j)
        plan, filename = compiled("hessian", xp, given, wanted)
    except Exception:
        # The general way runs the rules on arrays, and if something is wrong, says so.
        return None, "", 0
    scope: dict[str, Any] = plan.__globals__
    nbytes = sum(v.nbytes for v in scope.values() if isinstance(v, np.ndarray))
    return plan, filename, nbytes


def _saved_values(
    xp: Lines, nodes: list[Node], start: dict[Edge, int]
) -> tuple[list[Value], dict[Node, tuple[Any, ...]]]:
    given: list[Value] = []

    def value(array: Any) -> Any:
        if array.__class__ is tuple:
            return tuple([value(a) for a in array])
        if array.__class__ is not np.ndarray:
            return array
        given.append(xp.given(array.shape, array.dtype))
        return given[-1]

    saved = {node: tuple([value(a) for a in node.saved]) for node in nodes if node not in start}
    return given, saved


def _reverse(
    xp: Lines,
    nodes: list[Node],
    start: dict[Edge, int],
    saved: dict[Node, tuple[Any, ...]],
    root: Any,
    count: int,
) -> tuple[list[Value | None], dict[Node, Spec]]:
    """The gradient of each input, and the Spec of each node's output."""
    inside = set(nodes)
    cotangents: dict[Node, Any] = {}
    specs: dict[Node, Spec] = {}
    gradients: list[Value | None] = [None] * count
    for node in nodes:  # newest first
        if node is nodes[0]:
            g: Any = xp.constant(np.ones(root.shape, root.dtype))
        else:
            g = dense(cotangents.pop(node))
        specs[node] = Spec(g.shape, g.dtype)
        if node in start:
            gradients[start[node]] = g
            continue
        results = node.pullback.pull(xp, g, saved[node], node.attrs)
        for edge, r in zip(node.edges, results, strict=True):
            if r is not None and edge in inside:
                assert isinstance(edge, Node)
                old = cotangents.get(edge)
                cotangents[edge] = r if old is None else old + r
    return gradients, specs


# --- tangents


def _columns(
    xp: Lines,
    nodes: list[Node],
    start: dict[Edge, int],
    saved: dict[Node, tuple[Any, ...]],
    specs: dict[Node, Spec],
    reverse: list[Line],
    gradients: list[Value | None],
    inputs: Sequence[Tensor],
    moved: int,
) -> list[Value]:
    """Tangents of the gradients for unit directions of one of the inputs."""
    stacks = OneHotBatching(xp)
    x = inputs[moved]._data
    tangents: dict[Any, Any] = {node: stacks.units(x) for node in nodes if start.get(node) == moved}
    for node in reversed(nodes):
        along = [tangents.get(e) for e in node.edges]
        if node in start or all(t is None for t in along):
            continue
        tangents[node] = _push_node(stacks, node, saved[node], specs[node], along)
    by_value: dict[int, Any] = {}
    for node in nodes:
        if node not in start:
            _of_saved(node, saved[node], tangents, by_value)
    for line in reverse:
        _push_line(stacks, line, by_value)
    out = []
    for i, g in enumerate(gradients):
        t = None if g is None else by_value.get(g.index)
        like = inputs[i]._data
        if t is None:
            out.append(xp.constant(np.zeros((x.size, *like.shape), like.dtype)))
        else:
            out.append(stacks.stack_of(t, x.size))
    return out


def _push_node(
    xp: Batching, node: Node, saved: tuple[Any, ...], spec: Spec, along: list[Any]
) -> Any:
    """The tangent of a node of the recording."""
    pullback, op = node.pullback, node.pullback.op
    operands: list[Any] = []
    if op.tangent in ("linear", "multilinear") and op.broadcasts != 0:
        known = dict(zip(pullback.saved, saved, strict=True))
        moves = {k for k, t in zip(pullback.wanted, along, strict=True) if t is not None}
        operands = [_operand(op, k, known, moves, spec) for k in range(_count(op, known))]
    (result,) = push(
        pullback,
        saved,
        node.attrs,
        operands,
        [spec],
        along,
        lambda given: [_transposed(xp, pullback, saved, node.attrs, spec, given)],
        xp,
    )
    return result


def _count(op: Any, known: dict[str, Any]) -> int:
    """How many operands there were."""
    if not op.variadic:
        return len(op.inputs)
    name = op.inputs[-1]
    last = known.get(name, known.get(f"{name}_like"))
    if last is None:
        raise NoPlan
    return len(op.inputs) - 1 + len(last)


def _operand(op: Any, k: int, known: dict[str, Any], moves: set[int], spec: Spec) -> Any:
    """What an operand was, as far as a linear operation has to know: nodes do not keep it."""
    if not op.reads_value(k):
        return spec  # it says what the output is like
    if k in moves:
        return None
    name, fixed = op.input_at(k), len(op.inputs) - 1
    for found in (known.get(name), known.get(f"{name}_like")):
        if found is not None:
            return found[k - fixed] if op.variadic and k >= fixed else found
    raise NoPlan


def _transposed(
    xp: Batching, pullback: Pullback, saved: Any, attrs: Any, spec: Spec, given: Sequence[Any]
) -> Any:
    """The gradient of ``<pull(u), given>`` with respect to u, by the lines of the pull."""
    base: Lines = xp.base  # type: ignore[assignment]
    # A rule may be linear in u and yet be written so that its derivative reads u.
    u = base.constant(np.zeros(spec.shape, spec.dtype))
    begin = len(base.lines)
    pulled = [dense(r) for r in pullback.pull(base, u, saved, attrs)]
    lines = base.lines[begin:]
    moved = {u.index}
    for line in lines:
        if any(isinstance(o, Value) and o.index in moved for o in line.operands):
            moved.update(r.index for r in line.results)
    found: dict[int, Any] = {}
    for r, t in zip(pulled, given, strict=True):
        if isinstance(r, Value) and t is not None and r.index in moved:
            old = found.get(r.index)
            found[r.index] = t if old is None else old + t
    for line in reversed(lines):
        arrived = {i: found[r.index] for i, r in enumerate(line.results) if r.index in found}
        if not arrived:
            continue
        wanted = [
            k
            for k, o in enumerate(line.operands)
            if isinstance(o, Value) and o.index in moved and line.op.rule_at(k) is not None
        ]
        own, kept = _pullback_of(line, wanted)
        g = _Bundle(arrived) if line.op.multiple else arrived[0]
        for k, r in zip(own.wanted, own.pull(xp, g, kept, line.attrs), strict=True):
            if r is not None:
                index = line.operands[k].index
                old = found.get(index)
                found[index] = r if old is None else old + r
    return dense(found.get(u.index))


class _Bundle(dict[int, Any]):
    """Cotangents of several outputs; None where nothing has arrived."""

    def __missing__(self, _: int) -> None:
        return None


def _pullback_of(line: Line, wanted: Sequence[int]) -> tuple[Pullback, tuple[Any, ...]]:
    op = line.op
    mask = sum(1 << k for k in wanted)
    shapes = [getattr(o, "shape", ()) for o in line.operands]
    pullback = op.pullback(mask, op.projected(shapes, line.results[0].shape))
    results = (tuple(line.results),) if op.variadic_output else tuple(line.results)
    return pullback, pullback.save(*op.group(line.operands), *results)


def _of_saved(
    node: Node, saved: tuple[Any, ...], tangents: dict[Any, Any], by_value: dict[int, Any]
) -> None:
    """Tangents of what a node saved: those of its output, or of what its edges lead to."""
    pullback, op = node.pullback, node.pullback.op
    edges = dict(zip(pullback.wanted, node.edges, strict=True))
    for name, value in zip(pullback.saved, saved, strict=True):
        if name in op.outputs:
            found = [(value, tangents.get(node))]
        elif name not in op.inputs:
            continue
        else:
            first = op.inputs.index(name)
            values = value if isinstance(value, tuple) else (value,)
            found = [(v, tangents.get(edges.get(first + i))) for i, v in enumerate(values)]
        for v, t in found:
            if t is not None and isinstance(v, Value):
                by_value[v.index] = t


def _push_line(xp: Batching, line: Line, by_value: dict[int, Any]) -> None:
    """The tangents of the results of one line of the reverse pass."""
    op = line.op
    moved = [
        k
        for k, o in enumerate(line.operands)
        if isinstance(o, Value) and o.index in by_value and op.rule_at(k) is not None
    ]
    if not moved:
        return
    pullback, saved = _pullback_of(line, moved)
    along = [by_value[line.operands[k].index] for k in pullback.wanted]

    def transpose(given: Sequence[Any]) -> Sequence[Any]:
        if op.multiple:
            raise NoPlan
        return [_transposed(xp, pullback, saved, line.attrs, line.results[0].spec, given)]

    results = push(pullback, saved, line.attrs, line.operands, line.results, along, transpose, xp)
    for r, t in zip(line.results, results, strict=True):
        if t is not None:
            by_value[r.index] = t
