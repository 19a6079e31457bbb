"""Nodes whose gradient is a function of the user's: what `PyLayer.apply` puts on the tape.

The walk asks of a node's pullback what it asks of the compiled rules of an operation, so it needs
no case for these. The first entry that such a node saves is the context, which therefore goes
with the rest when the graph is freed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np

from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.locations import Location
from autograd_engine.core.spec import Spec, format_shape
from autograd_engine.eager.function_arguments import Argument, Expected, tensor_names
from autograd_engine.eager.function_saved import (
    PlainResiduals,
    RecordedResiduals,
    Source,
    names_of,
)
from autograd_engine.eager.grad_mode import grad_mode, no_grad, recording
from autograd_engine.eager.graph_cuts import NO_GRAPH, in_user_code
from autograd_engine.eager.hooks import as_seen
from autograd_engine.eager.tape import Edge, MultiNode, edge_of
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import raw

__all__ = [
    "Label",
    "LayerNode",
    "LayerOp",
    "LayerPullback",
    "OpaqueOp",
    "OpaquePullback",
    "Taking",
    "refuse_cuts",
]


class OpaqueOp:
    """The attributes of an `OpDef`, of something that is no elementary operation."""

    attrs: ClassVar[dict[str, Any]] = {}
    multiple = True
    variadic = False
    variadic_output = False
    lazy_cotangents = True
    casts = False
    random = False
    real = False
    tangent: Final = None
    hint: Final = None
    nan_hint: Final = None
    zero_gradient: Final = None
    place: Final = None
    broadcasts: Final = None
    reads_result: Final = False
    untyped: ClassVar[frozenset[str]] = frozenset()
    takes_scattered: ClassVar[frozenset[str]] = frozenset()

    __slots__ = ()

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def input_at(self, position: int) -> str:
        return self.inputs[position]

    def output_at(self, position: int) -> str:
        return self.outputs[position]

    def reads_value(self, _: int) -> bool:
        return True


class OpaquePullback:
    """The gradient of an `OpaqueOp`, as a `Pullback`; it takes one cotangent at a time."""

    batches = False
    project = 0

    __slots__ = ("op", "strong", "wanted")

    def __init__(self, op: Any, wanted: tuple[int, ...], strong: bool = False) -> None:
        self.op = op
        self.wanted = wanted
        self.strong = strong

    def _but(self, wanted: tuple[int, ...], strong: bool) -> Self:
        """One that differs in these."""
        return type(self)(self.op, wanted, strong)

    def restrict(self, wanted: tuple[int, ...]) -> Self:
        return self if wanted == self.wanted else self._but(wanted, self.strong)

    def strengthened(self) -> Self:
        return self if self.strong else self._but(self.wanted, True)


class LayerOp(OpaqueOp):
    """One call of a layer, as something that has inputs and outputs like an operation.

    Attributes
    ----------
    layer : type
        The class of the user's.
    inputs, outputs : tuple of str
    input_specs, output_specs : list of Spec
        Of the Tensors among arguments and results, in order.
    arguments : list of Argument
        Of the call, in the order of forward's parameters.
    nondiff_outputs : frozenset of str
    location : Location
        The line that called it.
    """

    __slots__ = (
        "_inputs",
        "arguments",
        "input_specs",
        "layer",
        "location",
        "name",
        "nondiff_outputs",
        "output_specs",
        "outputs",
    )

    def __init__(
        self,
        layer: Any,
        arguments: Sequence[Argument],
        input_specs: list[Spec],
        output_specs: list[Spec],
        closed: Sequence[int],
        location: Location,
    ) -> None:
        self.layer = layer
        self.name: str = layer.__name__
        self.arguments = arguments
        self.input_specs = input_specs
        self.output_specs = output_specs
        several = len(output_specs) > 1
        self.outputs = tuple([f"out_{j}" if several else "out" for j in range(len(output_specs))])
        self.nondiff_outputs = frozenset([self.outputs[j] for j in closed])
        self.location = location

    @property
    def module(self) -> str:
        return str(self.layer.__module__)

    @property
    def inputs(self) -> tuple[str, ...]:  # type: ignore[override]  # only reports ask for them
        """The names that the user's forward has for them."""
        try:
            return self._inputs
        except AttributeError:
            self._inputs: tuple[str, ...] = tuple(tensor_names(self.layer.forward, self.arguments))
            return self._inputs

    def rule_at(self, position: int) -> Any:
        """What gives its gradient; None for a Tensor that can have none."""
        return self.layer.backward if self.input_specs[position].dtype in INEXACT else None

    def infer_tuple(self, *_: Any) -> tuple[Spec, ...]:
        """The Specs of the outputs of this call, which was on operands of known ones."""
        return tuple(self.output_specs)

    @property
    def label(self) -> Label:
        """``Cube.apply at train.py:12 (y = Cube.apply(x))``"""
        return Label(self.layer, self.location)

    def __repr__(self) -> str:
        return f"<layer {self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}>"


