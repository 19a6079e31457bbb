"""Activations that are smooth."""

from __future__ import annotations

from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import Elementwise, Plain, choice, flag, number

__all__ = [
    "GELU",
    "LogSigmoid",
    "Mish",
    "SiLU",
    "Sigmoid",
    "Silu",
    "Softplus",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
]


class Sigmoid(Elementwise, function=F.sigmoid):
    """1 / (1 + exp(-x)); see `nn.functional.sigmoid`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Sigmoid()(paddle.to_tensor([0.0])).tolist()
    [0.5]
    """


class LogSigmoid(Elementwise, function=F.log_sigmoid):
    """log(sigmoid(x)), exact where sigmoid(x) is 0; see `nn.functional.log_sigmoid`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.LogSigmoid()(paddle.to_tensor([-1000.0])).tolist()
    [-1000.0]
    """


class Tanh(Elementwise, function=F.tanh):
    """The hyperbolic tangent; see `nn.functional.tanh`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Tanh()(paddle.to_tensor([0.0, 1000.0])).tolist()
    [0.0, 1.0]
    """


class GELU(Plain):
    """x times the probability that a standard normal is below x; see `nn.functional.gelu`.

    Parameters
    ----------
    approximate : bool or {"tanh", "none"}
        Of the probability, by a hyperbolic tangent.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.GELU()(paddle.to_tensor([1.0])).item(), 4)
    0.8413
    """

    _shown = ("_approximate",)

    def __init__(self, approximate: bool | str = False, name: str | None = None) -> None:
        super().__init__(name)
        known = (True, False, "tanh", "none")
        self._approximate = choice(self, "approximate", approximate, known)

    def forward(self, x: Any) -> Tensor:
        return F.gelu(x, self._approximate)


class Silu(Plain):
    """x * sigmoid(x); see `nn.functional.silu`.

    Parameters
    ----------
    inplace : bool
        Make `x` itself the result.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.Silu()(paddle.to_tensor([1.0])).item(), 4)
    0.7311
    """

    _shown = ("_inplace",)

    def __init__(self, inplace: bool = False, name: str | None = None) -> None:
        super().__init__(name)
        self._inplace = flag(self, "inplace", inplace)

    def forward(self, x: Any) -> Tensor:
        return F.silu(x, self._inplace)


SiLU = Silu


class Swish(Elementwise, function=F.swish):
    """x * sigmoid(x), as `Silu`; see `nn.functional.swish`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.Swish()(paddle.to_tensor([1.0])).item(), 4)
    0.7311
    """


class Mish(Elementwise, function=F.mish):
    """x * tanh(softplus(x)); see `nn.functional.mish`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.Mish()(paddle.to_tensor([1.0])).item(), 4)
    0.8651
    """


class Softplus(Plain):
    """log(1 + exp(beta * x)) / beta, and x itself where that is far above 0.

    See `nn.functional.softplus`.

    Parameters
    ----------
    beta : float
        Not 0.
    threshold : float
        x itself is the result where beta * x is above this.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.nn.Softplus()(paddle.to_tensor([0.0])).item(), 4)
    0.6931
    """

    _shown = ("_beta", "_threshold")

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__(name)
        self._beta = number(self, "beta", beta)
        if not self._beta:
            raise ArgumentError("Softplus: beta must not be 0, which x is divided by")
        self._threshold = number(self, "threshold", threshold)

    def forward(self, x: Any) -> Tensor:
        return F.softplus(x, self._beta, self._threshold)


class Softsign(Elementwise, function=F.softsign):
    """x / (1 + abs(x)); see `nn.functional.softsign`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Softsign()(paddle.to_tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """


class Tanhshrink(Elementwise, function=F.tanhshrink):
    """x - tanh(x); see `nn.functional.tanhshrink`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Tanhshrink()(paddle.to_tensor([0.0])).tolist()
    [0.0]
    """
