"""Building blocks of neural networks: layers, functions, initializers, parameter attributes."""

from typing import TYPE_CHECKING

from autograd_engine.nn import initializer
from autograd_engine.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from autograd_engine.nn.param_attr import ParamAttr

__all__ = [
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "ParamAttr",
    "functional",
    "initializer",
]

if TYPE_CHECKING:
    from autograd_engine.nn import functional
    from autograd_engine.nn.layer import *  # noqa: F403
else:

    def __getattr__(name):
        """Layers are imported when one of them is first asked for."""
        import importlib

        if name in ("functional", "layer", "utils"):
            return importlib.import_module(f"autograd_engine.nn.{name}")
        if name == "__all__" or not name.startswith("_"):
            layers = importlib.import_module("autograd_engine.nn.layer")
            if name in layers.__all__:
                found = globals()[name] = getattr(layers, name)
                return found
        from autograd_engine.core.missing_names import missing

        raise missing(__name__, name)


def __dir__() -> list[str]:
    from autograd_engine.nn import layer

    return sorted({*__all__, "utils", *vars(layer)["__all__"]})
