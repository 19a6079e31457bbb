"""Checks of arguments that are not tensors: ints, axes, lists of tensors.

And of tensors that may not carry a gradient: gradients through complex values are refused where
somebody wants one.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from autograd_engine.core.dims import UnknownSize
from autograd_engine.core.spec import normalize_axis
from autograd_engine.eager.grad_mode import is_grad_enabled
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, NotDifferentiableError, ShapeError
from autograd_engine.program.backward.dataflow import keys_of, needed_keys
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["axis_of", "integer", "ints", "operands", "refuse_gradient"]


def _is_integer(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value._data.size == 1 and value._data.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def integer(op: str, argument: str, value: Any) -> int:
    """An int, or a tensor that holds one; a TypeError for anything else."""
    if not _is_integer(value):
        raise TypeError(f"{op}: {argument} must be an int, got {value!r}")
    return int(value)


def ints(op: str, argument: str, values: Any) -> tuple[int, ...]:
    """Ints as a tuple: of one int, a list of them, or an integer tensor."""
    if isinstance(values, (Tensor, np.ndarray)):
        values = values.tolist()
    if _is_integer(values):
        values = (values,)
    if not isinstance(values, (list, tuple)) or not builtins.all(_is_integer(v) for v in values):
        raise TypeError(f"{op}: {argument} must hold ints, got {values!r}")
    if argument == "shape":  # where -1 is what is not known; others have to know it
        values = [-1 if isinstance(v, UnknownSize) else v for v in values]
    return tuple(int(v) for v in values)


def axis_of(op: str, x: Any, axis: Any) -> int:
    """An axis that exists: a 0-d array has none to cut, join or look along."""
    ndim = spec_of(x).ndim
    if not ndim:
        raise ShapeError(f"{op}: takes one dimension or more, got a 0-d array; use reshape([1])")
    return normalize_axis(op, int(axis) if isinstance(axis, Tensor) else axis, ndim)


def operands(op: str, x: Any, argument: str = "x") -> list[Any]:
    """The arrays of a list or tuple, of which there is at least one."""
    if not isinstance(x, (list, tuple)):
        raise TypeError(
            f"{op}: {argument} must be a list or tuple of arrays, got {type(x).__name__}"
        )
    if not x:
        raise ArgumentError(f"{op}: {argument} is empty; give one array at least")
    return [as_operand(op, v, f"{argument}[{k}]") for k, v in enumerate(x)]


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
