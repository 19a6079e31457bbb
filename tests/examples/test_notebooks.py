"""The notebooks run from top to bottom, and print what is stored in them."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tiers import by_default

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
RUNNER = ROOT / "tools" / "docs" / "run_notebooks.py"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# Numbers with a fraction, and bytes, which depend on what NumPy's own objects take.
FRACTION = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:e[-+]?\d+)?|\d{4,})(?!\w)")
KILOBYTE = 1024


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """In a process of its own: event loops, and the warnings of those libraries, stay there."""
    return subprocess.run(
        [sys.executable, RUNNER, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def stored(path: Path) -> list[Any]:
    """The cells with code."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell: Any) -> list[str]:
    """What a cell printed, and what its last line is as plain text."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(f"{output.name}: {output.text}")
        else:
            found.append(output.data.get("text/plain", ""))
    return found


def numbers_and_words(text: str) -> tuple[list[float], list[str]]:
    """Such numbers, and everything between them, however it is spaced."""
    numbers = [float(found) for found in FRACTION.findall(text)]
    return numbers, " # ".join(FRACTION.split(text)).split()


def assert_same(now: str, before: str) -> None:
    """The same words, and the same numbers but for the last digits, which depend on the machine."""
    numbers, words = numbers_and_words(now)
    expected, expected_words = numbers_and_words(before)
    assert words == expected_words
    for a, b in zip(numbers, expected, strict=True):
        assert math.isclose(a, b, rel_tol=1e-2, abs_tol=1e-6), f"{a} for {b} in\n{now}"


def notebook_of(path: Path, *sources: str) -> Path:
    import nbformat

    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


@pytest.fixture(
    scope="module", params=by_default(NOTEBOOKS, NOTEBOOKS[-1:]), ids=lambda path: path.stem
)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Any], list[Any]]:
    """(cells as they are stored, cells as they come out of a run)."""
    directory = tmp_path_factory.mktemp("notebooks")
    done = run(request.param, "--output", directory)
    assert done.returncode == 0, done.stderr
    return stored(request.param), stored(directory / request.param.name)


def test_there_are_four() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "physics_by_gradients",
        "static",
        "tour_of_both_modes",
        "why_is_my_grad_none",
    ]


def test_what_is_stored_is_what_a_run_prints(both: tuple[list[Any], list[Any]]) -> None:
    before, now = both
    assert [cell.source for cell in before] == [cell.source for cell in now]
    for old, new in zip(before, now, strict=True):
        assert [o.output_type for o in old.outputs] == [o.output_type for o in new.outputs], (
            f"{new.source}\nrun: python tools/docs/run_notebooks.py"
        )
        for a, b in zip(texts(new), texts(old), strict=True):
            assert_same(a, b)


def test_every_cell_ran_in_order_and_warned_of_nothing(
    both: tuple[list[Any], list[Any]],
) -> None:
    for cells in both:
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        outputs = [o for cell in cells for o in cell.outputs]
        assert not [o.text for o in outputs if o.get("name") == "stderr"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_stored_is_small_and_names_no_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 300 * KILOBYTE
    outputs = json.dumps([cell.outputs for cell in stored(path)])
    for volatile in ("/tmp", "ipykernel", str(ROOT), " at 0x"):
        assert volatile not in outputs


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_is_explained(path: Path) -> None:
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds[0] == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    assert kinds.count("markdown") >= 0.8 * kinds.count("code")


def test_files_that_a_notebook_names_exist() -> None:
    for path in NOTEBOOKS:
        for name in re.findall(r"`(\w+\.(?:ipynb|py))`", path.read_text(encoding="utf-8")):
            assert (EXAMPLES / name).is_file(), f"{path.name} names {name}"


# --- the runner


def test_places_in_a_notebook_are_named_by_cell_and_line(tmp_path: Path) -> None:
    source = "x = paddle.to_tensor([1.0], stop_gradient=False)\ny = x * x\ny.backward()"
    path = notebook_of(
        tmp_path / "places.ipynb",
        "import autograd_engine as paddle",
        source,
        "print(paddle.explain(y).reasons[0].location)",
        "try:\n    y.backward()\nexcept RuntimeError as error:\n    print(error)",
    )
    done = run(path)
    assert done.returncode == 0, done.stderr
    *_, place, error = stored(path)
    assert texts(place) == ["stdout: In[2]:2\n"]
    assert "at In[2]:3 (y.backward())" in texts(error)[0]


def test_the_kernel_is_this_python_with_this_tree(tmp_path: Path) -> None:
    path = notebook_of(
        tmp_path / "kernel.ipynb",
        "import sys, autograd_engine\nprint(sys.executable)\nprint(autograd_engine.__file__)",
    )
    assert run(path).returncode == 0
    (cell,) = stored(path)
    expected = f"stdout: {sys.executable}\n{ROOT / 'autograd_engine' / '__init__.py'}\n"
    assert texts(cell) == [expected]


def test_a_cell_that_fails_is_shown_and_nothing_is_stored(tmp_path: Path) -> None:
    path = notebook_of(tmp_path / "broken.ipynb", "print(1)", "1 / 0")
    before = path.read_bytes()
    done = run(path)
    assert done.returncode == 1
    assert "broken.ipynb" in done.stderr
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert path.read_bytes() == before


def test_a_notebook_that_prints_something_else_is_noticed() -> None:
    assert_same("loss 0.50001, step 3", "loss  0.5,\nstep 3")
    for other in ("loss 0.6, step 3", "loss 0.5, step 4", "loss 0.5", "loss 0.5 0.5, step 3"):
        with pytest.raises(AssertionError):
            assert_same(other, "loss 0.5, step 3")


def test_nothing_of_the_user_is_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    path = notebook_of(tmp_path / "quiet.ipynb", "1 + 1")
    done = subprocess.run(
        [sys.executable, RUNNER, path],
        env=os.environ | {"HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(home.iterdir()) == []
