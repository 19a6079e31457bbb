"""One half of a traced program: a function of arrays, compiled for the sizes that come again.

What a backend would only hand on is none of its outputs: the forward half saves parameters for the
backward half, and of some values the shape.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autograd_engine.compiler.python.function import compile_operators
from autograd_engine.core.spec import Spec
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Operator, Ref
from autograd_engine.static.executor.backend_choice import Work
from autograd_engine.static.executor.plan import why_in_place
from autograd_engine.static.executor.specializations import Specialization, Specializations

if TYPE_CHECKING:
    from autograd_engine.compiler.backend import Compiled
    from autograd_engine.compiler.concrete_graph import Graph, Value

__all__ = ["Half"]


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
        graph.updates = self._new_values(graph, given, returned)
        graph.inputs = [graph.inputs[k] for k in given]
        self.layouts[tuple(specs)] = _Layout(given, returned)
        return graph

    def _new_values(
        self, graph: Graph, given: list[int], returned: list[tuple[int | None, Any]]
    ) -> dict[int, int]:
        """Outputs that are the new value of what an input holds: a parameter after its update."""
        places = {self.inputs[k].var.name: n for n, k in enumerate(given)}
        found: dict[int, int] = {}
        for j, (place, _) in enumerate(returned[: self.saved]):
            n = places.pop(self.outputs[j].var.name, None)
            if place is None or n is None or place in found:
                continue
            held, value = graph.inputs[given[n]], graph.outputs[place]
            if value is not held and value.spec == held.spec:
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
    backend : {"auto", "native", "numpy"}

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
            specialization = self.specializations.at(arrays)
            specialization.runs += 1
            compiled = None
            if not self.specializations.waits(specialization, specialization.runs):
                compiled = self.specializations.ready(specialization)
                if specialization.layouts is None and compiled and compiled.backend == "numpy":
                    compiled = None  # how its results are laid out is not known yet
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

    def _by(
        self, compiled: Compiled, specialization: Specialization, arrays: Sequence[Any]
    ) -> Sequence[Any] | None:
        """What a backend makes of it; None where it is to be run otherwise."""
        layout = specialization.layout
        if layout is None:
            layout = specialization.layout = self._work.layouts[tuple(specialization.specs)]
        given = [arrays[k] for k in layout.given]
        if any(a.__class__ is not np.ndarray for a in given):
            return None
        exact = compiled.backend == "numpy"
        if exact and self._branches:
            return None
        try:
            made = compiled(*given)
        except Exception as error:
            # The straight-line function says what is wrong, where something is.
            found = self.compiled.function(*arrays)
            specialization.give_up(f"it raised {type(error).__name__}: {error}")
            return found
        outputs = [
            made[j] if j is not None else arrays[k] if k.__class__ is int else k
            for j, k in layout.returned
        ]
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
