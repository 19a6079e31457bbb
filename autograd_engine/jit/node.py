"""The node of a call of a traced function: one on the tape, whatever the function computes.

A backward pass runs the backward half of the program. A pass that is itself recorded (create_graph)
runs the forward half again, operation by operation, on the values that the call had: that gives the
nodes which the function would have recorded, numbered as if it had, and the pass goes through
these. Random numbers are those that the call drew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from autograd_engine.eager.grad_mode import recorded_with, recording
from autograd_engine.eager.tape import (
    Edge,
    MultiNode,
    Node,
    Slot,
    Terms,
    connect,
    saved_values,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.generator import own_generator
from autograd_engine.jit.concrete import Halves
from autograd_engine.namespace import ops, raw
from autograd_engine.scattered import Scattered, dense
from autograd_engine.spec import Spec

__all__ = ["TracedNode", "TracedOp", "TracedPullback"]


class TracedOp:
    """A traced function as something that has inputs and outputs like an operation."""

    attrs: ClassVar[dict[str, Any]] = {}
    multiple = True
    variadic = False
    variadic_output = False
    lazy_cotangents = True
    casts = False
    random = False
    real = False
    complete = True
    tangent: Final = None
    place: Final = None
    broadcasts: Final = None
    untyped: ClassVar[frozenset[str]] = frozenset()
    takes_scattered: ClassVar[frozenset[str]] = frozenset()

    __slots__ = ("halves", "inputs", "module", "name", "nondiff_outputs", "outputs")

    def __init__(self, name: str, module: str, halves: Halves) -> None:
        self.name = name
        self.module = module
        self.halves = halves
        self.inputs = tuple(r.var.name for r in halves.inputs)
        self.outputs = tuple(f"out_{j}" for j in range(len(halves.results)))
        self.nondiff_outputs = frozenset(
            name for j, name in enumerate(self.outputs) if j not in halves.open
        )

    def input_at(self, position: int) -> str:
        return self.inputs[position]

    def output_at(self, position: int) -> str:
        return self.outputs[position]

    def reads_value(self, _: int) -> bool:
        return True

    def rule_at(self, position: int) -> Any:
        return self if position in self.halves.wanted else None

    def infer_tuple(self, *_: Any) -> tuple[Spec, ...]:
        return tuple([r.var.spec for r in self.halves.results])

    def __repr__(self) -> str:
        return f"<traced {self.name}({', '.join(self.inputs)})>"


class TracedPullback:
    """The backward half, as a pullback.

    `wanted` has each input as often as it has parts, in the order of the edges of the node.
    """

    batches = False
    project = 0

    __slots__ = ("_keep", "op", "strong", "wanted")

    def __init__(
        self,
        op: TracedOp,
        wanted: tuple[int, ...],
        keep: tuple[int, ...] | None = None,
        strong: bool = False,
    ) -> None:
        self.op = op
        self.wanted = wanted
        self._keep = keep  # which inputs are followed
        self.strong = strong

    @property
    def saved(self) -> tuple[str, ...]:
        halves = self.op.halves
        return tuple([r.var.name for r in halves.saved])

    def restrict(self, wanted: tuple[int, ...]) -> TracedPullback:
        if wanted == self.wanted:
            return self
        return TracedPullback(self.op, wanted, wanted, self.strong)

    def strengthened(self) -> TracedPullback:
        return self if self.strong else TracedPullback(self.op, self.wanted, self._keep, True)

    def bare(self, position: int) -> TracedPullback:
        return self.restrict(tuple([k for k in self.wanted if k == position]))

    def pull(self, xp: Any, g: Any, saved: Any, _: Any) -> tuple[Any, ...]:
        """One part for each entry of `wanted`, None for those that do not arise."""
        outputs = tuple([j for j in self.op.halves.open if g[j] is not None])
        if xp is raw:
            parts = self._run(outputs, g, saved)
        else:
            parts = saved[0].parts({j: g[j] for j in outputs}, self.strong)
        return self._in_order(parts)

    def _run(self, outputs: tuple[int, ...], g: Any, saved: Any) -> dict[int, list[Any]]:
        halves = self.op.halves
        half = halves.backward(outputs, self.strong)
        known = dict(zip((r.key for r in halves.saved), saved, strict=False))
        given = [known[r.key] for r in half.saved]
        flat = iter(half.compiled.function(*given, *(dense(g[j]) for j in outputs)))
        return {
            k: [next(flat) for _ in range(count)]
            for k, count in zip(halves.wanted, half.counts, strict=True)
        }

    def _in_order(self, parts: dict[int, list[Any]]) -> tuple[Any, ...]:
        """Parts in their places; there are never more than places, unless several edges are one."""
        room = Counter(self.wanted)
        taken: Counter[int] = Counter()
        found: list[Any] = []
        for k in self.wanted:
            mine = parts.get(k, [])
            n = taken[k]
            taken[k] += 1
            if n == room[k] - 1 and len(mine) > room[k]:
                found.append(ops.add_n(*mine[n:]))
            else:
                found.append(mine[n] if n < len(mine) else None)
        return tuple(found)


class TracedNode(MultiNode):
    """One call of a traced function.

    Attributes
    ----------
    given : tuple
        For each input, its array and where its cotangents go (None where they go nowhere).
    draws : callable or None
        Makes generators that draw what the call drew.
    """

    __slots__ = ("again", "draws", "given")

    given: tuple[tuple[Any, Edge | None], ...]
    draws: Callable[[], np.random.Generator] | None
    again: Again

    def lifted(self, saved: tuple[Any, ...]) -> Any:
        """What a recorded pass goes through, in place of what was saved."""
        try:
            return (self.again,)
        except AttributeError:
            self.again = Again(self)
            return (self.again,)


class Again:
    """The operations of one call, recorded."""

    def __init__(self, node: TracedNode) -> None:
        op: Any = node.pullback.op
        self._halves: Halves = op.halves
        self._given = node.given
        self._outputs = _replay(node, self._halves)
        self._inner = _inside(self._outputs, node)

    def parts(self, cotangents: dict[int, Any], strong: bool) -> dict[int, list[Any]]:
        """Cotangents of the inputs, each with its history."""
        arrived = _walk([(self._outputs[j], g) for j, g in cotangents.items()], self._inner, strong)
        return {
            k: arrived.get(edge, [])
            for k in self._halves.wanted
            if (edge := self._given[k][1]) is not None
        }


def _replay(node: TracedNode, halves: Halves) -> list[Any]:
    """Run the forward half on Tensors: its results, with a history."""
    from autograd_engine.static.eagerly import run_operators

    tensors: list[Any] = [
        Tensor._wrap(a) if edge is None else connect(a, edge) for a, edge in node.given
    ]
    values = {r.key: t for r, t in zip(halves.inputs, tensors, strict=True)}
    with (
        recording(),
        recorded_with(watch=None, hooks=None, contexts=False),
        own_generator(None if node.draws is None else node.draws()),
    ):
        run_operators(halves.forward_operators, values)
    return [values.get(r.key) for r in halves.results]


def _inside(outputs: Sequence[Any], node: TracedNode) -> list[Node]:
    """Nodes of a replay, newest first, numbered as if they had been recorded at `node`."""
    own = {id(edge) for _, edge in node.given}
    found: dict[int, Node] = {}
    waiting: list[Any] = [t._node for t in outputs if t is not None]
    while waiting:
        edge = waiting.pop()
        if isinstance(edge, Node) and id(edge) not in own and id(edge) not in found:
            found[id(edge)] = edge
            waiting += edge.edges
    ordered = sorted(found.values(), key=lambda n: n.seq)
    step = 1.0 / (len(ordered) + 1)
    for k, inner in enumerate(ordered):  # the newest has the smallest number, next to the node's
        inner.seq = node.seq + (k + 1) * step  # type: ignore[assignment]
    return ordered


def _walk(
    roots: Sequence[tuple[Any, Any]], inner: Sequence[Node], strong: bool
) -> dict[Edge, list[Any]]:
    """A recorded pass through `inner`; what arrives at edges that lead out of it, in order."""
    members = {id(n) for n in inner}
    expected = Counter(id(e) for n in inner for e in n.edges if id(e) in members)
    inside: dict[int, Any] = {}
    out: dict[Edge, list[Any]] = {}

    def arrive(edge: Any, g: Any) -> None:
        if id(edge) not in members:
            out.setdefault(edge, []).append(dense(g))
            return
        old = inside.get(id(edge))
        inside[id(edge)] = g if old is None else _plus(old, g, expected[id(edge)])

    for tensor, g in roots:
        if tensor is not None and not tensor._stop:
            arrive(tensor._node or tensor, g)
            expected[id(tensor._node)] += 1
    for node in inner:
        g = inside.pop(id(node), None)
        if g is None:
            continue
        if g.__class__ is Terms or g.__class__ is Scattered:
            g = g.dense()
        if isinstance(node, Slot):
            results: tuple[Any, ...] = (node.bundle(g),)
        else:
            pullback = node.pullback.strengthened() if strong else node.pullback
            results = ops.pull(pullback, g, node.lifted(saved_values(node)), node.attrs)
        for edge, gi in zip(node.edges, results, strict=True):
            if gi is not None:
                arrive(edge, gi)
    return out


def _plus(old: Any, new: Any, expected: int) -> Any:
    """Summed by one operation when all are there, as the tape does in a recorded pass."""
    if isinstance(old, dict):  # a Bundle
        return old + new
    if old.__class__ is Scattered or new.__class__ is Scattered:
        return (old.dense() if old.__class__ is Terms else old) + new
    terms = old if old.__class__ is Terms else Terms(ops, [old])
    terms.parts.append(new)
    return terms if len(terms.parts) < expected else terms.dense()
