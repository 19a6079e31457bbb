"""Gradients through complex values, which are refused where somebody wants one."""

from __future__ import annotations

from typing import Any

from autograd_engine.eager.grad_mode import is_grad_enabled
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotDifferentiableError
from autograd_engine.program.backward.dataflow import keys_of, needed_keys
from autograd_engine.program.operands import spec_of

__all__ = ["refuse_gradient"]


def refuse_gradient(op: str, x: Any, instead: str) -> None:
    """Raise NotDifferentiableError where a gradient through complex values would be wanted."""
    if spec_of(x).dtype.kind in "fc" and not x.stop_gradient and _wants_gradient(x):
        raise NotDifferentiableError(
            f"{op}: the engine has no gradients through complex values: {instead}"
        )


def _wants_gradient(x: Any) -> bool:
    """Whether the graph is recorded; in a program, whether something leads to `x` that wants one.

    Results of a program's operators may all be differentiated, until something says otherwise.
    """
    if isinstance(x, Tensor):
        return is_grad_enabled()
    sources = [
        v for v in x.block.vars.values() if not v.stop_gradient and (v.is_data or v.persistable)
    ]
    return (x.name, x.version) in needed_keys(x.block, keys_of(sources, set()), set())
