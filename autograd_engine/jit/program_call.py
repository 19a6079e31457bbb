"""Tracing a function to a program, and calling it."""

from __future__ import annotations

import functools
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.compiler.live_operators import always_runs
from autograd_engine.core import pytree as nest
from autograd_engine.core.dims import SymbolicNumber, fresh_dim
from autograd_engine.core.far_array import FarArray, near
from autograd_engine.core.locations import PACKAGE_DIR, caller, user_stack
from autograd_engine.core.pass_through import passes_through
from autograd_engine.core.random_generator import generator, snapshot
from autograd_engine.core.spec import Spec
from autograd_engine.eager.far_tensor import content, place as take_place, wrapped
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.inplace import check_writable, rebind
from autograd_engine.eager.tape import Edge, edge_of
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import Path, is_alone, link_along, storage_of
from autograd_engine.errors import ArgumentError, BuildError, ExecutionError
from autograd_engine.jit import places
from autograd_engine.jit.arguments import Arguments
from autograd_engine.jit.concrete import Halves
from autograd_engine.jit.guards import Guards
from autograd_engine.jit.program_node import TracedNode, TracedOp, TracedPullback
from autograd_engine.jit.state_switch import traced
from autograd_engine.jit.tracing import Captured, Trace, Write
from autograd_engine.jit.training_step import STATES, TrainingCall, index_of
from autograd_engine.ops.registry.number_inputs import filled, taken_out
from autograd_engine.program.builder import Constant, append_write
from autograd_engine.program.ir.block import unused_name
from autograd_engine.program.ir.program import Program, Variable, program_guard
from autograd_engine.program.symbolic_number import NeedsValue
from autograd_engine.static.executor.backend_choice import chosen_backend, may_keep
from autograd_engine.static.executor.bound_program import uninterrupted

__all__ = ["Difference", "Place", "ProgramCall", "Returned", "TracedProgram", "trace_function"]


class Place:
    """Where an output is found: among results, or among what was given (and captured)."""

    __slots__ = ("given", "index")

    def __init__(self, index: int, *, given: bool = False) -> None:
        self.index = index
        self.given = given

    def pick(self, given: Sequence[Any], results: Sequence[Any]) -> Any:
        return (given if self.given else results)[self.index]


class Returned(NamedTuple):
    """What a call returns: a structure, what is in its places, and which variables that takes."""

    structure: Any
    template: list[Any]
    results: list[Variable]


class ReturnedView(NamedTuple):
    """A result that is a view of something that was given."""

    result: int
    given: int
    path: Path | None
    numbers: tuple[int, ...]  # results that are numbers of the path
    detached: bool


