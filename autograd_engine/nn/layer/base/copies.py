"""Copies of layers."""

from __future__ import annotations

import copy
import re
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from autograd_engine import unique_name
from autograd_engine.eager.tensor import Tensor
from autograd_engine.nn.layer.base.registered import BUFFER, PARAMETER, PASSING

if TYPE_CHECKING:
    from autograd_engine.nn.layer.base.layer import Layer

__all__ = ["deep", "shallow"]

_L = TypeVar("_L", bound="Layer")

# What a layer says of what it holds: a copy that is edited must not edit that.
_SAYS: Final = frozenset({"_kinds", "_forward_pre_hooks", "_forward_post_hooks"})


def shallow(layer: _L) -> _L:
    """A layer that holds the same parameters and layers, and can be edited by itself."""
    new = object.__new__(type(layer))
    for name, value in layer.__dict__.items():
        if hasattr(value, "dygraph_function"):
            if name == "forward":  # others are made again when they are asked for
                new.__dict__[name] = _traced(value, layer, new)
        else:
            new.__dict__[name] = copy.copy(value) if name in _SAYS else value
    return new


def _traced(function: Any, old: Any, new: Any) -> Any:
    """A method that runs as a program, for the copy."""
    target = function.dygraph_function
    if hasattr(target, "dygraph_function"):
        target = _traced(target, old, new)
    elif getattr(target, "__self__", None) is old:
        target = MethodType(target.__func__, new)
    return function.like(target)


def deep(layer: _L, memo: dict[int, Any]) -> _L:
    """A layer of its own, whose parameters have new names: optimizers keep state by name."""
    new = memo[id(layer)] = object.__new__(type(layer))
    state: Any = layer.__getstate__()
    new.__dict__.update(copy.deepcopy(state, memo))
    old = layer._full_name
    new._full_name = unique_name.generate(re.sub(r"_\d+$", "", old))
    for name, value in new._own(PARAMETER, BUFFER, PASSING):
        if isinstance(value, Tensor) and value.name == layer.__dict__[name].name:
            _, own, rest = value.name.partition(f"{old}.")
            fresh = f"{new._full_name}.{rest}" if own else f"{value.name}_deepcopy"
            value.name = fresh if own else unique_name.generate(fresh)
    return new
