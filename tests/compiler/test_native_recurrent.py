"""Recurrences in C: sizes that vectors, tiles and panels do not divide, and those of a BLAS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograd_engine import static
from autograd_engine.compiler.native import compile_native
from autograd_engine.compiler.native.lowering.recurrent import PanelProduct
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.compiler.helpers.native_batches import Batch, Call
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags
from tests.compiler.helpers.native_programs import Merged, graph_of, wrong_in
from tests.tiers import by_default

pytestmark = needs_compiler

GATES = {"plain": (1, 1, 1, 1), "gru": (4, 5, 1, 3), "lstm": (4, 6, 2, 4)}
# time, batch, hidden: less than a vector, tiles and panels that are full, and that are not; a
# batch from which a BLAS is as fast; and one step, for which nothing is packed.
SIZES = [(3, 1, 1), (2, 6, 16), (3, 7, 17), (2, 13, 35), (2, 257, 5), (1, 4, 8)]


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O1"))
        yield


def calls(time: int, batch: int, size: int, dtype: Any) -> Iterator[Call]:
    rng = np.random.default_rng(3)

    def real(*shape: int) -> Any:
        return (0.5 * rng.standard_normal(shape)).astype(dtype)

    def call(name: str, *operands: Any, **attrs: str) -> Call:
        op = REGISTRY[name]
        return Call(op, operands, op.complete_attrs(attrs), f"{name} {time} {batch} {size} {attrs}")

    yield call("lstm_scan", real(time, batch, 4, size), real(4 * size, size), real(2, batch, size))
    yield call(
        "gru_scan",
        *(real(time, batch, 3, size), real(3 * size, size), real(1, batch, size), real(size)),
    )
    for activation in ("tanh", "relu"):
        operands = real(time, batch, 1, size), real(size, size), real(1, batch, size)
        yield call("rnn_scan", *operands, activation=activation)
    for kind, (gates, slopes, states, rows) in GATES.items():
        operands = (
            real(rows * size, size),
            real(time, slopes, batch, size),
            real(states, time + 1, batch, size),
            real(time, batch, gates, size),
        )
        for name in ("gate_scan", "gate_scan_adjoint"):
            yield call(name, *operands, kind=kind)
            yield call(name, *operands[:3], kind=kind)


@pytest.mark.parametrize("dtype", by_default([np.float32, np.float64], 1))
def test_any_size(dtype: Any) -> None:
    batch = Batch()
    for sizes in SIZES:
        for call in calls(*sizes, dtype):
            batch.add(call)
    assert batch.wrong(batch.compiled()) == []


def test_what_is_packed_is_small() -> None:
    """Larger matrices leave the cache between two steps, and larger batches hide the packing."""

    def pays(m: int, n: int, k: int) -> bool:
        return PanelProduct("p", np.dtype(np.float32), m, n, k, k, n, transposed=True).pays

    assert pays(32, 512, 128)
    assert not pays(256, 512, 128)
    assert not pays(32, 4096, 1024)


def test_parts_of_nothing_are_zeros_before_they_are_read() -> None:
    """Gradients of a single step are sums of slices without elements; NumPy reads one of them."""
    x = np.full((1, 3, 3), 7.0, np.float32)

    def nothing(x: Any, k: float) -> Any:
        return ops.unslice_like(ops.getitem(x * k, key=(slice(1, None),)), x, key=(slice(0, 0),))

    def build(declare: Any) -> list[Any]:
        given = declare(x)
        busy = ops.exp(given) + given
        alone, total = nothing(busy, 1.0), ops.add_n(*[nothing(busy, k) for k in (2.0, 3.0, 4.0)])
        return [ops.det(alone), ops.det(total), ops.det(busy * alone + total), busy * total]

    merged = Merged()
    merged.add("nothing", build)
    graph, arrays = graph_of(merged.program, merged.feed, merged.asked)
    compiled = compile_native(graph)
    assert all(p.where != "NumPy" for p in compiled.placements() if p.operation == "add_n")
    for _ in range(3):
        assert not any(found.any() for found in compiled(*arrays))


def test_gradients_of_a_single_step() -> None:
    """Zeros without parts are written before a kernel reads them."""
    rng = np.random.default_rng(4)
    weight, flow = (rng.standard_normal(n).astype(np.float32) for n in ((1, 2, 3, 3), (1, 2, 3)))

    def build(declare: Any) -> list[Any]:
        w, x, u, v, t = (declare(a) for a in (weight, flow, flow, weight, flow))
        for given in (w, x, u):
            given.stop_gradient = False
        first = static.gradients([ops.band_scan(w, x)], [w, x], [u])
        return [*first, *static.gradients(first, [w, x, u], [v, t])]

    assert wrong_in([("band_scan", build)] * 3) == []
