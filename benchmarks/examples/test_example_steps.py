"""The examples beside PyTorch: the steps agree, the table says what was measured."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.examples import __main__ as report, measure
from benchmarks.suite.measure import TOLERANCE, agreement

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", measure.NAMES)
def test_the_first_losses_agree(name: str) -> None:
    found, missing = measure.makers(name)
    assert (measure.TORCH in found) != (measure.TORCH in missing)
    candidates = {label: make() for label, make in found.items()}
    losses = {
        label: [c.finish(c.step()) for _ in range(measure.FIRST_STEPS)]
        for label, c in candidates.items()
    }
    assert max(agreement(losses).values()) < TOLERANCE
    assert len(set(losses["ours eager"])) == measure.FIRST_STEPS


def _result(**cpu: list[float]) -> dict[str, Any]:
    names = {"eager": "ours eager", "static": "ours to_static", "torch": "torch eager"}
    times = {names[key]: value for key, value in cpu.items()}
    return {"example": "lstm", "cpu": times, "apart": {"ours eager": 2e-7}, "missing": {}}


def test_the_table_takes_ratios_within_rounds() -> None:
    rounds = _result(eager=[2e-3, 4e-3, 2e-3], static=[1e-3, 2e-3, 1e-3], torch=[4e-3, 8e-3, 4e-3])
    text = report.markdown([rounds], {"numpy": "2"})
    assert (
        "| lstm | 2.00 | 1.00 | 4.00 | 0.50 (0.50 to 0.50) | 0.25 (0.25 to 0.25) | 2e-07 |" in text
    )
    assert text.endswith("- One core. numpy 2\n")


def test_the_table_says_what_is_missing() -> None:
    without = _result(eager=[2e-3], static=[1e-3])
    without["missing"] = {"torch eager": "not installed"}
    failed = {"example": "gan", "failed": "gan ended without a result"}
    text = report.markdown([without, failed], {})
    assert "| lstm | 2.00 | 1.00 | - | - | - | 2e-07 |" in text
    assert "- lstm: torch eager: not installed" in text
    assert "- gan: gan ended without a result" in text
    assert "| gan" not in text


def test_the_command_measures_and_writes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.examples", "physics_informed"]
    done = subprocess.run(
        [*command, "--rounds", "2", "--seconds", "0.01", "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    torch = importlib.util.find_spec("torch") is not None
    assert done.returncode == (0 if torch else 1), done.stderr
    assert "| physics_informed | " in done.stdout
    assert (tmp_path / "examples.md").read_text() == done.stdout.removesuffix("\n")
    (result,) = json.loads((tmp_path / "examples.json").read_text())["results"]
    assert len(result["cpu"]["ours to_static"]) == 2


@pytest.mark.parametrize(
    ("arguments", "hint"), [(["gan"], "there is no 'gan'"), (["--rounds", "0"], "at least 1")]
)
def test_wrong_arguments_are_explained(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        report.main(arguments)
    assert hint in capsys.readouterr().err
