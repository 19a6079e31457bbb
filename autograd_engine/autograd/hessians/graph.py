"""The graph of a Hessian: the gradient of a recording, and the tangents of the gradient.

The two passes are those of the general way, by the same rules: pullbacks of the recording in
reverse, then `push` along the recording and along the nodes of that reverse pass. Rules never look
at values, so what the passes compute depends on shapes, dtypes and attributes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.autograd.forward.pushforward import push
from autograd_engine.autograd.gradient import leads_to
from autograd_engine.autograd.hessians.sparse_directions import OneHotBatching
from autograd_engine.autograd.hessians.straight_line import array_of, compiled
from autograd_engine.compiler.concrete_graph import Graph, Node, Value
from autograd_engine.core.dtypes import FLOAT64
from autograd_engine.core.spec import Spec
from autograd_engine.eager import tape
from autograd_engine.eager.tape import Edge
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.ops.registry.scattered_cotangent import Scattered, dense

__all__ = ["NoPlan", "Plan", "built"]

Plan = Callable[[Sequence[Any]], tuple[Any, ...]]

_LARGEST: Final = 1 << 20  # elements of a constant that is computed beforehand


class NoPlan(Exception):
    """The recording holds something that is worked out the general way."""


class _Graph(Graph):
    """Operations on constants are done when they are appended, and copies are left out."""

    def array(self, array: Any) -> Value:
        """An array that is the same each time; nobody writes to it."""
        one = array.reshape(-1)[:1]
        if one.size and array.tobytes() == one.tobytes() * array.size:
            return self.number(one[0], array.dtype, array.shape)
        return Value(self, Spec(array.shape, array.dtype), constant=array)

    def scatter(self, name: str, *operands: Any, **attrs: Any) -> Any:
        return Scattered.of(REGISTRY[name], self, operands, attrs)

    def lies_alike(self, value: Value) -> bool:
        return True

    def _folded(
        self,
        op: OpDef,
        values: Sequence[Value | Spec],
        attrs: dict[str, Any],
        specs: Sequence[Spec],
    ) -> tuple[Value, ...] | None:
        for v in values:
            if isinstance(v, Value) and v.constant is None:
                return None
        found = super()._folded(op, values, attrs, specs)
        if found is not None or op.runs_always or any(int(s.size) > _LARGEST for s in specs):
            return found
        out = op.kernel(*[array_of(v) if isinstance(v, Value) else v for v in values], **attrs)
        return tuple([self.array(np.asarray(o)) for o in (out if op.multiple else (out,))])


def built(
    root: Any, nodes: list[tape.Node], start: dict[Edge, int], inputs: Sequence[Tensor]
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
        graph = _Graph()
        values, calls = _recording(graph, nodes, start, inputs)
        found: dict[Value, Any] = {values[nodes[0]]: graph.array(np.ones(root.shape, root.dtype))}
        _pull(graph, calls, found)
        gradients = {k: dense(found[values[e]]) for e, k in start.items() if values[e] in found}
        reverse = list(graph.nodes)
        for j, x in enumerate(inputs):
            xp = OneHotBatching(graph)
            tangents = {values[e]: xp.units(x._data) for e, k in start.items() if k == j}
            for call in reversed(calls):
                _push(xp, call, tangents)
            for step in reverse:
                if not tangents.keys().isdisjoint(step.values):
                    _push(xp, _call_of(step, tangents), tangents)
            for i, y in enumerate(inputs):
                t = tangents.get(gradients[i]) if i in gradients else None
                count, like = x._data.size, y._data
                graph.outputs.append(
                    graph.number(0, like.dtype, (count, *like.shape))
                    if t is None
                    else xp.stack_of(t, count)
                )
        plan, filename = compiled("hessian", graph)
    except Exception:
        # The general way runs the rules on arrays, and if something is wrong, says so.
        return None, "", 0
    scope: dict[str, Any] = plan.__globals__
    nbytes = sum(v.nbytes for v in scope.values() if isinstance(v, np.ndarray))
    return plan, filename, nbytes


class _Call(NamedTuple):
    """A call of an operation, in the recording or in the graph, and what its rules ask for.

    Attributes
    ----------
    pullback : Pullback
    saved : tuple
    attrs : dict or None
    moving : list of Value or None
        The operands that it is for; None where no input leads to one.
    operands : sequence
        As far as a linear operation has to know them.
    results : sequence of Value
    """

    pullback: Pullback
    saved: tuple[Any, ...]
    attrs: dict[str, Any] | None
    moving: list[Value | None]
    operands: Sequence[Any]
    results: Sequence[Value]


def _recording(
    graph: _Graph, nodes: list[tape.Node], start: dict[Edge, int], inputs: Sequence[Tensor]
) -> tuple[dict[Edge, Value], list[_Call]]:
    """The value of each node, and the calls that lead to an input, newest first.

    Inputs of the graph are the saved arrays. What no node saved has no array: its value stands for
    it, and gets its Spec with its cotangent.
    """
    values: dict[Edge, Value] = {}

    def value(array: Any, edge: Edge | None = None) -> Any:
        if array.__class__ is tuple:
            return tuple([value(a) for a in array])
        if array.__class__ is not np.ndarray:
            return array
        made = graph.input(Spec(array.shape, array.dtype))
        return made if edge is None else values.setdefault(edge, made)

    saved: dict[tape.Node, tuple[Any, ...]] = {}
    for node in nodes:
        if node in start:
            continue
        edges = dict(zip(node.pullback.wanted, node.edges, strict=True))
        found = []
        for (kind, k), array in zip(node.pullback.origins, node.saved, strict=True):
            if kind == "inputs":
                found.append(tuple([value(a, edges.get(k + i)) for i, a in enumerate(array)]))
            else:
                edge: Edge | None = (
                    node.edges[k] if kind == "edge" else node if kind == "output" else None
                )
                found.append(value(array, edge))
        saved[node] = tuple(found)
    needed = leads_to([nodes[0]], set(start), set())
    for e in (*needed, *start):
        x = inputs[start[e]]._data if e in start else None
        spec: Any = None if x is None else Spec(x.shape, x.dtype)
        values.setdefault(e, Value(graph, spec))
    calls = []
    moved = [n for n in nodes if n in needed and n not in start]
    for node in sorted(moved, key=attrgetter("seq")):
        moving = [values[e] if e in needed else None for e in node.edges]
        result = values[node]
        operands = _operands(node.pullback, saved[node], moving, result)
        calls.append(_Call(node.pullback, saved[node], node.attrs, moving, operands, [result]))
    return values, calls


def _operands(
    pullback: Pullback, saved: tuple[Any, ...], moving: Sequence[Value | None], result: Value
) -> list[Any]:
    """What the operands were, as far as a linear operation has to know: nodes do not keep them."""
    op = pullback.op
    if op.tangent not in ("linear", "multilinear") or op.broadcasts == 0:
        return []
    known = dict(zip(pullback.saved, saved, strict=True))
    at = dict(zip(pullback.wanted, moving, strict=True))
    names, fixed = list(op.inputs), len(op.inputs) - 1
    if op.variadic:
        last = known.get(names[-1], known.get(f"{names[-1]}_like"))
        if last is None:
            raise NoPlan
        names[fixed:] = names[fixed:] * len(last)
    operands: list[Any] = []
    for k, name in enumerate(names):
        found = at.get(k)
        if not op.reads_value(k):
            found = result  # it says what the output is like
        elif found is None:
            found = known.get(name, known.get(f"{name}_like"))
            if found is None:
                raise NoPlan
            if op.variadic and k >= fixed:
                found = found[k - fixed]
        operands.append(found)
    return operands


def _call_of(node: Node, moved: Container[Value]) -> _Call:
    """A node, for those of its operands that are in `moved`."""
    op, operands = node.op, node.operands
    mask = sum(1 << k for k, v in enumerate(operands) if v in moved and op.rule_at(k) is not None)
    shapes = [getattr(v, "shape", ()) for v in operands]
    dtypes = [getattr(v, "dtype", FLOAT64) for v in operands]
    pullback = op.pullback(mask, op.projected(shapes, node.results[0].shape), dtypes)
    results = (node.results,) if op.variadic_output else node.results
    saved = pullback.save(*op.group(operands), *results)
    moving: list[Any] = [operands[k] for k in pullback.wanted]
    return _Call(pullback, saved, node.attrs, moving, operands, node.results)


# --- the two passes


class _Bundle(dict[int, Any]):
    """Cotangents of several outputs; None where nothing has arrived."""

    def __missing__(self, _: int) -> None:
        return None


def _pull(xp: Any, calls: Iterable[_Call], found: dict[Value, Any]) -> None:
    """Cotangents, from those in `found`, along calls of which the newest comes first."""
    for call in calls:
        arrived = {i: dense(found[r]) for i, r in enumerate(call.results) if r in found}
        if not arrived:
            continue
        for i, g in arrived.items():
            if call.results[i].spec is None:
                call.results[i].spec = Spec(g.shape, g.dtype)
        g = _Bundle(arrived) if call.pullback.op.multiple else arrived[0]
        _arrive(found, call.moving, call.pullback.pull(xp, g, call.saved, call.attrs))


def _arrive(found: dict[Value, Any], values: Iterable[Any], cotangents: Iterable[Any]) -> None:
    for v, g in zip(values, cotangents, strict=True):
        if v is not None and g is not None:
            old = found.get(v)
            found[v] = g if old is None else old + g


def _push(xp: OneHotBatching, call: _Call, tangents: dict[Value, Any]) -> None:
    """The tangents of the results of a call, from those of its operands."""
    results = push(
        call.pullback,
        call.saved,
        call.attrs,
        call.operands,
        [r.spec for r in call.results],
        [None if v is None else tangents.get(v) for v in call.moving],
        lambda given: [_transposed(xp, call, given)],
        xp,
    )
    tangents.update((r, t) for r, t in zip(call.results, results, strict=True) if t is not None)


def _transposed(xp: OneHotBatching, call: _Call, given: Sequence[Any]) -> Any:
    """The gradient of ``<pull(u), given>`` with respect to u, by the nodes of the pull."""
    if call.pullback.op.multiple:
        raise NoPlan
    graph: _Graph = xp.base  # type: ignore[assignment]
    u = Value(graph, call.results[0].spec)
    begin = len(graph.nodes)
    pulled = [dense(r) for r in call.pullback.pull(graph, u, call.saved, call.attrs)]
    # A rule may be linear in u and yet be written so that its derivative reads u.
    u.constant = np.zeros((), u.dtype)
    moved = {u}
    calls = []
    for node in graph.nodes[begin:]:
        if not moved.isdisjoint(node.values):
            calls.append(_call_of(node, moved))
            moved.update(node.results)
    found: dict[Value, Any] = {}
    _arrive(found, [r if r in moved else None for r in pulled], given)
    _pull(xp, reversed(calls), found)
    return dense(found.get(u))
