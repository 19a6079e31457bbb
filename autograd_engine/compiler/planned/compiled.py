"""Planned functions with memory: calls that return new arrays, and runs bound to arrays."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from autograd_engine.compiler.arena import aligned
from autograd_engine.compiler.backend import HostArrays, Placement
from autograd_engine.compiler.concrete_graph import Graph
from autograd_engine.compiler.planned.buffers import Buffer, Place
from autograd_engine.compiler.planned.kernels import SCRATCH
from autograd_engine.compiler.planned.planner import Plan, Strides, planned
from autograd_engine.compiler.planned.steps import Loop
from autograd_engine.core.locations import forget_generated
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops.kernels.scratch import Scratch
from autograd_engine.program.ir.program import Operator

__all__ = ["BoundRun", "Planned", "compile_planned"]


def compile_planned(graph: Graph, name: str, *, fast: bool = False) -> Planned:
    """A graph as a straight-line function on planned buffers.

    Parameters
    ----------
    graph : Graph
        Of known sizes; see `concrete_graph`.
    name : str
        Of the function, seen in tracebacks and profiles.
    fast : bool
        Allow sums of products of matrices to be one product. Results are then rounded in another
        way than in eager mode; else they have the same bits.

    Returns
    -------
    Planned
    """
    return Planned(graph, name, fast=fast)


class Planned:
    """A graph compiled for NumPy; see `compiler.backend.Compiled`."""

    backend = "numpy"
    exact = True
    one_call = False
    keeps = False
    described: Sequence[Spec] = ()

    def __init__(self, graph: Graph, name: str, *, fast: bool = False) -> None:
        self.graph = graph
        self.name = name
        self.fast = fast
        self.updates = dict(graph.updates)
        self._lock = renewed_lock()
        self._plans: dict[Any, Plan] = {}
        self._idle: dict[Any, list[_Run]] = {}

    @property
    def source(self) -> str:
        """The text of the function that was written last."""
        return self._last().text.source

    def _last(self) -> Plan:
        """The plan that was made last."""
        if not self._plans:
            self._plan(True, [None] * len(self.graph.inputs))
        return next(reversed(self._plans.values()))

    def _plan(self, bound: bool, strides: Sequence[Strides]) -> Plan:
        key = (bound, tuple(strides))
        with self._lock:
            plan = self._plans.get(key)
            if plan is None:
                plan = planned(self.graph, self.name, strides, bound=bound, fast=self.fast)
                self._plans[key] = plan
                weakref.finalize(plan, forget_generated, plan.text.filename)
        return plan

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The outputs as arrays of their own; nothing that was given is written."""
        strides = tuple([None if a.flags.c_contiguous else a.strides for a in arrays])
        idle = self._idle.get(strides)
        if idle is None:
            idle = self._idle.setdefault(strides, [])
        try:
            run = idle.pop()  # taken by this thread alone
        except IndexError:
            run = _Run(self._plan(False, strides))
        run.give(arrays)
        try:
            return tuple(run.function())
        finally:
            run.forget()
            idle.append(run)

    def bind(self, arrays: Sequence[Array]) -> BoundRun:
        """A run on these arrays, in place; see `compiler.backend.Bound`."""
        return BoundRun(self, arrays)

    def placements(self) -> list[Placement]:
        """Where each operation runs."""
        return list(self._last().placements)

    def operator_at(self, error: BaseException) -> Operator | None:
        """The operator whose line raised `error`."""
        found = None
        for plan in list(self._plans.values()):
            trace = error.__traceback__
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == plan.text.filename:
                    found = plan.text.lines.get(trace.tb_lineno, found)
                trace = trace.tb_next
            for inner in plan.inner:
                found = inner.operator_at(error) or found
        return found


