"""The Markdown table and the plot of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .summary import OURS, SYSTEMS, Summary
from .workloads import WORKLOADS

__all__ = ["markdown", "plot"]


def _number(seconds: float) -> str:
    us = seconds * 1e6
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _head(cells: Sequence[str]) -> list[str]:
    return [_row(cells), "|" + "---|" * len(cells)]


def _cell(summary: Summary, system: str) -> str:
    name = summary.chosen.get(system)
    if name is None:
        return "-"
    text = _number(summary.seconds[name])
    if name == min(summary.seconds, key=summary.seconds.__getitem__):
        text = f"**{text}**"
    variant = name.removeprefix(system).strip()
    return f"{text} ({variant})" if variant else text


def _title(key: str) -> str:
    return f"{key} {WORKLOADS[key].title}"


def _times(summaries: Sequence[Summary]) -> list[str]:
    lines = _head(["us per step", *SYSTEMS])
    for summary in summaries:
        cells = [_cell(summary, system) for system in SYSTEMS]
        lines.append(_row([_title(summary.key), *cells]))
    return lines


def _ratios(summaries: Sequence[Summary]) -> list[str]:
    lines = _head(["time / best peer", "best peer", *OURS])
    for summary in summaries:
        cells = [str(summary.ratio(system) or "-") for system in OURS]
        lines.append(_row([summary.key, summary.best or "-", *cells]))
    return lines


def _first(summaries: Sequence[Summary]) -> list[str]:
    lines = _head(["seconds to the first loss", *SYSTEMS])
    for summary in summaries:
        names = [summary.chosen.get(system) for system in SYSTEMS]
        cells = ["-" if n is None else f"{summary.first[n]:.2f}" for n in names]
        lines.append(_row([summary.key, *cells]))
    return lines


def _elsewhere(summaries: Sequence[Summary]) -> list[str]:
    """Candidates named for a backend that another one ran."""
    return [
        f"- {s.key}: {name}: run by {backend}"
        for s in summaries
        for name, backend in s.backends.items()
        if backend and backend not in name
    ]


def _absent(summaries: Sequence[Summary]) -> list[str]:
    return [f"- {s.key}: {name}: {why}" for s in summaries for name, why in s.missing.items()]


def markdown(
    summaries: Sequence[Summary], *, cores: int, date: str, machine: Mapping[str, str]
) -> str:
    """The report of a run.

    Parameters
    ----------
    summaries : list of Summary
    cores : int
    date : str
    machine : dict of str to str
        See `machine.describe`.
    """
    measured = (
        "Medians of process CPU time on one core, one thread"
        if cores == 1
        else f"Least wall time of short bursts, {cores} cores, {cores} threads"
    )
    lines = [
        f"## Training steps on {cores} core{'s' * (cores > 1)}, {date}",
        "",
        ", ".join(f"{name} {what}" for name, what in machine.items()),
        "",
        f"{measured}; a whole step each: loss, gradients, update. W9 to W11 in float64, the others "
        "in float32. The fastest of all is bold; in brackets the variant of a library that was its "
        "fastest. All candidates of a workload ran in turn in one process, fed the same batch at "
        "each step; their first five losses agree to 2e-4.",
        "",
        *_times(summaries),
        "",
        "Time of ours divided by that of the best peer in the same round: median (quartiles). "
        "Below 1 is ahead of every peer.",
        "",
        *_ratios(summaries),
        "",
        "Building, compiling and one step (caches on disk may have been warm):",
        "",
        *_first(summaries),
    ]
    elsewhere = _elsewhere(summaries)
    if elsewhere:
        lines += ["", "Run by another backend than they ask for:", "", *elsewhere]
    absent = _absent(summaries)
    if absent:
        lines += ["", "Not in the tables:", "", *absent]
    return "\n".join(lines) + "\n"


_LOOKS: dict[str, dict[str, Any]] = {
    "ours native": {"marker": "o", "color": "#c1121f", "s": 90},
    "ours numpy": {"marker": "s", "color": "#f77f00", "s": 55},
    "ours eager": {"marker": "^", "color": "#fcbf49", "s": 55},
    "torch": {"marker": "D", "color": "#5e548e", "s": 35},
    "torch compile": {"marker": "P", "color": "#9f86c0", "s": 50},
    "jax": {"marker": "v", "color": "#0077b6", "s": 45},
    "autograd": {"marker": "<", "color": "#8d99ae", "s": 35},
    "by hand": {"marker": "x", "color": "#2b2d42", "s": 45},
}


def plot(
    summaries: Sequence[Summary],
    path: Path,
    *,
    cores: int,
    date: str,
    machine: Mapping[str, str],
) -> None:
    """Each system's time beside the best peer's, on a logarithmic axis, as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    height = 1.8 + 0.42 * len(summaries)
    figure, axes = plt.subplots(figsize=(9, height), layout="constrained")
    for system, look in reversed(_LOOKS.items()):
        points = [
            (ratio.middle, place)
            for place, summary in enumerate(summaries)
            if (ratio := summary.ratio(system)) is not None
        ]
        if points:
            x, y = zip(*points, strict=True)
            axes.scatter(x, y, label=system, zorder=3, **look)
    axes.axvline(1.0, color="#2b2d42", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(summaries)), [_title(s.key) for s in summaries])
    axes.invert_yaxis()
    axes.grid(axis="both", color="#dddddd", linewidth=0.6)
    axes.set_xlabel("time of a training step / best peer's time (further left is faster)")
    axes.set_title(
        f"{machine['processor']}; {cores} used; {date}", fontsize=9, color="#555555", loc="left"
    )
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