class ProgramCall:
    """A program, and all that it takes to call it with Tensors.

    Attributes
    ----------
    name : str
    program : Program
    inputs : list of Variable
    outputs : list of Variable
    parameters : list of Tensor
        Tensors that it uses without being given them.
    """

    def __init__(
        self,
        name: str,
        module: str,
        program: Program,
        inputs: list[Variable],
        captured: list[Captured],
        returned: Returned,
        writes: list[Write],
        wanted: list[int],
        training: TrainingCall | None = None,
        backend: str | None = None,
        views: Sequence[ReturnedView] = (),
    ) -> None:
        self.name = name
        self.program = program
        self.inputs = inputs
        self.outputs = list(returned.results)
        self._captured = captured
        self._returned = returned
        self._writes = writes
        self._views = views
        self._training = training
        every = [*inputs, *(c.var for c in captured)]
        places = {id(v): k for k, v in enumerate(every)}
        self._written = [places[id(w.var)] for w in writes]
        results = [*returned.results, *(w.result for w in writes)]
        if training is not None:  # what it records was used up inside
            every, wanted = [*every, *(s.var for s in training.slots)], []
            results = [*results, *training.results]
        self._halves = Halves(program, every, results, wanted, backend or chosen_backend(None))
        self._op = TracedOp(name, module, self._halves)
        self._draws = any(map(always_runs, self._halves.forward_operators))
        # The halves of what is recorded hand arrays to the tape, which are to be near.
        self._keeps = not self._halves.open and may_keep(self._halves.backend)

    @property
    def parameters(self) -> list[Tensor]:
        return [c.tensor for c in self._captured]

    @property
    def main_program(self) -> Program:
        return self.program

    def run(self, tensors: Sequence[Tensor]) -> Any:
        """Run the program: what the function would return."""
        given: list[Tensor] = [*tensors, *self.parameters]
        targets = [given[k] for k in self._written]
        for write, target in zip(self._writes, targets, strict=True):
            if write.rebinds:
                check_writable(target, write.call, write.instead)
            self._check_apart(target, given, write)
        if self._keeps:
            if self._training is None:
                return self._run_far(given, targets)
            # What is written over is nowhere else until it is in its place again.
            return uninterrupted(functools.partial(self._run_far, given, targets))()
        arrays = [t._data for t in given]
        training = self._training
        if training is not None:
            arrays += list(map(near, training.arrays(given)))
        records = bool(self._halves.open)
        draws = snapshot(generator()) if self._draws and records else None
        made = self._run(self._halves.forward, arrays)
        count = len(self._halves.results)
        if training is not None:
            count -= len(training.results)
        node = self._node(given, arrays, made[count:], draws) if records else None
        results = [self._wrapped(j, v, node) for j, v in enumerate(made[:count])]
        for target, write, result in self._to_write(targets, results):
            self._write(target, write, result)
        return self._handed(given, made, results)

    def _run_far(self, given: list[Tensor], targets: list[Tensor]) -> Any:
        """Run it on arrays wherever they are, and leave what it makes where that is."""
        training, count = self._training, len(self._halves.results)
        arrays: list[Any] = list(map(content, given))
        if training is not None:
            arrays += training.arrays(given)
            count -= len(training.results)
        made = self._run(self._halves.forward.where_they_are, arrays)
        for value in made[:count]:
            if isinstance(value, FarArray):
                value.shared()
        results = [wrapped(v if isinstance(v, FarArray) else np.asarray(v)) for v in made[:count]]
        for target, write, result in self._to_write(targets, results):
            if not _takes(target, result):
                self._write(target, write, result)
                continue
            take_place(target, content(result))
            if write.rebinds:
                target._version = target.inplace_version + 1
        return self._handed(given, made, results)

    def _to_write(
        self, targets: list[Tensor], results: list[Tensor]
    ) -> Iterator[tuple[Tensor, Write, Tensor]]:
        first = len(results) - len(self._writes)
        return zip(targets, self._writes, results[first:], strict=True)

    def _handed(self, given: list[Tensor], made: Sequence[Any], results: list[Tensor]) -> Any:
        """What the function returns; it has written what it writes besides."""
        training = self._training
        for view in self._views:
            path = view.path
            if view.numbers:
                path = _with_numbers(path, [int(made[k]) for k in view.numbers])
            link_along(results[view.result], given[view.given], path, detached=view.detached)
        if training is not None:
            found = made[len(results) :]
            training.write(given, [v if isinstance(v, FarArray) else np.asarray(v) for v in found])
        flat = [
            v.pick(given, results) if isinstance(v, Place) else v for v in self._returned.template
        ]
        return nest.rebuild(self._returned.structure, flat, self.name)

    def _check_apart(self, target: Tensor, given: Sequence[Tensor], write: Write) -> None:
        """A program knows of no view but those that it makes."""
        storage = storage_of(target)
        if storage is None:
            return
        for other in given:
            if other is not target and storage_of(other) is storage:
                raise BuildError(
                    f"{self.name}: {write.call} writes to {target.name}, which shares its values "
                    f"with {other.name}, and the function uses both; a program would not see the "
                    "change there: take the one from the other inside of the function"
                )

    def _run(
        self, function: Callable[[Sequence[Any]], Sequence[Any]], arrays: Sequence[Any]
    ) -> Sequence[Any]:
        try:
            return function(arrays)
        except Exception as error:
            operator = self._halves.forward.compiled.operator_at(error)
            if operator is None or passes_through(error):
                raise
            raise ExecutionError(
                f"{self.name}: {operator.type} of {operator.location} ({operator.location.text}) "
                f"failed: {error}"
            ) from error

    def _node(
        self, given: list[Tensor], arrays: list[Any], saved: Sequence[Any], draws: Any
    ) -> TracedNode:
        halves = self._halves
        counts = halves.backward(halves.open, False).counts
        edges: list[Edge] = []
        wanted: list[int] = []
        for k, count in zip(halves.wanted, counts, strict=True):
            edges += [edge_of(given[k])] * count
            wanted += [k] * count
        at = caller()
        pullback: Any = TracedPullback(self._op, tuple(wanted))
        kept = halves.keep(saved)
        node = TracedNode.of(pullback, tuple(edges), kept, None, at.code, at.instruction)
        open_inputs = set(halves.wanted)
        node.given = tuple(
            [
                (a, edge_of(t) if k in open_inputs else None)
                for k, (t, a) in enumerate(zip(given, arrays, strict=True))
            ]
        )
        node.draws = draws
        mode = grad_mode.enabled
        if mode is not True and getattr(mode, "stacks", False):
            node.stack = user_stack()
        return node

    def _wrapped(self, index: int, value: Any, node: TracedNode | None) -> Tensor:
        array = value if value.__class__ is np.ndarray else np.asarray(value)
        if node is None or index not in self._halves.open:
            return Tensor._wrap(array)
        return Tensor._wrap(array, node.slot(index))

    @staticmethod
    def _write(tensor: Tensor, write: Write, result: Tensor) -> None:
        if write.rebinds:
            rebind(tensor, result, write.call, write.instead)
        else:
            Tensor.set_value(tensor, result)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{v.name}: {list(v.shape)}" for v in self.inputs)
        return (
            f"<program of {self.name}({shapes}), {len(self._halves.forward_operators)} operators>"
        )


