"""Which random stream an order of samples is drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.random_generator import Generator, generator
from autograd_engine.errors import ArgumentError

__all__ = ["stream"]


def stream(function: str, given: Any) -> np.random.Generator:
    """NumPy's generator behind what a user passed as `generator`."""
    if given is None or isinstance(given, Generator):
        return generator()
    if isinstance(given, np.random.Generator):
        return given
    raise ArgumentError(
        f"{function}: generator must be a numpy.random.Generator, got {type(given).__name__}: pass "
        "np.random.default_rng(seed), or leave it out and call paddle.seed(seed)"
    )
