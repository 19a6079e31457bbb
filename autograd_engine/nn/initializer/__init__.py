"""How parameters start out: each initializer names a creation operation and its attributes."""

from autograd_engine.nn.initializer.base import Initializer, set_global_initializer
from autograd_engine.nn.initializer.distribution import (
    Assign,
    Constant,
    Normal,
    TruncatedNormal,
    Uniform,
)
from autograd_engine.nn.initializer.scaled import (
    KaimingNormal,
    KaimingUniform,
    XavierNormal,
    XavierUniform,
    calculate_gain,
)
from autograd_engine.nn.initializer.structured import Bilinear, Dirac, Orthogonal

__all__ = [
    "Assign",
    "Bilinear",
    "Constant",
    "Dirac",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]
