"""A trace: what makes a program of the operations that a function runs.

Arguments of the function are Variables. A Tensor that the function finds elsewhere, in a closure
say, becomes an input of the program when an operation meets it. Nothing on the Variables has a
value, so code that asks for one is told; Tensors have values, and those that are read are guarded:
a program that was made with other values does not serve.

Variables have no memory. So a view is noted when its operation is appended; a change of it becomes
one of what it is a view of, made of operations, and a view of what has been changed is taken from
it again when it is read next. In this a function traced is the function run eagerly; see
`eager.views`. What a program cannot say is refused: other values with the old history.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import can_cast
from autograd_engine.core.locations import caller
from autograd_engine.core.random_generator import on_move
from autograd_engine.core.spec import Array, Spec, format_shape
from autograd_engine.eager.far_tensor import content
from autograd_engine.eager.grad_mode import grad_mode, no_grad, no_grad as no_grad_block, recording
from autograd_engine.eager.inplace import check_writable
from autograd_engine.eager.tensor import Parameter as EagerParameter, Tensor
from autograd_engine.eager.views import Path, put, take
from autograd_engine.errors import (
    BuildError,
    DTypeError,
    NotDifferentiableError,
    ShapeError,
)
from autograd_engine.jit.training_step import Training
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.ops.registry.number_inputs import holds_symbolic
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.builder import Number, emit
from autograd_engine.program.ir.block import unused_name
from autograd_engine.program.ir.program import (
    Block,
    Parameter,
    Program,
    Variable,
)
from autograd_engine.program.operands import constant, spec_of
from autograd_engine.program.symbolic_number import NeedsValue
from autograd_engine.tensor.setitem import written

__all__ = ["Captured", "Trace", "Write"]


class _Taken(NamedTuple):
    """A variable that shows part of another; without an operation it is that, detached."""

    view: Variable
    source: Variable
    op: Any
    attrs: dict[str, Any]
    cut: bool
    unsure: bool


class Way(NamedTuple):
    """How a view is taken from the whole; `cut` where a history ends on the way."""

    whole: Variable
    path: Path | None
    cut: bool
    unsure: bool


class TracedViews:
    """The views of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._taken: dict[int, _Taken] = {}
        self._again: dict[int, tuple[Variable, Variable]] = {}
        self._aside = False

    def __contains__(self, var: Variable) -> bool:
        return id(var) in self._taken

    @contextlib.contextmanager
    def _unnoted(self) -> Iterator[None]:
        before, self._aside = self._aside, True
        try:
            yield
        finally:
            self._aside = before

    def note(self, view: Any, x: Any, op: Any, attrs: dict[str, Any]) -> None:
        """`view` is what `op` takes from `x`; without an operation, `x` detached."""
        if self._aside or not isinstance(view, Variable):
            return
        source = self._trace.variable(x) if isinstance(x, Tensor) else x
        if not isinstance(source, Variable) or source is view:
            return
        cut = op is None or not (grad_mode.enabled or source.stop_gradient)
        moved = op is not None and op.elements == "ordered" and self._moved(source, op, attrs)
        if moved is True:
            return
        self._taken[id(view)] = _Taken(view, source, op, attrs, cut, moved is None)

    def _moved(self, source: Variable, op: Any, attrs: dict[str, Any]) -> bool | None:
        """Whether reshaping copies elements; None where sizes that are not known decide."""
        whole, path, _, _ = self.way(source)
        steps: list[Any] = []
        before: Any = path
        while before is not None:
            steps.append(before)
            before = before[0]
        if all(way.elements == "ordered" for _, way, _ in steps):
            return False
        numbers = [v for *_, taken in (*steps, (path, op, attrs)) for v in taken.values()]
        if holds_symbolic(numbers) or any(isinstance(d, Dim) for d in whole.spec.shape):
            return None
        given = take(raw, path, np.empty(whole.spec.shape, whole.spec.dtype))
        made = getattr(raw, op.name)(given, **attrs)
        return bool(made.size) and not np.may_share_memory(given, made)

    def way(self, var: Variable) -> Way:
        steps: list[_Taken] = []
        while id(var) in self._taken:
            steps.append(self._taken[id(var)])
            var = steps[-1].source
        path: Path | None = None
        for step in reversed(steps):
            if step.op is not None:
                path = path, step.op, step.attrs
        return Way(var, path, any(s.cut for s in steps), any(s.unsure for s in steps))

    def now(self, view: Variable) -> Variable:
        """What a view shows now."""
        way = self.way(view)
        whole = self._trace.now(way.whole)
        if whole is way.whole:
            return view
        block = self._trace.program.current_block()
        known = self._again.get(id(view))
        if known is not None and known[0] is whole:
            return known[1]
        with self._unnoted(), no_grad() if way.cut else recording():
            again: Variable = take(ops, way.path, whole)
            if way.cut:
                again = ops.assign(again)
                again.stop_gradient = True
        if block is self._trace.block:  # what a branch makes is not seen outside of it
            self._again[id(view)] = whole, again
        return again

    def write(
        self, view: Variable, result: Variable, call: str, instead: str, rebinds: bool
    ) -> None:
        """Let `view` be `result`, and what it is a view of with it."""
        trace = self._trace
        whole, path, cut, unsure = self.way(view)
        if unsure:
            raise BuildError(
                f"{trace.name}: {call} writes to {view.name}, which shares its values with "
                f"{whole.name} or is a copy: that depends on sizes which are not known while the "
                f"function is traced; use {instead}"
            )
        target, leaf = trace.origin(whole)
        current = trace.latest(whole)
        values = cut or not (grad_mode.enabled if rebinds else not leaf)
        plain = result.stop_gradient and (current.stop_gradient or leaf)
        if values and not plain:
            raise BuildError(
                f"{trace.name}: {call} writes to {view.name}, which was detached, or made or "
                f"written under no_grad, and changes the values of {whole.name} without their "
                f"history; a program has no gradient for that: use {instead}"
            )
        with self._unnoted(), no_grad() if values else recording():
            made = put(ops, path, current, result)
            if values and not made.stop_gradient:
                made = ops.assign(made)
        if values and leaf:
            trace.write(target, made, call, instead, rebinds=False)
        else:
            trace.write(target, made, call, instead, rebinds=rebinds)


