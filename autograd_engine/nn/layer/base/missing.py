"""Names that people type on a layer where they are called otherwise."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["missing"]

_HERE: Final = {
    "add_module": "add_sublayer(name, layer)",
    "bfloat16": "to(dtype='float16'), for there is no bfloat16",
    "compile": "paddle.jit.to_static(layer)",
    "cpu": "nothing: all arrays are on the CPU",
    "cuda": "nothing: all arrays are on the CPU",
    "get_parameter": "dict(layer.named_parameters())[name]",
    "get_submodule": "dict(layer.named_sublayers())[name]",
    "half": "to(dtype='float16')",
    "load_state_dict": "set_state_dict(state)",
    "modules": "sublayers(include_self=True)",
    "named_modules": "named_sublayers(include_self=True)",
    "register_forward_hook": "register_forward_post_hook(hook)",
    "register_module": "add_sublayer(name, layer)",
    "register_parameter": "add_parameter(name, parameter)",
    "requires_grad_": "stop_gradient = True or False on each of parameters()",
    "zero_grad": "clear_gradients()",
}


def missing(layer: Any, name: str) -> AttributeError:
    """What to raise for an attribute that `layer` does not have."""
    if name in _HERE:
        hint = f"; here it is {_HERE[name]}"
    else:
        own = ", ".join(list(layer.__dict__.get("_kinds", ()))[:8])
        hint = f"; it has {own}" if own and not name.startswith("_") else ""
    return AttributeError(f"{type(layer).__name__!r} object has no attribute {name!r}{hint}")
