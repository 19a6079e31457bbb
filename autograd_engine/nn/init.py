"""Initializers as functions that give a parameter its values, under the names of torch.

>>> import autograd_engine as paddle
>>> linear = paddle.nn.Linear(2, 2)
>>> paddle.nn.init.constant_(linear.weight, 0.5).tolist()
[[0.5, 0.5], [0.5, 0.5]]

Each calls the initializer of `nn.initializer` that has its name, on a tensor or on a parameter of a
program, and returns what it was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.core.lazy import listed
from autograd_engine.nn.initializer import (
    Constant,
    Dirac,
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    calculate_gain,
)

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def constant_(tensor: Any, val: float) -> Any:
    """`val` everywhere."""
    Constant(val)(tensor)
    return tensor


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """A convolution that hands its input on."""
    Dirac(groups)(tensor)
    return tensor


def kaiming_normal_(
    tensor: Any, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Any:
    """Draws of a normal distribution, scaled for what follows."""
    KaimingNormal(negative_slope=a, nonlinearity=nonlinearity, mode=mode)(tensor)
    return tensor


def kaiming_uniform_(
    tensor: Any, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Any:
    """Draws of a uniform distribution, scaled for what follows."""
    KaimingUniform(negative_slope=a, nonlinearity=nonlinearity, mode=mode)(tensor)
    return tensor


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Draws of a normal distribution."""
    Normal(mean, std)(tensor)
    return tensor


def ones_(tensor: Any) -> Any:
    """Ones."""
    Constant(1.0)(tensor)
    return tensor


def orthogonal_(tensor: Any, gain: float = 1.0) -> Any:
    """An orthogonal matrix, times `gain`."""
    Orthogonal(gain)(tensor)
    return tensor


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Any:
    """Draws of a normal distribution between `a` and `b`."""
    TruncatedNormal(mean, std, a, b)(tensor)
    return tensor


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0) -> Any:
    """Draws of a uniform distribution from `a` to `b`."""
    Uniform(a, b)(tensor)
    return tensor


def xavier_normal_(
    tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Any:
    """Draws of a normal distribution, scaled by both fans."""
    XavierNormal(fan_in, fan_out, gain)(tensor)
    return tensor


def xavier_uniform_(
    tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Any:
    """Draws of a uniform distribution, scaled by both fans."""
    XavierUniform(fan_in, fan_out, gain)(tensor)
    return tensor


def zeros_(tensor: Any) -> Any:
    """Zeros."""
    Constant(0.0)(tensor)
    return tensor
