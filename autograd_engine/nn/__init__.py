"""Building blocks of neural networks: functions, initializers, parameter attributes."""

from autograd_engine.nn import functional, initializer
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


def __dir__() -> list[str]:
    return __all__