def _takes(target: Tensor, result: Tensor) -> bool:
    """Whether what is written to a Tensor is that it has another array, which may be far."""
    old, new = content(target), content(result)
    return (
        isinstance(new, FarArray)
        and new.shape == old.shape
        and new.dtype == old.dtype
        and target._node is None
        and is_alone(target)
    )


def trace_function(
    function: Callable[..., Any], name: str, arguments: Arguments, backend: str | None = None
) -> TracedProgram:
    """Run `function` on Variables, and make a program of what it did.

    Raises
    ------
    ModeError
        When it asks for values.
    """
    program = Program()
    trace = Trace(program, name)
    nested = arguments.rebuilt([None] * len(arguments.inputs))
    before = Guards(function, *nested)
    variables: list[Variable] = []
    with program_guard(program, Program()):
        block = program.global_block()
        for given in arguments.inputs:
            sizes = tuple([fresh_dim() if d == -1 else d for d in given.shape])
            var = Variable(
                block,
                unused_name(block, given.name),
                Spec(sizes, given.dtype),
                stop_gradient=given.stop,
                is_data=True,
            )
            variables.append(block.add_var(var))
            trace.argument(len(variables) - 1, given.tensor, var)
        args, kwargs = arguments.rebuilt(variables)
        with traced(trace), before.outside.watched():
            returned = _called(trace, function, args, kwargs)
            flat = [
                v.placed(trace.block) if v.__class__ is Constant else v
                for v in nest.leaves(returned)
            ]
        _check_no_parameters(trace)
        guards = Guards(function, *nested)
        guards.began_as(before)
        guards.outside = before.outside
        return TracedProgram(
            name,
            str(getattr(function, "__module__", "")),
            arguments,
            trace,
            variables,
            (nest.structure(returned), flat),
            guards,
            backend,
        )


