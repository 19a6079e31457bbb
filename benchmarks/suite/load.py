"""How much a step on two cores slows down while another process keeps one of them busy.

A process of its own for each workload, started by ``python -m benchmarks.compare --load``. The busy
process is stopped and continued, so that quiet and loaded batches take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .candidates import Candidate
from .machine import pin
from .measure import makers
from .workloads import WORKLOADS

__all__ = ["LIMIT", "main", "slowdowns"]

LIMIT = 3.0
_BUSY = "import os; os.sched_setaffinity(0, {%d})\nwhile True: pass"


@contextmanager
def _busy(core: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that never rests on one core, stopped at first."""
    process = subprocess.Popen([sys.executable, "-c", _BUSY % core])
    try:
        process.send_signal(signal.SIGSTOP)
        yield process
    finally:
        process.kill()
        process.wait()


def _burst(candidate: Candidate, seconds: float) -> float:
    """Wall seconds per step, over about so long."""
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds or not count:
        candidate.finish(candidate.step())
        count += 1
    return spent / count


def slowdowns(candidate: Candidate, rounds: int, seconds: float) -> list[float]:
    """Loaded time divided by quiet time, by round."""
    found = []
    with _busy(min(os.sched_getaffinity(0))) as busy:
        for _ in range(rounds):
            quiet = _burst(candidate, seconds)
            busy.send_signal(signal.SIGCONT)
            time.sleep(0.05)
            loaded = _burst(candidate, seconds)
            busy.send_signal(signal.SIGSTOP)
            time.sleep(0.05)
            found.append(loaded / quiet)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--only", nargs="*", default=["ours native"])
    parser.add_argument("--libraries", nargs="*", default=["ours"])
    parser.add_argument("--skip", nargs="+", action="extend", default=[])
    args = parser.parse_args()
    pin(args.cores)
    found, missing = makers(WORKLOADS[args.workload], args.cores, args.libraries)
    ratios = {}
    with args.out.open("w") as file:
        for name, maker in found.items():
            if name in args.only and name not in args.skip:
                print(json.dumps({"event": "building", "name": name}), file=file, flush=True)
                candidate = maker()
                candidate.finish(candidate.step())
                ratios[name] = slowdowns(candidate, args.rounds, args.seconds)
        result = {"event": "result", "workload": args.workload, "ratios": ratios}
        print(json.dumps({**result, "missing": missing}), file=file)


if __name__ == "__main__":
    main()
