"""Attention behind projections on all cores: ``python -m benchmarks.micro.pool``.

NumPy's products, then a kernel in C, and their gradients: with the threads of the pool for both,
with OpenBLAS's own for the products, and in PyTorch. Batches are longer than the tenth of a second
for which the threads of OpenBLAS look for another product, and those of others with them.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.compiler.native.runtime import get_runtime, threads
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain

from .interleave import compare, table

BATCH, LENGTH, HEADS, WIDTH = 8, 128, 8, 256
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((BATCH, LENGTH, WIDTH)).astype(np.float32)
WEIGHTS = [RANDOM.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 16 for _ in range(3)]
SPLIT = [BATCH, LENGTH, HEADS, WIDTH // HEADS]


def ours() -> Callable[[], object]:
    x = paddle.to_tensor(X)
    weights = [paddle.to_tensor(w, stop_gradient=False) for w in WEIGHTS]

    def step() -> object:
        q, k, v = ((x @ w).reshape(SPLIT) for w in weights)
        out = paddle.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return paddle.grad(out.sum(), weights)

    return step


def in_torch() -> Callable[[], object]:
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(threads())
    x = torch.from_numpy(X)
    weights = [torch.from_numpy(w).requires_grad_() for w in WEIGHTS]

    def step() -> object:
        q, k, v = ((x @ w).reshape(SPLIT).transpose(1, 2) for w in weights)
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return torch.autograd.grad(out.sum(), weights)

    return step


def main() -> None:
    tools = find_toolchain()
    runtime = None if tools is None else get_runtime(tools)
    if runtime is None or runtime.blas is None or not runtime.blas.set_callback or threads() < 2:
        raise SystemExit("one processor, no C compiler, or a BLAS that asks nobody for threads")
    set_callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(runtime.blas.set_callback)
    step = ours()

    def with_threads_of_the_blas() -> object:
        set_callback(None)
        try:
            return step()
        finally:
            runtime.run_jobs_of_blas()

    steps = {"ours": step, "ours, threads of the BLAS": with_threads_of_the_blas}
    if importlib.util.find_spec("torch") is not None:
        steps["PyTorch"] = in_torch()
    timings = compare(steps, rounds=9, seconds=0.4)
    print(table(f"attention behind projections, {threads()} threads", timings))


if __name__ == "__main__":
    main()
