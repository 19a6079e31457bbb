"""The namespace in which a program computes while it is traced.

Forward operators and the rules of gradient operators call the same functions here, on jax arrays;
nothing is differentiated by jax. What is known while the program is traced (numbers of the program,
what follows from sizes) stays an ndarray, and NumPy computes with it once.

A `Run` also takes note of what NumPy would have refused. A row that looks at values says so with
`require`; the compiled step returns one flag, keeps its state as it was where that is false, and
the straight-line function then says what is wrong.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.repetition import EachRound
from autograd_engine.compiler.xla.host_call import on_host
from autograd_engine.compiler.xla.memory import NumpyOnly, is_traced
from autograd_engine.compiler.xla.rows import PLACES, ROWS, ways
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import FLOAT32, HALVES, scalar_dtype
from autograd_engine.core.random_generator import own_generator
from autograd_engine.core.spec import Array, Spec, ValueSpec
from autograd_engine.ops.registry.namespace import Namespace
from autograd_engine.ops.registry.number_inputs import NumberInputOp
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.ir.program import Operator

__all__ = [
    "CALLED_BACK",
    "DRAWN",
    "FIRST_LIMIT",
    "LARGE",
    "Draw",
    "Lowered",
    "Run",
    "XlaUnavailable",
]

FIRST_LIMIT: Final = 32  # iterations that a loop keeps, at first
LARGE: Final = 1 << 10  # elements from which on an array of one number is made by XLA


class XlaUnavailable(Exception):
    """Why a program does not run through XLA.

    Attributes
    ----------
    located : bool
        Whether it names the operator that it is about.
    """

    located = False


CALLED_BACK: Final = "called back"
DRAWN: Final = "drawn"


class Lowered(NamedTuple):
    """How an operation came into a step.

    Attributes
    ----------
    operation : str
    way : str
        "written", "twin" or "transposed", see `rows`; "called back", for which the step goes back
        to NumPy; or "drawn", by NumPy before it begins.
    why : str
        That it does so.
    origin : Operator or None
    """

    operation: str
    way: str
    why: str
    origin: Operator | None


class Draw(NamedTuple):
    """Random numbers that a step takes: the kernel of NumPy's stream draws them before it runs."""

    kernel: Callable[[], tuple[Array, ...]]
    specs: tuple[Spec, ...]


class _Drawn(Exception):
    """A kernel has asked for random numbers."""


class _Probe:
    """In the place of a generator that nobody may draw from."""

    def __getattr__(self, name: str) -> Any:
        raise _Drawn


