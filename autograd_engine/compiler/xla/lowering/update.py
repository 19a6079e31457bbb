"""Updates of parameters."""

from __future__ import annotations

from typing import Any

from autograd_engine.compiler.xla.rows import row
from autograd_engine.compiler.xla.run import Run


@row("sgd")
def _sgd(run: Run, param: Any, grad: Any, learning_rate: Any) -> Any:
    """p - lr g; of a table, where few rows were looked up, these rows."""
    parts = run.parts_of(grad)
    if not parts:
        return param - grad * learning_rate
    for part, key in parts:
        param = param.at[key].add(-(part * learning_rate))
    return param
