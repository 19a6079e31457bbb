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
    "init",
    "initializer",
]

if TYPE_CHECKING:
    from autograd_engine.nn import functional, init
    from autograd_engine.nn.layer import *  # noqa: F403
    from autograd_engine.nn.names import *  # noqa: F403
else:
    from autograd_engine.tensor.spelling.wrapper import spelled_class as _spelled_class

    for _made in (ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue, ParamAttr):
        _spelled_class(_made)

    def __getattr__(name):
        """Layers are imported when one of them is first asked for."""
        import importlib

        if name in ("functional", "init", "layer", "utils"):
            return importlib.import_module(f"autograd_engine.nn.{name}")
        if name == "__all__" or not name.startswith("_"):
            for home in ("layer", "names"):
                module = importlib.import_module(f"autograd_engine.nn.{home}")
                if name in module.__all__:
                    found = globals()[name] = getattr(module, name)
                    return found
        from autograd_engine.core.missing_names import missing

        raise missing(__name__, name)


def __dir__() -> list[str]:
    from autograd_engine.nn import layer, names

    return sorted({*__all__, "utils", *vars(layer)["__all__"], *names.__all__})
