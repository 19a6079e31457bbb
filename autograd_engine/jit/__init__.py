"""Functions on Tensors as programs: `to_static`, `save` and `load`."""

import sys
import types
import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.jit.save_load import load as load, save as save
from autograd_engine.jit.static_function import (
    StaticFunction as StaticFunction,
    enable_to_static as enable_to_static,
    ignore_module as ignore_module,
    not_to_static as not_to_static,
    to_static as to_static,
)
from autograd_engine.program.input_spec import InputSpec as InputSpec


class _Module(types.ModuleType):
    """``jit(function)`` is how other libraries write it."""

    def __call__(self, *args: object, **kwargs: object) -> typing.NoReturn:
        raise TypeError("paddle.jit is a module: write paddle.jit.to_static(function)")


sys.modules[__name__].__class__ = _Module

if typing.TYPE_CHECKING:
    from autograd_engine.jit.translated_layer import TranslatedLayer as TranslatedLayer
else:
    # It is a layer, and layers are loaded when they are first asked for.
    __getattr__, __dir__, __all__ = _face(__name__, {"jit.translated_layer": "TranslatedLayer"})
