"""Training steps of the examples beside PyTorch: ``python -m benchmarks.examples``.

Each example is measured by a process of its own on one core, in which ours eagerly, ours under
`to_static` with native code, and eager PyTorch take turns. Times are CPU times.

    python -m benchmarks.examples                                   all of them
    python -m benchmarks.examples wgan_gp skip_gram --rounds 21
    python -m benchmarks.examples --out results                     also as Markdown and JSON
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from ..suite.machine import describe
from ..suite.runner import Failed, run
from .measure import NAMES, OURS, TORCH

AIMS = {"ours eager": 1.0, "ours to_static": 0.7}


def _milliseconds(times: Sequence[float] | None) -> str:
    return "-" if times is None else f"{1e3 * median(times):.2f}"


def _ratio(times: Sequence[float] | None, others: Sequence[float] | None) -> str:
    """Median and quartiles of the ratios within rounds."""
    if times is None or others is None:
        return "-"
    found = [a / b for a, b in zip(times, others, strict=True)]
    low, middle, high = quantiles(found, n=4) if len(found) > 1 else found * 3
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def markdown(results: Sequence[dict[str, Any]], told: dict[str, str]) -> str:
    """A row for each example: CPU times of a step, ratios to PyTorch, agreement of losses."""
    names = [*OURS, TORCH]
    head = ["ms per step", *names, *(f"{n} / torch (aim {AIMS[n]})" for n in OURS), "losses apart"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    notes = []
    for result in results:
        if "failed" in result:
            notes.append(f"- {result['example']}: {result['failed']}")
            continue
        cpu = result["cpu"]
        cells = [result["example"], *(_milliseconds(cpu.get(n)) for n in names)]
        cells += [_ratio(cpu.get(n), cpu.get(TORCH)) for n in OURS]
        cells.append(f"{max(result['apart'].values()):.0e}")
        lines.append(f"| {' | '.join(cells)} |")
        notes += [f"- {result['example']}: {n}: {why}" for n, why in result["missing"].items()]
    machine = "; ".join(f"{name} {value}" for name, value in told.items())
    return "\n".join([*lines, "", *notes, f"- One core. {machine}", ""])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.examples",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help=f"by default all of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.1, help="of one batch of steps")
    parser.add_argument("--limit", type=float, default=300, help="seconds without a result")
    parser.add_argument("--out", type=Path, help="directory for examples.md and examples.json")
    args = parser.parse_args(argv)
    for name in args.names:
        if name not in NAMES:
            parser.error(f"there is no {name!r}; there are {', '.join(NAMES)}")
    if args.rounds < 1 or not args.seconds > 0:
        parser.error("--rounds must be at least 1, and --seconds above 0")
    extra = ["--rounds", str(args.rounds), "--seconds", str(args.seconds)]
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as directory:
        for name in args.names or NAMES:
            print(name, file=sys.stderr, flush=True)
            try:
                found = run(
                    "measure",
                    [name, *extra],
                    directory=Path(directory),
                    name=name,
                    cores=1,
                    limit=args.limit,
                    say=lambda text: print(f"    {text}", file=sys.stderr, flush=True),
                    package="benchmarks.examples",
                )
            except Failed as error:
                log = (Path(directory) / f"{name}.log").read_text().strip().splitlines()[-1:]
                found = {"example": name, "failed": " ".join([str(error), *log])}
            results.append(found)
    told = {"date": date.today().isoformat(), **describe()}
    text = markdown(results, told)
    print(text)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "examples.md").write_text(text)
        (args.out / "examples.json").write_text(json.dumps({**told, "results": results}, indent=1))
    return 1 if any("failed" in r or len(r["cpu"]) < 3 for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
