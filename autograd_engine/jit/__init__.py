"""Functions on Tensors as programs: `to_static`, `save` and `load`."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.jit.save_load import load, save
from autograd_engine.jit.static_function import (
    StaticFunction,
    enable_to_static,
    ignore_module,
    not_to_static,
    to_static,
)
from autograd_engine.program.input_spec import InputSpec

if TYPE_CHECKING:
    from autograd_engine.jit.translated_layer import TranslatedLayer

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


if not TYPE_CHECKING:
    # It is a layer, and layers are loaded when they are first asked for.
    __getattr__ = lazily(__name__, {"TranslatedLayer": "jit.translated_layer"})


def __dir__() -> list[str]:
    return __all__
