"""Functions on Tensors as programs: `to_static`, `save` and `load`."""

from autograd_engine.jit.saving import load, save
from autograd_engine.jit.static_function import (
    StaticFunction,
    enable_to_static,
    ignore_module,
    not_to_static,
    to_static,
)
from autograd_engine.jit.translated import TranslatedLayer
from autograd_engine.static.input_spec import InputSpec

__all__ = [
    "InputSpec",
    "StaticFunction",
    "TranslatedLayer",
    "enable_to_static",
    "ignore_module",
    "load",
    "not_to_static",
    "save",
    "to_static",
]


def __dir__() -> list[str]:
    return __all__
