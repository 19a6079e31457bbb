"""A listing compiled by XLA, and runs of it whose state stays on the device.

Arrays of 64 bits are there only while a step is traced and called: jax is told for these moments,
in this thread, and the user's own code finds it as it was. State is handed over with each call and
comes back as what the call returns, in the same memory; so what a run begins with is a copy of its
own. ndarrays that a call is fed are copied too, for the caller may write to them while the device
computes; the copy is an ndarray, which the call itself puts on the device, in a fraction of the
time of `jax.device_put`. What a step only reads, and nobody writes to, is put there once.

Nobody waits for the device but who asks for values, and who calls a step in which something may
fail; see `early_checks`.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.backend import Listing, Placement
from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.compiler.xla.control_flow import (  # noqa: F401 - each registers its operators
    branches,
    loops,
    stacks,
)
from autograd_engine.compiler.xla.control_flow.rounds import as_loop, one_by_one, rolled, run_items
from autograd_engine.compiler.xla.device_arrays import (
    DeviceArray,
    DeviceMemory,
    fetch,
    moving,
    put,
    shown,
    state_of,
)
from autograd_engine.compiler.xla.devices import current_device
from autograd_engine.compiler.xla.early_checks import early_checks
from autograd_engine.compiler.xla.executable_cache import compiled
from autograd_engine.compiler.xla.operators import value_of
from autograd_engine.compiler.xla.run import (
    CALLED_BACK,
    DRAWN,
    FIRST_LIMIT,
    Draw,
    Lowered,
    Run,
    XlaUnavailable,
)
from autograd_engine.compiler.xla.values import plain
from autograd_engine.core.far_array import near
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.random_generator import generator
from autograd_engine.core.spec import Array, Spec, known_value
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.block import inner_blocks, operators_within
from autograd_engine.program.ir.program import Operator

__all__ = ["XlaBound", "XlaFailed", "XlaFunction", "compile_listing"]

T = TypeVar("T")


class XlaFailed(Exception):
    """A run was given up, its state as it was: NumPy says what is wrong."""


def compile_listing(listing: Listing) -> XlaFunction:
    """A listing as one function of jax arrays, traced and compiled.

    Raises
    ------
    XlaUnavailable
        Where it cannot be.
    """
    return XlaFunction(listing)


class XlaFunction:
    """A listing compiled by XLA; see `compiler.backend.Compiled`.

    Attributes
    ----------
    lowered : list of Lowered
        How each operation came into it.
    limits : dict of int to int
        For so many iterations loops have memory, by the id of their operator, where that is more
        than what all begin with.
    seconds : tuple of float
        What it took to trace it, and to compile it.
    device : jax.Device
        Where it runs.
    ends_well : bool
        Whether a run is one call, of no ndarrays but those that are fed, which is never repeated.
    checked : frozenset of int
        Positions of inputs, all fed, that `check` looks at.
    """

    backend = "jax"
    exact = False
    one_call = False
    keeps = True

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.updates = dict(listing.updates)
        self.described: Sequence[Spec] = ()
        self.lowered: list[Lowered] = []
        self.draws: list[Draw] = []
        self.limits: dict[int, int] = {}
        self._counted: list[int] = []
        self.held = sorted(set(self.updates.values()))
        self.fed = [k for k in range(len(listing.inputs)) if k not in set(self.held)]
        self.device = current_device()
        asked = [*listing.outputs, *listing.described]
        operators = live_operators(listing.operators, asked)
        self._items = rolled(operators, asked)
        within = list(operators_within(operators))
        self._draws_inside = any(
            _random(inner)
            for operator in within
            if getattr(operator.op, "kind", "call") != "call"
            for inner in operators_within(o for b in inner_blocks(operator) for o in b.ops)
        )
        self._tells = any(getattr(operator.op, "effect", False) for operator in within)
        self._growing = renewed_lock()
        self.checked: frozenset[int] = frozenset()
        self._stream: np.random.Generator | None = None
        self._telling, self._told = renewed_lock(), list[tuple[OpDef, Any, dict[str, Any]]]()
        with jax.enable_x64(True):
            if any(map(_random, within)) and not self._draws_inside:
                jax.eval_shape(lambda held, fed: self._computed(held, fed, None), *self._outlines())
            self._compile(self.limits)

    def _outlines(self) -> tuple[list[Any], list[Any]]:
        given = [jax.ShapeDtypeStruct(tuple(s.shape), s.dtype) for s in self.listing.specs]
        return [given[k] for k in self.held], [given[k] for k in self.fed]

    def _compile(self, limits: dict[int, int]) -> None:
        """Trace and compile it with memory for so many iterations of loops."""
        began = time.perf_counter()
        held, fed = self._outlines()
        drawn = [
            [jax.ShapeDtypeStruct(tuple(s.shape), s.dtype) for s in draw.specs]
            for draw in self.draws
        ]
        computed = jax.jit(functools.partial(self._computed, limits=limits))
        traced = computed.trace(held, fed, drawn)
        self._calls_back = any(one.way == CALLED_BACK for one in self.lowered)
        if _processors() < 2 and self._calls_back:
            names = ", ".join(sorted({o.operation for o in self.lowered if o.way == CALLED_BACK}))
            raise XlaUnavailable(
                f"NumPy computes {names}, and with one processor a call back may wait for itself"
            )
        outputs, flags, _ = traced.out_info
        first = len(outputs)
        early = early_checks(
            traced.jaxpr,
            range(len(held), len(held) + len(fed)),
            range(first, first + len(flags)),
        )
        made_before = set() if early is None else set(early.flags)

        def step(held: list[Any], fed: list[Any], drawn: Any) -> Any:
            """(new state, other outputs, whether all is in order, iterations).

            The third is None where nothing can fail any more. Iterations are those of loops with
            memory for so many and no more; where all is in order, that was enough.
            """
            outputs, flags, trips = computed(held, fed, drawn)
            late = [flag for k, flag in enumerate(flags) if k not in made_before]
            fine = functools.reduce(jnp.logical_and, late) if late else None
            new = dict(zip(self.held, held, strict=True))
            for j, k in self.updates.items():
                new[k] = outputs[j] if fine is None else jnp.where(fine, outputs[j], new[k])
            others = [v for j, v in enumerate(outputs) if j not in self.updates]
            return [new[k] for k in self.held], others, fine, trips

        # Said so, it is found out anew for each array of NumPy's, in each call.
        there: dict[str, Any] = {}
        if self.device != jax.local_devices()[0] or not held:
            sharding = jax.sharding.SingleDeviceSharding(self.device)
            there = {"in_shardings": sharding, "out_shardings": sharding}
        lowered = jax.jit(step, donate_argnums=0, **there).lower(held, fed, drawn)
        seconds = time.perf_counter() - began
        made = compiled(lowered, self.device, seconds)
        if early is not None:
            first = len(held)
            self.checked = frozenset([self.fed[k - first] for k in early.reads])
        self.ends_well = not (self.draws or self._counted or self._calls_back or self._tells)
        self._traced, self._compiled, self._early, self.limits = lowered, made, early, limits
        self.seconds = seconds, time.perf_counter() - began - seconds

    def _computed(
        self,
        held: Sequence[Any],
        fed: Sequence[Any],
        drawn: Any,
        limits: dict[int, int] | None = None,
    ) -> Any:
        """(outputs, flags that are all to be true, iterations)."""
        listing = self.listing
        stream = self._current_stream if self._draws_inside else None
        run = Run(drawn, limits, stream, self._tell)
        arrays = dict(zip([*self.held, *self.fed], [*held, *fed], strict=True))
        values: dict[Any, Any] = {}
        for k, (ref, spec) in enumerate(zip(listing.inputs, listing.specs, strict=True)):
            known = known_value(spec)
            values[ref.key] = arrays[k] if known is None else known.astype(spec.dtype)
        run_items(run, self._items, values, [*listing.outputs, *listing.described])
        outputs = [jnp.asarray(plain(value_of(r, values))) for r in listing.outputs]
        described = [plain(value_of(r, values)) for r in listing.described]
        self.described = [Spec(tuple(v.shape), np.dtype(v.dtype)) for v in described]
        self.lowered, self.draws = run.lowered, run.draws
        self._counted = list(run.trips)
        enough = [count <= run.limit(key) for key, count in run.trips.items()]
        return outputs, [*run.flags, *enough], list(run.trips.values())

    def _current_stream(self) -> np.random.Generator:
        assert self._stream is not None
        return self._stream

    @property
    def source(self) -> str:
        """The StableHLO; that of another one, once loops have got more memory."""
        text: str = self._traced.as_text()
        return text

    @property
    def facts(self) -> dict[str, Any]:
        """What a report says besides."""
        found: dict[str, Any] = {"seconds to trace": self.seconds[0]}
        traced = {id(one.origin) for one in self.lowered}
        made = [loop for i in self._items if (loop := as_loop(i, traced)) is not None]
        if made:
            found["loops"] = ", ".join(f"{s.rounds} rounds of {len(s.body)}" for s in made)
        return found

    def check(self, arrays: Sequence[Any]) -> None:
        """Raise XlaFailed where what is fed is refused; `arrays` are all, those fed as ndarrays."""
        early, first = self._early, len(self.held)
        if early is not None and not early.hold([arrays[self.fed[k - first]] for k in early.reads]):
            raise XlaFailed("what is fed is out of range")

    def run(self, held: Sequence[Any], fed: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        """One call, which takes what is `held` away; ndarrays that it is fed must stay the same."""
        if self.ends_well:
            new, others, fine, _ = self._compiled(held, fed, [])
            return new, others, fine
        drawn = [[np.asarray(v) for v in draw.kernel()] for draw in self.draws]
        if not self._calls_back:
            return self._until_it_fits(held, fed, drawn)
        with _calling_back:
            self._stream = generator()
            made = self._until_it_fits(held, fed, drawn)
            jax.block_until_ready(made)
            return made

    def _until_it_fits(
        self, held: Sequence[Any], fed: Sequence[Any], drawn: Any
    ) -> tuple[list[Any], list[Any], Any]:
        """Run it, with more memory for loops that have more iterations than there is memory for."""
        bits = None if self._stream is None else self._stream.bit_generator
        before: Any = None if bits is None else bits.state
        while True:
            self._told.clear()
            with given():
                new, others, fine, trips = self._compiled(held, fed, drawn)
            if not trips or fetch([fine])[0] or not self._makes_room(fetch(trips)):
                return new, others, fine
            held = new  # as it was
            if bits is not None:
                bits.state = before

    def _makes_room(self, counts: Sequence[Array]) -> bool:
        """Whether some loop had too little, and has enough from now on."""
        grown = {
            key: 1 << (int(n) - 1).bit_length()
            for key, n in zip(self._counted, counts, strict=True)
            if n > self.limits.get(key, FIRST_LIMIT)
        }
        if grown:
            with self._growing:
                self._compile({**self.limits, **grown})
        return bool(grown)

    def _tell(self, op: OpDef, operands: Sequence[Array], attrs: dict[str, Any]) -> None:
        self._told.append((op, operands, attrs))

    def _with_effects(self, call: Callable[[Sequence[Any]], T], arrays: Sequence[Any]) -> T:
        """A call, and what it has to tell once it has ended well.

        Of one that has not, the straight-line function tells.
        """
        if not self._tells:
            return call(arrays)
        with self._telling:
            found = call(arrays)
            jax.effects_barrier()
            told = list(self._told)
        for op, operands, attrs in told:
            op.kernel(*operands, **attrs)
        return found

    def step(self, arrays: Sequence[Any]) -> list[Any]:
        return self._with_effects(self._stepped, arrays)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        return self._with_effects(self._called, arrays)

    def _stepped(self, arrays: Sequence[Any]) -> list[Any]:
        device, checked = self.device, self.checked
        if checked:
            self.check([near(a) if k in checked else a for k, a in enumerate(arrays)])
        with jax.enable_x64(True), moving:
            state = [state_of(arrays[k], device) for k in self.held]
            fed = [shown(arrays[k], device) for k in self.fed]
            with given():
                new, others, fine = self.run([far.value for far in state], fed)
            for far, value in zip(state, new, strict=True):
                far.write(value)
        check(fine)
        kept = dict(zip(self.held, state, strict=True))
        rest = iter(others)
        return [
            kept[self.updates[j]] if j in self.updates else DeviceArray(next(rest))
            for j in range(len(self.listing.outputs))
        ]

    def _called(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        self.check(arrays)
        with jax.enable_x64(True):
            held = put([arrays[k] for k in self.held], self.device)
            with given():
                new, others, fine = self.run(held, [arrays[k].copy() for k in self.fed])
            check(fine)
            rest = iter(others)
            state = dict(zip(self.held, new, strict=True))
            return tuple(
                fetch(
                    [
                        state[self.updates[j]] if j in self.updates else next(rest)
                        for j in range(len(self.listing.outputs))
                    ]
                )
            )

    def bind(self, arrays: Sequence[Array]) -> XlaBound:
        return XlaBound(self, arrays)

    def placements(self) -> list[Placement]:
        reasons: dict[int, list[str]] = {}
        where: dict[int, str] = {}
        for one in self.lowered:
            if one.way == CALLED_BACK:
                reasons.setdefault(id(one.origin), []).append(f"{one.operation}: {one.why}")
                where[id(one.origin)] = "NumPy"
            elif one.way == DRAWN:
                where[id(one.origin)] = "drawn before"
        found = []
        for operator in one_by_one(self._items, {id(one.origin) for one in self.lowered}):
            # Of what is in its blocks only what is not computed by XLA is to be told.
            inside = [o for o in operators_within([operator]) if id(o) in where]
            found += [
                Placement(
                    o.type,
                    where.get(id(o), "XLA"),
                    "; ".join(dict.fromkeys(reasons.get(id(o), ()))),
                    str(o.location),
                )
                for o in (inside if operator in inside else [operator, *inside])
            ]
        return found


class XlaBound:
    """A run whose state stays on the device; see `compiler.backend.Bound`."""

    shares = False

    def __init__(self, function: XlaFunction, arrays: Sequence[Array]) -> None:
        self.function = function
        listing = function.listing
        with jax.enable_x64(True):
            self._state = put([arrays[k] for k in function.held], function.device)
        self.held = {
            k: DeviceMemory(self._state, n, function.device) for n, k in enumerate(function.held)
        }
        self.arrays: list[Any] = [
            listing.specs[k] if k in self.held else a for k, a in enumerate(arrays)
        ]
        self._places = {k: n for n, k in enumerate(function.fed)}
        self._fed: list[Any] = [None] * len(function.fed)
        # What nobody writes to unseen lies there; of the rest each call has a copy.
        self._to_put: dict[int, Callable[..., Any]] = {}
        self._to_copy: set[int] = set()
        self._checked = self._settled = False
        for k in function.fed:
            self.feed(k, self.arrays[k])

    def feed(self, position: int, array: Array, stays: bool = False) -> None:
        self.arrays[position] = array
        self._checked = self._settled = False
        self._to_copy.discard(position)
        if stays:
            self._to_put[position] = shown
        elif self.function.listing.inputs[position].var.persistable:
            self._to_put[position] = put
        else:
            self._to_put.pop(position, None)
            self._to_copy.add(position)

    def state_at(self, position: int) -> DeviceMemory:
        return self.held[position]

    def __call__(self) -> list[Any]:
        if self._settled:  # arrays of jax's have the bits that they have, whoever calls
            new, others, fine = self.function.run(self._state, self._fed)
            self._state[:] = new
            if fine is not None:
                check(fine)
            return list(map(DeviceArray, others))
        return self._with_what_is_new()

    def _with_what_is_new(self) -> list[Any]:
        function, arrays, places = self.function, self.arrays, self._places
        if not self._checked:
            function.check(arrays)
            self._checked = self._to_copy.isdisjoint(function.checked)
        with jax.enable_x64(True):
            for k, way in list(self._to_put.items()):
                value = self._fed[places[k]] = way(arrays[k], function.device)
                if not isinstance(value, np.ndarray):
                    del self._to_put[k]
            fed = self._fed.copy()
            for k in self._to_copy:
                fed[places[k]] = arrays[k].copy()
            with given():
                new, others, fine = function.run(self._state, fed)
            self._state[:] = new
            left = self._to_put or self._to_copy
            self._settled = self._checked and function.ends_well and not left
            if fine is not None:
                check(fine)
            return list(map(DeviceArray, others))


def _random(operator: Operator) -> bool:
    return bool(getattr(operator.op, "random", False))


def given() -> Any:
    """Where a call is given ndarrays: of its arguments these alone are transferred, as is meant."""
    return jax.transfer_guard_host_to_device("allow")


def check(fine: Any) -> None:
    """Raise XlaFailed unless all was in order."""
    if fine is not None and not fetch([fine])[0]:
        raise XlaFailed("a check of values failed")


# Functions that are called back wait for threads of which there are as many as processors.
_calling_back: Final = renewed_lock()


def _processors() -> int:
    """How many of them this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
