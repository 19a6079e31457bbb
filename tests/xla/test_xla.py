"""Programs through XLA, and every row of the table.

JAX starts threads, and a process that has some is not one to fork: tests of forks would be told so.
It is loaded in processes of their own, one for each of the modules beside.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograd_engine.compiler.backend import BACKENDS
from autograd_engine.errors import MissingLibraryError
from autograd_engine.static import Executor

HERE = Path(__file__).parent
needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="jax is not installed"
)
# Compiling is what takes the time here.
QUICK = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false"
)
NAMES, KEPT = (
    [n for file in files for n in re.findall(r"^        (\w+),$", (HERE / file).read_text(), re.M)]
    for files in (["steps.py"], ["residence.py", "interrupts.py"])
)
ELSEWHERE = re.findall(r"^    (\w+),$", (HERE / "elsewhere.py").read_text(), re.MULTILINE)


def said_by(module: str, *arguments: str, flags: str = "") -> Any:
    environment = {**os.environ, "XLA_FLAGS": f"{QUICK} {flags}", "JAX_PLATFORMS": "cpu"}
    environment.pop("AUTOGRAD_ENGINE_BACKEND", None)  # which is numpy for other tests
    command = [sys.executable, "-m", f"tests.xla.{module}", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=HERE.parents[1], env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def outcomes() -> Any:
    return said_by("steps")


@needs_jax
@pytest.mark.parametrize("name", NAMES)
def test_steps(outcomes: Any, name: str) -> None:
    assert outcomes[name] == "", outcomes[name]


@pytest.fixture(scope="module")
def outcomes_of_residence() -> Any:
    return said_by("residence")


@needs_jax
@pytest.mark.parametrize("name", KEPT)
def test_residence(outcomes_of_residence: Any, name: str) -> None:
    assert outcomes_of_residence[name] == "", outcomes_of_residence[name]


@pytest.fixture(scope="module")
def outcomes_elsewhere() -> Any:
    return said_by("elsewhere", flags="--xla_force_host_platform_device_count=2")


@needs_jax
@pytest.mark.parametrize("name", ELSEWHERE)
def test_elsewhere(outcomes_elsewhere: Any, name: str) -> None:
    if name.startswith("programs_run") and importlib.util.find_spec("flatbuffers") is None:
        pytest.skip("flatbuffers is not installed")
    assert outcomes_elsewhere[name] == "", outcomes_elsewhere[name]


# NumPy computes these, or some samples of them.
CALLED_BACK = {"histogram", "histogram_bin_edges", "region_max_index"}
# The sizes of what these return, of some samples, are values.
REFUSED = {
    "bincount", "index", "index_last", "nonzero", "row_counts", "sequence_mask", "unique",
    "unique_consecutive",
}  # fmt: skip


@needs_jax
@pytest.mark.thorough
def test_rows_agree_with_their_kernels() -> None:
    found = said_by("rows", "all")
    assert found["wrong"] == []
    assert found["elsewhere"] == []
    ways = found["ways"]
    assert {name for name, way in ways.items() if "called back" in way} == CALLED_BACK
    assert {name for name, way in ways.items() if "refused" in way} == REFUSED


@needs_jax
@pytest.mark.thorough
@pytest.mark.parametrize("which", ["large", "float16", "bfloat16"])
def test_rows_of_other_arrays_agree_with_their_kernels(which: str) -> None:
    found = said_by("rows", which)
    assert found["wrong"] == []
    assert found["accepted"] == []
    assert {n for n, way in found["ways"].items() if "called back" in way} <= CALLED_BACK


@needs_jax
@pytest.mark.thorough
def test_gradients_and_their_gradients_agree_with_numpy() -> None:
    assert said_by("gradients") == []


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "jax", BACKENDS["jax"]._replace(library="no_such_library"))
    with pytest.raises(MissingLibraryError, match=r"pip install 'autograd-engine\[no_such"):
        Executor(backend="jax")


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, autograd_engine as p; p.static.Executor(); print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
