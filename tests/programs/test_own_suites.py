"""The tests that the libraries themselves ship."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.programs.own_suite import run


def test_einops(tmp_path: Path) -> None:
    pytest.importorskip("einops")
    counts, reasons = run(tmp_path, ["einops.tests"], {"EINOPS_TEST_BACKENDS": "numpy,paddle"})
    assert not reasons
    assert counts["passed"] >= 55


@pytest.mark.thorough
def test_tensorly(tmp_path: Path) -> None:
    """All but its decompositions of large tensors and its regressions, which take minutes."""
    pytest.importorskip("tensorly")
    parts = ["contrib", "metrics", "random", "solvers", "tenalg", "tests", "utils"]
    counts, reasons = run(
        tmp_path, [f"tensorly.{part}" for part in parts], {"TENSORLY_BACKEND": "paddle"}
    )
    assert not reasons
    assert counts["passed"] >= 420


@pytest.mark.thorough
def test_keras(tmp_path: Path) -> None:
    """The areas that are quick, but for what asks for bfloat16 or for TensorFlow."""
    if find_spec("keras_paddle") is None:
        pytest.skip("could not import 'keras_paddle'")
    parts = ["activations", "layers.merging", "metrics", "optimizers"]
    counts, reasons = run(
        tmp_path, [f"keras.src.{part}" for part in parts], {}, "tests.programs.keras_plugin"
    )
    elsewhere = ("bfloat16", "tensorflow")
    assert not {name: why for name, why in reasons.items() if not any(e in why for e in elsewhere)}
    assert counts["passed"] >= 600
