"""A program that was compiled, on the variables of one scope.

What it updates lies in memory of its own, see `scope_state`. As long as nothing happens in the
scope, a step finds everything where the last one has left it.

An interrupt does not cut a run in two. Python raises KeyboardInterrupt between any two statements
of the main thread. A backend that writes state in place with more than one of them would leave it
half new, so the interrupt waits until the run is over.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from autograd_engine.core.random_generator import own_generator, rewound
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.program.scope import Content, Scope
from autograd_engine.program.scope_state import Held, State, in_order

if TYPE_CHECKING:
    from autograd_engine.compiler.backend import Compiled
    from autograd_engine.program.ir.program import Program
    from autograd_engine.static.executor.plan import Plan

__all__ = ["MISSING", "Binding", "contiguous", "is_contiguous", "uninterrupted"]

T = TypeVar("T")


_signals: Final[Any] = importlib.import_module("_signal")


class _Main:
    thread = threading.main_thread().ident


def _forked() -> None:
    _Main.thread = threading.get_ident()  # the thread that has forked is the only one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def uninterrupted(function: Callable[[], T]) -> Callable[[], T]:
    """The same function, in which no KeyboardInterrupt arises; one that came follows it."""
    # Those of `signal` make enums of what they are given and return, which takes longer than a
    # small step.
    sigint, get, put = int(signal.SIGINT), _signals.getsignal, _signals.signal
    here = threading.get_ident

    def call() -> T:
        if here() != _Main.thread:
            return function()
        handler = get(sigint)
        if not callable(handler):
            return function()
        came: list[Any] = []
        put(sigint, lambda *signal_and_frame: came.append(signal_and_frame))
        try:
            result = function()
        finally:
            put(sigint, handler)
            if came:
                handler(*came[-1])
        return result

    return call


MISSING: Final = object()


class Unfit(Exception):
    """The scope holds what the program was not compiled for."""


def is_contiguous(array: Array) -> bool:
    """Whether backends take the array as it is."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned


def contiguous(array: Array) -> Array:
    """The array as backends take it."""
    return array if is_contiguous(array) else np.array(array, order="C")


