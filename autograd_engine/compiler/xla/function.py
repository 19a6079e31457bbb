"""A listing compiled by XLA, and runs of it whose state stays on the device.

Arrays of 64 bits are there only while a step is traced and called: jax is told for these moments,
in this thread, and the user's own code finds it as it was. State is handed over with each call and
comes back as what the call returns, in the same memory; so what a run begins with is a copy of its
own. What a call is fed is copied too, for the caller may write to it while the device computes; the
copy is an ndarray, which the call itself puts on the device, in a fraction of the time of
`jax.device_put`. Variables that a step only reads are put there once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

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
from autograd_engine.compiler.xla.devices import current_device
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
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.random_generator import generator
from autograd_engine.core.spec import Array, Spec, known_value
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.block import inner_blocks, operators_within
from autograd_engine.program.ir.program import Operator

__all__ = ["XlaBound", "XlaFailed", "XlaFunction", "compile_listing"]


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
    """

    backend = "jax"
    exact = False
    one_call = False

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
        self._one_at_a_time, self._growing = renewed_lock(), renewed_lock()
        self._stream: np.random.Generator | None = None
        self._telling, self._told = renewed_lock(), list[tuple[OpDef, Any, dict[str, Any]]]()
        with jax.enable_x64(True):
            if any(map(_random, within)) and not self._draws_inside:
                jax.eval_shape(lambda held, fed: self._step(held, fed, None), *self._given())
            self._compile()

    def _given(self) -> tuple[list[Any], list[Any]]:
        given = [jax.ShapeDtypeStruct(tuple(s.shape), s.dtype) for s in self.listing.specs]
        return [given[k] for k in self.held], [given[k] for k in self.fed]

    def _compile(self) -> None:
        began = time.perf_counter()
        drawn = [
            [jax.ShapeDtypeStruct(tuple(s.shape), s.dtype) for s in draw.specs]
            for draw in self.draws
        ]
        there = jax.sharding.SingleDeviceSharding(self.device)
        step = jax.jit(self._step, donate_argnums=0, in_shardings=there, out_shardings=there)
        self._traced = step.lower(*self._given(), drawn)
        if _processors() < 2 and any(one.way == CALLED_BACK for one in self.lowered):
            names = ", ".join(sorted({o.operation for o in self.lowered if o.way == CALLED_BACK}))
            raise XlaUnavailable(
                f"NumPy computes {names}, and with one processor a call back may wait for itself"
            )
        traced = time.perf_counter()
        self._compiled = compiled(self._traced, self.device, traced - began)
        self.seconds = traced - began, time.perf_counter() - traced

    def _step(self, held: Sequence[Any], fed: Sequence[Any], drawn: Any) -> Any:
        """(new state, other outputs, whether all is in order, iterations).

        The third is None where nothing can fail. Iterations are those of loops with memory for so
        many and no more; where all is in order, that was enough.
        """
        listing = self.listing
        stream = self._current_stream if self._draws_inside else None
        run = Run(drawn, self.limits, stream, self._tell)
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
        for key, count in run.trips.items():
            run.flags.append(count <= run.limit(key))
        fine = None if run.fine is True else run.fine
        new = dict(zip(self.held, held, strict=True))
        for j, k in self.updates.items():
            new[k] = outputs[j] if fine is None else jnp.where(fine, outputs[j], arrays[k])
        others = [v for j, v in enumerate(outputs) if j not in self.updates]
        self._counted = list(run.trips)
        return [new[k] for k in self.held], others, fine, list(run.trips.values())

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

    def run(self, held: Sequence[Any], fed: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        """One call, which takes what is `held` away; ndarrays that it is fed must stay the same."""
        drawn = [[np.asarray(v) for v in draw.kernel()] for draw in self.draws]
        if not self._draws_inside:
            return self._until_it_fits(held, fed, drawn)
        with self._one_at_a_time:
            self._stream = generator()
            return self._until_it_fits(held, fed, drawn)

    def _until_it_fits(
        self, held: Sequence[Any], fed: Sequence[Any], drawn: Any
    ) -> tuple[list[Any], list[Any], Any]:
        """Run it, with more memory for loops that have more iterations than there is memory for."""
        bits = None if self._stream is None else self._stream.bit_generator
        before: Any = None if bits is None else bits.state
        while True:
            self._told.clear()
            # Of the arguments only these ndarrays are to be transferred, and that is meant.
            with jax.transfer_guard_host_to_device("allow"):
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
                self.limits = {**self.limits, **grown}
                self._compile()
        return bool(grown)

    def _tell(self, op: OpDef, operands: Sequence[Array], attrs: dict[str, Any]) -> None:
        self._told.append((op, operands, attrs))

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        if not self._tells:
            return self._called(arrays)
        with self._telling:
            found = self._called(arrays)
            jax.effects_barrier()
            told = list(self._told)
        # Now that the run has ended well; of one that has not, the straight-line function tells.
        for op, operands, attrs in told:
            op.kernel(*operands, **attrs)
        return found

    def _called(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        with jax.enable_x64(True):
            held = put([arrays[k] for k in self.held], self.device)
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
        self.held = {k: DeviceMemory(arrays[k], function.device) for k in function.held}
        self.arrays: list[Any] = [
            listing.specs[k] if k in self.held else a for k, a in enumerate(arrays)
        ]
        # Variables that it does not write: there is no need to look at them in each call.
        self._there: dict[int, Any] = {
            k: None for k in function.fed if listing.inputs[k].var.persistable
        }

    def feed(self, position: int, array: Array) -> None:
        self.arrays[position] = array
        if position in self._there:
            self._there[position] = None

    def state_at(self, position: int) -> DeviceMemory:
        return self.held[position]

    def _given(self, k: int) -> Any:
        if k not in self._there:
            return self.arrays[k].copy()
        found = self._there[k]
        if found is None:
            found = self._there[k] = put(self.arrays[k], self.function.device)
        return found

    def __call__(self) -> list[Array]:
        function, held = self.function, self.held.values()
        with jax.enable_x64(True):
            fed = [self._given(k) for k in function.fed]
            new, others, fine = function.run([m.value for m in held], fed)
            for memory, value in zip(held, new, strict=True):
                memory.value = value
            check(fine)
            return fetch(others)


class DeviceMemory:
    """An array on a device; each step puts another in its place."""

    __slots__ = ("device", "value")

    def __init__(self, array: Array, device: Any) -> None:
        self.device = device
        self.write(array)

    def read(self) -> Array:
        with jax.enable_x64(True):
            return fetch([self.value])[0]

    def write(self, array: Array) -> None:
        with jax.enable_x64(True):
            self.value = put(array, self.device)


def _random(operator: Operator) -> bool:
    return bool(getattr(operator.op, "random", False))


def put(arrays: Any, device: Any) -> Any:
    """Copies on the device."""
    return jax.device_put(arrays, device, may_alias=False)


def fetch(arrays: Sequence[Any]) -> list[Array]:
    """Copies for the caller."""
    with jax.transfer_guard_device_to_host("allow"):  # they were asked for
        return [np.array(a) for a in arrays]


def check(fine: Any) -> None:
    """Raise XlaFailed unless all was in order."""
    if fine is not None and not fetch([fine])[0]:
        raise XlaFailed("a check of values failed")


def _processors() -> int:
    """How many of them this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