@dataclass(eq=False, slots=True)
class Label:
    """A layer and the line that called it, put in words only when they are read."""

    layer: type[Any]
    location: Location

    def __str__(self) -> str:
        return f"{self.layer.__name__}.apply at {self.location.with_text}"


class Taking:
    """Inside the ``with`` block, code of the user's runs that has a gradient of its own.

    An exception gets a note with the line of the call. Reading values with ``.numpy()`` is no cut
    of the graph there, unless `watch` says what it is.
    """

    __slots__ = ("_before", "_function", "_label", "_watch")

    def __init__(
        self, function: str, label: Label, watch: Callable[[str, Any], None] | None = None
    ) -> None:
        self._function = function
        self._label = label
        self._watch = watch or _no_cut

    def __enter__(self) -> None:
        self._before = in_user_code.watch
        in_user_code.watch = self._watch

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        in_user_code.watch = self._before
        if isinstance(error, Exception):
            error.add_note(f"in {self._function} of {self._label}")


def _no_cut(kind: str, tensor: Tensor | None) -> None:
    """Nothing is cut: the gradient is the user's."""


def refuse_cuts(kind: str, tensor: Tensor | None) -> None:
    """What is computed from here on would have no derivative, and nobody would notice."""
    if kind == NO_GRAPH:
        raise NotDifferentiableError(
            "this computation is being differentiated (create_graph or forward mode), and it takes "
            "a gradient without create_graph=True, which has no history. Pass create_graph=True, "
            "or mark a PyLayer.backward that cannot be differentiated @once_differentiable"
        )
    if kind == "numpy()":
        raise NotDifferentiableError(
            "this computation is being differentiated (create_graph or forward mode), and it takes "
            "the values of a tensor that has a history to NumPy, where the history ends. Write it "
            "with paddle operations; mark a PyLayer.backward that cannot be @once_differentiable; "
            "or say x.detach().numpy() where the values are constants on purpose"
        )