class _Run:
    """A planned function with memory of its own, for one thread at a time."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        text = plan.text
        self.scope = dict(text.scope)
        self.scope[SCRATCH] = Scratch()
        for name, value in text.scope.items():
            if isinstance(value, FunctionType) and value.__globals__ is text.scope:
                self.scope[name] = FunctionType(value.__code__, self.scope, name)
        self.function = self.scope[text.name]
        self.memory = aligned(plan.nbytes)
        self.blocks: dict[Buffer, Array] = {}
        self.inputs: dict[int, list[tuple[str, Place]]] = {}
        self.loops: dict[int, set[str]] = {}
        self.given: dict[int, Array] = {}
        for name, place in text.places.items():
            if isinstance(place.base, int):
                self.inputs.setdefault(place.base, []).append((name, place))
            else:
                self.scope[name] = self.array(place)
        for name, loop in text.loops.items():
            bases = {p.base for one in loop.passes for p in one.places if isinstance(p.base, int)}
            for base in bases:
                self.loops.setdefault(base, set()).add(name)
            if not bases:
                self.scope[name] = self._blocks(loop)

    def array(self, place: Place) -> Array:
        """The array at a place."""
        base = place.base
        if isinstance(base, np.ndarray):
            return _seen(base, place)
        if isinstance(base, int):
            return _seen(self.given[base], place)
        root, shift = base.root()
        if root.persistent:
            memory = self.blocks.get(root)
            if memory is None:
                memory = self.blocks[root] = aligned(root.nbytes)
                memory.fill(0)
        else:
            memory, shift = self.memory, shift + self.plan.offsets[root]
        offset = shift + place.offset
        return np.ndarray(place.shape, place.dtype, memory, offset, place.strides)

    def give(self, arrays: Sequence[Array]) -> None:
        """Let the inputs be these."""
        for k, array in enumerate(arrays):
            self.given[k] = array
            for name, place in self.inputs.get(k, ()):
                self.scope[name] = _seen(array, place)
        for name in {n for names in self.loops.values() for n in names}:
            self.scope[name] = self._blocks(self.plan.text.loops[name])

    def give_one(self, k: int, array: Array) -> None:
        self.given[k] = array
        for name, place in self.inputs.get(k, ()):
            self.scope[name] = _seen(array, place)
        for name in self.loops.get(k, ()):
            self.scope[name] = self._blocks(self.plan.text.loops[name])

    def forget(self) -> None:
        """Keep nothing of the caller's alive."""
        for listed in self.inputs.values():
            for name, _ in listed:
                self.scope[name] = None
        for names in self.loops.values():
            for name in names:
                self.scope[name] = None
        self.given.clear()

    def _blocks(self, loop: Loop) -> list[tuple[Array, ...]]:
        """For each block what the body of the loop names."""
        made = []
        scratch = [self.array(p) for p in loop.scratch]
        for one in loop.passes:
            arrays = [self.array(p) for p in one.places]
            for start in range(0, one.length, one.block):
                stop = min(start + one.block, one.length)
                n = stop - start
                parts = [
                    a[start:stop] if kind == "part" else a[:n] if kind == "head" else a
                    for a, kind in zip(arrays, loop.kinds, strict=True)
                ]
                made.append((*parts, *[t if len(t) == n else t[:n] for t in scratch]))
        return made


class BoundRun(HostArrays):
    """A run on fixed memory, of one thread at a time; see `compiler.backend.Bound`.

    Attributes
    ----------
    arrays : list of ndarray
        The inputs: those that `updates` names are the state, which each run writes.
    """

    def __init__(self, compiled: Planned, arrays: Sequence[Array]) -> None:
        self.compiled = compiled
        written = set(compiled.updates.values())
        self.arrays = [
            np.array(a, order="C")
            if k in written and not (a.flags.c_contiguous and a.flags.writeable)
            else a
            for k, a in enumerate(arrays)
        ]
        self._start([None if a.flags.c_contiguous else a.strides for a in self.arrays])

    def _start(self, strides: Sequence[Strides]) -> None:
        self._strides = tuple(strides)
        run = _Run(self.compiled._plan(True, strides))
        for position, place in run.plan.moved:
            block = run.array(place)
            np.copyto(block, self.arrays[position])
            self.arrays[position] = block
        run.give(self.arrays)
        self._run = run
        self._function = run.function

    def feed(self, position: int, array: Array, stays: bool = False) -> None:
        """Put another array of the same Spec in the place of an input that is no state."""
        strides = None if array.flags.c_contiguous else array.strides
        self.arrays[position] = array
        if strides == self._strides[position]:
            self._run.give_one(position, array)
            return
        found = list(self._strides)
        found[position] = strides
        self._start(found)

    def __call__(self) -> list[Array]:
        """Run; the outputs that are no updates, as arrays of their own, in order."""
        results: list[Array] = self._function()
        return results


class _Seen:
    """A view of an array that is not contiguous."""

    def __init__(self, array: Array, place: Place) -> None:
        self.array = array
        address, read_only = array.__array_interface__["data"]
        self.__array_interface__ = {
            "version": 3,
            "shape": place.shape,
            "strides": place.strides,
            "typestr": place.dtype.str,
            "data": (address + place.offset, read_only),
        }


def _seen(array: Array, place: Place) -> Array:
    """What lies at `place` in an input."""
    if (place.offset, place.shape, place.strides, place.dtype) == (
        0,
        array.shape,
        array.strides,
        array.dtype,
    ):
        return array
    if array.flags.c_contiguous:
        return np.ndarray(place.shape, place.dtype, array, place.offset, place.strides)
    return np.asarray(_Seen(array, place))
