"""The tests that the libraries themselves ship."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.programs.own_suite import run

# These ask a tensor of ints for stop_gradient = False.
OF_INTEGERS = {
    "test_examples.test_rearrange_examples",
    "test_ops.test_concatenations_and_stacking",
    "test_ops.test_ellipsis_ops_imperative",
    "test_ops.test_enumerating_directions",
    "test_ops.test_reduction_imperatives",
    "test_ops.test_reduction_imperatives_booleans",
    "test_ops.test_reduction_stress_imperatives",
    "test_ops.test_repeat_imperatives",
    "test_ops.test_tiling_imperatives",
    "test_other.test_is_float_type",
}


def test_einops(tmp_path: Path) -> None:
    pytest.importorskip("einops")
    counts, reasons = run(tmp_path, ["einops.tests"], {"EINOPS_TEST_BACKENDS": "numpy,paddle"})
    assert set(reasons) <= OF_INTEGERS, reasons
    assert counts["passed"] + len(reasons) >= 55


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
    """Its metrics and the layers that merge others, but for what is asked in bfloat16."""
    if find_spec("keras_paddle") is None:
        pytest.skip("could not import 'keras_paddle'")
    parts = ["metrics", "layers.merging"]
    counts, reasons = run(
        tmp_path, [f"keras.src.{part}" for part in parts], {}, "tests.programs.keras_plugin"
    )
    assert {name: why for name, why in reasons.items() if "bfloat16" not in why} == {}
    assert counts["passed"] >= 440
