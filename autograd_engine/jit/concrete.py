"""One program that a function was traced to, compiled in two halves.

The forward half computes what the function returns, what it writes, and what the backward half
reads. The backward half gives each input its cotangents one by one, in the order in which they
arise, not their sum: the tape adds them to those from elsewhere, to the bits that it would get if
it had recorded every operation.

A half is a function of arrays, compiled for the sizes that come again. What a backend would only
hand on is none of its outputs: the forward half saves parameters for the backward half, and of some
values the shape.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from autograd_engine.compiler.backend import Listing
from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.compiler.python.function import compile_operators
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.far_array import near
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.strong_zeros import strengthened
from autograd_engine.program.backward.append_backward import pulled_back
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import (
    Operator,
    Program,
    Ref,
    Variable,
    program_guard,
)
from autograd_engine.static.executor.backend_choice import Work
from autograd_engine.static.executor.plan import why_in_place
from autograd_engine.static.executor.specializations import Specialization, Specializations

if TYPE_CHECKING:
    from autograd_engine.compiler.backend import Compiled, Keeping
    from autograd_engine.compiler.concrete_graph import Graph, Value

__all__ = ["Halves"]

RUNS_RECORDED: Final = True  # what fails here was given nothing by the call; see `user_call`


Key = tuple[str, int]


class _Layout(NamedTuple):
    """The signature of what a backend compiles, within that of the half.

    Attributes
    ----------
    given : list of int
        Positions of inputs whose values are read.
    returned : list of (int or None, int or Spec)
        For each output its position among those of the backend; or (None, the position of an
        input, or the Spec that is all that is asked for).
    """

    given: list[int]
    returned: list[tuple[int | None, Any]]

    def with_specs(self, described: Sequence[Spec]) -> _Layout:
        """The same, with Specs in the places of those that the backend was to find out."""
        rest = iter(described)
        return _Layout(
            self.given, [(j, next(rest) if k is _DESCRIBED else k) for j, k in self.returned]
        )

    def in_place(self, made: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
        """All outputs of the half, from those of the backend and what it was given."""
        return [
            made[j] if j is not None else arrays[k] if k.__class__ is int else k
            for j, k in self.returned
        ]


_DESCRIBED: Final = object()


class _HalfWork(Work):
    """The graph of a half, and how its values are put in their places."""

    def __init__(
        self,
        name: str,
        operators: Sequence[Operator],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        saved: int,
        bare: Sequence[bool],
    ) -> None:
        super().__init__(name, operators, inputs, outputs, {})
        self.saved = saved
        self.bare = bare
        self.layouts: dict[Hashable, _Layout] = {}

    def graph(self, specs: Sequence[Spec]) -> Graph:
        graph = super().graph(specs)
        places = {id(v): k for k, v in enumerate(graph.inputs)}
        made: dict[int, int] = {}
        outputs: list[Value] = []
        returned: list[tuple[int | None, Any]] = []
        for j, value in enumerate(graph.outputs):
            if self.bare[j]:
                returned.append((None, value.spec))
            elif j >= self.saved and id(value) in places:
                returned.append((None, places[id(value)]))
            else:
                if id(value) not in made:
                    made[id(value)] = len(outputs)
                    outputs.append(value)
                returned.append((made[id(value)], None))
        graph.outputs = outputs
        graph.drop_dead()
        read = {id(v) for node in graph.nodes for v in node.values} | set(made)
        given = [k for k, v in enumerate(graph.inputs) if id(v) in read]
        graph.inputs = [graph.inputs[k] for k in given]
        graph.updates = {
            j: n
            for j, n in self._new_values(given, returned).items()
            if graph.outputs[j] is not graph.inputs[n]
            and graph.outputs[j].spec == graph.inputs[n].spec
        }
        self.layouts[tuple(specs)] = _Layout(given, returned)
        return graph

    def listing(self, specs: Sequence[Spec]) -> Listing:
        places = {ref.key: k for k, ref in enumerate(self.inputs)}
        made: dict[Key, int] = {}
        outputs: list[Ref] = []
        described: list[Ref] = []
        returned: list[tuple[int | None, Any]] = []
        for j, ref in enumerate(self.outputs):
            if self.bare[j]:
                place = places.get(ref.key)
                returned.append((None, _DESCRIBED if place is None else specs[place]))
                if place is None:
                    described.append(ref)
            elif j >= self.saved and ref.key in places:
                returned.append((None, places[ref.key]))
            else:
                if ref.key not in made:
                    made[ref.key] = len(outputs)
                    outputs.append(ref)
                returned.append((made[ref.key], None))
        asked = [*outputs, *described]
        operators = live_operators(self.operators, asked)
        read = {r.key for r in asked} | {
            o.key for operator in operators for o in operator.operands if isinstance(o, Ref)
        }
        given = [k for k, ref in enumerate(self.inputs) if ref.key in read]
        self.layouts[tuple(specs)] = _Layout(given, returned)
        return Listing(
            self.name,
            operators,
            [self.inputs[k] for k in given],
            [specs[k] for k in given],
            outputs,
            {
                j: n
                for j, n in self._new_values(given, returned).items()
                if outputs[j].key != self.inputs[given[n]].key
            },
            described,
        )

    def _new_values(
        self, given: list[int], returned: list[tuple[int | None, Any]]
    ) -> dict[int, int]:
        """Outputs that may be the new value of what an input holds: a parameter after a step."""
        places = {self.inputs[k].var.name: n for n, k in enumerate(given)}
        found: dict[int, int] = {}
        for j, (place, _) in enumerate(returned[: self.saved]):
            n = places.pop(self.outputs[j].var.name, None)
            if place is not None and n is not None and place not in found:
                found[place] = n
        return found


class Half:
    """A function of arrays.

    Parameters
    ----------
    name : str
    operators : sequence of Operator
    inputs, outputs : sequence of Ref
    saved : int, optional
        Outputs from here on are kept, and nobody writes to them: they may be inputs.
    bare : sequence of bool, optional
        Outputs of which only the Spec is asked for.
    backend : {"auto", "native", "numpy", "jax"}

    Attributes
    ----------
    compiled : CompiledFunction
        The straight-line function, which serves all sizes.
    specializations : Specializations
    plain : str
        Why no backend is asked; empty where one is.
    """

    def __init__(
        self,
        name: str,
        operators: Sequence[Operator],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        saved: int | None = None,
        bare: Sequence[bool] | None = None,
        backend: str = "numpy",
    ) -> None:
        self.compiled = compile_operators(operators, inputs, outputs, name)
        count = len(outputs)
        first = count if saved is None else saved
        work = _HalfWork(name, operators, inputs, outputs, first, bare or [False] * count)
        self._work = work
        # How arrays are laid out is then known only when it has run.
        self._branches = any(isinstance(o.op, BlockOp) for o in operators)
        self.specializations = Specializations(work, backend)
        self.plain = why_in_place(operators)
        if any(ref.var.is_stack for ref in (*inputs, *outputs)):
            self.plain = "it hands over what a loop kept of its iterations"

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run it: on arrays, and on Specs where only these are asked for."""
        if not self.plain:
            return self._near(arrays, *self._compiled(arrays))
        return self.compiled.function(*arrays)

    def _near(
        self, arrays: Sequence[Any], specialization: Specialization, compiled: Compiled | None
    ) -> Sequence[Any]:
        if compiled is None:
            outputs = self.compiled.function(*arrays)
            if (
                specialization.attempts is None or specialization.layouts is None
            ):  # it may be compiled yet
                specialization.layouts = [getattr(v, "strides", None) for v in outputs]
            return outputs
        made = self._by(compiled, specialization, arrays)
        if made is not None:
            return made
        return self.compiled.function(*arrays)

    def _compiled(self, arrays: Sequence[Any]) -> tuple[Specialization, Compiled | None]:
        """What runs it for these sizes, if it is to be run by a backend."""
        specialization = self.specializations.at(arrays)
        specialization.runs += 1
        if self.specializations.waits(specialization, specialization.runs):
            return specialization, None
        compiled = self.specializations.ready(specialization)
        if specialization.layouts is None and compiled and compiled.exact:
            compiled = None  # how its results are laid out is not known yet
        return specialization, compiled

    def where_they_are(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run it on arrays of Tensors, some of them far; what it returns may be far as well."""
        if self.plain:
            return self.compiled.function(*map(near, arrays))
        specialization, compiled = self._compiled(arrays)
        if compiled is None or not compiled.keeps:
            return self._near(list(map(near, arrays)), specialization, compiled)
        layout = self._layout(specialization, compiled)
        try:
            made = cast("Keeping", compiled).step([arrays[k] for k in layout.given])
        except Exception as error:
            return self._instead(specialization, list(map(near, arrays)), error)
        return layout.in_place(made, arrays)

    def _layout(self, specialization: Specialization, compiled: Compiled) -> _Layout:
        layout: _Layout | None = specialization.layout
        if layout is None:
            layout = self._work.layouts[tuple(specialization.specs)]
            layout = specialization.layout = layout.with_specs(compiled.described)
        return layout

    def _instead(
        self, specialization: Specialization, arrays: Sequence[Any], error: Exception
    ) -> Sequence[Any]:
        """The straight-line function says what is wrong, where something is."""
        found: Sequence[Any] = self.compiled.function(*arrays)
        specialization.give_up(f"it raised {type(error).__name__}: {error}")
        return found

    def _by(
        self, compiled: Compiled, specialization: Specialization, arrays: Sequence[Any]
    ) -> Sequence[Any] | None:
        """What a backend makes of it; None where it is to be run otherwise."""
        layout = self._layout(specialization, compiled)
        given = [arrays[k] for k in layout.given]
        if any(a.__class__ is not np.ndarray for a in given):
            return None
        exact = compiled.exact
        if exact and self._branches:
            return None
        try:
            made = compiled(*given)
        except Exception as error:
            return self._instead(specialization, arrays, error)
        outputs = layout.in_place(made, arrays)
        return _laid_out(outputs, specialization.layouts) if exact else outputs


def _laid_out(
    outputs: list[Any], layouts: Sequence[tuple[int, ...] | None] | None
) -> list[Any] | None:
    """Outputs with the strides that the straight-line function gives them.

    A product of matrices has other bits where an operand is one number that is seen many times.
    """
    for j, strides in enumerate(layouts or ()):
        array = outputs[j]
        if strides is None or array.__class__ is Spec or array.strides == strides:
            continue
        laid = with_strides(array, strides)
        if laid is None:
            return None
        outputs[j] = laid
    return outputs


def with_strides(array: Any, strides: tuple[int, ...]) -> Any:
    """The same values in another layout; None where no layout of whole arrays has these strides."""
    shape = array.shape
    kept = tuple(
        [
            slice(0, 1) if s == 0 and n > 1 else slice(None)
            for n, s in zip(shape, strides, strict=True)
        ]
    )
    small = array[kept]
    order = sorted(range(array.ndim), key=lambda k: -strides[k])
    inverse = np.argsort(order)
    laid = np.array(small.transpose(order), order="C").transpose(inverse)
    laid = np.broadcast_to(laid, shape)
    same = all(a == b or n <= 1 for a, b, n in zip(laid.strides, strides, shape, strict=True))
    return laid if same else None


_ADD_N = REGISTRY["add_n"]


class Backward(NamedTuple):
    """The backward half for some of the outputs.

    Attributes
    ----------
    compiled : Half
        Takes the `saved` values, then the cotangents; returns the parts of the gradients.
    saved : list of Ref
    counts : list of int
        How many parts each input has.
    """

    compiled: Half
    saved: list[Ref]
    counts: list[int]


class Halves:
    """A program as two functions of arrays.

    Parameters
    ----------
    program : Program
    inputs : list of Variable
        What it is given: arguments, then captured Tensors.
    results : list of Variable
        What it returns and writes.
    wanted : list of int
        Inputs that want a gradient.
    backend : {"auto", "native", "numpy", "jax"}
    """

    def __init__(
        self,
        program: Program,
        inputs: list[Variable],
        results: list[Variable],
        wanted: list[int],
        backend: str = "numpy",
    ) -> None:
        self.program = program
        self.backend = backend
        self.inputs = [Ref(v, 0) for v in inputs]
        self.results = [Ref(v, v.version) for v in results]
        self.wanted = wanted
        self._lock = renewed_lock()
        self._backward: dict[tuple[tuple[int, ...], bool], Backward] = {}
        self.open = self._with_gradient()
        self.forward_operators: list[Operator] = []
        self.saved: list[Ref] = []
        self.as_spec: list[bool] = []
        self.forward = self._compile_forward()

    def _with_gradient(self) -> tuple[int, ...]:
        """Results that some input's gradient flows from."""
        reached = {self.inputs[k].key for k in self.wanted}
        for operator in self.program.global_block().ops:
            if any(isinstance(o, Ref) and o.key in reached for o in operator.operands):
                reached.update(r.key for r in operator.results if not r.var.stop_gradient)
        own = {r.key for r in self.inputs}
        return tuple(
            k
            for k, r in enumerate(self.results)
            if r.key in reached and r.key not in own and r.var.spec.dtype in INEXACT
        )

    def _compile_forward(self) -> Half:
        """With all that a backward pass from every output reads among what it returns."""
        block = self.program.global_block()
        found = self._gradients(self.open, strong=False) if self.open else None
        self.forward_operators = live_operators(block.ops, self.results)
        if found is not None:
            first = self._backward[self.open, False] = self._half(*found, None)
            self.saved = first.saved
        outputs = [*self.results, *self.saved]
        bare = [False] * len(self.results) + self.as_spec
        return Half(
            "forward",
            self.forward_operators,
            self.inputs,
            outputs,
            saved=len(self.results),
            bare=bare,
            backend=self.backend,
        )

    # --- the backward half

    def backward(self, outputs: tuple[int, ...], strong: bool) -> Backward:
        """What takes cotangents of these results to the inputs."""
        with self._lock:
            found = self._backward.get((outputs, strong))
            if found is None:
                targets, gradients_found = self._gradients(outputs, strong)
                available = {r.key for r in self.saved}
                found = self._half(targets, gradients_found, available)
                self._backward[outputs, strong] = found
            return found

    def _gradients(
        self, outputs: tuple[int, ...], strong: bool
    ) -> tuple[list[Variable], list[Variable | None]]:
        """Append them; (cotangents that are given, gradients of the wanted inputs)."""
        block = self.program.global_block()
        seeds = []
        for k in outputs:
            ref = self.results[k]
            name = f"{ref.var.name}@COTANGENT"
            seed = block.vars.get(name)
            if seed is None:
                seed = Variable(block, name, ref.var.spec, stop_gradient=True, is_data=True)
                block.add_var(seed)
            seeds.append(seed)
        targets = [self.results[k].var for k in outputs]
        inputs = [self.inputs[k].var for k in self.wanted]
        with strengthened(strong), program_guard(self.program):
            return seeds, pulled_back(targets, inputs, seeds)

    def _half(
        self,
        seeds: list[Variable],
        found: Sequence[Variable | None],
        available: set[Key] | None,
    ) -> Backward:
        """Compile what leads from cotangents and saved values to the parts of gradients."""
        block = self.program.global_block()
        makers = {r.key: o for o in block.ops for r in o.results}
        parts: list[Ref] = []
        counts = []
        for gradient in found:
            mine: list[Ref] = []
            if gradient is not None:
                ref = Ref(gradient, gradient.version)
                maker = makers.get(ref.key)
                mine = [ref]
                if maker is not None and maker.op is _ADD_N:
                    mine = [o for o in maker.operands if isinstance(o, Ref)]
            counts.append(len(mine))
            parts += mine
        given = {(v.name, v.version) for v in seeds}
        if available is None:  # everything that the forward half has computed
            available = {r.key for o in self.forward_operators for r in o.results}
            available |= {r.key for r in self.inputs}
        operators = _between(block.ops, parts, available | given)
        made = {r.key for o in operators for r in o.results}
        saved: dict[Key, Ref] = {}
        values: set[Key] = set()
        asked = [
            (o, operator.op.reads_value(k))
            for operator in operators
            for k, o in enumerate(operator.operands)
            if isinstance(o, Ref)
        ]
        for ref, value in [*asked, *((p, True) for p in parts)]:
            if ref.key not in made and ref.key not in given:
                saved[ref.key] = ref
                if value:
                    values.add(ref.key)
        refs = list(saved.values())
        if not self._backward:
            self.as_spec = [r.key not in values for r in refs]
        inputs = [*refs, *(Ref(v, 0) for v in seeds)]
        compiled = Half("backward", operators, inputs, parts, backend=self.backend)
        return Backward(compiled, refs, counts)

    def keep(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Saved values; of what is asked for its shape only, that."""
        return tuple(
            [
                Spec(v.shape, v.dtype) if bare and v.__class__ is not Spec else v
                for v, bare in zip(values, self.as_spec, strict=True)
            ]
        )


def _between(
    operators: Sequence[Operator], targets: Sequence[Ref], available: set[Key]
) -> list[Operator]:
    """What computes `targets` from what is `available`."""
    wanted = {r.key for r in targets} - available
    found = []
    for operator in reversed(operators):
        if any(r.key in wanted for r in operator.results):
            found.append(operator)
            wanted.update(
                o.key for o in operator.operands if isinstance(o, Ref) and o.key not in available
            )
    return found[::-1]