class Run(Namespace):
    """One trace of a program.

    Parameters
    ----------
    drawn : sequence, optional
        For each draw, the traced arrays that it has made; without it, draws are only noted.
    limits : dict of int to int, optional
        Of loops, by the id of their operator: so many iterations they have memory for.
    stream : callable, optional
        A program that draws inside branches or loops draws there, called back in order: from the
        generator that this returns.
    tell : callable, optional
        Called in order with an operation that is done for its effect, its operands and attributes.

    Attributes
    ----------
    flags : list of array
        What has to hold of values.
    trips : dict of int to array
        Of loops, by the id of their operator: so many iterations they would have had memory for.
    draws : list of Draw
        In the order of the program.
    lowered : list of Lowered
    transposing : tuple of str
        Rows whose rules are traced to be transposed: what these call is no way to compute them.
    origin : Operator or None
        The operator that is traced.
    round : array or None
        Of a loop that was found in the listing, which round is traced.
    """

    def __init__(
        self,
        drawn: Sequence[Sequence[Any]] | None = None,
        limits: Mapping[int, int] | None = None,
        stream: Callable[[], np.random.Generator] | None = None,
        tell: Callable[[OpDef, Sequence[Array], dict[str, Any]], None] | None = None,
    ) -> None:
        self.flags: list[Any] = []
        self.trips: dict[int, Any] = {}
        self.draws: list[Draw] = []
        self.lowered: list[Lowered] = []
        self.transposing: tuple[str, ...] = ()
        self.origin: Operator | None = None
        self._parts: dict[int, tuple[Any, list[tuple[Any, Any]]]] = {}
        self._drawn = drawn
        self._limits = limits or {}
        self._stream, self._tell = stream, tell
        self._depth = 0
        self.round: Any = None

    def __getitem__(self, op: OpDef) -> Callable[..., Any]:
        """The function of `op`, not kept by `op`, which lives longer."""
        found: Callable[..., Any] = (
            getattr(self, op.name) if REGISTRY.get(op.name) is op else self.bind(op)
        )
        return found

    def bind(self, op: OpDef) -> Callable[..., Any]:
        def call(*operands: Any, **attrs: Any) -> Any:
            results = self.call(op, operands, op.complete_attrs(attrs))
            return results if op.multiple else results[0]

        return call

    def project(self, g: Any, like: Any) -> Any:
        return g if g is None or g.shape == like.shape else self.sum_like(g, like)

    def unless_hollow(self, x: Any, *gs: Any) -> Any:
        """Pullbacks guard each result; whoever runs one here guards all of them together."""
        return x

    def scatter(self, name: str, *operands: Any, **attrs: Any) -> Any:
        return getattr(self, name)(*operands, **attrs)

    def note_parts(self, array: Any, parts: list[tuple[Any, Any]]) -> None:
        """`array` is zeros to which each part is added at its key."""
        self._parts[id(array)] = array, parts  # which keeps it, and so its id

    def parts_of(self, array: Any) -> list[tuple[Any, Any]]:
        """What was noted of it."""
        return self._parts.get(id(array), (None, []))[1]

    def require(self, holds: Any) -> None:
        """Of values that NumPy would refuse this is False, somewhere."""
        if is_traced(holds) or (self._depth and not np.all(holds)):
            self.flags.append(jnp.all(holds))
        elif not np.all(holds):
            raise XlaUnavailable("it is given what is out of range in every run")

    def within(self, index: Any, low: int, high: int) -> None:
        """`require` integers to be `low` or more, and below `high`."""
        if index.size:
            self.require((index >= low) & (index < high))

    # --- branches and loops

    @property
    def fine(self) -> Any:
        """Whether all holds so far: True, or a traced bool."""
        return functools.reduce(jnp.logical_and, self.flags) if self.flags else True

    def note(self, fine: Any, trips: Mapping[int, Any]) -> None:
        """Take over what was noted in a part of the program."""
        if fine is not True:
            self.flags.append(fine)
        for key, count in trips.items():
            known = self.trips.get(key)
            self.trips[key] = count if known is None else jnp.maximum(known, count)

    def aside(self, function: Callable[..., Any], fine: Any, *given: Any) -> Any:
        """(what a function returns, fine, trips): what is noted in it is returned.

        Parameters
        ----------
        function : callable
        fine : bool or array
            Whether all held so far; what is returned says so as well where anything is noted.
        *given
            What the function is called with.
        """
        outer = self.flags, self.trips
        self.flags, self.trips = ([] if fine is True else [fine]), {}
        begun = len(self.flags)
        self._depth += 1
        try:
            found = function(*given)
            return found, self.fine if len(self.flags) > begun else True, self.trips
        finally:
            self.flags, self.trips = outer
            self._depth -= 1

    def attempt(self) -> Callable[[], None]:
        """What takes back all that is noted from now on."""
        noted = len(self.flags), len(self.draws), len(self.lowered), dict(self.trips)

        def undo() -> None:
            flags, draws, lowered, self.trips = noted
            del self.flags[flags:], self.draws[draws:], self.lowered[lowered:]

        return undo

    def limit(self, key: int) -> int:
        """So many iterations a loop has memory for."""
        return self._limits.get(key, FIRST_LIMIT)

    def place(self, number: Any, size: int) -> Any:
        """An index among attributes, from the front: that of this round, if each has another."""
        if not isinstance(number, EachRound):
            return number + size if number < 0 else number
        each = np.array(number.each, np.int64)
        each = np.where(each < 0, each + size, each)
        steps = np.diff(each)
        if (steps == steps[0]).all():
            return int(each[0]) + int(steps[0]) * self.round
        return jnp.asarray(each)[self.round]

    # --- what a run draws

    def draw(self, kernel: Callable[[], tuple[Array, ...]], specs: Sequence[Spec]) -> list[Any]:
        """What a kernel draws on the host, in each run before it begins."""
        stream = self._stream
        if stream is not None:

            def drawn_now() -> tuple[Array, ...]:
                with own_generator(stream()):
                    return kernel()

            results, fine = on_host(drawn_now, specs, (), self.fine, ordered=True)
            self.flags.append(fine)
            return results
        number = len(self.draws)
        self.draws.append(Draw(kernel, tuple(specs)))
        if self._drawn is None:
            return [jnp.zeros(tuple(s.shape), s.dtype) for s in specs]
        return list(self._drawn[number])

    def within_row(self, op: OpDef) -> Run:
        """Where the rule of a row is traced that is to be transposed; no check of it counts."""
        inner = Run()
        inner.transposing = (*self.transposing, op.name)
        return inner

    # --- one operation

    def call(self, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """The results of an operation.

        Parameters
        ----------
        op : OpDef
        operands : sequence
            jax arrays, ndarrays, Python scalars; None of what is left out.
        attrs : dict
            All attributes.

        Raises
        ------
        XlaUnavailable
        """
        if isinstance(op, NumberInputOp):
            if is_traced(tuple(op.numbers(operands))):
                raise XlaUnavailable(f"a number that {op.name} takes depends on values")
            operands, attrs = op.plain(operands, attrs)
            op = op.base
        moving = self.round is not None and _has_places(attrs)
        if moving and op.name not in PLACES:
            raise XlaUnavailable(f"{op.name} takes a number that each round has another of")
        values = _prepared(op, operands)
        known = [_spec(v) for v in values]
        specs = op.infer_tuple(known, attrs)
        if op.effect:
            return self._effect(op, values, attrs)
        if op.random:
            return self._random(op, values, attrs, specs)
        if not (moving or is_traced(tuple(values)) or any(map(_is_open, specs))):
            return _known(op, values, attrs, specs)
        for spec in specs:
            if _is_open(spec) and not any(v is not None and _is_open(v) for v in known):
                raise XlaUnavailable(f"the sizes of what {op.name} returns depend on values")
        given = [_widened(v) for v in values] if op.halves == "in float32" else values
        noted, why = len(self.flags), "it looks at values"
        for way, function in ways(self, op):
            try:
                with np.errstate(all="ignore"):
                    made = function(*given, **attrs)
                results = made if op.multiple else (made,)
                found = [_as_inferred(r, s) for r, s in zip(results, specs, strict=True)]
                self.lowered.append(Lowered(op.name, way, "", self.origin))
                return tuple(found)
            except XlaUnavailable:
                raise
            except NumpyOnly as error:
                why = str(error) if way != "transposed" else why
            except Exception as error:  # of a kernel that does more than jax.numpy can
                told = str(error).strip().partition("\n")[0]
                told = f"{type(error).__name__}: {told}"
                why = told if way != "transposed" else why
                if way == "written":
                    warnings.warn(
                        f"what {op.name} is in XLA failed ({told}); NumPy computes it", stacklevel=2
                    )
            del self.flags[noted:]
        return self._by_numpy(op, values, attrs, specs, why)

    def _by_numpy(
        self,
        op: OpDef,
        values: Sequence[Any],
        attrs: dict[str, Any],
        specs: Sequence[Spec],
        why: str,
    ) -> tuple[Any, ...]:
        """The kernel of NumPy, called back by the step."""
        if self.transposing:
            raise NumpyOnly(why)
        if any(map(_is_open, specs)):
            raise XlaUnavailable(f"NumPy would compute {op.name}, with sizes left open: {why}")
        self.lowered.append(Lowered(op.name, CALLED_BACK, why, self.origin))
        at = [k for k, v in enumerate(values) if is_traced(v)]
        rest = [None if k in at else v for k, v in enumerate(values)]

        def kernel(*arrays: Array) -> list[Array]:
            full = list(rest)
            for k, array in zip(at, arrays, strict=True):
                full[k] = array
            return [np.asarray(v) for v in _by_kernel(op, full, attrs)]

        results, fine = on_host(kernel, specs, [values[k] for k in at], self.fine)
        self.flags.append(fine)
        return tuple(results)

    def _random(
        self, op: OpDef, values: Sequence[Any], attrs: dict[str, Any], specs: Sequence[Spec]
    ) -> tuple[Any, ...]:
        """Numbers of the engine's own stream, in the order of the program."""
        if is_traced(tuple(values)):
            function = ROWS.get(op.name) if REGISTRY.get(op.name) is op else None
            if function is None:
                raise XlaUnavailable(f"what {op.name} draws depends on values")
            self.lowered.append(self._draws(op))
            made = function(self, *values, **attrs)
            results = made if op.multiple else (made,)
            return tuple([_as_inferred(r, s) for r, s in zip(results, specs, strict=True)])
        try:
            with own_generator(_Probe()):  # type: ignore[arg-type]
                if any(map(_is_open, specs)):
                    return self._of_open_sizes(op, values, attrs, specs)
                return _known(op, values, attrs, specs)
        except _Drawn:
            pass
        if any(isinstance(d, Dim) for s in specs for d in s.shape):
            raise XlaUnavailable(f"the sizes of what {op.name} returns depend on what it draws")
        self.lowered.append(self._draws(op))
        return tuple(self.draw(lambda: _by_kernel(op, values, attrs), specs))

    def _effect(
        self, op: OpDef, values: Sequence[Any], attrs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """What is done for its effect returns its first operand."""
        late, tell = getattr(op, "late", ""), self._tell
        if late == "check":
            self.require(values[0])
        elif late == "report" and tell is not None:
            why = "it is told when the run has ended"
            self.lowered.append(Lowered(op.name, CALLED_BACK, why, self.origin))
            at = [k for k, v in enumerate(values) if is_traced(v)]

            def told(*arrays: Array) -> list[Array]:
                full = list(values)
                for k, array in zip(at, arrays, strict=True):
                    full[k] = array.copy()
                tell(op, full, attrs)
                return []

            _, fine = on_host(told, (), [values[k] for k in at], self.fine, ordered=True)
            self.flags.append(fine)
        else:
            raise XlaUnavailable(f"{op.name} is done for its effect")
        return (values[0],)

    def _draws(self, op: OpDef) -> Lowered:
        if self._stream is None:
            return Lowered(op.name, DRAWN, "", self.origin)
        why = "the program draws in a branch or loop"
        return Lowered(op.name, CALLED_BACK, why, self.origin)

    def _of_open_sizes(
        self, op: OpDef, values: Sequence[Any], attrs: dict[str, Any], specs: Sequence[Spec]
    ) -> tuple[Any, ...]:
        """What draws nothing in the case at hand, as a mask of dropout for inference."""
        try:
            made = next(ways(self, op))[1](*values, **attrs)
        except NumpyOnly as error:
            raise XlaUnavailable(f"{op.name}, with sizes left open: {error}") from error
        results = made if op.multiple else (made,)
        return tuple([_as_inferred(r, s) for r, s in zip(results, specs, strict=True)])


def _has_places(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_places, value.values()))
    if isinstance(value, (tuple, list)):
        return any(map(_has_places, value))
    if isinstance(value, slice):
        return _has_places((value.start, value.stop, value.step))
    return isinstance(value, EachRound)


def _by_kernel(op: OpDef, values: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
    with np.errstate(all="ignore"):
        made = op.kernel(*values, **attrs)
    return tuple(made) if op.multiple else (made,)


def _known(
    op: OpDef, values: Sequence[Any], attrs: dict[str, Any], specs: Sequence[Spec]
) -> tuple[Any, ...]:
    """Results that depend on nothing that a run brings."""
    if op.elements == "fill" and specs[0].size >= LARGE:
        (spec,) = specs
        return (jnp.full(tuple(spec.shape), attrs.get("value", 0), spec.dtype),)
    return tuple([np.asarray(v) for v in _by_kernel(op, values, attrs)])


def _prepared(op: OpDef, operands: Sequence[Any]) -> list[Any]:
    """Operands, numbers as arrays of the dtype that they take; Specs of what is asked for these."""
    known = [
        np.dtype(v.dtype)
        for k, v in enumerate(operands)
        if hasattr(v, "dtype") and op.input_at(k) not in op.untyped
    ]
    values: list[Any] = []
    for k, v in enumerate(operands):
        if v is None:
            pass
        elif not op.reads_value(k):
            v = Spec(tuple(v.shape), np.dtype(v.dtype))
        elif not hasattr(v, "dtype"):
            v = np.asarray(v, scalar_dtype(v, known))
        values.append(v)
    return values


def _spec(value: Any) -> Any:
    if value is None or (isinstance(value, Spec) and not is_traced(tuple(value.shape))):
        return value
    # Sizes of jax's that a program is exported for are symbols here as well.
    sizes = [d if isinstance(d, int) else Dim.symbol(str(d)) for d in value.shape]
    spec = Spec(tuple(sizes), np.dtype(value.dtype))
    return spec if isinstance(value, Spec) or is_traced(value) else ValueSpec.of(spec, value)


def _is_open(spec: Any) -> bool:
    return any(isinstance(d, Dim) for d in spec.shape)


def _widened(value: Any) -> Any:
    if value is None or value.dtype not in HALVES:
        return value
    return Spec(value.shape, FLOAT32) if isinstance(value, Spec) else value.astype(FLOAT32)


def _as_inferred(result: Any, spec: Spec) -> Any:
    shape = np.shape(result)
    pairs = zip(shape, spec.shape, strict=False)
    if len(shape) != len(spec.shape) or any(a != b for a, b in pairs if not isinstance(b, Dim)):
        raise NumpyOnly("its kernel returns another shape")
    if isinstance(result, jax.Array) and result.dtype == spec.dtype:
        return result
    return jnp.asarray(result, spec.dtype)
