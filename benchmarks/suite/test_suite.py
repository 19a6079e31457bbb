"""The side-by-side benchmark itself: the candidates compute the same losses, the report says so."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.suite.measure import agreement, makers, timings
from benchmarks.suite.report import markdown, plot
from benchmarks.suite.runner import Failed, run
from benchmarks.suite.summary import Summary
from benchmarks.suite.workloads import WORKLOADS

QUICK = ("W1", "W6", "W8", "W9", "W11")
COMPILED = "torch compile"  # takes minutes, and is compared when it is measured
TOLD: dict[str, Any] = {
    "cores": 1,
    "date": "2026-01-01",
    "machine": {"processor": "a processor", "numpy": "2"},
}


def _result(**seconds: list[float]) -> dict[str, Any]:
    names = {"native": "ours native", "lstm": "torch lstm", "torch": "torch", "hand": "by hand"}
    times = {names[k]: v for k, v in seconds.items()}
    first = dict.fromkeys(times, 0.5)
    told = {"workload": "W7", "cores": 1, "cpu": times, "wall": times, "first": first}
    return {**told, "backends": {"ours native": "numpy"}, "missing": {"jax": "not installed"}}


@pytest.mark.parametrize("key", QUICK)
def test_the_libraries_compute_the_same_losses(key: str) -> None:
    found, _ = makers(WORKLOADS[key], 1)
    candidates = {n: make() for n, make in found.items() if not n.startswith(COMPILED)}
    losses = {n: [c.finish(c.step()) for _ in range(5)] for n, c in candidates.items()}
    assert set(candidates) >= {"ours eager", "ours numpy", "by hand"}
    assert max(agreement(losses).values()) < 1e-5
    assert losses["by hand"][-1] != losses["by hand"][0]


def test_a_candidate_with_other_losses_is_found() -> None:
    apart = agreement({"a": [1.0, 0.5], "b": [1.0, 0.5], "c": [1.0, 0.51]})
    assert apart["a"] == 0.0
    assert apart["c"] == pytest.approx(0.02)


def test_each_candidate_is_timed_in_each_round() -> None:
    found, _ = makers(WORKLOADS["W1"], 1, ["hand"])
    walls, cpus = timings({"by hand": found["by hand"]()}, rounds=3, seconds=0.001)
    assert len(walls["by hand"]) == len(cpus["by hand"]) == 3
    assert min(walls["by hand"]) > 0


def test_a_summary_takes_the_best_variant_and_ratios_within_rounds() -> None:
    summary = Summary(
        _result(native=[1.0, 2.0, 1.0], torch=[9.0, 9.0, 9.0], lstm=[2.0, 4.0, 2.0], hand=[8.0] * 3)
    )
    assert summary.best == "torch lstm"
    assert summary.chosen["torch"] == "torch lstm"
    ratio = summary.ratio("ours native")
    assert ratio is not None
    assert ratio.middle == ratio.low == ratio.high == 0.5


def test_a_report_names_the_fastest_the_variant_and_what_is_missing() -> None:
    summary = Summary(_result(native=[1e-6, 2e-6], torch=[9e-6, 9e-6], lstm=[2e-6, 4e-6]))
    text = markdown([summary], **TOLD)
    assert "| **1.5** | 3.0 (lstm) |" in text
    assert "| W7 | torch lstm | - | - | 0.50 (0.50 to 0.50) |" in text
    assert "- W7: jax: not installed" in text
    assert "- W7: ours native: run by numpy" in text


def test_the_plot_is_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    summary = Summary(_result(native=[1e-6, 2e-6], torch=[9e-6, 9e-6], lstm=[2e-6, 4e-6]))
    plot([summary], tmp_path / "plot.png", **TOLD)
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_process_of_its_own_measures(tmp_path: Path) -> None:
    arguments = ["W1", "--rounds", "2", "--seconds", "0.001", "--libraries", "hand", "autograd"]
    said: list[str] = []
    result = run(
        "measure", arguments, directory=tmp_path, name="w1", cores=1, limit=60, say=said.append
    )
    assert len(result["cpu"]["by hand"]) == 2
    assert "by hand" in said
    if importlib.util.find_spec("autograd") is None:
        assert result["missing"]["autograd"] == "not installed"


@pytest.mark.skipif(sys.platform == "win32", reason="sessions of processes")
def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="took longer than 4 s"):
        run(
            "measure",
            ["W2", "--seconds", "1000", "--libraries", "hand"],
            directory=tmp_path,
            name="late",
            cores=1,
            limit=4.0,
            say=lambda text: None,
        )
