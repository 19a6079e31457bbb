"""The examples run and say what is wrong when they cannot; what the documents say is so."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain
from tests.tiers import by_default

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
NAMED_TEST = re.compile(r"\b((?:tests|benchmarks|examples)/[\w/]+\.py)(?:::(?:Test\w+::)?(\w+))?")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]*)?\)")
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


@functools.cache
def _loaded(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


RUNNER = _loaded("run_examples", ROOT / "tools/docs/run_examples.py")
# The pages whose code is run.
GUIDES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if RUNNER.examples(page.read_text(encoding="utf-8"))
]
SHOWN = [
    pytest.param(page, name, id=f"{page.stem}-{name}")
    for page in [ROOT / "README.md", *GUIDES]
    for name in dict.fromkeys(b.name for b in RUNNER.examples(page.read_text(encoding="utf-8")))
]
IN_THE_README = [shown for shown in SHOWN if shown.values[0].name == "README.md"]


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
    import matplotlib.image

    _, picture = short_training
    pixels = matplotlib.image.imread(picture)
    assert pixels.ndim == 3
    assert min(pixels.shape[:2]) > 300
    assert np.ptp(pixels) > 0.5
    assert list(picture.parent.iterdir()) == [picture], "a temporary file was left behind"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    by_default(
        [
            (["--epochs", 0], "'0' must be a whole number of at least 1"),
            (["--epochs", "many"], "'many' must be a whole number of at least 1"),
            (["--learning-rate", -1], "'-1' must be a number above 0"),
            (["--model", "rnn"], "invalid choice: 'rnn'"),
            (["--output", "nowhere/at/all.png"], "name a file in a directory that can"),
            (["--output", "."], "'.' is a directory; name a file in it"),
        ],
        1,
    ),
)
def test_digits_explains_wrong_arguments(
    arguments: list[object], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Called here: what it needs takes a second or two to import."""
    with pytest.raises(SystemExit) as stopped:
        _loaded("digits", EXAMPLES / "digits.py").main(list(map(str, arguments)))
    assert stopped.value.code == 2
    assert hint in capsys.readouterr().err


@pytest.mark.thorough
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


def test_static_tour_agrees_with_the_engine_bit_for_bit() -> None:
    done = run("static_tour.py")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    *text, nothing, lines, checkpoints, loop, last = done.stdout.splitlines()
    assert text[0] == "def program(x, w):"
    assert text[-1] == "    return v6,"
    assert last == "equal, bit for bit"
    peaks = [float(n) for n in re.findall(r"[\d.]+", f"{nothing} {lines} {checkpoints} {loop}")]
    assert peaks[1] < 0.6 * peaks[0]
    assert peaks[3] < 0.6 * peaks[2]
    assert peaks[4] < 1.1 * peaks[2]


@pytest.mark.parametrize(("tour", "lines"), [("tour.py", 200), ("static_tour.py", 230)])
def test_a_tour_fits_in_one_reading(tour: str, lines: int) -> None:
    assert len((EXAMPLES / tour).read_text(encoding="utf-8").splitlines()) < lines


# --- the documents


def links(page: Path) -> list[str]:
    """Files that a page links to."""
    return LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the examples compile is kept for each other, and not in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(("page", "name"), by_default(SHOWN, IN_THE_README))
def test_an_example_prints_what_is_shown(page: Path, name: str) -> None:
    if page.name == "compiled.md" and find_toolchain() is None:
        pytest.skip("there is no C compiler")
    blocks = [b for b in RUNNER.examples(page.read_text(encoding="utf-8")) if b.name == name]
    for printed, block in zip(RUNNER.outputs(blocks), blocks, strict=True):
        assert printed == block.output, f"{block.code}\nrun: python tools/docs/run_examples.py"


def test_the_guides_are_run() -> None:
    assert {page.stem for page in GUIDES} >= {
        *("backward_program", "compiled", "optimizers", "static", "training"),
        *("why_is_my_grad_none", "write_your_own_op"),
    }


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_all_code_of_a_guide_is_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("```python\n") == len(RUNNER.examples(text))
    assert text.count("```text\n") == sum(bool(b.output) for b in RUNNER.examples(text))


def test_an_example_that_prints_something_else_is_noticed() -> None:
    page = "<!-- example: one -->\n```python\nprint(1)\n```\n\n```text\n2\n```\n\nText.\n"
    assert RUNNER.filled(page) == page.replace("2", "1")
    assert RUNNER.now(page) == {"one": ["1\n"]}
    with pytest.raises(RUNNER.Failed, match="ZeroDivisionError"):
        RUNNER.filled(page.replace("print(1)", "1 / 0"))


def test_blocks_of_one_name_are_one_script() -> None:
    block = "<!-- example: {} -->\n```python\n{}\n```\n"
    texts = [("a", "x = 1\ny = x"), ("b", "x = 2\nprint(x)"), ("a", "1 / 0 if x > 1 else print(x)")]
    page = "\n".join(block.format(name, code) for name, code in texts)
    assert RUNNER.now(page) == {"a": ["", "1\n"], "b": ["2\n"]}
    broken = page.replace("x = 1\n", "x = 3\n")
    with pytest.raises(RUNNER.Failed, match=r'train.py", line 4'):  # an empty line between blocks
        RUNNER.filled(broken)


def test_the_readme_shows_both_modes_in_few_lines() -> None:
    blocks = RUNNER.examples((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [b.name for b in blocks][:2] == ["eager", "static"]
    assert all(b.code.count("\n") <= 12 for b in blocks[:2])


def test_the_page_of_optimizers_has_all_of_them_with_their_states() -> None:
    text = (ROOT / "docs" / "optimizers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)[`(].*?\|.*?\| ?(.*?) ?\|", text, re.MULTILINE))
    names = set(paddle.optimizer.__all__) - {"Optimizer", "lr"}
    assert names <= rows.keys()
    for name in names - {"AdamW", "LBFGS"}:
        state = getattr(getattr(paddle.optimizer, name), "state", {})
        documented = rows[name].split("; amsgrad")[0]
        # Adagrad's depends on an argument, so the class does not say it.
        expected = list(state) if name != "Adagrad" else ["moment"]
        assert re.findall(r"`(\w+)`", documented) == expected, name


def test_the_page_of_optimizers_has_all_schedulers() -> None:
    text = (ROOT / "docs" / "optimizers.md").read_text(encoding="utf-8")
    for name in set(paddle.optimizer.lr.__all__) - {"LRScheduler"}:
        assert f"| `{name}(" in text, name


def test_every_document_is_linked_from_the_readme_or_a_guide() -> None:
    linked: set[Path] = set()
    for page in DOCUMENTS:
        linked |= {(page.parent / target).resolve() for target in links(page)}
    assert {page for page in DOCUMENTS if page.parent.name == "docs"} <= linked


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_files_and_tests_that_are_named_exist(page: Path) -> None:
    for path, test in NAMED_TEST.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / path).is_file(), path
        if test:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^ *def {test}\(", text, re.MULTILINE), f"{path}::{test}"


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
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
