"""Functions on Tensors as programs: `to_static`, `save` and `load`."""

from typing import TYPE_CHECKING

from autograd_engine.jit.saving import load, save
from autograd_engine.jit.static_function import (
    StaticFunction,
    enable_to_static,
    ignore_module,
    not_to_static,
    to_static,
)
from autograd_engine.static.input_spec import InputSpec

if TYPE_CHECKING:
    from autograd_engine.jit.translated import TranslatedLayer

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

    def __getattr__(name):
        """It is a layer, and layers are loaded when they are first asked for."""
        if name != "TranslatedLayer":
            from autograd_engine.elsewhere import missing

            raise missing(__name__, name)
        from autograd_engine.jit.translated import TranslatedLayer

        return TranslatedLayer


def __dir__() -> list[str]:
    return __all__
