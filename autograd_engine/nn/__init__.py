"""Building blocks of neural networks: layers, functions, initializers, parameter attributes."""

import importlib
import typing

from autograd_engine.nn import initializer as initializer
from autograd_engine.nn.clip import (
    ClipGradByGlobalNorm as ClipGradByGlobalNorm,
    ClipGradByNorm as ClipGradByNorm,
    ClipGradByValue as ClipGradByValue,
)
from autograd_engine.nn.param_attr import ParamAttr as ParamAttr

if typing.TYPE_CHECKING:
    from autograd_engine.nn import functional as functional, init as init, utils as utils
    from autograd_engine.nn.layer import *  # noqa: F403
    from autograd_engine.nn.names import *  # noqa: F403
else:
    from autograd_engine.core.lazy import face as _face

    _find, _, _here = _face(__name__, submodules="functional init initializer layer utils")

    def _layers():
        """Modules whose names are those of the package too; they take a while to import."""
        return [
            importlib.import_module(f"autograd_engine.nn.{name}") for name in ("layer", "names")
        ]

    def __getattr__(name):
        """Layers are imported when one of them is first asked for, or all names are."""
        if name == "__all__":
            return __dir__()
        if name[0] != "_" and name not in (*_here, "names"):
            for module in _layers():
                if name in module.__all__:
                    found = globals()[name] = getattr(module, name)
                    return found
        return _find(name)

    def __dir__():
        return sorted(
            {*_here, *(name for module in _layers() for name in module.__all__)} - {"layer"}
        )
