"""The random generator behind every random operation."""

from __future__ import annotations

from typing import Final

import numpy as np

from autograd_engine.errors import ArgumentError

__all__ = ["generator", "seed", "use_generator"]


class _State:
    # Made when first used: importing numpy.random would be a third of the engine's own import.
    current: np.random.Generator | None = None


_state: Final = _State()


def generator() -> np.random.Generator:
    """The generator in use: NumPy's PCG64, seeded by `seed`."""
    if _state.current is None:
        _state.current = np.random.default_rng()
    return _state.current


def use_generator(new: np.random.Generator) -> np.random.Generator:
    """Put `new` in use and return the one that was."""
    old = generator()
    _state.current = new
    return old


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
    _state.current = np.random.default_rng(int(seed))
    return _state.current
