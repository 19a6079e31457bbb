"""What one training step of a deep network needs at its peak, beside PyTorch.

Run with ``python -m pytest benchmarks/micro/test_memory.py -q``. A network of 50 layers, 1024
wide, ReLU, a batch of 4096, float32: forward and backward, everything kept, and in segments that
are computed again. Each step runs in a process of its own; its peak is how far the resident memory
of that process rises above what it was when parameters and data were there. In the last row the
allocator of the C library gives every freed array back to the system, for both: what is left is
what the libraries hold. ``MEMORY_BATCH`` in the environment makes the batch another.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from benchmarks.conftest import TABLES

BATCH = int(os.environ.get("MEMORY_BATCH", "4096"))

_STEP = """
import math, os, resource, sys
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np

library, again, batch = sys.argv[1], sys.argv[2] == "segments", int(sys.argv[3])
LAYERS, WIDTH = 50, 1024
rng = np.random.default_rng(0)

if library == "ours":
    import autograd_engine as paddle
    from autograd_engine.nn import functional as F
    tensor = lambda a, grad: paddle.to_tensor(a, stop_gradient=not grad)
    relu, checkpoint = F.relu, paddle.autograd.recompute
else:
    import torch
    torch.set_num_threads(1)
    from torch.nn import functional as F
    from torch.utils.checkpoint import checkpoint as torch_checkpoint
    tensor = lambda a, grad: torch.tensor(a, requires_grad=grad)
    relu = torch.relu
    checkpoint = lambda f, x: torch_checkpoint(f, x, use_reentrant=False)

def network(layers):
    def apply(x):
        for w, b in layers:
            x = relu(F.linear(x, w, b))
        return x
    return apply

def parameters(layers, width):
    scale = np.float32(math.sqrt(2 / width))
    found = []
    for _ in range(layers):
        w = rng.standard_normal((width, width), np.float32) * scale
        if library != "ours":  # each library has the layout that its linear takes
            w = np.ascontiguousarray(w.T)
        found.append((tensor(w, True), tensor(np.zeros(width, np.float32), True)))
    return found

def step(layers, x):
    if again:
        size = math.isqrt(len(layers))
        for k in range(0, len(layers), size):
            x = checkpoint(network(layers[k : k + size]), x)
    else:
        x = network(layers)(x)
    loss = (x * x).mean()
    del x
    loss.backward()
    return float(loss.detach())

step(parameters(4, 8), tensor(np.ones((4, 8), np.float32), False))
layers = parameters(LAYERS, WIDTH)
x = tensor(rng.standard_normal((batch, WIDTH), np.float32), False)

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

before = resident()
loss = step(layers, x)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(peak - before, loss)
"""


RETURNED = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def _measure(library: str, how: str) -> tuple[float, float]:
    """Peak in MiB, and the loss."""
    done = subprocess.run(
        [sys.executable, "-c", _STEP, library, how, str(BATCH)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(RETURNED if how == "returned" else {})},
    )
    peak, loss = done.stdout.split()
    return int(peak) / 2**20, float(loss)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_peak_of_a_deep_network() -> None:
    rows = [f"peak memory in MiB, 50 layers of 1024, batch {BATCH}", ""]
    rows.append(f"{'':20}{'ours':>10}{'torch':>10}{'ratio':>8}")
    for how in ("kept", "segments", "returned"):
        ours, loss = _measure("ours", how)
        theirs, expected = _measure("torch", how)
        assert loss == pytest.approx(expected, rel=1e-3), "the two compute different networks"
        rows.append(f"{how:20}{ours:10.0f}{theirs:10.0f}{ours / theirs:8.2f}")
    TABLES.append("\n".join(rows))
