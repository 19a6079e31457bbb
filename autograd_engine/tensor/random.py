"""Random tensors, from the generator that `seed` sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.dtypes import DTypeLike, get_default_numpy_dtype, to_numpy
from autograd_engine.errors import ArgumentError, DTypeError
from autograd_engine.namespace import ops
from autograd_engine.tensor.creation import _shape

__all__ = ["normal", "rand", "randint", "randn", "uniform"]


def _dtype(function: str, dtype: DTypeLike | None) -> str:
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    if chosen.kind != "f":
        raise DTypeError(
            f"{function}: dtype must be a floating one, got {chosen.name}; use randint for integers"
        )
    return chosen.name


def rand(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """Uniform on [0, 1).

    Examples
    --------
    >>> rand([2, 3]).shape
    paddle.Size([2, 3])
    """
    return uniform(shape, dtype, min=0.0, max=1.0)


def randn(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """Standard normal."""
    return ops.gaussian(
        shape=_shape(shape, "randn"), mean=0.0, std=1.0, dtype=_dtype("randn", dtype)
    )


def uniform(
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    min: float = -1.0,
    max: float = 1.0,
    name: str | None = None,
) -> Any:
    """Uniform on [min, max)."""
    if not min <= max:
        raise ArgumentError(f"uniform: min ({min}) must not be above max ({max})")
    return ops.uniform(
        shape=_shape(shape, "uniform"),
        low=float(min),
        high=float(max),
        dtype=_dtype("uniform", dtype),
    )


def normal(
    mean: float = 0.0, std: float = 1.0, shape: int | Sequence[int] = (1,), name: str | None = None
) -> Any:
    """Normal with this mean and standard deviation, in the default dtype."""
    if std < 0:
        raise ArgumentError(f"normal: std must not be negative, got {std}")
    return ops.gaussian(
        shape=_shape(shape, "normal"),
        mean=float(mean),
        std=float(std),
        dtype=_dtype("normal", None),
    )


def randint(
    low: int = 0,
    high: int | None = None,
    shape: int | Sequence[int] = (1,),
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """Integers on [low, high), or on [0, low) without `high`."""
    if high is None:
        low, high = 0, low
    if high <= low:
        raise ArgumentError(f"randint: high ({high}) must be above low ({low})")
    chosen = "int64" if dtype is None else to_numpy(dtype).name
    return ops.randint(shape=_shape(shape, "randint"), low=low, high=high, dtype=chosen)
