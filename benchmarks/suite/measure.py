"""The candidates of one workload, timed in turn within one process.

Started by ``benchmarks.compare`` as a process of its own, with the threads that
`machine.environment` gives it. What happens is written to a file as lines of JSON, so that whoever
waits knows what was going on when a time limit was passed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from .candidates import Candidate, Maker
from .machine import pin
from .workloads import WORKLOADS, Workload

__all__ = ["LIBRARIES", "agreement", "drop_others", "main", "makers", "report", "timings"]

LIBRARIES = {"ours": "autograd_engine", "torch": "torch", "jax": "jax", "autograd": "autograd"}
LIBRARIES["hand"] = "numpy"
FIRST_STEPS = 5
TOLERANCE = 2e-4


def makers(
    workload: Workload, cores: int, libraries: Iterable[str] = LIBRARIES
) -> tuple[dict[str, Maker], dict[str, str]]:
    """Candidates by name, and why others are missing."""
    found: dict[str, Maker] = {}
    missing = {}
    for library in libraries:
        if importlib.util.find_spec(LIBRARIES[library]) is None:
            missing[library] = "not installed"
            continue
        module = importlib.import_module(f".steps_{library}", __package__)
        found.update(module.makers(workload, cores))
    return found, missing


def _built(maker: Maker) -> tuple[Candidate, float, list[float]]:
    """A candidate, the seconds until its first step was done, and its first losses."""
    start = time.perf_counter()
    candidate = maker()
    losses = [candidate.finish(candidate.step())]
    seconds = time.perf_counter() - start
    losses += [candidate.finish(candidate.step()) for _ in range(FIRST_STEPS - 1)]
    return candidate, seconds, losses


def agreement(losses: dict[str, list[float]]) -> dict[str, float]:
    """How far each one's losses are from the median of all, relative to it; the worst step."""
    middle = [median(step) for step in zip(*losses.values(), strict=True)]
    return {
        name: max(abs(a - b) / max(abs(b), 1e-30) for a, b in zip(found, middle, strict=True))
        for name, found in losses.items()
    }


def _batch(candidate: Candidate, steps: int) -> tuple[float, float]:
    """Seconds of wall and of CPU time for each of some steps."""
    step, finish = candidate.step, candidate.finish
    finish(step())
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(steps):
        loss = step()
    finish(loss)
    cpu = time.process_time() - cpu
    return (time.perf_counter() - wall) / steps, cpu / steps


def timings(
    candidates: dict[str, Candidate],
    rounds: int,
    seconds: float,
    *,
    pause: float = 0.0,
    after: Callable[[int], object] = lambda number: None,
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Wall and CPU seconds per step of each candidate, by round.

    Parameters
    ----------
    candidates : dict of str to Candidate
    rounds : int
    seconds : float
        About how long one batch of steps takes.
    pause : float
        Seconds before each batch, for the idle threads of others to fall asleep.
    after : callable
        Given the number of each round when it is over.
    """
    steps = {}
    for name, candidate in candidates.items():
        wall = min(_batch(candidate, 2)[0] for _ in range(2))
        steps[name] = max(1, min(5000, int(seconds / wall)))
    walls: dict[str, list[float]] = {name: [] for name in candidates}
    cpus: dict[str, list[float]] = {name: [] for name in candidates}
    gc.disable()
    for number in range(rounds):
        for name, candidate in candidates.items():
            gc.collect()
            if pause:
                time.sleep(pause)
            wall, cpu = _batch(candidate, steps[name])
            walls[name].append(wall)
            cpus[name].append(cpu)
        after(number)
    gc.enable()
    return walls, cpus


def drop_others(
    candidates: dict[str, Candidate], losses: dict[str, list[float]], missing: dict[str, str]
) -> dict[str, float]:
    """Leave candidates out whose losses are not those of the rest; how far all are apart."""
    apart = agreement(losses)
    for name, distance in apart.items():
        if not distance <= TOLERANCE:
            missing[name] = f"its losses differ by {distance:.1e}: {losses[name]}"
            del candidates[name]
    return apart


def measure(
    workload: Workload, args: argparse.Namespace, tell: Callable[..., None]
) -> dict[str, Any]:
    """Build, compare losses, time; the raw numbers."""
    found, missing = makers(workload, args.cores, args.libraries)
    candidates, first, losses = {}, {}, {}
    for name, maker in found.items():
        if name in args.skip or (args.only and name not in args.only):
            continue
        tell(event="building", name=name)
        try:
            candidates[name], first[name], losses[name] = _built(maker)
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    apart = drop_others(candidates, losses, missing)
    tell(event="timing")
    pause = 0.02 if args.cores > 1 else 0.0
    walls, cpus = timings(
        candidates,
        args.rounds,
        args.seconds,
        pause=pause,
        after=lambda number: tell(event="round", number=number),
    )
    return {
        "workload": workload.key,
        "cores": args.cores,
        "wall": walls,
        "cpu": cpus,
        "first": first,
        "losses": losses,
        "apart": apart,
        "backends": {name: candidate.backend() for name, candidate in candidates.items()},
        "missing": missing,
    }


def report(args: argparse.Namespace, made: Callable[[Callable[..., None]], Any]) -> None:
    """Measure on so many cores, and write what happens to ``args.out``, one line for each event."""
    pin(args.cores)
    with args.out.open("w") as file:

        def tell(**event: Any) -> None:
            file.write(json.dumps(event) + "\n")
            file.flush()

        tell(event="result", **made(tell))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--libraries", nargs="*", default=list(LIBRARIES))
    parser.add_argument("--skip", nargs="+", action="extend", default=[])
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    report(args, lambda tell: measure(WORKLOADS[args.workload], args, tell))


if __name__ == "__main__":
    main()
