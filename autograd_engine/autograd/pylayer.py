"""``autograd.PyLayer``: a function of tensors with a gradient that the user writes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from sys import _getframe
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.locations import Location, user_frame_from
from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import Spec
from autograd_engine.eager.function_arguments import Argument, Parameters
from autograd_engine.eager.function_node import (
    Label,
    LayerNode,
    LayerOp,
    LayerPullback,
    Taking,
    refuse_cuts,
)
from autograd_engine.eager.function_saved import (
    Again,
    Number,
    Residuals,
    Snapshot,
    find_source,
    map_tensors,
    weakly,
)
from autograd_engine.eager.grad_mode import Recorder, grad_mode, no_grad
from autograd_engine.eager.record import record_more
from autograd_engine.eager.tape import Edge, connect
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import carried_by, is_alone, overwrite, write_values
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    ModeError,
    NotATensorError,
    NotDifferentiableError,
)
from autograd_engine.ops.registry.namespace import ops

if TYPE_CHECKING:
    from autograd_engine.nn.call_types import HasLayerForward

__all__ = ["Function", "PyLayer", "PyLayerContext", "once_differentiable"]

P = ParamSpec("P")
R = TypeVar("R")


class PyLayerContext:
    """What forward hands to backward: tensors that were saved, and attributes of any kind.

    It is the first argument of `PyLayer.forward` and `PyLayer.backward`, made by
    `PyLayer.apply`. Any attribute may be set on it. Tensors in attributes, also in tuples, lists
    and dicts, are kept as saved ones are: with the values of the forward pass, connected to the
    graph where a gradient of the gradient is computed, and given up when the graph is freed.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        Whether a gradient is asked for, by argument of forward, in the order of its parameters;
        False for what is no Tensor, or was left out in front of another.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> class Scale(paddle.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x, factor):
    ...         ctx.factor = factor
    ...         return x * factor
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * ctx.factor
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> Scale.apply(x, 3.0).sum().backward()
    >>> x.grad.tolist()
    [3.0, 3.0]
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_attributes",
        "_closed",
        "_saved",
        "_values",
        "kept",
        "materializes",
        "needs_input_grad",
    )

    kept: Residuals
    needs_input_grad: tuple[Any, ...]

    def __init__(self) -> None:
        self._saved: Any = None  # in forward with a Snapshot for each Tensor, afterwards a Number
        self._attributes: dict[str, Any] = {}
        self._closed: tuple[Tensor, ...] = ()
        self._values: Any = None
        self.materializes = True

    def save_for_backward(self, *values: Any) -> None:
        """Keep `values` for backward, as they are now; once, for a second call replaces the first.

        Parameters
        ----------
        *values
            Tensors, tuples, lists or dicts of Tensors, or anything else.

        Notes
        -----
        Save inputs and outputs where that is possible. A value that forward has computed has no
        history, as forward is not recorded; to differentiate the gradient again, forward has to
        run a second time, which is done, or refused with an error, when it is needed.
        """
        self._saved = map_tensors(Snapshot.of, values)

    def saved_tensor(self) -> Any:
        """What `save_for_backward` was given, as a tuple; None where it was not called."""
        if self._values is None:
            if hasattr(self, "kept"):
                raise ArgumentError(
                    "saved_tensor: forward is over, and what it saved is in the context that "
                    "backward gets; this one is forward's"
                )
            return map_tensors(lambda taken: taken.tensor, self._saved, Snapshot)
        return self._restored(self._saved)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """`saved_tensor` under PyTorch's name; empty where nothing was saved."""
        return self.saved_tensor() or ()

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say, in forward, which of its outputs carry no gradient. Integer ones never do."""
        for t in tensors:
            if not isinstance(t, Tensor):
                raise NotATensorError(
                    "mark_non_differentiable takes outputs of forward, which are Tensors; got "
                    f"{type(t).__name__}"
                )
        self._closed = tensors

    def mark_not_inplace(self, *tensors: Any) -> None:
        """Accepted: an input that is returned as it was is another Tensor in any case."""

    def mark_dirty(self, *tensors: Any) -> None:
        """Accepted: an input that forward writes to and returns is noticed."""

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for outputs that nothing came from."""
        require_bools("set_materialize_grads", value=value)
        self.materializes = value

    def set_grad_in_dtype_consistent(self, value: bool) -> None:
        """Accepted: the gradient of an output always has its dtype."""

    def passing(self, values: Any, op: LayerOp, wanted: Sequence[int]) -> PyLayerContext:
        """The context that one backward pass sees. Attributes are shared, saved values its own."""
        new = PyLayerContext()
        new.__dict__ = self.__dict__
        new._saved, new._attributes, new._values = self._saved, self._attributes, values
        flags = [k in wanted for k in range(len(op.input_specs))]
        new.needs_input_grad = _needs(op.arguments, flags)
        return new

    def _restored(self, kept: Any) -> Any:
        values = self._values
        return map_tensors(lambda number: values[number.place], kept, Number)

    def __getattr__(self, name: str) -> Any:
        kept = self._attributes
        if name not in kept:
            raise AttributeError(
                f"this context has no attribute {name!r}; set it in forward (ctx.{name} = ...)"
            )
        if self._values is None:
            raise AttributeError(
                f"{name!r} was kept for backward, whose context has it: this one is forward's"
            )
        return self._restored(kept[name])


