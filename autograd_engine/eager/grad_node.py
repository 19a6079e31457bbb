"""What leads from a tensor into the graph, as something to look at: ``Tensor.grad_fn``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograd_engine.core.locations import Location
from autograd_engine.core.spec import Spec
from autograd_engine.eager.saved_hooks import Packed
from autograd_engine.eager.tape import Edge, Node, Slot
from autograd_engine.eager.tensor import Tensor

__all__ = [
    "GradNode",
    "forward_name",
    "freed_at",
    "grad_fn",
    "grad_name",
    "lines",
    "output_of",
    "saved_entries",
]


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def forward_name(edge: Edge) -> str:
    """``Multiply``; ``Split[1]`` for one of several outputs; ``Node`` for a leaf."""
    if not isinstance(edge, Node):
        return "Node"
    suffix = f"[{edge.index}]" if isinstance(edge, Slot) else ""
    return _camel(edge.name) + suffix


def grad_name(edge: Edge) -> str:
    """``MultiplyGradNode``; ``GradNodeAccumulation`` for a leaf."""
    if not isinstance(edge, Node):
        return "GradNodeAccumulation"
    suffix = f"[{edge.index}]" if isinstance(edge, Slot) else ""
    return f"{_camel(edge.name)}GradNode{suffix}"


def output_of(edge: Edge) -> tuple[Edge, int]:
    """The operation behind a slot and which of its outputs that is; else the edge itself and 0."""
    if isinstance(edge, Slot):
        return (edge.edges[0] if edge.edges else edge), edge.index
    return edge, 0


def freed_at(node: Node) -> Location | None:
    """The line that freed what `node` saved, None while it is there."""
    saved = node.saved
    return saved if isinstance(saved, Location) else None


def lines(at: Location) -> str:
    """``train.py:12``, and the text of the line where it can be read."""
    return f"{at}  {at.text}".rstrip()


def saved_entries(node: Node) -> Iterator[tuple[str, Any]]:
    """(name, ndarray or Spec) of all that `node` keeps.

    Each array of a variadic input has an entry of its own. What `saved_tensors_hooks` have packed
    is not unpacked: its Spec stands for it.
    """
    saved = node.saved
    if isinstance(saved, Location):
        return
    names = node.pullback.saved
    values = _unpacked_specs(saved) if isinstance(saved, Packed) else saved
    if len(names) != len(values):  # an operation of the user's that keeps things its own way
        names = tuple(f"saved_{i}" for i in range(len(values)))
    for name, value in zip(names, values, strict=True):
        if isinstance(value, tuple):
            for i, item in enumerate(value):
                if isinstance(item, np.ndarray | Spec):
                    yield f"{name}[{i}]", item
        elif isinstance(value, np.ndarray | Spec):
            yield name, value


def _unpacked_specs(packed: Packed) -> tuple[Any, ...]:
    return tuple(
        entry if spec is None else _unpacked_specs(spec) if isinstance(spec, Packed) else spec
        for entry, spec in zip(packed.entries, packed.specs, strict=True)
    )


class GradNode:
    """One recorded operation, or the accumulation in a leaf, seen from a tensor.

    A view: it holds the node and nothing else, and two views of one node are equal.

    Attributes
    ----------
    next_functions : tuple of GradNode or None
        Where its cotangents go: one entry for each operand that a gradient can be taken of, None
        for one that wants none. ``(None,)`` for a leaf.
    op : str or None
        The operation; None for a leaf.
    output_index : int
        Which output of the operation the tensor is.
    location : str or None
        The user's line that recorded it, as ``train.py:12``.
    attrs : dict
        The attributes of the call.
    saved : dict of str to str
        What it keeps for its rules, by name: ``{'x': 'float32[2, 3]'}``.
    freed : str or None
        The line of the backward pass that freed it.
    variable : Tensor or None
        The leaf.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> y = paddle.sum(x * x)
    >>> y.grad_fn.name()
    'SumGradNode'
    >>> product = y.grad_fn.next_functions[0]
    >>> [node.name() for node in product.next_functions]
    ['GradNodeAccumulation', 'GradNodeAccumulation']
    >>> product.saved
    {'y': 'float32[2]', 'x': 'float32[2]'}
    """

    __slots__ = ("_edge", "output_index")

    def __init__(self, edge: Edge) -> None:
        self._edge, self.output_index = output_of(edge)

    def name(self) -> str:
        """The name of the node in the reference's style."""
        return grad_name(self._edge)

    @property
    def next_functions(self) -> tuple[GradNode | None, ...]:
        edge = self._edge
        if not isinstance(edge, Node):
            return (None,)
        pullback = edge.pullback
        by_position = dict(zip(pullback.wanted, edge.edges, strict=False))
        if not by_position:
            return ()
        op = pullback.op
        positions = range(max(len(op.inputs), max(by_position) + 1))
        return tuple(
            GradNode(by_position[k]) if k in by_position else None
            for k in positions
            if k in by_position or op.rule_at(k) is not None
        )

    @property
    def op(self) -> str | None:
        return self._edge.name if isinstance(self._edge, Node) else None

    @property
    def location(self) -> str | None:
        return str(self._edge.location) if isinstance(self._edge, Node) else None

    @property
    def attrs(self) -> dict[str, Any]:
        return dict(self._edge.attrs or {}) if isinstance(self._edge, Node) else {}

    @property
    def saved(self) -> dict[str, str]:
        if not isinstance(self._edge, Node):
            return {}
        return {name: _spec_text(value) for name, value in saved_entries(self._edge)}

    @property
    def freed(self) -> str | None:
        at = freed_at(self._edge) if isinstance(self._edge, Node) else None
        return None if at is None else str(at)

    @property
    def variable(self) -> Tensor | None:
        return None if isinstance(self._edge, Node) else self._edge

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradNode) and other._edge is self._edge

    def __hash__(self) -> int:
        return hash((GradNode, id(self._edge)))

    def __repr__(self) -> str:
        edge = self._edge
        if not isinstance(edge, Node):
            return f"<{self.name()} of {edge.name}, {_spec_text(edge)}>"
        at = freed_at(edge)
        return (
            f"<{self.name()} at {edge.location}"
            + (f", freed by the backward pass at {at}" if at is not None else "")
            + ">"
        )


def _spec_text(value: Any) -> str:
    return spec_text(value.shape, getattr(value.dtype, "name", str(value.dtype)))


def spec_text(shape: Sequence[Any], dtype: str) -> str:
    """``float32[2, 3]``."""
    return f"{dtype}[{', '.join(map(str, shape))}]"


def grad_fn(tensor: Tensor) -> GradNode | None:
    """The node that a cotangent of `tensor` goes to, None where no gradient flows."""
    if tensor._stop:
        return None
    return GradNode(tensor._node or tensor)
