"""What weights that are composed of others have in common."""

from __future__ import annotations

from typing import Any

from autograd_engine.errors import ArgumentError
from autograd_engine.nn.layer.base import Layer
from autograd_engine.nn.layer.registered import COMPOSED, PARAMETER

__all__ = ["parameter_of"]


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
