"""Activations that are smooth: made of exponentials, written so that none overflows."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional.arguments import as_floats, check_number
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.tensor.elementwise import clip
from autograd_engine.tensor.inplace import in_place

__all__ = [
    "gelu",
    "log_sigmoid",
    "logsigmoid",
    "mish",
    "sigmoid",
    "silu",
    "softplus",
    "softsign",
    "swish",
    "tanh",
    "tanhshrink",
]


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), without overflow at either end."""
    return ops.sigmoid(x)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), which is x far below 0 and never the logarithm of 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> log_sigmoid(paddle.to_tensor([-1000.0])).tolist()
    [-1000.0]
    """
    return ops.log_sigmoid(x)


logsigmoid = log_sigmoid


def tanh(x: Any, name: str | None = None) -> Tensor:
    """Hyperbolic tangent."""
    return ops.tanh(x)


def gelu(x: Any, approximate: bool | str = False, name: str | None = None) -> Tensor:
    """x times the normal distribution function at x, or its approximation by tanh.

    Hendrycks and Gimpel 2016.

    Parameters
    ----------
    x : Tensor or Variable
    approximate : bool or {"tanh", "none"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> gelu(paddle.to_tensor([0.0])).tolist()
    [0.0]
    """
    if approximate not in (True, False, "tanh", "none"):
        raise ArgumentError(
            f"gelu: approximate must be a bool, 'tanh' or 'none', got {approximate!r}"
        )
    if approximate in (False, "none"):
        out, _ = ops.gelu(x)
        return out
    x = as_floats("gelu", x)
    # At 10 the tanh is 1 in every dtype, and the cube does not leave the range of float16.
    near = clip(x, -10.0, 10.0)
    inner = math.sqrt(2.0 / math.pi) * (near + 0.044715 * (near * ops.square(near)))
    return 0.5 * x * (1.0 + ops.tanh(inner))


def silu(x: Any, inplace: bool = False, name: str | None = None) -> Tensor:
    """x * sigmoid(x) (Elfwing, Uchibe and Doya 2017).

    Parameters
    ----------
    x : Tensor or Variable
    inplace : bool
        Make `x` itself the result.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> silu(paddle.to_tensor([0.0, 1000.0])).tolist()
    [0.0, 1000.0]
    """
    if inplace:
        return in_place("silu", silu, instead="y = F.silu(x)")(x)
    return ops.silu(x)


def swish(x: Any, name: str | None = None) -> Tensor:
    """x * sigmoid(x), another name of `silu` (Ramachandran, Zoph and Le 2017)."""
    return ops.silu(x)


def mish(x: Any, name: str | None = None) -> Tensor:
    """x * tanh(log(1 + exp(x))) (Misra 2019).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> mish(paddle.to_tensor([0.0, 1000.0])).tolist()
    [0.0, 1000.0]
    """
    x = as_floats("mish", x)
    return x * ops.tanh(ops.softplus(x))


@atomic
def softplus(x: Any, beta: float = 1, threshold: float = 20, name: str | None = None) -> Tensor:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(softplus(paddle.to_tensor([0.0])).item(), 4)
    0.6931
    """
    if check_number("softplus", "beta", beta) == 0.0:
        raise ArgumentError("softplus: beta must not be 0")
    x = as_floats("softplus", x)
    inner = x if beta == 1 else x * float(beta)
    out = ops.softplus(inner)
    out = out if beta == 1 else out / float(beta)
    return ops.where(ops.greater_than(inner, float(threshold)), x, out)


def softsign(x: Any, name: str | None = None) -> Tensor:
    """x / (1 + abs(x))

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> softsign(paddle.to_tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """
    x = as_floats("softsign", x)
    return x / (ops.abs(x) + 1.0)


def tanhshrink(x: Any, name: str | None = None) -> Tensor:
    """x - tanh(x)

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> tanhshrink(paddle.to_tensor([0.0])).tolist()
    [0.0]
    """
    x = as_floats("tanhshrink", x)
    return x - ops.tanh(x)
