"""Derivatives by differences, with an estimate of how far they can be trusted.

Central differences at steps h, h/2, h/4, ... are extrapolated to h = 0 (Richardson). Each entry of
the tableau is compared with its neighbours (Ridders), and the entry that agrees best is taken, for
each element of the result by itself; so the step adapts to the function, to poles and kinks that
are near, and to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Derivative", "Sides", "derivative", "first_step", "one_sided"]

Array: TypeAlias = NDArray[Any]
Moved: TypeAlias = Callable[[float], Array]
HALVINGS = 10


class Derivative(NamedTuple):
    """Derivatives of each element, and how much they may be off (inf: no estimate)."""

    value: Array
    uncertainty: Array


class Sides(NamedTuple):
    """Derivatives from the left and from the right, and where they differ for good.

    `unsettled` is how far differences move as the step shrinks, 0 where they settle.
    """

    left: Array
    right: Array
    kink: Array
    unsettled: Array


def first_step(x: float, dtype: np.dtype[Any], eps: float | None) -> float:
    """The step to begin with: `eps`, or what suits the dtype; relative where `x` is large."""
    # A power of two where it is ours to choose: x + h is exact then, as a rule.
    step = eps if eps is not None else (2.0**-10 if dtype.itemsize >= 8 else 2.0**-4)
    size = abs(x)
    return step * (2.0 ** float(np.floor(np.log2(size))) if 1.0 < size < np.inf else 1.0)


def derivative(moved: Moved, step: float, tolerance: Callable[[Array], Array]) -> Derivative:
    """The derivative of ``moved(h)`` with respect to h, at h = 0.

    Parameters
    ----------
    moved : callable
        The function after a step of h, an array.
    step : float
        The first step.
    tolerance : callable
        The uncertainty at which to stop, from the values.
    """
    before: list[Array] = []
    value = uncertainty = np.empty(0)
    with np.errstate(all="ignore"):
        for k in range(HALVINGS):
            h = step / 2.0**k
            row = [(moved(h) - moved(-h)) / (2.0 * h)]
            if k == 0:
                value, uncertainty = np.full(row[0].shape, np.nan), np.full(row[0].shape, np.inf)
            for j, old in enumerate(before):
                row.append(row[j] + (row[j] - old) / (4.0 ** (j + 1) - 1.0))
                doubt = np.maximum(np.abs(row[-1] - row[-2]), np.abs(row[-1] - old))
                better = doubt < uncertainty
                value = np.where(better, row[-1], value)
                uncertainty = np.where(better, doubt, uncertainty)
            before = row
            if np.all(uncertainty <= tolerance(value)):
                break
    return Derivative(value, uncertainty)


def one_sided(moved: Moved, step: float, significant: Callable[[Array], Array]) -> Sides:
    """Derivatives of ``moved(h)`` at h = 0 from both sides.

    Where the function is smooth their difference shrinks with the step; at a kink it stays, and
    each side is settled, which noise is not.
    """
    with np.errstate(all="ignore"):
        middle = moved(0.0)
        steps = [step / 4.0**k for k in (1, 2, 3)]
        lefts = [(middle - moved(-h)) / h for h in steps]
        rights = [(moved(h) - middle) / h for h in steps]
        gaps = np.abs(np.subtract(rights, lefts))
        drift = np.maximum(np.ptp(lefts, axis=0), np.ptp(rights, axis=0))
        # What is of first order in h is extrapolated away.
        left, right = ((4.0 * v[-1] - v[-2]) / 3.0 for v in (lefts, rights))
        large = gaps[-1] > significant(np.maximum(np.abs(left), np.abs(right)))
        kink = large & (drift < 0.25 * gaps[-1])
        before, after = np.abs(np.diff(np.add(lefts, rights) / 2.0, axis=0))
        rough = (after >= before) & (after > significant(np.zeros(after.shape))) & ~kink
    return Sides(left, right, kink, np.where(rough, after, 0.0))
