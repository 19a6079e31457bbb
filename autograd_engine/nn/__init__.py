"""Building blocks of neural networks: layers, functions, initializers, parameter attributes."""

import typing

from autograd_engine.nn import initializer as initializer
from autograd_engine.nn.clip import (
    ClipGradByGlobalNorm as ClipGradByGlobalNorm,
    ClipGradByNorm as ClipGradByNorm,
    ClipGradByValue as ClipGradByValue,
)
from autograd_engine.nn.param_attr import ParamAttr as ParamAttr

if typing.TYPE_CHECKING:
    from autograd_engine.nn import functional as functional, utils as utils
    from autograd_engine.nn.layer import *  # noqa: F403
else:
    from autograd_engine.core.lazy import face as _face

    _find, _, _here = _face(__name__, submodules="functional initializer layer utils")

    def __getattr__(name):
        """Layers are imported when one of them is first asked for, or all names are."""
        if name == "__all__":
            return __dir__()
        if name[0] != "_" and name not in _here:
            from autograd_engine.nn import layer

            if name in layer.__all__:
                found = globals()[name] = getattr(layer, name)
                return found
        return _find(name)

    def __dir__():
        from autograd_engine.nn import layer

        return sorted({*_here, *layer.__all__} - {"layer"})