def _needs(arguments: Sequence[Argument], flags: Sequence[bool]) -> tuple[bool, ...]:
    """By argument, from those of the Tensors in them."""
    rest = iter(flags)
    return tuple([sum([next(rest) for _ in a.paths]) > 0 for a in arguments])


class PyLayer:
    """A function of tensors with a gradient of the user's own.

    Derive a class with two static methods. ``forward(ctx, *args, **kwargs)`` computes; nothing in
    it is recorded. ``backward(ctx, *grads)`` gets the gradient of each Tensor that forward
    returned, and returns one for each Tensor that forward took, in the order of forward's
    parameters, whatever the order of keywords in the call, Tensors in lists, tuples and dicts
    included; or one for each argument, None for what is no Tensor and a list for a list of Tensors;
    or a dict with the names of arguments as its keys. None stands for zero. Call ``apply``.

    Where the gradient is to be differentiated again (``create_graph``, forward mode), backward is
    recorded, and what was saved is connected to the graph: written with paddle operations, it is
    differentiable to any order. One that computes in another way is marked `once_differentiable`.
    Forward mode transposes backward; a static method ``jvp(ctx, *tangents)``, with a tangent or
    None for each Tensor that forward took, is used instead where there is one.

    Outputs are a Tensor, or a tuple or list in which there is one at least; the rest may be
    anything. An input that forward returns as it is becomes another Tensor with the same values.
    One that forward writes to and returns is itself the result, as after any in-place method.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> class Cube(paddle.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensor()
    ...         return g * 3.0 * x * x
    >>> x = paddle.to_tensor(2.0, stop_gradient=False)
    >>> (first,) = paddle.grad(Cube.apply(x), x, create_graph=True)
    >>> (second,) = paddle.grad(first, x)
    >>> first.item(), second.item()
    (12.0, 12.0)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise ArgumentTypeError(
            f"a PyLayer is not instantiated: call {cls.__name__}.apply(...), which runs forward"
        )

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; to be written by the user."""
        raise NotImplementedError(
            "this PyLayer has no forward: write @staticmethod def forward(ctx, *args)"
        )

    @staticmethod
    def backward(ctx: Any, *grads: Any, **kwargs: Any) -> Any:
        """Map gradients of the outputs to gradients of the inputs; to be written by the user."""
        raise NotImplementedError(
            "this PyLayer has no backward: write @staticmethod def backward(ctx, *grads)"
        )

    @classmethod
    def apply(cls: type[HasLayerForward[P, R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run forward, and record the call with backward as its gradient.

        Parameters
        ----------
        *args, **kwargs
            For forward.

        Returns
        -------
        As forward does, each Tensor with its history.

        Raises
        ------
        ArgumentError
            When forward returns no Tensor.
        ModeError
            For Variables of a program; register an operation with `defop` for both modes.
        """
        layer: Any = cls
        applied: R = _apply(layer, args, kwargs)
        return applied


Function = PyLayer  # its name in PyTorch


def once_differentiable(backward: Callable[P, R]) -> Callable[P, R]:
    """Mark a `PyLayer.backward` that cannot itself be differentiated, as one that uses NumPy.

    It is never recorded; an error tells when a derivative of its result is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> class Sine(paddle.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return paddle.sin(x)
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensor()
    ...         return paddle.to_tensor(g.numpy() * np.cos(x.numpy()))
    >>> x = paddle.to_tensor(0.0, stop_gradient=False)
    >>> Sine.apply(x).backward()
    >>> x.grad.item()
    1.0
    """
    function = backward.__func__ if isinstance(backward, staticmethod) else backward
    if not callable(function):
        raise ArgumentTypeError(
            "once_differentiable decorates the backward of a PyLayer, got "
            f"{type(function).__name__}"
        )

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    wrapped.once_differentiable = True  # type: ignore[attr-defined]
    return staticmethod(wrapped) if isinstance(backward, staticmethod) else wrapped


# --- apply


class _Arguments:
    """The Tensors among the arguments of a call, and where they are."""

    __slots__ = ("arguments", "before", "tensors")

    def __init__(self, layer: type, given: Sequence[tuple[int | str, Any]]) -> None:
        self.tensors: list[Tensor] = []
        self.arguments: list[Argument] = []
        for key, value in given:
            paths: list[tuple[Any, ...]] = []
            self._collect(layer, value, (), paths)
            self.arguments.append(Argument(key, tuple(paths)))
        self.before = [Snapshot.of(t) for t in self.tensors]

    def _collect(
        self, layer: type, value: Any, path: tuple[Any, ...], paths: list[tuple[Any, ...]]
    ) -> None:
        if isinstance(value, Tensor):
            self.tensors.append(value)
            paths.append(path)
        elif isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                self._collect(layer, item, (*path, i), paths)
        elif isinstance(value, dict):
            for name, item in value.items():
                self._collect(layer, item, (*path, name), paths)
        elif isinstance(value, Operand):
            raise ModeError(
                f"{layer.__name__}.apply: a PyLayer runs on eager Tensors, and was given a "
                "Variable of a program; register an operation with paddle.autograd.defop, which "
                "works in both modes"
            )


def _apply(layer: type[PyLayer], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    frame = user_frame_from(_getframe(1))
    label = Label(layer, Location(frame.f_code, frame.f_lasti))
    given: list[tuple[int | str, Any]] = list(enumerate(args))
    if kwargs:
        named = Parameters.of(layer.forward).in_order(len(args), kwargs)
        kwargs = {name: kwargs[name] for name in named if name in kwargs}
        given += [(name, kwargs.get(name)) for name in named]
    arguments = _Arguments(layer, given)
    open_inputs = [not t._stop for t in arguments.tensors]
    mode = grad_mode.enabled
    context = PyLayerContext()
    context.needs_input_grad = _needs(arguments.arguments, open_inputs)
    with Taking("forward", label), no_grad():
        returned = layer.forward(context, *args, **kwargs)
    found: list[Tensor] = []
    map_tensors(found.append, returned)
    if not found or isinstance(returned, dict):
        raise ArgumentError(
            f"{layer.__name__}.forward must return a Tensor, or a tuple or list with one Tensor at "
            f"least; got {_described(returned)} ({label})"
        )
    outputs = [(t, t._data) for t in found]
    node = None
    if mode and any(open_inputs):
        _refuse_lost_writes(arguments, found, label)
        node = _record(label, arguments, outputs, context, (args, kwargs))
        if mode.__class__ is Recorder:
            arrays = [a for _, a, _ in arguments.before]
            record_more(mode, node, arguments.tensors, arrays, tuple([a for _, a in outputs]))
    numbers = iter(range(len(outputs)))
    return map_tensors(lambda t: _result(t, next(numbers), node, arguments), returned)


def _described(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        inside = ", ".join(type(v).__name__ for v in value)
        return f"a {type(value).__name__} of {inside}" if inside else f"an empty {value!r}"
    return "a dict" if isinstance(value, dict) else type(value).__name__


def _refuse_lost_writes(arguments: _Arguments, outputs: list[Tensor], label: Label) -> None:
    """Writing to an input is fine where it is returned; else its history would be lost."""
    for k, (tensor, array, edge) in enumerate(arguments.before):
        if tensor._data is array or edge is None:
            continue
        if edge is tensor:
            why = "is a leaf that requires a gradient; write to a copy, x.clone()"
        elif carried_by(tensor) is not None:
            why = "is a view of a leaf that requires a gradient; write to a copy, x.clone()"
        elif any(t is tensor for t in outputs):
            continue
        else:
            why = "has a history, and does not return it; return it too, or write to x.clone()"
            tensor._node = edge  # type: ignore[assignment]
        write_values(tensor, array)
        tensor._stop = False
        raise NotDifferentiableError(f"{label}: forward writes to its Tensor {k}, which {why}")


def _record(
    label: Label,
    arguments: _Arguments,
    outputs: list[tuple[Tensor, Any]],
    context: PyLayerContext,
    given: tuple[Any, Any],
) -> LayerNode:
    before = arguments.before
    for t in context._closed:
        if not any(t is output for output, _ in outputs):
            raise ArgumentError(
                f"{label}: mark_non_differentiable was given a Tensor that "
                "forward does not return; mark the outputs themselves"
            )
    closed = []
    for j, (output, data) in enumerate(outputs):
        if data.dtype not in INEXACT or any(output is t for t in context._closed):
            closed.append(j)
    op = LayerOp(
        label.layer,
        arguments.arguments,
        [Spec(a.shape, a.dtype) for _, a, _ in before],
        [Spec(a.shape, a.dtype) for _, a in outputs],
        closed,
        label.location,
    )
    kept = _keep(context, before, outputs)
    if kept.computed:
        kept.again = _again(label, context, arguments, given)
    edges: list[tuple[int, Edge]] = [
        (k, taken.edge) for k, taken in enumerate(before) if taken.edge is not None
    ]
    pullback: Any = LayerPullback(op, tuple([k for k, _ in edges]), kept.sources)
    return LayerNode.of(
        pullback,
        tuple([e for _, e in edges]),
        (context, *kept.arrays),
        None,
        label.location.code,
        label.location.instruction,
    )


def _keep(
    context: PyLayerContext, inputs: Sequence[Snapshot], outputs: Sequence[tuple[Tensor, Any]]
) -> Residuals:
    """Take the Tensors out of the context; their arrays are saved with the node."""
    kept = context.kept = Residuals()

    def take(taken: Snapshot) -> Number:
        return kept.add(find_source(taken, inputs, outputs), taken.array)

    context._saved = map_tensors(take, context._saved, Snapshot)
    for name, value in list(context.__dict__.items()):
        changed = map_tensors(lambda t: take(Snapshot.of(t)), value)
        if changed is not value:
            context._attributes[name] = changed
            del context.__dict__[name]
    context._closed = ()
    return kept


def _again(
    label: Label, context: PyLayerContext, arguments: _Arguments, given: tuple[Any, Any]
) -> Again:
    numbers = iter(range(len(arguments.tensors)))
    args, kwargs = map_tensors(lambda _: Number(next(numbers)), given)
    needs = context.needs_input_grad

    def run(inputs: Sequence[Tensor]) -> list[Tensor]:
        # Tensors of their own, no leaves: forward may write to them.
        own = [ops.assign(t) for t in inputs]
        trial = PyLayerContext()
        trial.needs_input_grad = needs
        with Taking("forward", label, refuse_cuts):
            label.layer.forward(
                trial,
                *map_tensors(lambda n: own[n.place], args, Number),
                **map_tensors(lambda n: own[n.place], kwargs, Number),
            )
        found: list[Tensor] = []

        def take(taken: Snapshot) -> None:
            found.append(connect(taken.array, taken.edge))

        map_tensors(take, trial._saved, Snapshot)
        for value in trial.__dict__.values():
            map_tensors(lambda t: take(Snapshot.of(t)), value)
        return found

    return Again(run, weakly([a for _, a, _ in arguments.before]), label)


def _result(tensor: Tensor, index: int, node: LayerNode | None, arguments: _Arguments) -> Tensor:
    """An output with its history: another Tensor, but for an input that forward has written to."""
    data = tensor._data
    written = any(t is tensor and a is not data for t, a, _ in arguments.before)
    if node is None:
        return tensor if written else Tensor._wrap(data)
    op = node.pullback.op
    slot = None if op.output_at(index) in op.nondiff_outputs else node.slot(index)
    if not written:
        return Tensor._wrap(data, slot)
    if is_alone(tensor):
        tensor._node, tensor._stop = slot, slot is None
    else:
        overwrite(tensor, Tensor._wrap(data, slot), f"{op.name}.apply", counts=False)
    return tensor
