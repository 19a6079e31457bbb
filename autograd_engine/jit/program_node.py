"""The node of a call of a traced function: one on the tape, whatever the function computes.

A backward pass runs the backward half of the program. Before a pass that is itself recorded
(create_graph), the node is written out: the forward half is run again, operation by operation, on
the values that the call had. That gives the nodes which the function would have recorded, numbered
as if it had, and the pass, like all that come after it, goes through these. Random numbers are
those that the call drew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from autograd_engine.core.random_generator import own_generator
from autograd_engine.core.spec import Spec
from autograd_engine.eager.function_node import OpaqueOp, OpaquePullback
from autograd_engine.eager.grad_mode import recorded_with, recording
from autograd_engine.eager.tape import Edge, MultiNode, Node, WrittenOut, check_alive, connect
from autograd_engine.eager.tensor import Tensor
from autograd_engine.jit.concrete import Halves
from autograd_engine.ops.registry.scattered_cotangent import dense

__all__ = ["TracedNode", "TracedOp", "TracedPullback"]


class TracedOp(OpaqueOp):
    """A traced function as something that has inputs and outputs like an operation."""

    complete = True

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

    def rule_at(self, position: int) -> Any:
        return self if position in self.halves.wanted else None

    def infer_tuple(self, *_: Any) -> tuple[Spec, ...]:
        return tuple([r.var.spec for r in self.halves.results])

    def __repr__(self) -> str:
        return f"<traced {self.name}({', '.join(self.inputs)})>"


class TracedPullback(OpaquePullback):
    """The backward half, as a pullback.

    `wanted` has each input as often as it has parts, in the order of the edges of the node.
    """

    __slots__ = ()

    @property
    def saved(self) -> tuple[str, ...]:
        halves = self.op.halves
        return tuple([r.var.name for r in halves.saved])

    def pull(self, xp: Any, g: Any, saved: Any, _: Any) -> tuple[Any, ...]:
        """One part for each entry of `wanted`, None for those that do not arise."""
        assert xp.of_arrays  # recorded passes have it written out
        outputs = tuple([j for j in self.op.halves.open if g[j] is not None])
        return self._in_order(self._run(outputs, g, saved))

    def _run(self, outputs: tuple[int, ...], g: Any, saved: Any) -> dict[int, list[Any]]:
        halves = self.op.halves
        half = halves.backward(outputs, self.strong)
        known = dict(zip((r.key for r in halves.saved), saved, strict=False))
        given = [known[r.key] for r in half.saved]
        flat = iter(half.compiled([*given, *(dense(g[j]) for j in outputs)]))
        return {
            k: [next(flat) for _ in range(count)]
            for k, count in zip(halves.wanted, half.counts, strict=True)
        }

    def _in_order(self, parts: dict[int, list[Any]]) -> tuple[Any, ...]:
        """Parts in their places, of which there are enough for a pass from all outputs."""
        taken: Counter[int] = Counter()
        found: list[Any] = []
        for k in self.wanted:
            mine, n = parts.get(k, []), taken[k]
            taken[k] += 1
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

    __slots__ = ("draws", "given")

    given: tuple[tuple[Any, Edge | None], ...]
    draws: Callable[[], np.random.Generator] | None


class _Passing(OpaquePullback):
    """The pullback of a call that has been written out: cotangents go on to its operations.

    What is `wanted` are outputs.
    """

    batches = True
    saved = ()

    __slots__ = ()

    @staticmethod
    def lift(node: Node, saved: tuple[Any, ...]) -> tuple[Any, ...]:
        return saved

    def pull(self, xp: Any, g: Any, saved: Any, _: Any) -> tuple[Any, ...]:
        return tuple([g[j] for j in self.wanted])


def _write_out(edges: Iterable[Edge]) -> None:
    """Write out all calls that a recorded pass from `edges` can come through."""
    seen: set[int] = set()
    waiting = list(edges)
    while waiting:
        edge = waiting.pop()
        if not isinstance(edge, Node) or id(edge) in seen:
            continue
        seen.add(id(edge))
        if isinstance(edge, TracedNode) and isinstance(edge.pullback, TracedPullback):
            check_alive(edge)
            _replace(edge, edge.pullback.op)
        waiting += edge.edges


def _replace(node: TracedNode, op: TracedOp) -> None:
    halves = op.halves
    outputs = _replay(node, halves)
    reached = [j for j in halves.open if outputs[j]._node is not None]
    _number([outputs[j]._node for j in reached], node)
    # All or nothing, whatever interrupts: a pullback, its edges and what it reads go together.
    passing: Any = _Passing(op, tuple(reached))
    node.pullback, node.edges, node.saved = (
        passing,
        tuple([outputs[j]._node for j in reached]),
        (),
    )
    node.given, node.draws = (), None


def _replay(node: TracedNode, halves: Halves) -> list[Any]:
    """Run the forward half on Tensors: its results, with a history."""
    from autograd_engine.static.executor.interpreter import run_operators

    tensors: list[Any] = [
        Tensor._wrap(a) if edge is None else connect(a, edge) for a, edge in node.given
    ]
    values = {r.key: t for r, t in zip(halves.inputs, tensors, strict=True)}
    with (
        recording(),
        recorded_with(watch=None, hooks=None, contexts=False, reads=None),
        own_generator(None if node.draws is None else node.draws()),
    ):
        run_operators(halves.forward_operators, values, halves.results)
    return [values[r.key] for r in halves.results]


def _number(roots: Sequence[Any], node: TracedNode) -> None:
    """Number the nodes of a replay as if they had been recorded at `node`.

    They come between it and what was recorded before: there are enough fractions.
    """
    ends = {id(edge) for _, edge in node.given}
    found: dict[int, Node] = {}
    waiting: list[Any] = list(roots)
    while waiting:
        edge = waiting.pop()
        if isinstance(edge, Node) and id(edge) not in ends and id(edge) not in found:
            found[id(edge)] = edge
            waiting += edge.edges
    ordered = sorted(found.values(), key=lambda n: n.seq)
    for k, inner in enumerate(ordered, 1):  # the newest has the smallest number
        inner.seq = node.seq + Fraction(k, len(ordered) + 1)  # type: ignore[assignment]


WrittenOut.write = _write_out