class LayerPullback(OpaquePullback):
    """The user's backward, as the pullback of one call."""

    __slots__ = ("_sources",)

    op: LayerOp

    def __init__(
        self,
        op: LayerOp,
        wanted: tuple[int, ...],
        sources: Sequence[Source],
        strong: bool = False,
    ) -> None:
        self.op = op
        self.wanted = wanted
        self.strong = strong
        self._sources = sources

    def _but(self, wanted: tuple[int, ...], strong: bool) -> Self:
        return type(self)(self.op, wanted, self._sources, strong)

    @property
    def saved(self) -> tuple[str, ...]:
        return ("context", *names_of(self._sources, self.op.inputs, self.op.outputs))

    def pull(self, xp: Any, g: Any, saved: Any, _: Any) -> tuple[Any, ...]:
        """One cotangent for each wanted input, from those of the outputs by their index."""
        context = saved[0]
        op = self.op
        recorded = xp is not raw
        once = recorded and getattr(op.layer.backward, "once_differentiable", False)
        values: Any = saved[1] if recorded else None
        if values is None:
            values = PlainResiduals(context.kept.sources, saved[1:], self.wanted)
        elif once:
            values = values.plain
        given = [g[j] for j in range(len(op.output_specs))]
        cotangents = [
            self._cotangent(as_seen(c), j, context.materializes, plain=not recorded or once)
            for j, c in enumerate(given)
        ]
        passing = context.passing(values, op, self.wanted)
        open_graph = recorded and not once
        watch = refuse_cuts if open_graph else None
        with recording() if open_graph else no_grad():
            with Taking("backward", op.label, watch):
                returned = op.layer.backward(passing, *cotangents)
            results = self._in_order(returned)
        if recorded:
            if once:
                results = _once_only(self, results, given, saved[1])
        else:
            results = tuple([None if r is None else r._data for r in results])
        if self.strong:
            arrived = [c for c in given if c is not None]
            results = tuple([r if r is None else xp.unless_zero(r, *arrived) for r in results])
        return results

    def push(self, saved: Any, tangents: Sequence[Any]) -> Sequence[Any] | None:
        """Tangents of the outputs by the layer's own ``jvp``; None where it has none."""
        op = self.op
        jvp = getattr(op.layer, "jvp", None)
        if jvp is None:
            return None
        by_input = dict(zip(self.wanted, tangents, strict=True))
        passing = saved[0].passing(saved[1], op, self.wanted)
        with Taking("jvp", op.label, refuse_cuts if grad_mode.enabled else None):
            returned = jvp(passing, *[by_input.get(k) for k in range(len(op.input_specs))])
        results = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        if len(results) != len(op.output_specs) or isinstance(returned, dict):
            count = "a dict of" if isinstance(returned, dict) else len(results)
            raise ArgumentError(
                f"{op.name}.jvp returned {count} tangents for {len(op.output_specs)} output "
                f"Tensors; return one for each, None for zeros ({op.label})"
            )
        for j, t in enumerate(results):
            if t is not None:
                self._check(t, op.output_specs[j], f"{op.name}.jvp", j, "tangent")
        return results

    def _cotangent(self, c: Any, index: int, materializes: bool, *, plain: bool) -> Any:
        if c is None:
            spec = self.op.output_specs[index]
            return Tensor._wrap(np.zeros(spec.shape, spec.dtype)) if materializes else None
        if isinstance(c, Tensor):
            return Tensor._wrap(c._data) if plain else c
        return Tensor._wrap(np.asarray(c))

    def _in_order(self, returned: Any) -> tuple[Any, ...]:
        """What backward returned: one Tensor or None for each wanted input, checked."""
        op = self.op
        name = f"{op.name}.backward"
        expected = Expected(name, op.layer.forward, op.arguments, self.wanted, op.label)
        found = expected.by_tensor(returned)
        results = [found[k] for k in self.wanted]
        for k, r in zip(self.wanted, results, strict=True):
            if r is not None:
                self._check(r, op.input_specs[k], name, k, "gradient")
        return tuple(map(as_seen, results))

    def _check(self, value: Any, spec: Spec, function: str, position: int, what: str) -> None:
        if (
            isinstance(value, Tensor)
            and value._data.shape == spec.shape
            and value._data.dtype == spec.dtype
        ):
            return
        place = self.op.inputs[position] if what == "gradient" else f"output {position}"
        if not isinstance(value, Tensor):
            raise NotATensorError(
                f"{function} returned a {type(value).__name__} as the {what} of {place}; return a "
                f"Tensor (paddle.to_tensor), or None ({self.op.label})"
            )
        data = value._data
        if data.shape != spec.shape:
            raise ShapeError(
                f"{function} returned a {what} of shape {format_shape(data.shape)} for {place}, "
                f"which has shape {format_shape(spec.shape)}; sum it over axes that were "
                f"broadcast, or reshape it ({self.op.label})"
            )
        raise DTypeError(
            f"{function} returned a {data.dtype.name} {what} for {place}, which is "
            f"{spec.dtype.name}; use .astype({spec.dtype.name!r}) ({self.op.label})"
        )


class LayerNode(MultiNode):
    """One call of a layer. Its outputs are slots, also where there is one only."""

    __slots__ = ()

    def lifted(self, saved: tuple[Any, ...]) -> Any:
        """The context, and the saved values connected to the graph."""
        return saved[0], RecordedResiduals(self, saved[0].kept, saved[1:])


class _Once(LayerPullback):
    """In place of the derivative of a backward that has none."""

    __slots__ = ()

    def pull(self, xp: Any, g: Any, saved: Any, _: Any) -> tuple[Any, ...]:
        raise NotDifferentiableError(
            f"{self.op.name}.backward is marked @once_differentiable, and a derivative of its "
            f"result was asked for ({self.op.label}): write backward with paddle operations and "
            "take the mark off; for forward mode alone, give the layer a static method jvp"
        )

    def _but(self, wanted: tuple[int, ...], strong: bool) -> Self:
        return self


class _OnceNode(MultiNode):
    __slots__ = ()

    def lifted(self, saved: tuple[Any, ...]) -> tuple[Any, ...]:
        return saved


def _once_only(
    pullback: LayerPullback, results: tuple[Any, ...], given: Sequence[Any], lifted: Any
) -> tuple[Any, ...]:
    """`results` with a history that says, when it is differentiated, that it cannot be."""
    edges: list[Edge] = [edge_of(c) for c in given if isinstance(c, Tensor) and not c._stop]
    edges += lifted.edges.values()
    op, at = pullback.op, pullback.op.location
    nothing = Spec((), np.dtype(np.float32))
    specs = [nothing if r is None else Spec(r._data.shape, r._data.dtype) for r in results]
    refusing: Any = _Once(
        LayerOp(op.layer, op.arguments, op.input_specs, specs, (), at),
        tuple(range(len(edges))),
        (),
    )
    node = _OnceNode.of(refusing, tuple(edges), (None,), None, at.code, at.instruction)
    node.context = (), tuple(specs)
    return tuple(
        [None if r is None else Tensor._wrap(r._data, node.slot(j)) for j, r in enumerate(results)]
    )
