"""What a user's forward keeps for its backward: tensors as arrays, and how each is connected.

A context may not hold tensors itself. One that is an output leads to the node that holds the
context, which is a cycle; and one of any kind has lost its history, for the forward ran without
recording. So each Tensor that was saved, or is in an attribute, is replaced by a number, and its
array is saved with the node, with what it is:

- an input or an output of the layer, whose edge the graph knows;
- a tensor with a history of its own, recorded outside or under `enable_grad` inside;
- none of these. If it holds floats, then the forward computed it, and nothing has recorded how.
  To differentiate through it the forward is run again, recorded; see `RecordedResiduals`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.spec import Array
from autograd_engine.eager.grad_mode import recording
from autograd_engine.eager.tape import Edge, MultiNode, connect, edge_of
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotDifferentiableError

__all__ = [
    "Again",
    "Residuals",
    "RecordedResiduals",
    "Number",
    "PlainResiduals",
    "Source",
    "Snapshot",
    "find_source",
    "map_tensors",
    "names_of",
    "weakly",
]


class Number(NamedTuple):
    """Stands for a Tensor in what a context keeps."""

    place: int


def map_tensors(function: Callable[[Any], Any], value: Any, of: type = Tensor) -> Any:
    """`value` with `function` applied to each Tensor in it, tuples, lists and dicts looked into.

    What holds none is returned as it is, not copied.
    """
    if isinstance(value, of):
        return function(value)
    if isinstance(value, (tuple, list)):
        items, changed = [], False
        for v in value:
            new = map_tensors(function, v, of)
            changed = changed or new is not v
            items.append(new)
        if not changed:
            return value
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        mapped = {k: map_tensors(function, v, of) for k, v in value.items()}
        return value if all(mapped[k] is v for k, v in value.items()) else mapped
    return value


class Snapshot(NamedTuple):
    """A Tensor at the moment when it was saved: it may be written to afterwards."""

    tensor: Tensor
    array: Array
    edge: Edge | None

    @staticmethod
    def of(tensor: Tensor) -> Snapshot:
        return Snapshot(tensor, tensor._data, None if tensor._stop else edge_of(tensor))


class Source(NamedTuple):
    """What a saved array is: ``kind`` is input, output, own, computed or constant."""

    kind: str
    at: Any = None


class Again(NamedTuple):
    """All that it takes to run a forward again.

    Attributes
    ----------
    run : callable
        Given the inputs in place of the Tensors, returns what the context then keeps.
    inputs : tuple of weak references
        The arrays of the inputs. Weak, for to keep what was not saved is not ours to decide.
    label : Label
        The layer and the line that called it.
    """

    run: Callable[[Sequence[Tensor]], list[Tensor]]
    inputs: tuple[Any, ...]
    label: Any


class Residuals:
    """Arrays that were saved, and what each is.

    Attributes
    ----------
    arrays : list of ndarray
    sources : list of Source
    again : Again or None
        Only where something was computed.
    """

    __slots__ = ("again", "arrays", "sources")

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.sources: list[Source] = []
        self.again: Again | None = None

    def add(self, source: Source, array: Array) -> Number:
        self.arrays.append(array)
        self.sources.append(source)
        return Number(len(self.arrays) - 1)

    @property
    def computed(self) -> bool:
        """Whether there is a value whose history nobody knows."""
        return any(s.kind == "computed" for s in self.sources)


def names_of(
    sources: Sequence[Source], inputs: Sequence[str], outputs: Sequence[str]
) -> tuple[str, ...]:
    """What each value is called in reports of what is saved."""
    places = {"input": inputs, "output": outputs}
    return tuple(
        places[s.kind][s.at] if s.kind in places else f"saved_{i}" for i, s in enumerate(sources)
    )


def find_source(
    taken: Snapshot, inputs: Sequence[Snapshot], outputs: Sequence[tuple[Tensor, Array]]
) -> Source:
    """What a saved tensor is: by its identity first, by that of its array where it is an alias."""
    tensor, array, edge = taken
    for k, known in enumerate(inputs):
        if known.tensor is tensor and known.array is array:
            return Source("input", k)
    for j, (output, data) in enumerate(outputs):
        if output is tensor and data is array:
            return Source("output", j)
    if array.dtype not in INEXACT:
        return Source("constant")
    if edge is not None:
        return Source("own", edge)
    for k, known in enumerate(inputs):
        if known.array is array:
            return Source("input", k)
    for j, (_, data) in enumerate(outputs):
        if data is array:
            return Source("output", j)
    return Source("computed")


class PlainResiduals:
    """Saved values where nothing is recorded: each a Tensor of its own.

    Those of inputs that want a gradient say so, as the inputs did.
    """

    __slots__ = ("_arrays", "_open", "_sources")

    def __init__(
        self, sources: Sequence[Source], arrays: Sequence[Array], wanted: Sequence[int]
    ) -> None:
        self._sources = sources
        self._arrays = arrays
        self._open = wanted

    def __getitem__(self, index: int) -> Tensor:
        kind, at = self._sources[index]
        array = self._arrays[index]
        if kind == "own":
            return connect(array, at)
        if (kind == "input" and at in self._open) or (kind == "output" and array.dtype in INEXACT):
            return Tensor._leaf(array)
        return Tensor._wrap(array)


class RecordedResiduals:
    """Saved values where the backward is itself recorded: connected to the graph.

    A value that the forward computed has no history. To find it, the forward is run once more on
    the same inputs, connected and recorded, and what it saves then is the same value with its
    history. That this is so is checked, bit by bit. Where it cannot be done, an error says what to
    save instead: without history, second derivatives would lack a term and nobody would notice.
    """

    __slots__ = ("_again", "_arrays", "_node", "_sources", "_with_history", "edges", "plain")

    def __init__(self, node: MultiNode, kept: Residuals, arrays: Sequence[Array]) -> None:
        self._node = node
        self._sources = kept.sources
        self._again = kept.again
        self._arrays = arrays
        self.edges: Mapping[int, Edge] = dict(zip(node.pullback.wanted, node.edges, strict=True))
        self._with_history: list[Tensor] | None = None
        self.plain = PlainResiduals(kept.sources, arrays, node.pullback.wanted)

    def __getitem__(self, index: int) -> Tensor:
        kind, at = self._sources[index]
        array = self._arrays[index]
        if kind == "input":
            return connect(array, self.edges.get(at))
        if kind == "output":
            op = self._node.pullback.op
            closed = op.output_at(at) in op.nondiff_outputs
            return connect(array, None if closed else self._node.slot(at))
        if kind == "own":
            return connect(array, at)
        return self._computed(index) if kind == "computed" else Tensor._wrap(array)

    def _computed(self, index: int) -> Tensor:
        if self._with_history is None:
            self._with_history = self._run_again()
        tensor = self._with_history[index]
        if tensor._stop:
            assert self._again is not None
            raise NotDifferentiableError(
                f"{self._again.label}: forward saved a tensor ({_spec(tensor._data)}) that is "
                "neither an input nor an output, and no recorded operation leads to it from the "
                "inputs, so a derivative of the gradient would silently lack its part. Save "
                "inputs and outputs, and compute it from them in backward; if it does not depend "
                "on the inputs, keep it as an ndarray (ctx.mask = mask.numpy())"
            )
        return tensor

    def _run_again(self) -> list[Tensor]:
        again = self._again
        assert again is not None
        known = {
            s.at: a for s, a in zip(self._sources, self._arrays, strict=True) if s[0] == "input"
        }
        inputs = []
        for k, reference in enumerate(again.inputs):
            array = known.get(k)
            array = reference() if array is None else array
            if array is None:
                raise NotDifferentiableError(
                    f"{again.label}: forward saved a value that it computed, and to differentiate "
                    f"through it forward has to run again, but its input {k} is gone. Save the "
                    "inputs too, with ctx.save_for_backward, or compute the value in backward"
                )
            inputs.append(connect(array, self.edges.get(k)))
        with recording():
            found = again.run(inputs)
        same = len(found) == len(self._arrays) and all(
            _same_bits(t._data, a) for t, a in zip(found, self._arrays, strict=True)
        )
        if not same:
            raise NotDifferentiableError(
                f"{again.label}: forward saved a value that it computed, and to differentiate "
                "through it forward was run again, but saved other values than before: it draws "
                "random numbers, or reads what has changed since. Save inputs and outputs, and "
                "compute the value from them in backward"
            )
        return found


def _same_bits(a: Array, b: Array) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def _spec(array: Array) -> str:
    return f"{array.dtype.name}{list(array.shape)}"


def weakly(arrays: Sequence[Array]) -> tuple[Any, ...]:
    """Weak references to arrays."""
    return tuple([weakref.ref(np.asarray(a)) for a in arrays])
