"""What weights that are composed of others have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.base.registered import COMPOSED, PARAMETER
from autograd_engine.program.builder import append_write
from autograd_engine.program.ir.program import Variable, default_startup_program, program_guard

__all__ = ["axis_of", "parameter_of", "set_once"]


def parameter_of(function: str, layer: Any, name: Any) -> Any:
    """The parameter of `layer` that is to be composed of others."""
    if not isinstance(layer, Layer):
        raise TypeError(f"{function}: layer must be a Layer, got {type(layer).__name__}")
    kind = layer._kinds.get(name) if isinstance(name, str) else None
    if kind == COMPOSED:
        done = type(layer._composed[name]).__name__
        raise ArgumentError(
            f"{function}: {name} of this {type(layer).__name__} is composed of others already "
            f"({done})"
        )
    if kind != PARAMETER or getattr(layer, name) is None:
        own = ", ".join(n for n, k in layer._kinds.items() if k == PARAMETER) or "none"
        raise ArgumentError(
            f"{function}: {type(layer).__name__} has no parameter {name!r} of its own; it has {own}"
        )
    return getattr(layer, name)


def axis_of(function: str, dim: Any, weight: Any, hint: str = "") -> int:
    """An axis of a weight, from 0."""
    if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)):
        raise TypeError(f"{function}: dim must be an int or None, got {type(dim).__name__}")
    ndim = len(weight.shape)
    if not -ndim <= dim < ndim:
        raise ArgumentError(
            f"{function}: dim={dim} is no axis of the weight {weight.name}, which is "
            f"{list(weight.shape)}{hint}"
        )
    return int(dim) % ndim


def set_once(target: Any, source: Any, value: Callable[[Any], Any]) -> None:
    """Give `target` ``value(source)``: now, or of variables in the startup program."""
    if isinstance(target, Variable):
        startup = default_startup_program()
        block = startup.global_block()
        with program_guard(startup):
            append_write(block.var(target.name), value(block.var(source.name)))
    else:
        with no_grad():
            target.set_value(value(source))
