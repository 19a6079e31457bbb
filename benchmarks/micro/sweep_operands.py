"""Operands of the functions in both tables of the sweep: float32, of a size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Array", "Make", "matrices", "matrix", "normal", "positive"]

Array = np.ndarray[Any, Any]
Make = Callable[[np.random.Generator, int], list[Array]]


def normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def matrix(rng: np.random.Generator, n: int) -> list[Array]:
    return [normal(rng, n, n)]


def matrices(rng: np.random.Generator, n: int) -> list[Array]:
    return [normal(rng, n, n), normal(rng, n, n)]


def positive(rng: np.random.Generator, n: int) -> list[Array]:
    return [np.abs(normal(rng, n, n)) + np.float32(0.5)]
