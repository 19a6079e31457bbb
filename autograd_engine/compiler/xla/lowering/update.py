"""Updates of parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from autograd_engine.compiler.xla.rows import by_twin, row
from autograd_engine.compiler.xla.run import Run
from autograd_engine.ops.registry.opdef import REGISTRY


@row("sgd")
def _sgd(run: Run, param: Any, grad: Any, learning_rate: Any) -> Any:
    """p - lr g; of a table, where few rows were looked up, these rows."""
    parts = run.parts_of(grad)
    if not parts:
        return param - grad * learning_rate
    for part, key in parts:
        param = param.at[key].add(-(part * learning_rate))
    return param


def _maybe_lazily(name: str) -> Callable[..., Any]:
    """In lazy mode rows alone are updated, if a gradient is known to be of rows."""
    op = REGISTRY[name]

    def update(
        run: Run, param: Any, grad: Any, rate: Any, *state: Any, lazy_mode: bool, **attrs: Any
    ) -> Any:
        attrs["lazy_mode"] = False
        keys = [key for _, key in run.parts_of(grad)]
        if not (lazy_mode and keys and all(map(_is_of_rows, keys))):
            return by_twin(run, op, (param, grad, rate, *state), attrs)
        if attrs.get("coeff"):  # all rows decay
            param, attrs["coeff"] = param * (1.0 - rate * attrs["coeff"]), 0.0
        rows = jnp.concatenate([key[0].reshape(-1) for key in keys])
        picked = [s[rows] if s.ndim else s for s in state]
        new = by_twin(run, op, (param[rows], grad[rows], rate, *picked), attrs)
        # A row that was looked up twice is computed twice, alike.
        return tuple(
            old.at[rows].set(part) if old.ndim else part
            for old, part in zip((param, *state), new, strict=True)
        )

    return update


def _is_of_rows(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 1 and hasattr(key[0], "reshape")


for _name in ("adam", "adam_amsgrad", "adamw", "adamw_amsgrad"):
    row(_name)(_maybe_lazily(_name))
