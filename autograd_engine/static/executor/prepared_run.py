"""A program as it is run again and again: what is fed and fetched, and the scope, stay the same.

`Executor.run` keeps one for each way in which it was called, `Executor.prepare` returns one. The
first runs take the straight-line function; what comes again is compiled for its sizes and bound to
the scope. From then on a call that is like the last one takes a short way.

Note: the short way
    It is taken when the arrays are the very objects that were fed before, nothing was done to the
    program or the scope, and the same values are supplied. What is compared is written out for each
    kind of step. For one that is fed two arrays, with one supplied value::

        def __call__(self, a0=MISSING, a1=MISSING, *rest):
            b = self.binding
            program = self.program
            supplies = program.supplies
            if b is None or ...: return self.long_way(...)
            v0 = supplies['rate']()
            ...
            with b.lock:
                if b.state.ready and a0 is b.f0 and a0.shape == b.s0 and ...:
                    b.state.steps += 1
                    try:
                        results = b.call()
                    except BaseException as error:
                        b.stopped(error)
                        if not isinstance(error, Exception):
                            raise
                    else:
                        return results
            return self.long_way((a0, a1, *rest), {'rate': v0})

    The long way follows an operation that failed, for that says what went wrong.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import weakref
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from autograd_engine.core.locations import run_generated
from autograd_engine.core.random_generator import own_generator, rewound
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ExecutionError, FeedError
from autograd_engine.static.executor.bound_program import (
    MISSING,
    Binding,
    contiguous,
    is_contiguous,
)
from autograd_engine.static.executor.errors import failed
from autograd_engine.static.executor.feeds import checked_feeds
from autograd_engine.static.executor.fetches import (
    as_arrays,
    as_tensors,
    fetched,
    independent,
)
from autograd_engine.static.executor.persistable_values import given_values, read_values

if TYPE_CHECKING:
    from autograd_engine.compiler.backend import Compiled
    from autograd_engine.program.ir.program import Program
    from autograd_engine.program.scope import Scope
    from autograd_engine.static.executor.plan import Plan, Plans, Wanted
    from autograd_engine.static.executor.specializations import Specialization

__all__ = ["Step", "closed_error"]

RUNS_RECORDED: Final = True  # what fails here was given nothing by the call; see `user_call`

_LAYOUT: Final = "what it writes is not laid out row by row, and the next run may see that in bits"


def closed_error() -> ExecutionError:
    return ExecutionError(
        "Attempted to use a closed Executor: what is closed stays closed; make a new "
        "paddle.static.Executor()"
    )


class Step:
    """A program that is called again and again, as `Executor.prepare` returns it.

    Call it with what is fed, in the order of `names`, or with one dict. It returns what
    `Executor.run` would return.

    Attributes
    ----------
    program : Program
    names : tuple of str
        What is fed.
    tensors : bool
        Whether it returns Tensors, which read what a device has when they are asked for it.
    binding : Binding or None
        What ran last, where a backend runs the program in place.
    """

    def __init__(
        self,
        program: Program,
        plans: Plans,
        wanted: Callable[[], Wanted],
        names: tuple[str, ...],
        scope: Scope,
        at_once: bool = False,
        tensors: bool = False,
    ) -> None:
        self.program = program
        self.names = names
        self.tensors = tensors
        self.binding: Binding | None = None
        self._plans = plans
        self._wanted = wanted
        self._scope = weakref.ref(scope)
        # One that the user holds keeps the scope alive, and is compiled when it first runs.
        self._kept = scope if at_once else None
        self._at_once = at_once
        self._plan: Plan | None = None
        self._version = -1
        self._last: Specialization | None = None
        self._runs: weakref.WeakKeyDictionary[Specialization, int] = weakref.WeakKeyDictionary()

    @property
    def plan_key(self) -> Hashable:
        """By which its plan is kept."""
        return None if self._plan is None else self._plan.key

    @property
    def scope(self) -> Scope | None:
        return self._scope()

    def __call__(self, *values: Any) -> list[Any]:
        return self.long_way(values)

    def __repr__(self) -> str:
        backend = "Python" if self.binding is None else self.binding.compiled.backend
        return f"<step on {', '.join(self.names) or 'nothing'}, run by {backend}>"

    # --- another array for what was compiled

    def long_way(
        self, values: tuple[Any, ...], supplied: Mapping[str, Any] | None = None
    ) -> list[Any]:
        """Run it where something differs from the last call."""
        values = tuple([v for v in values if v is not MISSING])
        if len(values) == 1 and isinstance(values[0], Mapping):
            values = self._in_order(values[0])
        if len(values) != len(self.names):
            names = ", ".join(map(repr, self.names))
            raise FeedError(
                f"this step takes {len(self.names)} arrays, for {names or 'nothing'}; it was given "
                f"{len(values)}"
            )
        binding = self.binding
        if binding is not None and binding.version == self.program.version:
            if supplied is None:
                supplied = self._asked(binding.plan, ())
            done = self._again(binding, values, supplied)
            if done is not None:
                return self._handed(done)
        return self._handed(self.run(dict(zip(self.names, values, strict=True)), supplied))

    def _handed(self, results: list[Any]) -> list[Any]:
        return as_tensors(results) if self.tensors else as_arrays(results)

    def _asked(
        self, plan: Plan, but: Container[str], known: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """What is supplied for variables, where that is not `known`."""
        found, supplies = dict(known or {}), self.program.supplies
        for var in plan.reads:
            name = var.name
            if name not in found and name not in but and name in supplies:
                found[name] = supplies[name]()
        return found

    def _in_order(self, feeds: Mapping[str, Any]) -> tuple[Any, ...]:
        for name in feeds:
            if name not in self.names:
                close = difflib.get_close_matches(str(name), self.names, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise FeedError(
                    f"this step is not fed {name!r}: it was prepared for "
                    f"{', '.join(map(repr, self.names)) or 'nothing'}{hint}"
                )
        missing = [name for name in self.names if name not in feeds]
        if missing:
            raise FeedError(f"this step is fed {missing[0]!r} too: put it into the dict")
        return tuple([feeds[name] for name in self.names])

    def _again(
        self, binding: Binding, values: tuple[Any, ...], supplied: Mapping[str, Any]
    ) -> list[Any] | None:
        """Run it on other arrays of the same kind; None where more is to be looked at."""
        scope = self._scope()
        moved = binding.moved(supplied)
        if scope is None or moved is None:
            return None
        at = {name: k for k, name in enumerate(self.names)}
        given = [values[at[v.name]] for v in binding.plan.feeds]
        with binding.lock:
            if not binding.state.ready or not binding.takes(given):
                return None
            seen = scope.changes()
            for k, value in enumerate(given):
                if not binding.is_fed(k, value):
                    array = value._data if isinstance(value, Tensor) else value
                    binding.feed(k, value, array)
            try:
                results = binding.go_with(moved)
            except Exception:
                return None
        if moved:
            scope.commit(moved, binding.state, seen)
            binding.supplied = dict(supplied)
        return results

    # --- everything looked at

    def run(self, feeds: Mapping[str, Any], supplied: Mapping[str, Any] | None = None) -> list[Any]:
        """Run it on what is fed."""
        plan = self.plan()
        program, scope = self.program, self._scope()
        assert scope is not None  # who calls it has it
        fed = checked_feeds(program, plan.feeds, feeds)
        specialization, compiled = self._compiled(plan, fed)
        binding = None
        if specialization is not None and compiled is not None:
            binding = self._bind(plan, specialization, compiled, fed, scope)
        self._last = specialization
        with scope.claimed(plan.names, None if binding is None else binding.state):
            asked = self._asked(plan, feeds, supplied)
            new = given_values(program, plan.reads, feeds, asked)
            if binding is not None:
                done = self._bound(binding, feeds, fed, new, scope)
                if done is not None:
                    self._shorten(binding, feeds, asked)
                    return done
                compiled = None  # the straight-line function says better what is wrong
            results, new = self._unbound(plan, specialization, compiled, fed, new, scope)
            scope.commit(new)
        if (
            binding is not None
            and specialization is not None
            and specialization.compiled is not None
        ):
            specialization.give_up("it failed in a run that straight-line Python ended well")
        return results

    def plan(self) -> Plan:
        """The plan for the program as it is now."""
        program, plans = self.program, self._plans
        with program.lock:  # nobody changes it while it is compiled
            if plans.closed:
                raise closed_error()
            plan = self._plan
            if plan is None or self._version != program.version:
                plan = self._plan = plans.find(program, self._wanted())
                self._version = program.version
                self.binding = self._last = None
            return plan

    def _compiled(
        self, plan: Plan, fed: Sequence[Array]
    ) -> tuple[Specialization | None, Compiled | None]:
        if plan.plain:
            return None, None
        specialization = plan.specialization(fed)
        specialization.runs += 1
        # Counted by each step for itself: when the bits change does not depend on other threads.
        runs = self._runs[specialization] = self._runs.get(specialization, 0) + 1
        if not self._at_once and plan.specializations.waits(specialization, runs):
            return specialization, None
        compiled = plan.specializations.ready(specialization)
        if (
            compiled is not None
            and compiled.exact
            and not all(map(is_contiguous, fed))
        ):
            compiled = None  # another layout may have other bits
        return specialization, compiled

    def _bind(
        self,
        plan: Plan,
        specialization: Specialization,
        compiled: Compiled,
        fed: list[Array],
        scope: Scope,
    ) -> Binding | None:
        """What updates the scope in place, where that pays and can be undone."""
        if not plan.alone or len(compiled.updates) < len(plan.writes):
            return None
        if not self._at_once and self._last is not specialization:
            return None
        binding = specialization.bindings.get(scope)
        if binding is None:
            try:
                binding = Binding(self.program, plan, compiled, fed, scope)
            except Exception as error:
                specialization.give_up(f"{type(error).__name__}: {error}")
                return None
            binding = specialization.bindings.setdefault(scope, binding)
        return binding

    def _bound(
        self,
        binding: Binding,
        feeds: Mapping[str, Any],
        fed: list[Array],
        new: dict[str, Array],
        scope: Scope,
    ) -> list[Any] | None:
        """Run it in place; None where that failed, and nothing is done."""
        before = scope.snapshot(new) if new else {}
        new = {n: v for n, v in new.items() if not _same(before[n], v)}
        try:
            seen = binding.load(scope, new)
            results = binding.run([feeds[v.name] for v in binding.plan.feeds], fed)
        except Exception:
            return None
        scope.commit({**new, **binding.markers}, binding.state, seen)
        return results

    def _shorten(
        self, binding: Binding, feeds: Mapping[str, Any], supplied: dict[str, Any]
    ) -> None:
        """Let the next call take the short way, if it is like this one."""
        plan, program = binding.plan, self.program
        binding.supplied = supplied
        binding.version = self._version
        if plan.specializations.numbers:  # whose values decide what runs
            self.binding = None
            return
        if any(v.name in feeds for v in plan.reads):  # which the scope then holds
            self.binding = None
            return
        places = {v.name: k for k, v in enumerate(plan.feeds)}
        names = tuple([v.name for v in plan.reads if v.name in program.supplies])
        way = "as_tensors" if self.tensors else "as_arrays" if binding.far else ""
        arguments = [
            None if n not in places else (places[n], isinstance(feeds[n], Tensor))
            for n in self.names
        ]
        cls = class_for(Step, tuple(arguments), names, bool(plan.names), way)
        if self.__class__ is not cls:
            self.__class__ = cls
        self.binding = binding

    def _unbound(
        self,
        plan: Plan,
        specialization: Specialization | None,
        compiled: Compiled | None,
        fed: list[Array],
        new: dict[str, Array],
        scope: Scope,
    ) -> tuple[list[Any], dict[str, Array]]:
        """What was fetched, and what the scope is to hold."""
        arrays = [*fed, *read_values(self.program, plan.reads, new, scope)]
        outputs = None
        if (
            compiled is not None
            and specialization is not None
            and _fits(specialization, compiled, arrays)
        ):
            try:
                outputs = self._drawn(plan, compiled, [contiguous(a) for a in arrays], True)
            except Exception as error:
                outputs = self._straight(plan, arrays)
                specialization.give_up(f"it raised {type(error).__name__}: {error}")
        if outputs is None:
            outputs = self._straight(plan, arrays)
        written = outputs[plan.fetches :]
        trial = compiled is None and specialization is not None and specialization.attempts is None
        if trial and not all(map(is_contiguous, map(np.asarray, written))):
            assert specialization is not None
            specialization.refused = _LAYOUT
        results = fetched(outputs[: plan.fetches], [*arrays, *written])
        for name, value in zip(plan.writes, written, strict=True):
            new[name] = independent(value, fed)
        return results, new

    def _straight(self, plan: Plan, arrays: Sequence[Array]) -> tuple[Any, ...]:
        try:
            return self._drawn(plan, plan.compiled.function, arrays)
        except Exception as error:
            explained = failed(plan.compiled, error)
            if explained is None:
                raise
            raise explained from error

    def _drawn(
        self,
        plan: Plan,
        function: Callable[..., Any],
        arrays: Sequence[Array],
        attempt: bool = False,
    ) -> tuple[Any, ...]:
        """What a function returns; an attempt that fails is followed by another with its stream."""
        program = self.program
        made: tuple[Any, ...]
        if not plan.draws:
            made = function(*arrays)
            return made
        with contextlib.ExitStack() as stream:
            if program.generator is not None:
                stream.enter_context(program.drawing)  # one stretch of its stream
                stream.enter_context(own_generator(program.generator))
            if attempt:
                stream.enter_context(rewound())
            made = function(*arrays)
        return made


def _fits(specialization: Specialization, compiled: Compiled, arrays: Sequence[Array]) -> bool:
    """Whether a program that was compiled for certain sizes takes these arrays."""
    if compiled.exact and not all(map(is_contiguous, arrays)):
        return False
    return all(
        a.shape == s.shape and a.dtype == s.dtype
        for a, s in zip(arrays, specialization.specs, strict=True)
    )


def _same(old: Array | None, new: Array) -> bool:
    """Whether a scope holds that value already."""
    return (
        old is not None
        and old.shape == new.shape
        and old.dtype == new.dtype
        and old.tobytes() == new.tobytes()
    )


# --- a step that is like the last one


@functools.lru_cache(maxsize=256)
def class_for(
    base: type,
    places: tuple[tuple[int, bool] | None, ...],
    supplied: tuple[str, ...],
    writes: bool,
    way: str,
) -> type:
    """A class of steps.

    Parameters
    ----------
    base : type
    places : tuple of ((int, bool) or None)
        For each argument its place among the feeds that the plan reads, and whether it is a Tensor.
    supplied : tuple of str
        Variables whose value is asked for.
    writes : bool
        Whether the scope is written. One that is not may be run by several threads at a time.
    way : {"", "as_arrays", "as_tensors"}
        What is done with results before they are returned.
    """
    text = _text(places, supplied, writes, way)
    scope: dict[str, Any] = {
        "MISSING": MISSING,
        "Tensor": Tensor,
        "as_arrays": as_arrays,
        "as_tensors": as_tensors,
    }
    run_generated(text, "step", scope)
    return type(base.__name__, (base,), {"__call__": scope["__call__"], "__doc__": base.__doc__})


def _text(
    places: tuple[tuple[int, bool] | None, ...],
    supplied: tuple[str, ...],
    writes: bool,
    way: str,
) -> str:
    arguments = [f"a{j}" for j in range(len(places))]
    given = "".join(f"{a}, " for a in arguments)
    head = "".join(f"{a}=MISSING, " for a in arguments)
    long_way = f"return self.long_way(({given}*rest,))"
    lines = [
        f"def __call__(self, {head}*rest):",
        "    b = self.binding",
        "    program = self.program",
        f"    if rest or b is None or b.version != program.version: {long_way}",
    ]
    asked = "".join(f"{name!r}: v{k}, " for k, name in enumerate(supplied))
    if supplied:
        lines += ["    supplies = program.supplies", "    known = b.supplied"]
        missing = " or ".join(f"{name!r} not in supplies" for name in supplied)
        lines.append(f"    if len(supplies) != {len(supplied)} or {missing}: {long_way}")
    else:
        lines.append(f"    if program.supplies: {long_way}")
    lines += [f"    v{k} = supplies[{name!r}]()" for k, name in enumerate(supplied)]
    tests = ["b.state.ready"]
    # None leaves what the scope has; of others only plain numbers are compared.
    tests += [
        f"(v{k} is None or (v{k}.__class__ is float and v{k} == known[{name!r}]))"
        for k, name in enumerate(supplied)
    ]
    for a, place in zip(arguments, places, strict=True):
        if place is None:
            continue
        k, tensor = place
        if tensor:  # one that is a leaf of a graph, or far, is looked at
            tests += [f"{a}.__class__ is Tensor", f"{a}._data is b.f{k}"]
        else:
            tests += [f"{a} is b.f{k}", f"{a}.shape == b.s{k}", f"{a}.dtype is b.d{k}"]
    run = [
        f"if {' and '.join(tests)}:",
        "    b.state.steps += 1",
        "    try:",
        "        results = b.call()",
        "    except BaseException as error:",
        "        b.stopped(error)",
        "        if not isinstance(error, Exception): raise",
        f"    else: return {way}(results)",
    ]
    if writes:
        lines += ["    with b.lock:", *(f"        {line}" for line in run)]
    else:
        lines += [
            "    if b.lock.acquire(False):",
            "        try:",
            *(f"            {line}" for line in run),
            "        finally:",
            "            b.lock.release()",
        ]
    lines.append(f"    return self.long_way(({given}*rest,), {{{asked}}})")
    return "\n".join(lines) + "\n"
