"""What the raw numbers of one workload say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

__all__ = ["OURS", "SYSTEMS", "Ratio", "Summary"]

OURS = ("ours eager", "ours numpy", "ours native", "ours jax")
SYSTEMS = (*OURS, "torch", "torch compile", "jax", "autograd", "by hand")


@dataclass(frozen=True)
class Ratio:
    """A time divided by another of the same round: median and quartiles."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:.2f} ({self.low:.2f} to {self.high:.2f})"


def _system(name: str) -> str:
    """The column of a candidate: the longest of `SYSTEMS` that its name begins with."""
    return max((s for s in SYSTEMS if name.startswith(s)), key=len)


class Summary:
    """Times of one workload by system, the best variant of each.

    On one core a time is the median CPU time of a step, which others on the machine do not
    lengthen; on more it is the least wall time of a batch of steps.

    Attributes
    ----------
    key : str
    seconds : dict of str to float
        By candidate.
    chosen : dict of str to str
        The fastest candidate of each system.
    best : str or None
        The fastest candidate that is not ours.
    backends : dict of str to str
        What ran a candidate, where there is a choice.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        self.key: str = result["workload"]
        self.missing: dict[str, str] = result["missing"]
        self.first: dict[str, float] = result["first"]
        self.backends: dict[str, str] = result["backends"]
        self._times: dict[str, Sequence[float]] = result["cpu" if result["cores"] == 1 else "wall"]
        typical = median if result["cores"] == 1 else min
        self.seconds = {name: float(typical(times)) for name, times in self._times.items()}
        self.chosen: dict[str, str] = {}
        for name in sorted(self.seconds, key=self.seconds.__getitem__):
            self.chosen.setdefault(_system(name), name)
        peers = [name for name in self.seconds if _system(name) not in OURS]
        self.best = min(peers, key=self.seconds.__getitem__, default=None)

    def ratio(self, system: str, other: str | None = None) -> Ratio | None:
        """The time of a system divided by that of a candidate, by default the best peer."""
        other = other or self.best
        if other is None or system not in self.chosen:
            return None
        mine, its = self._times[self.chosen[system]], self._times[other]
        found = [a / b for a, b in zip(mine, its, strict=True)]
        low, middle, high = quantiles(found, n=4) if len(found) > 1 else found * 3
        return Ratio(middle, low, high)
