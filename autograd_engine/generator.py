"""The random generator behind every random operation."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from autograd_engine.errors import ArgumentError

__all__ = ["generator", "own_generator", "replaying", "rewound", "seed", "snapshot"]


class _State:
    # Made when first used: importing numpy.random would be a third of the engine's own import.
    shared: np.random.Generator | None = None


class _Own(threading.local):
    generator: np.random.Generator | None = None
    replays: bool = False  # a call of `seed` is part of what is run again


_state: Final = _State()
_own: Final = _Own()


def generator() -> np.random.Generator:
    """The generator in use: NumPy's PCG64, seeded by `seed`; or what `own_generator` says."""
    if _own.generator is not None:
        return _own.generator
    if _state.shared is None:
        _state.shared = np.random.default_rng()
    return _state.shared


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


def seed(seed: int) -> np.random.Generator:
    """Seed all random operations, eager and static.

    Parameters
    ----------
    seed : int
        Non-negative.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    ArgumentError
        When `seed` is no non-negative int.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> _ = paddle.seed(1)
    >>> a = paddle.rand([2])
    >>> _ = paddle.seed(1)
    >>> bool((paddle.rand([2]) == a).numpy().all())
    True
    """
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
        raise ArgumentError(f"seed takes a non-negative int, got {seed!r}")
    if _own.replays:
        _own.generator = np.random.default_rng(int(seed))
        return _own.generator
    _state.shared = np.random.default_rng(int(seed))
    return _state.shared
