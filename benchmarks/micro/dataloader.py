"""Does the loader keep a training step of two milliseconds fed?

``python -m benchmarks.micro.dataloader`` takes the same steps three times in turn: on batches that
are there already, on batches of two workers, and on batches made in between. What is reported is
the rate of each as a share of the first, in the same round. The dataset is one of small pictures
with a light augmentation, a millisecond for a batch of 32.

The first twenty steps are taken before the clock runs: starting workers is reported by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Iterable
from itertools import islice
from statistics import median, quantiles
from typing import Any

BATCH = 32
FIRST = 20  # steps that are not counted
STEP = 2e-3
KINDS = ("there already", "two workers", "no workers")


def _use_all_cores() -> None:
    """One thread for BLAS, and all cores: pytest's conftest leaves one."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def measure(steps: int, rounds: int) -> dict[str, Any]:
    """Seconds per step of each kind by round, and what else is reported."""
    import numpy as np

    from autograd_engine.io import DataLoader, Dataset

    class Pictures(Dataset):
        """1 x 28 x 28, moved by some pixels, brightened and with noise."""

        def __init__(self) -> None:
            rng = np.random.default_rng(0)
            pixels = rng.integers(0, 256, (4096, 28, 28), dtype=np.uint8)
            self.pixels = np.pad(pixels, ((0, 0), (2, 2), (2, 2)))
            self.labels = rng.integers(0, 10, 4096)

        def __getitem__(self, index: int) -> tuple[Any, Any]:
            index %= 4096
            down, right = random.randrange(5), random.randrange(5)
            x = self.pixels[index, down : down + 28, right : right + 28]
            x = x * np.float32(random.uniform(0.8, 1.2) / 255)
            x += np.float32(0.02) * np.random.standard_normal((28, 28)).astype(np.float32)
            return x[None], self.labels[index]

        def __len__(self) -> int:
            return BATCH * (FIRST + steps)

    data = Pictures()
    weights = np.random.default_rng(1).standard_normal((784, 784)).astype(np.float32)

    def work(x: Any, times: int) -> float:
        hidden = x.reshape(BATCH, 784)
        for _ in range(times):
            hidden = np.tanh(hidden @ weights)
        return float(hidden.sum())

    def timed(function: Any, calls: int = 20) -> float:
        best = float("inf")
        for _ in range(5):
            start = time.thread_time()  # whatever else the machine does
            for _ in range(calls):
                function()
            best = min(best, (time.thread_time() - start) / calls)
        return best

    one = np.stack([data[i][0] for i in range(BATCH)])
    times = max(1, round(STEP / timed(lambda: work(one, 1))))

    def train(batches: Iterable[Any]) -> tuple[float, float]:
        """Seconds per step once it goes on its own, by the clock and of this thread."""
        waiting = iter(batches)
        for x, _ in islice(waiting, FIRST):
            work(x.numpy(), times)
        start, begun, taken = time.perf_counter(), time.thread_time(), 0
        for x, _ in waiting:
            work(x.numpy(), times)
            taken += 1
        assert taken == steps
        return (time.perf_counter() - start) / taken, (time.thread_time() - begun) / taken

    def loader(workers: int) -> DataLoader:
        return DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=workers)

    kept = list(DataLoader(data, batch_size=BATCH, num_workers=0))
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    own: dict[str, list[float]] = {kind: [] for kind in KINDS}
    started = []

    def note(kind: str, taken: tuple[float, float]) -> None:
        seconds[kind].append(taken[0])
        own[kind].append(taken[1])

    for _ in range(rounds):
        note("there already", train(kept))
        begin = time.perf_counter()
        batches = iter(loader(2))
        first = next(batches)
        started.append(time.perf_counter() - begin)
        note("two workers", train(_after(first, batches)))
        note("no workers", train(loader(0)))
    return {
        "seconds": seconds,
        "own": own,
        "batch": timed(lambda: [data[i] for i in range(BATCH)], 5),
        "started": median(started),
    }


def _after(first: Any, rest: Iterable[Any]) -> Iterable[Any]:
    yield first
    yield from rest


def shares(seconds: dict[str, list[float]]) -> dict[str, list[float]]:
    """The rate of each kind as a share of the rate without loading, by round."""
    alone = seconds["there already"]
    return {kind: [a / b for a, b in zip(alone, seconds[kind], strict=True)] for kind in KINDS}


def table(measured: dict[str, Any]) -> str:
    """Markdown."""
    lines = [
        f"A batch takes {measured['batch'] * 1e3:.2f} ms to make, starting two workers "
        f"{measured['started'] * 1e3:.0f} ms up to the first batch.",
        "",
        "| batches | ms per step | share of the rate | quartiles | best | of the thread's time |",
        "|---|---|---|---|---|---|",
    ]
    by_thread = shares(measured["own"])
    for kind, rates in shares(measured["seconds"]).items():
        low, _, high = quantiles(rates, n=4)
        lines.append(
            f"| {kind} | {median(measured['seconds'][kind]) * 1e3:.2f} | {median(rates):.1%} | "
            f"{low:.1%} to {high:.1%} | {max(rates):.1%} | {median(by_thread[kind]):.1%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print the numbers")
    arguments = parser.parse_args()
    _use_all_cores()
    measured = measure(arguments.steps, arguments.rounds)
    print(json.dumps(measured) if arguments.json else table(measured))


if __name__ == "__main__":
    main()
