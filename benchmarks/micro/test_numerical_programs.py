"""Programs of the literature on automatic differentiation, eagerly: ours and PyTorch.

Run with ``python -m pytest benchmarks/micro/test_numerical_programs.py -q``. Nothing is asserted
about time; the ratios of one run are printed at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean, median
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from benchmarks.conftest import TABLES
from benchmarks.micro.interleave import compare, table
from benchmarks.micro.numerical_programs import PROGRAMS

_ratios: dict[str, float] = {}


class Ours:
    xp = paddle

    def leaf(self, value: Any) -> Any:
        value = np.asarray(value, np.float64)
        return paddle.to_tensor(value, dtype="float64", stop_gradient=False)

    def constant(self, value: Any) -> Any:
        return paddle.to_tensor(np.asarray(value, np.float64), dtype="float64")

    def grad(self, output: Any, inputs: Sequence[Any], *, create_graph: bool = False) -> Any:
        return paddle.grad(output, inputs, create_graph=create_graph)


class Torch:
    def __init__(self) -> None:
        self.xp = pytest.importorskip(
            "torch", reason="PyTorch is not installed: nothing to compare with"
        )
        self.xp.set_num_threads(1)

    def leaf(self, value: Any) -> Any:
        return self.xp.as_tensor(np.array(value, np.float64)).requires_grad_()

    def constant(self, value: Any) -> Any:
        return self.xp.as_tensor(np.asarray(value, np.float64))

    def grad(self, output: Any, inputs: Sequence[Any], *, create_graph: bool = False) -> Any:
        return self.xp.autograd.grad(output, inputs, create_graph=create_graph)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_numbers(name: str) -> None:
    for a, b in zip(PROGRAMS[name](Ours())(), PROGRAMS[name](Torch())(), strict=True):
        expected = b.detach().numpy()
        np.testing.assert_allclose(
            a.numpy(), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_ratios(name: str) -> None:
    timings = compare({"ours": PROGRAMS[name](Ours()), "torch": PROGRAMS[name](Torch())}, rounds=11)
    TABLES.append(table(name, timings))
    pairs = zip(timings["ours"], timings["torch"], strict=True)
    _ratios[name] = median(a / b for a, b in pairs)
    if len(_ratios) == len(PROGRAMS):
        TABLES.append(f"geometric mean of ours / torch: {geometric_mean(_ratios.values()):.2f}")
