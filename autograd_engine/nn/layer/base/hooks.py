"""Calls of layers that have hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autograd_engine.program import mode
from autograd_engine.program.builder import layer_scope

if TYPE_CHECKING:
    from autograd_engine.nn.layer.base.layer import Layer

__all__ = ["HookedCall", "call_with_hooks", "run_named"]


def run_named(
    layer: Layer, forward: Callable[..., Any], inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``forward(*inputs, **kwargs)``; in a program temporaries are named after the layer."""
    if not mode.building():
        return forward(*inputs, **kwargs)
    with layer_scope(layer._full_name):
        return forward(*inputs, **kwargs)


def call_with_hooks(layer: Layer, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call does. A `forward` that runs as a program takes the hooks into the program."""
    forward: Any = layer.forward
    traced = getattr(forward, "dygraph_function", None)
    if traced is None:
        return HookedCall(layer, forward)(*inputs, **kwargs)
    kept = layer.__dict__.get("_hooked_forward")
    if kept is None or kept.dygraph_function.forward != traced:
        kept = forward.like(HookedCall(layer, traced))
        layer.__dict__["_hooked_forward"] = kept
    return kept(*inputs, **kwargs)


class HookedCall:
    """`forward` of a layer between its hooks."""

    stands_in_front_of = ("layer", "forward")  # what `jit.guards` looks into

    def __init__(self, layer: Layer, forward: Callable[..., Any]) -> None:
        self.layer = layer
        self.forward = forward
        self.__qualname__ = getattr(forward, "__qualname__", type(layer).__name__)
        self.__module__ = type(layer).__module__

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        layer = self.layer
        for hook in list(layer._forward_pre_hooks.values()):
            changed = hook(layer, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = run_named(layer, self.forward, inputs, kwargs)
        for hook in list(layer._forward_post_hooks.values()):
            changed = hook(layer, inputs, outputs)
            if changed is not None:
                outputs = changed
        return outputs
