"""One walk over a recorded graph, for everything that looks at it.

No recursion, so the depth of the graph does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.spec import Spec
from autograd_engine.eager.grad_node import output_of, saved_entries
from autograd_engine.eager.tape import Edge, Node
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError

__all__ = ["arrows", "base_of", "specs_of", "walk"]


def arrows(node: Node) -> Iterator[tuple[int, Edge, int]]:
    """(operand, the operation or leaf that made it, which of its outputs) for each edge."""
    for position, edge in zip(node.pullback.wanted, node.edges, strict=False):
        yield (position, *output_of(edge))


def walk(roots: Iterable[Edge]) -> list[Edge]:
    """All operations that `roots` lead back to, newest first, then the leaves as they are met.

    Slots are left out: an operation with several outputs is there once.
    """
    seen: set[Edge] = set()
    stack = [output_of(edge)[0] for edge in roots]
    nodes: list[Node] = []
    leaves: list[Edge] = []
    while stack:
        edge = stack.pop()
        if edge in seen:
            continue
        seen.add(edge)
        if isinstance(edge, Node):
            nodes.append(edge)
            stack += [source for _, source, _ in arrows(edge) if source not in seen]
        else:
            leaves.append(edge)
    nodes.sort(key=lambda node: node.seq)
    return [*nodes, *leaves]


def specs_of(
    edges: list[Edge], known: dict[tuple[Edge, int], Spec]
) -> dict[tuple[Edge, int], Spec]:
    """Shape and dtype of the values in a graph, as far as can be told without running anything.

    Nodes do not keep them. Rules that read a value, or its shape, say it; an operation that
    broadcasts tells which of its operands have the shape of its result; the rest is inferred.

    Parameters
    ----------
    edges : list
        From `walk`.
    known : dict
        By (operation or leaf, output), what is known of the results at hand.
    """
    specs = dict(known)
    for edge in edges:
        if isinstance(edge, Tensor):
            specs[edge, 0] = Spec(edge._data.shape, edge._data.dtype)
    nodes = [edge for edge in edges if isinstance(edge, Node)]
    for node in nodes:
        _from_saved(node, specs)
    for node in reversed(nodes):
        _forwards(node, specs)
    for node in nodes:
        _backwards(node, specs)
    for node in reversed(nodes):
        _forwards(node, specs)
    return specs


def _saved_specs(node: Node, names: Sequence[str | None]) -> Iterator[tuple[int, Spec]]:
    """What `node` keeps of its inputs or outputs of these names, with their positions."""
    for name, value in saved_entries(node):
        base, _, index = name.removesuffix("]").partition("[")
        if base not in names:
            base = base.removesuffix("_like")
        if base in names:
            yield names.index(base) + int(index or 0), Spec(value.shape, value.dtype)


def _operand_specs(node: Node) -> dict[int, Spec]:
    """What `node` keeps of its operands, by position."""
    return dict(_saved_specs(node, node.pullback.op.inputs))


def _from_saved(node: Node, specs: dict[tuple[Edge, int], Spec]) -> None:
    op = node.pullback.op
    operands = _operand_specs(node)
    for position, source, output in arrows(node):
        if position in operands:
            specs.setdefault((source, output), operands[position])
    own = [None if name in op.inputs else name for name in op.outputs]
    for output, spec in _saved_specs(node, own):
        specs.setdefault((node, output), spec)


def _stretched(node: Node, position: int) -> bool:
    """Whether broadcasting may have given the result another shape than this operand's."""
    return bool(node.pullback.op.broadcasts != 0 or node.pullback.project >> position & 1)


def _forwards(node: Node, specs: dict[tuple[Edge, int], Spec]) -> None:
    """The result from the operands."""
    op = node.pullback.op
    if (node, 0) in specs:
        return
    operands = _operand_specs(node)
    for position, source, output in arrows(node):
        if (source, output) in specs:
            operands[position] = specs[source, output]
            if not _stretched(node, position) and not op.casts:
                specs[node, 0] = operands[position]
                return
    count = len(op.inputs)
    if not op.variadic and len(operands) == count:
        try:
            inferred = op.infer_tuple([operands[k] for k in range(count)], node.attrs or {})
        except (ShapeError, DTypeError, ArgumentError, TypeError, ValueError, IndexError):
            return  # a value that takes part in the inference is not kept
        for output, spec in enumerate(inferred):
            specs.setdefault((node, output), spec)


def _backwards(node: Node, specs: dict[tuple[Edge, int], Spec]) -> None:
    """The operands of an elementwise operation from its result."""
    spec = specs.get((node, 0))
    if spec is None or node.pullback.op.casts:
        return
    for position, source, output in arrows(node):
        if not _stretched(node, position):
            specs.setdefault((source, output), spec)


def base_of(array: NDArray[Any]) -> NDArray[Any]:
    """The array that owns the memory that `array` is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