def _stays(call: str) -> None:
    """Refuse to move the stream of random numbers while a function is traced."""
    trace = grad_mode.trace
    if trace is not None:
        raise NeedsValue(
            f"{trace.name}: {call} would happen once, while the function is traced, and not in "
            "every call; move it out of the function, or run it eagerly, with "
            "to_static(full_graph=False)"
        )


on_move.append(_stays)


class Captured(NamedTuple):
    """A Tensor that the function uses without being given it, and its variable."""

    tensor: Tensor
    var: Variable


class Write(NamedTuple):
    """What becomes of a Tensor that the function writes to.

    Attributes
    ----------
    target : Tensor or Variable
        A captured Tensor, or the variable of an argument.
    var : Variable
        Its variable.
    result : Variable
        What it is in the end.
    rebinds : bool
        Whether it takes over the history of the result, as in-place methods do, or only values.
    call, instead : str
        What wrote to it, and what to write for it.
    """

    target: Any
    var: Variable
    result: Variable
    rebinds: bool
    call: str
    instead: str


class Trace:
    """One run of a function on Variables.

    Attributes
    ----------
    program : Program
    captured : list of Captured
    values : list of (Tensor, ndarray)
        Tensors whose values Python read, with these values.
    attributes : dict of (int, str) to (Tensor, callable, object)
        Attributes of Tensors that Python read: of which, how, and what they were.
    writes : dict of int to Write
        By the id of the variable of what is written.
    met : set of int
        Arguments that the function met elsewhere, as the Tensors that they are.
    """

    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.name = name
        self.captured: list[Captured] = []
        self.values: list[tuple[Tensor, Array]] = []
        self.attributes: dict[tuple[int, str], tuple[Tensor, Any, Any]] = {}
        self.writes: dict[int, Write] = {}
        self.met: set[int] = set()
        self._training: Training | None = None
        self._arguments: dict[int, tuple[Tensor, Variable, int]] = {}
        self._variables: dict[int, Variable] = {}
        self._made: dict[int, Tensor] = {}
        # A variable that was written to, and what it is now, by the id of the first.
        self._now: dict[int, tuple[Variable, Variable]] = {}
        # Values that a leaf was given without a history: a gradient would flow to the leaf still.
        self._severed: dict[int, tuple[Variable, Variable, str]] = {}
        self.views = TracedViews(self)

    @property
    def training(self) -> Training:
        """Gradients and optimizers, where the function trains."""
        if self._training is None:
            self._training = Training(self)
        return self._training

    @property
    def trains(self) -> bool:
        return self._training is not None

    def arguments(self) -> list[tuple[Tensor, Variable]]:
        """Tensors that it is given, with their variables."""
        return [(t, v) for t, v, _ in self._arguments.values()]

    def position(self, tensor: Tensor) -> int | None:
        """Which argument it is; another Tensor comes there with another call."""
        known = self._arguments.get(id(tensor))
        return None if known is None else known[2]

    def stands_for(self, tensor: Tensor) -> Variable:
        """Its variable, whether it is an argument or not."""
        known = self._arguments.get(id(tensor))
        return self.variable(tensor) if known is None else known[1]

    @property
    def block(self) -> Block:
        return self.program.global_block()

    # --- what operations are run on

    def argument(self, position: int, tensor: Tensor | None, var: Variable) -> None:
        """`var` stands for that Tensor, wherever the function meets it."""
        if tensor is not None:
            self._arguments[id(tensor)] = tensor, var, position

    def takes(self, operands: Sequence[Any], attrs: dict[str, Any]) -> bool:
        """Whether an operation is one of the program: it takes more than numbers that are known."""
        if any(isinstance(v, Tensor) and v.__class__ is not Number for v in operands):
            return True
        return holds_symbolic(operands) or holds_symbolic(attrs.values())

    def emit(self, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
        return emit(op, operands, attrs)

    def operands(self, operands: Sequence[Any]) -> list[Any]:
        """Operands as what they are now: variables for Tensors, and the latest for variables."""
        return [self.latest(v) for v in operands]

    def latest(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            if value.__class__ is Number:
                return value
            value = self.variable(value)
        if isinstance(value, Variable):
            value = self.views.now(value) if value in self.views else self.now(value)
        severed = self._severed.get(id(value))
        if severed is not None and grad_mode.enabled:
            _, var, call = severed
            raise BuildError(
                f"{self.name}: {var.name} is a leaf that requires a gradient, and is used after "
                f"{call} gave it other values; a program has no gradient for that. Write to it at "
                "the end of the function, or outside"
            )
        return value

    def now(self, var: Variable) -> Variable:
        """What a variable that is no view has become."""
        return self._now.get(id(var), (var, var))[1]

    def note_view(self, view: Any, x: Any, op: Any, attrs: dict[str, Any]) -> None:
        """`view` is what `op` takes from `x`."""
        self.views.note(view, x, op, attrs)

    def origin(self, var: Variable) -> tuple[Any, bool]:
        """What to write to for `var`, a Tensor where it is one; and whether that is a leaf."""
        for captured in self.captured:
            if captured.var is var:
                return captured.tensor, self._is_leaf(captured.tensor, var)
        return var, self._is_leaf(var, var)

    def variable(self, tensor: Tensor) -> Variable:
        """The variable that stands for a Tensor."""
        known = self._arguments.get(id(tensor))
        if known is not None:
            self.met.add(known[2])
            return known[1]
        found = self._variables.get(id(tensor))
        if found is None or found.block.vars.get(found.name) is not found:
            found = self._constant(tensor) if id(tensor) in self._made else self._capture(tensor)
            self._variables[id(tensor)] = found
        return found

    def _capture(self, tensor: Tensor) -> Variable:
        block = self.block
        data = content(tensor)
        name = unused_name(block, tensor.name)
        spec = Spec(data.shape, data.dtype)
        if isinstance(tensor, EagerParameter):
            var: Variable = Parameter(block, name, spec, trainable=not tensor._stop)
        else:
            var = Variable(block, name, spec, stop_gradient=tensor._stop, persistable=True)
        block.add_var(var)
        self.captured.append(Captured(tensor, var))
        return var

    def _constant(self, tensor: Tensor) -> Variable:
        """A Tensor that the function has made, of numbers: new in every call."""
        array = tensor._data.copy()
        array.flags.writeable = False
        made: Variable = ops.constant(value=array)
        made.stop_gradient = tensor._stop
        return made

    def created(self, tensor: Tensor) -> None:
        """`tensor` was made while the function ran: its numbers are part of the program."""
        self._made[id(tensor)] = tensor

    def made(self, results: Sequence[Variable]) -> None:
        """Results of an operation carry no gradient where they would not eagerly."""
        if not grad_mode.enabled:
            for var in results:
                var.stop_gradient = True

    def grad(
        self,
        outputs: Any,
        inputs: Any,
        cotangents: Any,
        no_grad: Any,
        *,
        create_graph: bool,
        allow_unused: bool,
    ) -> list[Any]:
        """What `paddle.grad` is inside of the function: gradients as variables."""
        from autograd_engine.program.backward.append_backward import gradients

        sources = _listed(inputs)
        given = None if cotangents is None else [self.latest(c) for c in _listed(cotangents)]
        stops = {self.latest(v).name for v in _listed(no_grad)} if no_grad is not None else None
        found = gradients(
            [self.latest(v) for v in _listed(outputs)],
            [self.latest(v) for v in sources],
            given,
            stops,
        )
        for k, g in enumerate(found):
            if g is None and not allow_unused:
                raise NotDifferentiableError(
                    f"grad: inputs[{k}] does not appear in the graph of the outputs: nothing "
                    "computed from it reaches them, or its stop_gradient is True. Pass "
                    "allow_unused=True to get None for it"
                )
        if create_graph:
            return list(found)
        with no_grad_block():
            return [None if g is None else ops.assign(g) for g in found]

    # --- what is asked for values

    def read(self, tensor: Tensor, what: str) -> None:
        """Python reads the values of `tensor`, which the program is then made for."""
        if id(tensor) in self._made:
            return
        if id(tensor) in self._arguments or id(self._variables.get(id(tensor))) in self._now:
            raise self.needs_value(self.variable(tensor), what)
        self.values.append((tensor, tensor._data))

    def looked_at(self, tensor: Tensor, name: str, read: Any, value: Any) -> None:
        """Python reads an attribute that may change, such as ``w.grad``."""
        if id(tensor) not in self._made:
            self.attributes.setdefault((id(tensor), name), (tensor, read, value))

    def needs_value(self, var: Variable, what: str, instead: str = "") -> NeedsValue:
        at = caller()
        return NeedsValue(
            f"{self.name}: {what} at {at} ({at.text}) asks for the value of {var.name}, which has "
            f"none while the function is traced. {instead}Use paddle.static.nn.cond(pred, true_fn, "
            "false_fn) for a branch, paddle.static.nn.while_loop for a loop, paddle.where element "
            "by element; move what only looks at values out of the function; or run it eagerly "
            "where it cannot be traced, with to_static(full_graph=False)"
        )

    # --- what is written

    def write(
        self, target: Any, result: Variable, call: str, instead: str, rebinds: bool = True
    ) -> Any:
        """`target`, a Tensor or a variable, becomes `result`."""
        within = self.program.current_block()
        if within is not self.block and getattr(target, "block", None) is not within:
            raise BuildError(
                f"{self.name}: {call} writes inside a branch or loop, while the function is "
                f"traced, to what was made outside of it; use {instead}, and return it from there"
            )
        if rebinds and isinstance(target, Tensor):
            check_writable(target, call, instead)
        first = self.variable(target) if isinstance(target, Tensor) else target
        current = self.latest(first)
        if result is current:
            return target
        self._check_write(first, result, call, instead)
        if first in self.views:
            self.views.write(first, result, call, instead, rebinds)
            return target
        leaf = self._is_leaf(target, first)
        if rebinds and not leaf and not (grad_mode.enabled or current.stop_gradient):
            raise BuildError(
                f"{self.name}: {call} under no_grad changes the values of {first.name} and leaves "
                f"their history; a program has no gradient for that: use {instead}"
            )
        for key, (adopter, now) in list(self._now.items()):
            if now is first:  # which goes on with the values that it was given
                self._now[key] = adopter, ops.assign(first)
        self._now[id(first)] = first, result
        if result.stop_gradient and not current.stop_gradient and leaf:
            self._severed[id(result)] = result, first, call
        # A variable of the function's own is what it is now; others are written when it has run.
        own = (v for _, v, _ in self._arguments.values())
        if any(first is v for v in (*own, *(c.var for c in self.captured))):
            old = self.writes.get(id(first))
            rebinds = rebinds or (old is not None and old.rebinds)
            self.writes[id(first)] = Write(target, first, result, rebinds, call, instead)
        return target

    def _is_leaf(self, target: Any, var: Variable) -> bool:
        """Whether it stays a leaf that a gradient flows to, whatever values it is given."""
        if isinstance(target, Tensor):
            return target._node is None
        known = [t for t, v, _ in self._arguments.values() if v is var]
        return bool(known) and known[0]._node is None

    def _check_write(self, var: Variable, result: Variable, call: str, instead: str) -> None:
        if result.spec.shape != var.spec.shape:
            raise ShapeError(
                f"{self.name}: {call} would change the shape of {var.name} from "
                f"{format_shape(var.spec.shape)} to {format_shape(result.spec.shape)} while the "
                f"function is traced; use {instead}"
            )
        if result.spec.dtype != var.spec.dtype:
            raise DTypeError(
                f"{self.name}: {call} would change the dtype of {var.name} from "
                f"{var.spec.dtype.name} to {result.spec.dtype.name} while the function is traced; "
                f"use {instead}"
            )

    def assign_item(self, x: Any, key: Any, value: Any) -> None:
        """``x[key] = value``"""
        instead = "y = x.clone(); y[...] = value, or paddle.scatter"
        self.write(x, written(x, key, value), "x[...] = value", instead)

    def set_value(self, target: Any, value: Any) -> None:
        """``target.set_value(value)``: values without a history."""
        if not isinstance(value, (Tensor, Variable)):
            value = constant(value)
        have, given = spec_of(target).dtype, spec_of(value).dtype
        if not can_cast(given, have, "same_kind"):
            raise DTypeError(
                f"set_value: {target.name} is {have.name}, the value {given.name}; use "
                f"value.astype({have.name!r})"
            )
        made = self.latest(value)
        if given != have:
            made = ops.cast(made, dtype=have.name)
        elif not made.stop_gradient or made.is_data or made.persistable:
            made = ops.assign(made)
        made.stop_gradient = True
        self.write(target, made, "set_value", "paddle.assign", rebinds=False)


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]
