"""Every row of the table in docs/nondifferentiable.md, in both modes."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.over import before, over

PAGE = Path(__file__).resolve().parents[2] / "docs" / "nondifferentiable.md"
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)
ROWS = [match.groups() for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


def arrays(text: str) -> dict[str, Any]:
    """``x=[0.0], y=[inf]`` as arrays by name; None stays."""
    given = eval(f"dict({text})", {"inf": math.inf, "nan": math.nan})
    return {k: None if v is None else np.asarray(v, "float64") for k, v in given.items()}


def evaluate(expression: str, operands: dict[str, Any]) -> Any:
    return eval(expression, {"paddle": paddle, "F": paddle.nn.functional, **operands})


def eager_gradients(expression: str, point: dict[str, Any]) -> list[Any]:
    tensors = {k: paddle.to_tensor(v, stop_gradient=False) for k, v in point.items()}
    result = evaluate(expression, tensors)
    if result.stop_gradient:
        return [None] * len(tensors)
    found = paddle.grad(result, list(tensors.values()), allow_unused=True)
    return [None if g is None else g.numpy() for g in found]


def static_gradients(expression: str, point: dict[str, Any]) -> list[Any]:
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        variables = {k: paddle.static.data(k, v.shape, "float64") for k, v in point.items()}
        for v in variables.values():
            v.stop_gradient = False
        result = evaluate(expression, variables)
        found = paddle.static.gradients(result, list(variables.values()))
    wanted = [g for g in found if g is not None]
    values = iter(paddle.static.Executor().run(program, feed=point, fetch_list=wanted))
    return [None if g is None else next(values) for g in found]


def test_the_table_is_read_whole() -> None:
    lines = [s for s in PAGE.read_text(encoding="utf-8").splitlines() if s.startswith("| `")]
    assert len(ROWS) == len(lines) >= 30


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@over("gradients", [eager_gradients, static_gradients])
@over(("expression", "at", "gradient"), ROWS, by=before("("))
def test_row(expression: str, at: str, gradient: str, gradients: Any) -> None:
    point, expected = arrays(at), arrays(gradient)
    found = dict(zip(point, gradients(expression, point), strict=True))
    assert found.keys() == expected.keys()
    for name, want in expected.items():
        if want is None:
            assert found[name] is None
        else:
            np.testing.assert_array_equal(found[name], want, err_msg=name, strict=True)
