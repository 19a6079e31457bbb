"""NumPy's functions on tensors do not depend on what was imported before."""

import subprocess
import sys

import pytest

MODULES = [
    "array_api", "numpy_protocol.dlpack", "numpy_protocol.fft", "numpy_protocol.joining",
    "numpy_protocol.linalg", "numpy_protocol.quantiles", "numpy_protocol.reductions",
    "numpy_protocol.shape",
]  # fmt: skip


@pytest.mark.parametrize("first", MODULES)
def test_all_functions_are_there_whatever_was_imported_first(first: str) -> None:
    code = (
        f"import autograd_engine.interop.{first}\n"
        "import numpy as np, autograd_engine as paddle\n"
        "t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\n"
        "for value in (np.quantile(t, 0.3), np.sum(t), np.stack([t, t]), np.linalg.norm(t)):\n"
        "    assert not value.stop_gradient\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
