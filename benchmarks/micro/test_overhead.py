"""What recording costs on small arrays: ours, hand-written NumPy, and each peer that is installed.

Run with ``python -m pytest benchmarks -q``. Nothing is asserted about time; the ratios of one run
are printed at the end.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.conftest import TABLES
from benchmarks.micro.interleave import compare, table
from benchmarks.micro.overhead_steps import CHAIN, PEERS, installed, workload, written

NAMES = ("chain", "mlp", "adam")


def _require(peer: str, name: str) -> None:
    if not installed(peer):
        pytest.skip(f"{peer} is not installed")
    if not written(peer, name):
        pytest.skip(f"{peer} has no {name}")


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", NAMES)
def test_same_numbers(peer: str, name: str) -> None:
    _require(peer, name)
    step, reference = workload(peer, name), workload("numpy", name)
    for _ in range(3):
        assert step() == pytest.approx(reference(), rel=1e-4)


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", NAMES)
def test_step(benchmark: Any, peer: str, name: str) -> None:
    _require(peer, name)
    benchmark.group = name
    benchmark(workload(peer, name))


@pytest.mark.parametrize("name", NAMES)
def test_ratios(name: str) -> None:
    present = [p for p in PEERS if installed(p) and written(p, name)]
    timings = compare({p: workload(p, name) for p in present})
    per = CHAIN if name == "chain" else 1
    missing = [p for p in PEERS if not installed(p)]
    note = f" (not installed: {', '.join(missing)})" if missing else ""
    title = {
        "chain": "one multiplication of the chain",
        "mlp": "MLP training step",
        "adam": "step of Adam, ten small parameters",
    }[name]
    TABLES.append(table(title + note, timings, per=per))
    assert all(len(times) for times in timings.values())
