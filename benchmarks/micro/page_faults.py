"""What freed memory costs eager mode: ``python -m benchmarks.micro.page_faults``.

Each step runs in processes of its own, which take turns: with the C library's allocator as it is,
and as `core.allocator` tunes it. Printed are the minor page faults of a step, the time
that its process spends on it (CPU seconds, which other processes hardly change), and the ratio of
the two, taken within a round; its median over rounds stands with its quartiles.

    python -m benchmarks.micro.page_faults                    all steps, seven rounds
    python -m benchmarks.micro.page_faults --rounds 3 mlp     one of them, a first look
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from statistics import median, quantiles
from typing import NamedTuple

_STEP = """
import json, resource, sys, time
import numpy as np
import autograd_engine as paddle
from autograd_engine.nn import functional as F

rng = np.random.default_rng(0)
name, seconds = sys.argv[1], float(sys.argv[2])


def leaf(*shape, scale=1.0):
    values = (rng.standard_normal(shape) * scale).astype(np.float32)
    return paddle.to_tensor(values, stop_gradient=False)


def elementwise(n):
    x, y = leaf(n), leaf(n)
    sgd = paddle.optimizer.SGD(1e-3, parameters=[x, y])

    def loss():
        h = paddle.tanh(x) * y + paddle.exp(-x * x)
        return (F.sigmoid(h) * paddle.sqrt(1.0 + h * h)).mean()

    return loss, sgd


def mlp():
    sizes = [784, 512, 256, 10]
    x = leaf(256, 784).detach()
    labels = paddle.to_tensor(rng.integers(0, 10, 256))
    layers = [(leaf(m, n, scale=m**-0.5), leaf(n)) for m, n in zip(sizes, sizes[1:])]
    adam = paddle.optimizer.Adam(1e-3, parameters=[p for layer in layers for p in layer])

    def loss():
        h = x
        for k, (w, b) in enumerate(layers):
            h = h @ w + b
            if k + 1 < len(layers):
                h = F.relu(h)
        return F.cross_entropy(h, labels)

    return loss, adam


def conv():
    x = leaf(32, 16, 28, 28).detach()
    filters = [leaf(32, 16, 3, 3, scale=0.1), leaf(32, 32, 3, 3, scale=0.1)]
    sgd = paddle.optimizer.SGD(1e-3, parameters=filters)

    def loss():
        h = x
        for w in filters:
            h = F.max_pool2d(F.relu(F.conv2d(h, w, padding=1)), 2)
        return (h * h).mean()

    return loss, sgd


loss, optimizer = {"mlp": mlp, "conv": conv}.get(name, lambda: elementwise(int(name)))()


def step():
    loss().backward()
    optimizer.step()
    optimizer.clear_grad(False)


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


step(), step(), step()
start, before, steps = time.process_time(), faults(), 0
while time.process_time() < start + seconds or steps < 3:
    step()
    steps += 1
print(json.dumps([(time.process_time() - start) / steps, (faults() - before) / steps]))
"""

STEPS = ("10000", "30000", "100000", "1000000", "4000000", "mlp", "conv")
ALLOCATORS = {"as it is": {"AUTOGRAD_ENGINE_MALLOC": "0"}, "tuned": {}}


class Cost(NamedTuple):
    """Of one step: seconds of processor time, and minor page faults."""

    seconds: float
    faults: float


def cost(step: str, environment: dict[str, str], seconds: float = 0.5) -> Cost:
    """What a step costs in a process of its own, on one thread.

    Parameters
    ----------
    step : str
        One of `STEPS`; a number is an elementwise step on so many elements.
    environment : dict of str to str
        What decides about the allocator.
    seconds : float
        How long steps are taken.
    """
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", _STEP, step, str(seconds)],
        env={**os.environ, **threads, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return Cost(*json.loads(done.stdout))


def row(step: str, costs: dict[str, list[Cost]]) -> str:
    """A line of the table."""
    before, after = costs.values()
    ratios = [b.seconds / a.seconds for a, b in zip(before, after, strict=True)]
    low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    cells = [f"{int(step):,} elements" if step.isdigit() else step]
    for each in (before, after):
        cells.append(f"{median(c.seconds for c in each) * 1e3:.2f}")
        cells.append(f"{median(c.faults for c in each):,.0f}")
    return "| " + " | ".join([*cells, f"{median(ratios):.2f}", f"{low:.2f} to {high:.2f}"]) + " |"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.micro.page_faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(STEPS)}")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    unknown = [s for s in options.steps if s not in STEPS]
    if unknown or options.rounds < 1:
        parser.error(f"there is no step {unknown[0]!r}" if unknown else "--rounds is 1 or more")
    try:
        import resource  # noqa: F401
    except ImportError:
        parser.error("page faults are counted on POSIX systems only")
    print("| step | as it is, ms | faults | tuned, ms | faults | tuned / as it is | quartiles |")
    print("|---|---|---|---|---|---|---|")
    for step in options.steps or STEPS:
        costs: dict[str, list[Cost]] = {name: [] for name in ALLOCATORS}
        for _ in range(options.rounds):
            for name, environment in ALLOCATORS.items():
                costs[name].append(cost(step, environment))
        print(row(step, costs), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