def _called(trace: Trace, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        if "'Variable' object cannot be interpreted" not in str(error):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        mine = [f for f in frames if not f.filename.startswith(PACKAGE_DIR)]
        at = f"{os.path.basename(mine[-1].filename)}:{mine[-1].lineno}"
        raise NeedsValue(
            f"{trace.name}: {at} ({mine[-1].line}) takes a variable for a Python int (range, an "
            "index), and it has no value while the function is traced. Use "
            "paddle.static.nn.while_loop for a loop, paddle.gather or x[i] for an index; or run it "
            "eagerly where it cannot be traced, with to_static(full_graph=False)"
        ) from error


def _check_no_parameters(trace: Trace) -> None:
    known = {id(c.var) for c in trace.captured}
    for var in trace.program.all_parameters():
        if id(var) not in known:
            raise BuildError(
                f"{trace.name} creates the parameter {var.name} while it is traced; a program has "
                "no place for it: create parameters outside, once, and let the function use them"
            )


class Difference(NamedTuple):
    """What makes another program necessary.

    Attributes
    ----------
    what : str
    place : places.Place or None
        The place that holds another value.
    is_state : bool
        Whether it has few values, of which each has its program, as whether a leaf has a gradient.
    """

    what: str
    place: places.Place | None = None
    is_state: bool = False

    def __str__(self) -> str:
        place = self.place
        if place is None:
            return self.what
        if place.at is None:
            return f"{place.label} {place.difference()}"
        return f"{place.label}, read at {place.at.with_text}, {place.difference()}"


_SAME_TENSORS: Final = Difference("other arguments are one and the same Tensor")


class TracedProgram(ProgramCall):
    """A program that a function was traced to, with what it was made for."""

    def __init__(
        self,
        name: str,
        module: str,
        arguments: Arguments,
        trace: Trace,
        variables: list[Variable],
        returned: tuple[Any, list[Any]],
        guards: Guards,
        backend: str | None,
    ) -> None:
        self._kept = arguments.kept
        self.guards = guards
        self.draws = guards.outside.draws
        self._values = trace.values
        self._attributes = [
            (name, trace.position(t), t, read, value)
            for (_, name), (t, read, value) in trace.attributes.items()
        ]
        self._specs = [
            (c.tensor, content(c.tensor).shape, content(c.tensor).dtype, c.tensor._stop)
            for c in trace.captured
        ]
        # A Tensor that is an argument and was met elsewhere too is one variable: only that Tensor
        # will do. One that was captured must not be passed in.
        self._ids = {id(c.tensor) for c in trace.captured}
        self._same = [(k, i.tensor) for k, i in enumerate(arguments.inputs) if k in trace.met]
        every = [*variables, *(c.var for c in trace.captured)]
        indices = {id(v): k for k, v in enumerate(every)}
        results: list[Variable] = []
        template = [_placed(trace, v, indices, results) for v in returned[1]]
        writes = list(trace.writes.values())
        stops = [v.stop_gradient for v in variables] + [c.tensor._stop for c in trace.captured]
        training = TrainingCall(trace.training) if trace.trains else None
        views = _returned_views(trace, returned[1], template, indices, results)
        for write in writes:
            if write.var.persistable:
                append_write(write.var, write.result)
        # What is recorded, also by a block that switches recording on, follows from the results.
        wanted = [k for k, stop in enumerate(stops) if not stop]
        super().__init__(
            name,
            module,
            trace.program,
            variables,
            trace.captured,
            Returned(returned[0], template, results),
            writes,
            wanted,
            training,
            backend,
            views,
        )

    def differs(self, arguments: Arguments) -> Difference | None:
        """Why a call with these arguments, whose key is right, may not be run by this program."""
        for tensor, shape, dtype, stop in self._specs:
            data = content(tensor)
            if data.shape != shape or data.dtype != dtype or tensor._stop is not stop:
                return Difference(f"{tensor.name} has another shape, dtype or stop_gradient")
        if any(arguments.inputs[k].tensor is not own for k, own in self._same):
            return _SAME_TENSORS
        if any(id(i.tensor) in self._ids for i in arguments.inputs):
            return _SAME_TENSORS
        for tensor, array in self._values:
            if content(tensor) is not array:
                return Difference(f"{tensor.name}, whose values Python reads, has others")
        for name, position, known, read, value in self._attributes:
            at = known if position is None else arguments.inputs[position].tensor
            now = read(at)
            if now is not value and (isinstance(value, Tensor) or now != value):
                what = known.name if position is None else "an argument"
                return Difference(f"{what} has another {name}", is_state=name in STATES)
        if self._training is not None and not self._training.serves():
            return Difference("an optimizer has other settings")
        place = self.guards.changed()
        return None if place is None else Difference(place.label, place)

    def __call__(self, arguments: Arguments) -> Any:
        """Run the program: what the function would return."""
        tensors = [i.tensor for i in arguments.inputs if i.tensor is not None]
        if len(tensors) < len(arguments.inputs):
            raise ArgumentError(f"{self.name}: an InputSpec is no value; pass a Tensor")
        return self.run(tensors)


def _returned_views(
    trace: Trace,
    returned: list[Any],
    template: list[Any],
    given: dict[int, int],
    results: list[Variable],
) -> list[ReturnedView]:
    """Results that share their values with what was given; numbers of their paths are results."""
    found = []
    for value, place in zip(returned, template, strict=True):
        if not isinstance(value, Variable) or value not in trace.views or place.given:
            continue
        way = trace.views.way(value)
        if id(way.whole) in given and not way.unsure:
            numbers: list[SymbolicNumber] = []
            path = _without_numbers(way.path, numbers)
            first = len(results)
            results += [n.variable() for n in numbers]
            taken = tuple(range(first, len(results)))
            found.append(ReturnedView(place.index, given[id(way.whole)], path, taken, way.cut))
    return found


def _without_numbers(path: Path | None, numbers: list[SymbolicNumber]) -> Path | None:
    if path is None:
        return None
    before, op, attrs = path
    return _without_numbers(before, numbers), op, taken_out(attrs, numbers)


def _with_numbers(path: Path | None, numbers: list[int]) -> Path | None:
    if path is None:
        return None
    before, op, attrs = path
    return _with_numbers(before, numbers), op, filled(attrs, numbers)


def _placed(trace: Trace, value: Any, places: dict[int, int], results: list[Variable]) -> Any:
    """What an output is in a call."""
    if isinstance(value, Tensor):
        var = trace.variable(value)
    elif isinstance(value, Variable):
        var = value
    else:
        return value
    place = places.get(id(var))
    if place is not None:
        return Place(place, given=True)
    return Place(index_of(results, trace.latest(var)))
