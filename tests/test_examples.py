"""The examples run and say what is wrong when they cannot; what the documents say is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
EXAMPLE = re.compile(
    r"<!-- example: (\w+) -->\n```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL
)
SHOWN = EXAMPLE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
NAMED_TEST = re.compile(r"\b((?:tests|benchmarks|examples)/[\w/]+\.py)(?:::(?:Test\w+::)?(\w+))?")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]*)?\)")


def run(script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The script in a Python of its own, warnings being errors, as in the rest of the tests."""
    # The example is of this tree, installed or not.
    env = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"} | environment
    return subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", EXAMPLES / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=env,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def short_training(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Two epochs of both models."""
    picture = tmp_path_factory.mktemp("digits") / "digits.png"
    return run("digits.py", "--epochs", 2, "--output", picture), picture


def test_digits_trains_to_the_same_bits_in_both_modes(
    short_training: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, _ = short_training
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("same bits") == 4
    assert "different" not in done.stdout


def test_digits_learns_something(
    short_training: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, _ = short_training
    accuracies = [word for word in done.stdout.split() if word.endswith("%")]
    assert len(accuracies) == 4
    assert all(float(a.rstrip("%")) > 70 for a in accuracies), accuracies


def test_digits_draws_one_whole_picture(
    short_training: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, picture = short_training
    pixels = matplotlib.image.imread(picture)
    assert pixels.ndim == 3
    assert min(pixels.shape[:2]) > 300
    assert np.ptp(pixels) > 0.5
    assert list(picture.parent.iterdir()) == [picture], "a temporary file was left behind"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--epochs", 0], "'0' must be a whole number of at least 1"),
        (["--epochs", "many"], "'many' must be a whole number of at least 1"),
        (["--learning-rate", -1], "'-1' must be a number above 0"),
        (["--model", "rnn"], "invalid choice: 'rnn'"),
        (["--output", "nowhere/at/all.png"], "name a file in a directory that can"),
        (["--output", "."], "'.' is a directory; name a file in it"),
    ],
)
def test_digits_explains_wrong_arguments(arguments: list[object], hint: str) -> None:
    done = run("digits.py", *arguments)
    assert done.returncode == 2
    assert hint in done.stderr
    assert "Traceback" not in done.stderr


def test_digits_stops_when_the_loss_is_no_number(tmp_path: Path) -> None:
    picture = tmp_path / "digits.png"
    done = run("digits.py", "--model", "mlp", "--learning-rate", "1e30", "--output", picture)
    assert done.returncode == 1
    assert "mlp, eager: the loss is nan at step 2 of epoch 1" in done.stderr
    assert "smaller --learning-rate" in done.stderr
    assert "Traceback" not in done.stderr
    assert not picture.exists()


def test_digits_names_the_extra_that_is_missing(tmp_path: Path) -> None:
    absent = tmp_path / "sklearn.py"
    absent.write_text("raise ModuleNotFoundError(name='sklearn')", encoding="utf-8")
    done = run("digits.py", PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert done.returncode == 1
    expected = 'sklearn is not installed: pip install "autograd-engine[examples]"\n'
    assert done.stderr == expected


def test_tour_agrees_with_the_engine_bit_for_bit() -> None:
    done = run("tour.py")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "equal, bit for bit"
    assert [line.split("f'")[0].strip() for line in lines[-6:-1]] == [
        "raw",
        "recorded",
        "static",
        "engine, eager",
        "engine, static",
    ]


def test_tour_fits_in_one_reading() -> None:
    assert len((EXAMPLES / "tour.py").read_text(encoding="utf-8").splitlines()) < 200


# --- the documents


@pytest.mark.parametrize(("_mode", "program", "output"), SHOWN)
def test_an_example_of_the_readme_prints_what_is_shown(
    _mode: str, program: str, output: str, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == output


def test_the_readme_shows_both_modes_in_few_lines() -> None:
    assert [name for name, _, _ in SHOWN] == ["eager", "static", "explain"]
    assert all(program.count("\n") <= 12 for _, program, _ in SHOWN)


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_files_and_tests_that_are_named_exist(page: Path) -> None:
    for path, test in NAMED_TEST.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / path).is_file(), path
        if test:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^ *def {test}\(", text, re.MULTILINE), f"{path}::{test}"


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """The line after the marker is the one that .ci/run cuts out and runs."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    function = re.search(r"^readme_command\(\) \{\n.*?^\}$", script, re.DOTALL | re.MULTILINE)
    assert function is not None
    done = subprocess.run(
        ["bash", "-c", f"{function[0]}\nreadme_command"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.startswith("python -m venv .venv && ")
    assert done.stdout.endswith(".venv/bin/python -m pytest -n auto -q\n")
    assert done.stdout.count("\n") == 1
