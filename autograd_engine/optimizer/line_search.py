"""Line search by the strong Wolfe conditions (Nocedal and Wright 2006, algorithms 3.5 and 3.6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from autograd_engine.core.spec import Array

__all__ = ["Point", "strong_wolfe"]

_ENOUGH = 1e-4  # of the decrease that the slope promises
_FLAT = 0.9  # of the slope that may be left
_TRIALS = 25


class Point(NamedTuple):
    """Values of the parameters, with loss and gradient."""

    loss: float
    values: Array
    gradient: Array


class _Trial(NamedTuple):
    length: float
    loss: float
    slope: float
    point: Point


def strong_wolfe(
    at: Callable[[float], Point],
    start: Point,
    direction: Array,
    length: float,
    slope: float,
    tolerance: float,
    budget: int,
) -> tuple[Point, int]:
    """A point on the line that is low and flat enough, and how often `at` was called.

    Parameters
    ----------
    at : callable
        The point that is so many times `direction` away from `start`.
    length : float
        What to try first.
    slope : float
        At the start; below 0.
    tolerance : float
        No interval is divided whose ends are nearer, as steps go.
    budget : int
        Calls of `at`, one at least.
    """
    calls = 0
    reach = float(abs(direction).max())
    origin = _Trial(0.0, start.loss, slope, start)

    def tried(t: float) -> _Trial:
        nonlocal calls
        calls += 1
        point = at(t)
        return _Trial(t, point.loss, float(point.gradient @ direction), point)

    def low_enough(trial: _Trial) -> bool:
        return trial.loss <= start.loss + _ENOUGH * trial.length * slope

    limit = max(1, min(_TRIALS, budget))
    before, found = origin, None
    while calls < limit:
        trial = tried(length)
        if not low_enough(trial) or (calls > 1 and not trial.loss < before.loss):
            found = before, trial
            break
        if abs(trial.slope) <= -_FLAT * slope:
            return trial.point, calls
        if trial.slope >= 0:
            found = trial, before
            break
        length = min(max(_cubic(before, trial), 1.1 * trial.length), 10.0 * trial.length)
        before = trial
    if found is None:
        return before.point, calls

    low, high = found  # low is the lower end, and descends towards high
    stuck = False
    while calls < limit and abs(high.length - low.length) * reach > tolerance:
        length, stuck = _inside(low, high, stuck)
        trial = tried(length)
        if not low_enough(trial) or not trial.loss < low.loss:
            high = trial
            continue
        if abs(trial.slope) <= -_FLAT * slope:
            return trial.point, calls
        if trial.slope * (high.length - low.length) >= 0:
            high = low
        low = trial
    return low.point, calls


def _inside(low: _Trial, high: _Trial, stuck: bool) -> tuple[float, bool]:
    """Where between the ends to try, and whether that is near one of them.

    Twice in a row near an end makes no progress: then a tenth of the interval away from it.
    """
    left, right = sorted((low.length, high.length))
    width = right - left
    guess = _cubic(low, high)
    if min(guess - left, right - guess) >= 0.1 * width:
        return guess, False
    if not stuck and left < guess < right:
        return guess, True
    return (left + 0.1 * width if guess - left < right - guess else right - 0.1 * width), False


def _cubic(a: _Trial, b: _Trial) -> float:
    """The minimum of the cubic through losses and slopes at both ends; the middle without one."""
    middle = (a.length + b.length) / 2.0
    if not all(map(math.isfinite, (a.loss, a.slope, b.loss, b.slope))):
        return middle
    if a.length > b.length:
        a, b = b, a
    width = b.length - a.length
    if width == 0:
        return middle
    d1 = a.slope + b.slope - 3.0 * (b.loss - a.loss) / width
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return middle
    d2 = math.sqrt(square)
    under = b.slope - a.slope + 2.0 * d2
    if under == 0:
        return middle
    return b.length - width * (b.slope + d2 - d1) / under
