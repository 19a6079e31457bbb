"""The random generator behind every random operation; `docs/training.md` describes the stream."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.locks import renew_in_child, renewed_lock
from autograd_engine.errors import ArgumentError

__all__ = [
    "Generator",
    "RNGState",
    "generator",
    "get_rng_state",
    "own_generator",
    "replaying",
    "rewound",
    "seed",
    "set_rng_state",
    "shared_stream",
    "snapshot",
]

RNGState = dict[str, int | str]


class _State:
    # Made when first used: importing numpy.random would be a third of the engine's own import.
    shared: np.random.Generator | None = None
    seed: int | None = None  # what `shared` began with


class _Own(threading.local):
    generator: np.random.Generator | None = None
    replays: bool = False  # a call of `seed` is part of what is run again


_state: Final = _State()
_own: Final = _Own()
_beginning: Final = renewed_lock()


def generator() -> np.random.Generator:
    """The generator in use: NumPy's PCG64, seeded by `seed`; or what `own_generator` says."""
    if _own.generator is not None:
        return _own.generator
    if _state.shared is None:
        _begin_unseeded()
        assert _state.shared is not None
    return _state.shared


def _begin_unseeded() -> None:
    with _beginning:  # threads that draw for the first time draw from one stream
        if _state.shared is None:
            _state.seed = _unpredictable()
            _state.shared = shared_stream(_state.seed)


def shared_stream(seed: int) -> np.random.Generator:
    """A generator that several threads may draw from, and a forked child too: NumPy locks it."""
    stream = np.random.default_rng(seed)
    renew_in_child(stream.bit_generator.lock)
    return stream


@contextlib.contextmanager
def own_generator(generator: np.random.Generator | None) -> Iterator[None]:
    """Inside the ``with`` block this thread draws from `generator`; None changes nothing."""
    before = _own.generator
    try:
        if generator is not None:
            _own.generator = generator
        yield
    finally:
        _own.generator = before


def snapshot(source: np.random.Generator) -> Callable[[], np.random.Generator]:
    """Makes generators that draw what `source` is about to draw."""
    kind, state = type(source.bit_generator), source.bit_generator.state

    def again() -> np.random.Generator:
        bits = kind(0)
        bits.state = state
        return np.random.Generator(bits)

    return again


@contextlib.contextmanager
def rewound() -> Iterator[None]:
    """Where the ``with`` block raises an Exception, what was drawn in it is drawn again."""
    bits = generator().bit_generator
    state = bits.state
    try:
        yield
    except Exception:
        bits.state = state
        raise


@contextlib.contextmanager
def replaying(generator: np.random.Generator | None) -> Iterator[None]:
    """As `own_generator`; and `seed` inside the ``with`` block changes nothing outside of it."""
    before = _own.replays
    with own_generator(generator):
        try:
            _own.replays = generator is not None
            yield
        finally:
            _own.replays = before


def seed(seed: int) -> Generator:
    """Seed all random operations, eager and static.

    Parameters
    ----------
    seed : int
        Non-negative.

    Returns
    -------
    Generator
        A handle on the stream.

    Raises
    ------
    ArgumentError
        When `seed` is no non-negative int.
    ModeError
        In a function that `jit.to_static` traces.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> _ = paddle.seed(1)
    >>> a = paddle.rand([2])
    >>> _ = paddle.seed(1)
    >>> bool((paddle.rand([2]) == a).numpy().all())
    True
    """
    return Generator().manual_seed(seed)


def get_rng_state(device: str | None = None) -> list[RNGState]:
    """Where the random stream stands.

    Parameters
    ----------
    device : str, optional
        ``"cpu"``, which is the only one.

    Returns
    -------
    list of dict
        One state, of ints and strings, so that it can be saved with a checkpoint.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> state = paddle.get_rng_state()
    >>> a = paddle.rand([2])
    >>> paddle.set_rng_state(state)
    >>> paddle.rand([2]).tolist() == a.tolist()
    True
    """
    return [Generator(device).get_state()]


def set_rng_state(state_list: Sequence[RNGState], device: str | None = None) -> None:
    """Have the random stream go on from where it stood.

    Parameters
    ----------
    state_list : list of dict
        What `get_rng_state` returned.
    device : str, optional
        ``"cpu"``, which is the only one.

    Raises
    ------
    TypeError, ArgumentError
        When that is no such state. The stream is left as it is.
    """
    if not isinstance(state_list, (list, tuple)) or len(state_list) != 1:
        given = (
            f"{len(state_list)} of them"
            if isinstance(state_list, (list, tuple))
            else type(state_list).__name__
        )
        raise ArgumentError(
            f"set_rng_state takes the list of one state that get_rng_state() returns, got {given}"
        )
    Generator(device).set_state(state_list[0])


