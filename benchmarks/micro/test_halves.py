"""What bfloat16 saves in native programs: memory and time of a step, beside float32.

Run with ``python -m pytest benchmarks/micro/test_halves.py -q``. The perceptron 784-512-256-10 on a
batch of 128 with Adam, a perceptron of 24 layers, whose memory is what it keeps for the backward
half, and a transformer block (8 x 128 x 256, 4 heads), both with SGD: in float32, at O1 (parameters
in float32, products in bfloat16), at O2 (all in bfloat16, updates on masters in float32), and in
bfloat16 alone. Then programs of elementwise operations on 1e6 and 1e7 elements, which wait for
memory. State is parameters, masters and moments; the arena is what else a step works in. Nothing is
asserted about time.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F
from autograd_engine import static
from autograd_engine.compiler.concrete_graph import concrete_graph
from autograd_engine.compiler.native import compile_native
from autograd_engine.compiler.native.function import NativeBound
from autograd_engine.core.spec import Spec
from autograd_engine.program.ir.program import Ref
from autograd_engine.static.executor.plan import Wanted, steps_of
from benchmarks.conftest import TABLES
from benchmarks.micro.interleave import compare

pytest.importorskip("ml_dtypes")

LEVELS = ("float32", "O1", "O2", "bfloat16")


class Step(NamedTuple):
    """A run on fixed memory, and the bytes of what it keeps and of what it works in."""

    run: NativeBound
    state: int
    arena: int
    callbacks: int


def compiled(main: Any, startup: Any, feed: dict[str, Any], fetched: list[Any]) -> Step:
    scope = static.Scope()
    static.Executor(backend="numpy").run(startup, scope=scope)
    refs = [Ref(v, v.version) for v in fetched]
    steps = steps_of(main, Wanted(refs))
    names = [r.var.name for r in (*steps.feeds, *steps.reads)]
    arrays = [np.array(feed[n] if n in feed else scope.find_var(n).value) for n in names]
    inputs = [
        (r, Spec(a.shape, a.dtype))
        for r, a in zip((*steps.feeds, *steps.reads), arrays, strict=True)
    ]
    updates = {len(refs) + k: names.index(n) for k, n in enumerate(steps.writes)}
    graph = concrete_graph(steps.operators, inputs, [*refs, *steps.writes.values()], updates)
    function = compile_native(graph)
    state = sum(a.nbytes for n, a in zip(names, arrays, strict=True) if n not in feed)
    left = sum(p.where == "NumPy" for p in function.placements())
    return Step(function.bind(arrays), state, function.arena, left)


Net = Callable[[Callable[..., Any], Any, Any], Any]


def training(net: Net, x: Any, y: Any, optimizer: Callable[..., Any], level: str) -> Step:
    main, startup = static.Program(), static.Program()
    kept = "bfloat16" if level in ("O2", "bfloat16") else "float32"
    with static.program_guard(main, startup):
        given = static.data("x", list(x.shape), "float32")
        labels = static.data("y", list(y.shape), str(y.dtype))
        paddle.seed(0)

        def parameter(*shape: int) -> Any:
            fill = paddle.nn.initializer.Normal(0.0, 0.05)
            return static.create_parameter(list(shape), kept, default_initializer=fill)

        with paddle.amp.auto_cast(enable=level == "O1", dtype="bfloat16"):
            loss = net(parameter, given if kept == "float32" else given.astype(kept), labels)
        optimizer(level == "O2").minimize(loss)
    return compiled(main, startup, {"x": x, "y": y}, [loss])


def perceptron(parameter: Callable[..., Any], x: Any, y: Any) -> Any:
    for inner, outer in ((784, 512), (512, 256), (256, 10)):
        x = x @ parameter(inner, outer) + parameter(outer)
        x = F.relu(x) if outer > 10 else x
    return F.cross_entropy(x, y)


def deep(parameter: Callable[..., Any], x: Any, y: Any) -> Any:
    for _ in range(24):
        x = F.relu(x @ parameter(256, 256) + parameter(256))
    return F.mse_loss(x, y.astype(x.dtype))


def transformer(parameter: Callable[..., Any], x: Any, y: Any) -> Any:
    def linear(x: Any, inner: int, outer: int) -> Any:
        return x @ parameter(inner, outer) + parameter(outer)

    def norm(x: Any) -> Any:
        return F.layer_norm(x, [256], parameter(256), parameter(256))

    x = paddle.reshape(x, [1024, 256])
    q, k, v = paddle.unbind(paddle.reshape(linear(norm(x), 256, 768), [8, 128, 3, 4, 64]), 2)
    o = F.scaled_dot_product_attention(q, k, v)
    x = x + linear(paddle.reshape(o, [1024, 256]), 256, 256)
    x = x + linear(F.gelu(linear(norm(x), 256, 1024), approximate=True), 1024, 256)
    return F.mse_loss(x, y.astype(x.dtype))


def _adam(masters: bool) -> Any:
    return paddle.optimizer.Adam(1e-3, multi_precision=masters)


def _sgd(masters: bool) -> Any:
    return paddle.optimizer.SGD(0.01, multi_precision=masters)


def _report(title: str, steps: dict[str, Step], seconds: float = 0.05) -> None:
    timings = compare({name: s.run for name, s in steps.items()}, rounds=15, seconds=seconds)
    first = next(iter(steps))
    lines = [
        title,
        f"  {'':<10}{'ms':>8}{'beside it':>11}{'state MB':>10}{'arena MB':>10}{'NumPy':>7}",
    ]
    for name, step in steps.items():
        ratios = [a / b for a, b in zip(timings[name], timings[first], strict=True)]
        lines.append(
            f"  {name:<10}{median(timings[name]) * 1e3:8.3f}{median(ratios):11.2f}"
            f"{step.state / 1e6:10.2f}{step.arena / 1e6:10.2f}{step.callbacks:7}"
        )
    TABLES.append("\n".join(lines))


def test_a_perceptron() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((128, 784), np.float32)
    y = rng.integers(0, 10, 128)
    steps = {level: training(perceptron, x, y, _adam, level) for level in LEVELS}
    _report("perceptron 784-512-256-10, batch 128, Adam, native", steps)


def test_a_transformer_block() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8, 128, 256), np.float32)
    y = rng.standard_normal((1024, 256), np.float32)
    steps = {level: training(transformer, x, y, _sgd, level) for level in LEVELS}
    _report("transformer block 8 x 128 x 256, 4 heads, SGD, native", steps)


def test_a_deep_perceptron() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 1024, 256), np.float32)
    steps = {level: training(deep, x, y, _sgd, level) for level in LEVELS}
    _report("perceptron of 24 layers of 256, batch 1024, SGD, native", steps)


@pytest.mark.parametrize("size", [1_000_000, 10_000_000])
def test_elementwise_operations(size: int) -> None:
    steps = {}
    for dtype in ("float32", "bfloat16", "float16"):
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            given = [static.data(name, [size], dtype) for name in "xyz"]
            x, y, z = given
            out = F.relu(x * y + z) * 0.5 - x
        values = np.random.default_rng(0).standard_normal((3, size), np.float32)
        feed = {n: v.astype(given[0].dtype.dtype) for n, v in zip("xyz", values, strict=True)}
        steps[dtype] = compiled(main, startup, feed, [out])
    _report(f"relu(x * y + z) * 0.5 - x, {size:,} elements, native", steps)
