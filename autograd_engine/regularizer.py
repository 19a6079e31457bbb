"""Weight decay: what is added to a gradient to keep its parameter small."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.lazy import lazily
from autograd_engine.core.names.constructors import Respelled, respelled
from autograd_engine.errors import ArgumentError, ArgumentTypeError

__all__ = ["L1Decay", "L2Decay", "WeightDecayRegularizer"]

if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})


@respelled
class WeightDecayRegularizer(Respelled):
    """Base of the regularizers: `coeff` times the gradient of a penalty on the parameter.

    It is a term of the gradient, so it passes through the optimizer's moments; AdamW decays beside
    them. A ``regularizer=`` of a parameter takes the place of the optimizer's ``weight_decay``.
    """

    def __init__(self, coeff: float = 0.0) -> None:
        kind = type(self).__name__
        if isinstance(coeff, bool) or not isinstance(coeff, (int, float)):
            raise ArgumentTypeError(f"{kind}: coeff must be a number, got {type(coeff).__name__}")
        if not math.isfinite(coeff):
            raise ArgumentError(f"{kind}: coeff must be finite, got {coeff}")
        self.coeff = float(coeff)

    def term(self, xp: Any, param: Any) -> Any:
        """What is added to the gradient, with the operations of `xp`."""
        raise NotImplementedError

    def penalty(self, values: NDArray[Any]) -> float:
        """What the term is the gradient of."""
        raise NotImplementedError

    def added(self, xp: Any, param: Any, grad: Any) -> Any:
        """The gradient and the term."""
        return xp.add_n(grad, self.term(xp, param))

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self.coeff:f}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.coeff})"


class L1Decay(WeightDecayRegularizer):
    """coeff * sign(param), of the penalty coeff * sum(abs(param)).

    Parameters
    ----------
    coeff : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> attr = paddle.ParamAttr(regularizer=paddle.regularizer.L1Decay(0.1))
    >>> w = paddle.create_parameter([1], attr=attr)
    >>> w.regularizer
    L1Decay(0.1)
    """

    def term(self, xp: Any, param: Any) -> Any:
        return xp.multiply(xp.sign(param), self.coeff)

    def penalty(self, values: NDArray[Any]) -> float:
        return self.coeff * float(np.abs(values).sum())


class L2Decay(WeightDecayRegularizer):
    """coeff * param, of the penalty coeff / 2 * sum(param ** 2).

    Parameters
    ----------
    coeff : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(1.0))
    >>> decay = paddle.regularizer.L2Decay(0.5)
    >>> sgd = paddle.optimizer.SGD(1.0, parameters=[w], weight_decay=decay)
    >>> (w * 0.25).sum().backward()
    >>> sgd.step()
    >>> w.tolist()
    [0.25]
    """

    def term(self, xp: Any, param: Any) -> Any:
        return xp.multiply(param, self.coeff)

    def penalty(self, values: NDArray[Any]) -> float:
        return 0.5 * self.coeff * float((values * values).sum())