class Binding:
    """A compiled plan and a scope.

    What was fed last is known by attributes of its own for each feed: ``f0``, ``s0`` and ``d0`` are
    the object, its shape and its dtype. See `prepared_run`.

    Attributes
    ----------
    state : State
    lock : RLock
        That of the state.
    call : callable
        Runs it, and returns what is fetched, arrays of their own, or far ones.
    far : bool
        Whether they are far.
    version : int
        Of the program.
    supplied : dict of str to object
        What was supplied for variables, and stands in the scope now.
    """

    def __init__(
        self, program: Program, plan: Plan, compiled: Compiled, fed: Sequence[Array], scope: Scope
    ) -> None:
        self.plan = plan
        self.compiled = compiled
        self.version = program.version
        names = [v.name for v in plan.reads]
        first = len(plan.feeds)
        updated = set(compiled.updates.values())
        values = scope.snapshot(names)
        arrays = [contiguous(a) for a in fed]
        for k, var in enumerate(plan.reads, first):
            value = values[var.name]
            if value is None or value.shape != var.spec.shape:  # `load` will say so
                value = np.zeros(tuple(int(d) for d in var.spec.shape), var.spec.dtype)
            arrays.append(np.array(value, order="C") if k in updated else contiguous(value))
        self.bound = compiled.bind(arrays)
        state = {plan.writes[j - plan.fetches]: k for j, k in compiled.updates.items()}
        self._places = state
        self.state = State({name: self.bound.state_at(k) for name, k in state.items()})
        self.lock = self.state.lock
        self.markers = {name: Held(self.state, name) for name in state}
        self.far = compiled.keeps
        self.call: Callable[[], list[Any]] = getattr(self.bound, "run", self.bound)
        if state and not compiled.one_call and not hasattr(self.bound, "finish"):
            self.call = uninterrupted(self.call)
        if plan.draws:
            self.call = self._drawing(program)
        self.supplied: dict[str, Any] = {}
        self._others = [(n, k) for k, n in enumerate(names, first) if n not in state]
        # What stands in the scope for these, as it was last handed to the backend.
        self._known: dict[str, Content] = {}
        self._strict = compiled.exact  # another layout may have other bits
        for k in range(first):
            self.remember(k, MISSING)

    def _drawing(self, program: Program) -> Callable[[], list[Any]]:
        """One stretch of the stream for a run; one that fails is done again with the same."""
        run, known = self.call, weakref.ref(program)

        def call() -> list[Any]:
            program = known()
            assert program is not None  # who calls it has it
            if program.generator is None:
                with rewound():
                    return run()
            with program.drawing, own_generator(program.generator), rewound():
                return run()

        return call

    # --- what stands in the scope

    def load(self, scope: Scope, new: Mapping[str, Array]) -> int:
        """Take over what stands in the scope, and what is `new`.

        Returns
        -------
        int
            How often the scope has changed until now; -1 where that is no good, for another step
            holds what this one reads.

        Raises
        ------
        Unfit
        """
        state, claims = self.state, scope._claims
        names = [v.name for v in self.plan.reads]
        with claims.reading, contextlib.ExitStack() as locks:
            found: dict[str, Content] = {**scope.contents(names), **new}
            held = {v.state for v in found.values() if isinstance(v, Held)}
            for one in in_order({*held, state}):  # what another step has left is seen as a whole
                locks.enter_context(one.lock)
            mine = [n for n, marker in self.markers.items() if found[n] is marker]
            if mine and len(mine) < len(self.markers):
                claims.give_back(state)
                found, mine = {**scope.contents(names), **new}, []
            seen = claims.changes
            if mine:  # somebody may have written to what was handed out
                for name, copy in state.current_copies().items():
                    self._take_over(name, copy)
            else:
                for name in self.markers:
                    self._take_over(name, _plain(found[name]))
            for name, k in self._others:
                value = found[name]
                if isinstance(value, Held):
                    seen, value = -1, value.state.copy(name)
                if value is None or value is not self._known.get(name):
                    fitting = self._fitting(self.bound.arrays[k], value)
                    self.bound.feed(k, contiguous(fitting))
                    seen_as_it_is = self.bound.shares and is_contiguous(fitting)
                    self._known[name] = fitting if seen_as_it_is else None
            return seen

    def _fitting(self, array: Any, value: Array | None) -> Array:
        """`value`, if it can stand in the place of `array`, which has a shape and a dtype."""
        if (
            value is None
            or value.shape != array.shape
            or value.dtype != array.dtype
            or (self._strict and not value.flags.c_contiguous)
        ):
            raise Unfit
        return value

    def _take_over(self, name: str, value: Array | None) -> None:
        like = self.bound.arrays[self._places[name]]
        self.state.memory[name].write(self._fitting(like, value))

    # --- what is fed

    def remember(self, position: int, value: Any) -> None:
        """`value` is what was fed there: it need not be looked at again."""
        known = self.__dict__
        known[f"f{position}"] = value
        if value is not MISSING:
            known[f"s{position}"] = value.shape
            known[f"d{position}"] = value.dtype

    def feed(self, position: int, given: Any, array: Array) -> None:
        """Another array for what is fed, under the lock; `given` is what the user has."""
        self.remember(position, MISSING)
        usable = contiguous(array)
        tensors = isinstance(given, Tensor) and usable is array
        # Nobody writes to what a Tensor has, as long as others have it too, but who lent it memory.
        self.bound.feed(position, usable, tensors and array.base is None)
        if tensors or (given is array is usable and given.__class__ is np.ndarray):
            self.remember(position, array)

    def is_fed(self, position: int, given: Any) -> bool:
        """Whether that very array was fed last, and still is as it was."""
        known = self.__dict__
        if isinstance(given, Tensor):
            return given._data is known[f"f{position}"]
        return (
            given is known[f"f{position}"]
            and given.shape == known[f"s{position}"]
            and given.dtype is known[f"d{position}"]
        )

    def takes(self, given: Sequence[Any]) -> bool:
        """Whether these can be fed as they are."""
        for k, value in enumerate(given):
            if self.is_fed(k, value):
                continue
            if isinstance(value, Tensor):
                value = value._data
            old = self.bound.arrays[k]
            if (
                value.__class__ is not np.ndarray
                or value.shape != old.shape
                or value.dtype != old.dtype
                or not is_contiguous(value)
            ):
                return False
        return True

    # --- what is supplied

    def moved(self, supplied: Mapping[str, Any]) -> dict[str, Array] | None:
        """Numbers that are others than in the last run, as arrays; None where that is not all."""
        found = {}
        places = dict(self._others)
        for name, value in supplied.items():
            if value is None:  # what the scope has stands
                continue
            if value.__class__ is not float or name not in places:
                return None
            if value != self.supplied.get(name):
                old = self.bound.arrays[places[name]]
                if old.shape:
                    return None
                found[name] = np.array(value, old.dtype)
        return found

    def go_with(self, moved: Mapping[str, Array]) -> list[Any]:
        """A step with these values of variables, under the lock; as it was, where it fails."""
        if not moved:
            return self.go()
        places = dict(self._others)
        old = {name: self.bound.arrays[places[name]] for name in moved}
        done = False
        try:
            for name, value in moved.items():
                self.bound.feed(places[name], value)
                self._known[name] = value
            results = self.go()
            done = True
            return results
        finally:
            if not done:
                self.state.ready = False
                for name, value in old.items():
                    self.bound.feed(places[name], value)
                    self._known[name] = None

    # --- running

    def run(self, given: Sequence[Any], fed: Sequence[Array]) -> list[Any]:
        """A step on what is fed; see `load`."""
        with self.lock:
            for k, (value, array) in enumerate(zip(given, fed, strict=True)):
                if not self.is_fed(k, value):
                    self.feed(k, value, array)
            return self.go()

    def go(self) -> list[Any]:
        """A step, under the lock."""
        self.state.steps += 1
        try:
            return self.call()
        except BaseException as error:
            self.stopped(error)
            raise

    def stopped(self, error: BaseException) -> None:
        """After a run that raised, under the lock: the state is as before, or all of it is new."""
        if isinstance(error, Exception):
            self.state.steps -= 1
            self.state.ready = False
            return
        finish = getattr(self.bound, "finish", None)
        if finish is not None:  # an interrupt may have come while it wrote
            with contextlib.suppress(Exception):
                finish()


def _plain(content: Content) -> Array | None:
    return content.state.copy(content.name) if isinstance(content, Held) else content