class Generator:
    """A handle on the one stream of random numbers: NumPy's PCG64.

    All handles are on the same stream.

    Parameters
    ----------
    device : str, optional
        ``"cpu"``, which is the only one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.seed(3).initial_seed()
    3
    >>> paddle.Generator().initial_seed()
    3
    """

    __slots__ = ()

    def __init__(self, device: Any = None) -> None:
        if device is not None and str(device).lower() not in ("cpu", "place(cpu)"):
            raise ArgumentError(f"Generator: {device!r} is not there; the one device is 'cpu'")

    def manual_seed(self, seed: int) -> Generator:
        """Begin the stream of that seed; returns the handle."""
        if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
            raise ArgumentError(f"seed takes a non-negative int, got {seed!r}")
        _not_traced("paddle.seed()")
        _begin(int(seed), np.random.default_rng(int(seed)))
        return self

    def seed(self) -> int:
        """Begin a stream that nobody knows; returns its seed."""
        _not_traced("seed()")
        seed = _unpredictable()
        _begin(seed, np.random.default_rng(seed))
        return seed

    def initial_seed(self) -> int:
        """The seed that the stream began with."""
        generator()
        assert _state.seed is not None
        return _state.seed

    def random(self) -> int:
        """The next 64 bits of the stream, as a non-negative int."""
        _not_traced("Generator.random()")
        return int(generator().integers(0, 2**64, dtype=np.uint64))

    def get_state(self) -> RNGState:
        """Where the stream stands: a dict of ints and strings."""
        _not_traced("get_rng_state()")
        state: Any = generator().bit_generator.state
        return {
            "generator": state["bit_generator"],
            "seed": str(self.initial_seed()),
            "state": hex(state["state"]["state"]),
            "increment": hex(state["state"]["inc"]),
            "has_uint32": int(state["has_uint32"]),
            "uinteger": int(state["uinteger"]),
        }

    def set_state(self, state: RNGState) -> None:
        """Have the stream go on from where it stood; see `set_rng_state`."""
        seed, bits = _read(state)
        _not_traced("set_rng_state()")
        _begin(seed, np.random.Generator(bits))

    def __repr__(self) -> str:
        return f"Generator(seed={self.initial_seed()})"


def _begin(seed: int, stream: np.random.Generator) -> None:
    """Draw from `stream` from here on."""
    if _own.replays:
        _own.generator = stream
    else:
        renew_in_child(stream.bit_generator.lock)
        _state.seed, _state.shared = seed, stream


def _unpredictable() -> int:
    return int.from_bytes(os.urandom(6), "little")


def _read(state: Any) -> tuple[int, np.random.PCG64]:
    """The seed and the bit generator that a state says."""
    if not isinstance(state, Mapping):
        raise TypeError(
            f"a state of the generator is a dict, as get_rng_state()[0]; got {type(state).__name__}"
        )
    if state.get("generator") != "PCG64" or state.keys() != _KEYS:
        raise ArgumentError(
            f"this is no state of the generator: it has {', '.join(map(str, state)) or 'nothing'} "
            f"in the place of {', '.join(sorted(_KEYS))} with generator='PCG64'; take what "
            "get_rng_state() returned"
        )
    numbers = {}
    for key, base, bits in (
        ("seed", 10, None),
        ("state", 16, 128),
        ("increment", 16, 128),
        ("has_uint32", 0, 1),
        ("uinteger", 0, 32),
    ):
        given = state[key]
        value: Any = given
        if base and isinstance(given, str):
            try:
                value = int(given, base)
            except ValueError:
                value = None
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < 0 or (bits is not None and value >= 2**bits):
            raise ArgumentError(
                f"this is no state of the generator: {key} is {given!r}; take what get_rng_state() "
                "returned"
            )
        numbers[key] = int(value)
    if not numbers["increment"] % 2:
        raise ArgumentError("this is no state of the generator: increment is even")
    made = np.random.PCG64(0)
    made.state = {
        "bit_generator": "PCG64",
        "state": {"state": numbers["state"], "inc": numbers["increment"]},
        "has_uint32": numbers["has_uint32"],
        "uinteger": numbers["uinteger"],
    }
    return numbers["seed"], made


_KEYS: Final = frozenset({"generator", "seed", "state", "increment", "has_uint32", "uinteger"})


def _not_traced(call: str) -> None:
    """Refuse what a program cannot do: it would happen once, while the function is traced."""
    for refuse in on_move:
        refuse(call)


on_move: Final[list[Callable[[str], None]]] = []
"""What is asked before the stream is set or moved from outside; it may raise."""
