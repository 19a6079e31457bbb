"""Timing several functions side by side, so that their ratios survive a noisy machine.

Each round times every function once, in turn, over a batch of calls; a ratio is taken within a
round, and the median over rounds is reported with its quartiles.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median, quantiles

__all__ = ["compare", "table"]

Timings = dict[str, list[float]]


def compare(
    functions: Mapping[str, Callable[[], object]], *, rounds: int = 31, seconds: float = 0.02
) -> Timings:
    """Seconds per call of each function, by round.

    Parameters
    ----------
    functions : mapping of str to callable
    rounds : int
    seconds : float
        About how long one batch of calls takes.
    """
    batches = {}
    for name, function in functions.items():
        function()
        start = time.perf_counter()
        function()
        batches[name] = max(1, int(seconds / max(time.perf_counter() - start, 1e-7)))
    timings: Timings = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            calls = batches[name]
            start = time.perf_counter()
            for _ in range(calls):
                function()
            timings[name].append((time.perf_counter() - start) / calls)
    return timings


def table(title: str, timings: Timings, *, ours: str = "ours", per: int = 1) -> str:
    """Markdown: time of each, and `ours` divided by it within one round (median, quartiles)."""
    lines = [
        f"### {title}",
        "",
        "| | us | ours / it | quartiles |",
        "|---|---|---|---|",
    ]
    for name, times in timings.items():
        ratios = [a / b for a, b in zip(timings[ours], times, strict=True)]
        low, _, high = quantiles(ratios, n=4)
        lines.append(
            f"| {name} | {median(times) / per * 1e6:.2f} | {median(ratios):.2f} | "
            f"{low:.2f} to {high:.2f} |"
        )
    return "\n".join(lines)
