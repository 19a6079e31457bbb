"""What a change costs: two checkouts, whose steps take turns.

``python -m benchmarks.before_after BEFORE`` compares the engine in that folder with this one, by
the steps of this one. Each runs in a process of its own, on one core, and only one of them runs at
a time; what is compared is the processor time of a step, the median of the rounds, with the
quartiles of the ratio round by round. `OPENBLAS_CORETYPE` is unset unless ``--core`` names one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from .suite.machine import environment

__all__ = ["NAMES", "main"]

NAMES = ("chain", "mlp", "adam", "saddle", "particle", "W1", "W2", "W4", "W7")
EAGER = NAMES[:5]  # of small operations, which are measured eagerly alone
KINDS = ("eager", "numpy", "native")
ROOT = Path(__file__).resolve().parents[1]

_WORKER = """
import gc, json, os, sys, time
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
sys.path.insert(0, os.getcwd())
import autograd_engine
sys.path[0] = ROOT
from benchmarks.micro.numerical_programs import PROGRAMS
from benchmarks.micro.overhead_steps import workload
from benchmarks.suite.steps_ours import makers
from benchmarks.suite.workloads import WORKLOADS
steps = {}
def made(name):
    what, _, kind = name.partition(" ")
    if what in PROGRAMS:
        from benchmarks.micro.test_numerical_programs import Ours
        return PROGRAMS[what](Ours())
    if what in EAGER:
        return workload("ours", what)
    candidate = makers(WORKLOADS[what], 1)[f"ours {kind}"]()
    return lambda: candidate.finish(candidate.step())
for line in sys.stdin:
    name, seconds = json.loads(line)
    if name not in steps:
        step = made(name)
        for _ in range(3):
            step()
        start = time.perf_counter()
        step()
        count = max(1, min(20000, int(seconds / (time.perf_counter() - start))))
        steps[name] = step, count
    step, count = steps[name]
    gc.collect()
    gc.disable()
    start = time.process_time()
    for _ in range(count):
        step()
    taken = (time.process_time() - start) / count
    gc.enable()
    print(json.dumps(taken), flush=True)
"""


class _Worker:
    """A process of one checkout."""

    def __init__(self, checkout: Path, core: str) -> None:
        self.cache = tempfile.TemporaryDirectory()
        variables = environment(1) | {"AUTOGRAD_ENGINE_CACHE": self.cache.name}
        if core:
            variables["OPENBLAS_CORETYPE"] = core
        worker = _WORKER.replace("ROOT", repr(str(ROOT))).replace("EAGER", repr(EAGER))
        self.process = subprocess.Popen(
            [sys.executable, "-c", worker],
            cwd=checkout,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, name: str, seconds: float) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, seconds]) + "\n")
        self.process.stdin.flush()
        return float(json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        self.process.communicate()
        self.cache.cleanup()


def compare(
    before: Path, after: Path, names: list[str], rounds: int, seconds: float, core: str
) -> dict[str, Any]:
    """Seconds of a step before and after, and their ratio, by name."""
    workers = [_Worker(checkout, core) for checkout in (before, after)]
    found: dict[str, Any] = {}
    try:
        for name in names:
            times: list[list[float]] = [[], []]
            for number in range(rounds):
                for k in (0, 1) if number % 2 else (1, 0):
                    times[k].append(workers[k].time(name, seconds))
            ratios = [b / a for a, b in zip(*times, strict=True)]
            found[name] = (median(times[0]), median(times[1]), median(ratios), quantiles(ratios))
    finally:
        for worker in workers:
            worker.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="?", default=Path.cwd())
    parser.add_argument("--only", nargs="+", default=list(NAMES), help=", ".join(NAMES))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--core", default="", help="what OpenBLAS is asked for")
    args = parser.parse_args()
    names = [
        name
        for what in args.only
        for name in ([what] if what in EAGER else [f"{what} {k}" for k in args.kinds])
    ]
    print(f"OPENBLAS_CORETYPE {args.core or 'unset'}, one core, processor time")
    found = compare(
        args.before.resolve(), args.after.resolve(), names, args.rounds, args.seconds, args.core
    )
    for name, (old, new, ratio, quarters) in found.items():
        low, _, high = quarters
        print(
            f"{name:12} {old * 1e6:10.1f} us {new * 1e6:10.1f} us   {ratio:.3f} "
            f"({low:.3f} to {high:.3f})"
        )


if __name__ == "__main__":
    main()
