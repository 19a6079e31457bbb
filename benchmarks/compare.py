"""Training steps beside other systems: ``python -m benchmarks.compare``.

Each workload is measured by a process of its own, in which ours and every library that is installed
take turns. Writes a Markdown report, a plot and the raw numbers. From a checkout with what
``pip install -e ".[bench]"`` brings, and the libraries to compare with.

    python -m benchmarks.compare --quick             a first look, some minutes
    python -m benchmarks.compare                     all workloads on one core
    python -m benchmarks.compare --cores 2 W2 W3     two workloads on two cores
    python -m benchmarks.compare --mkl freed         torch without MKL's slow path on AMD
    python -m benchmarks.compare --check             does native compute what numpy computes?
    python -m benchmarks.compare --load              how much does a busy neighbour cost?
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from .suite.machine import MKL, describe
from .suite.measure import LIBRARIES
from .suite.report import markdown, plot
from .suite.runner import Failed, run
from .suite.summary import Summary
from .suite.workloads import WORKLOADS

Args = argparse.Namespace


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("workloads", nargs="*", metavar="W1 ... W12", help="by default all")
    parser.add_argument("--cores", type=int, choices=(1, 2), default=1)
    parser.add_argument("--mkl", choices=("installed", "freed"), default="installed")
    parser.add_argument("--rounds", type=int, help="by default 15, with --quick 5")
    parser.add_argument("--seconds", type=float, help="of one batch of steps, by default 0.1")
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--skip", nargs="+", default=[], help="candidates, as in the tables")
    parser.add_argument("--quick", action="store_true", help="few rounds, no torch.compile")
    parser.add_argument("--limit", type=float, default=300, help="seconds to a candidate's losses")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--check",
        nargs="?",
        const="native",
        choices=("native", "jax"),
        help="compare a backend, by default native, with numpy over 20 steps",
    )
    what.add_argument("--load", action="store_true", help="slowdown beside a busy process")
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _each(args: Args, module: str, extra: list[str], cores: int) -> list[dict[str, Any]]:
    """The results of one module for all workloads that were asked for."""
    found = []
    for key in args.workloads or WORKLOADS:
        _say(f"{key} {WORKLOADS[key].title}")
        try:
            result = run(
                module,
                [key, *extra],
                directory=args.out,
                name=f"{module}-{key}-{cores}",
                cores=cores,
                limit=args.limit,
                say=lambda text: _say(f"    {text}"),
            )
        except Failed as error:
            _say(f"    {error}")
            found.append({"workload": key, "failed": str(error)})
            continue
        found.append(result)
    return found


def compare(args: Args) -> bool:
    rounds = args.rounds or (5 if args.quick else 15)
    seconds = args.seconds or (0.03 if args.quick else 0.1)
    extra = ["--rounds", str(rounds), "--seconds", str(seconds)]
    skip = [*args.skip, *(["torch compile", "torch compile sdpa"] if args.quick else [])]
    extra += ["--libraries", *args.libraries, *(["--skip", *skip] if skip else [])]
    results = _each(args, "measure", extra, args.cores)
    told: dict[str, Any] = {
        "cores": args.cores,
        "date": date.today().isoformat(),
        "machine": describe(),
    }
    stem = f"compare-{args.cores}" + "-freed" * (args.mkl == "freed")
    raw = {**told, "rounds": rounds, "seconds": seconds, "results": results}
    (args.out / f"{stem}.json").write_text(json.dumps(raw, indent=1))
    summaries = [Summary(r) for r in results if "failed" not in r]
    text = markdown(summaries, **told)
    (args.out / f"{stem}.md").write_text(text)
    print(text)
    if importlib.util.find_spec("matplotlib") is None:
        _say("no plot: matplotlib is not installed")
    elif summaries:
        plot(summaries, args.out / f"{stem}.png", **told)
    _say(f"written: {args.out / stem}.md, .png, .json")
    return len(summaries) == len(results)


def check(args: Args) -> bool:
    results = _each(args, "check", ["--backend", args.check], args.cores)
    print(
        "| 20 steps | losses | parameters | numpy from float64 | allowed "
        f"| {args.check} and numpy are |"
    )
    print("|---|---|---|---|---|---|")
    for r in results:
        if "failed" in r:
            print(f"| {r['workload']} | | | | | {r['failed']} |")
            continue
        figures = (r[name] for name in ("losses", "parameters", "rounding", "tolerance"))
        cells = " | ".join(f"{figure:.1e}" for figure in figures)
        verdict = "equal" if r["equal"] else "DIFFERENT"
        if r["backend"] != args.check:
            verdict = f"not compared: {r['backend']} ran"
        print(f"| {r['workload']} | {cells} | {verdict} |")
    return all(r.get("equal", False) for r in results)


def load(args: Args) -> bool:
    from .suite.load import LIMIT

    results = _each(args, "load", [], 2)
    print(
        "| loaded / quiet wall time, native on two cores | median | worst round | limit |\n"
        "|---|---|---|---|"
    )
    good = True
    for r in results:
        if "failed" in r:
            print(f"| {r['workload']} | | | {r['failed']} |")
            good = False
            continue
        for name, ratios in r["ratios"].items():
            good &= median(ratios) <= LIMIT
            figures = f"{median(ratios):.2f} | {max(ratios):.2f} | {LIMIT:.0f}"
            print(f"| {r['workload']} {name} | {figures} |")
    return good


def main() -> int:
    parser = _parser()
    args = parser.parse_args()
    for key in args.workloads:
        if key not in WORKLOADS:
            parser.error(f"there is no workload {key!r}; there are {', '.join(WORKLOADS)}")
    if args.mkl == "freed":
        os.environ[MKL] = "freed"
    args.out.mkdir(parents=True, exist_ok=True)
    task: Callable[[Args], bool] = check if args.check else load if args.load else compare
    return 0 if task(args) else 1


if __name__ == "__main__":
    sys.exit(main())
