"""Operations on numbers that only the run knows, which functions take as axes, sizes, shares."""

from __future__ import annotations

import numpy as np

from autograd_engine.core.dtypes import INT64
from autograd_engine.core.spec import Array, Spec
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.infer import same
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import nothing

__all__ = []


def _axis_position(axis: Array, *, function: str, ndim: int, axes: tuple[int, ...]) -> Array:
    """Which of `axes` it is, counted from the back where it is negative."""
    number = axis.item()
    if not -ndim <= number < ndim:
        raise ShapeError(
            f"{function}: axis {number} is out of range for an array with {ndim} dimensions; use "
            f"{-ndim} to {ndim - 1}"
        )
    if number not in axes:
        number %= ndim
    if number not in axes:
        raise ShapeError(
            f"{function}: axis {number} is none that this program was built for; use one of "
            f"{list(axes)}"
        )
    return np.asarray(axes.index(number))


defop(
    "axis_position",
    _axis_position,
    takes="i",
    inputs="axis",
    infer=lambda axis, *, function, ndim, axes: Spec((), INT64),
    work=nothing,
    checks_values=True,
).vjp(axis=NONDIFF)


def _within(number: Array, *, what: str, wanted: str, least: float, most: float) -> Array:
    """The number, of which is known from here on that a function takes it."""
    value = number.item()
    if not least <= value <= most:
        raise ArgumentError(f"{what} must be {wanted}, got {value}")
    return number


defop(
    "within",
    _within,
    takes="bif",
    inputs="number",
    infer=same,
    result="view",
    work=nothing,
    symbolic=True,
    checks_values=True,
).vjp(number=NONDIFF)
