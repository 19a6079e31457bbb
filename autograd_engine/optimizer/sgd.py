"""Gradient descent, plain and with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.optimizer.update import sgd_rows
from autograd_engine.optimizer.checks import number, unit_interval
from autograd_engine.optimizer.optimizer import Array, Optimizer
from autograd_engine.optimizer.settings import State

__all__ = ["SGD", "Momentum"]


class SGD(Optimizer):
    """param - learning_rate * grad

    Parameters
    ----------
    learning_rate : float or LRScheduler
    parameters : list of Tensor, or of dict, optional
        Needed in eager mode; in a program, by default all trainable ones. See `Optimizer`, also
        for `weight_decay` and `grad_clip`.
    weight_decay : float, L1Decay or L2Decay, optional
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    multi_precision : bool
        Keep float16 parameters in float32 besides, and update these.
    name : str, optional

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(1.0))
    >>> sgd = paddle.optimizer.SGD(learning_rate=0.5, parameters=[w])
    >>> (w * w).sum().backward()
    >>> sgd.step()
    >>> w.tolist()
    [0.0]
    """

    operation = "sgd"
    _by_rows = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            multi_precision=multi_precision,
        )

    def _write_rows(
        self, data: Array, rows: Array, values: Array, rate: Array, p: Tensor, attrs: dict[str, Any]
    ) -> None:
        sgd_rows(data, rows, values, rate)


class Momentum(Optimizer):
    """velocity = momentum * velocity + grad; param - learning_rate * velocity

    Polyak 1964; with `use_nesterov`, Sutskever et al. 2013.

    Parameters
    ----------
    learning_rate : float or LRScheduler
    momentum : float
        In [0, 1).
    parameters : list of Tensor, or of dict, optional
        See `Optimizer`, also for `weight_decay` and `grad_clip`.
    use_nesterov : bool
    weight_decay : float, L1Decay or L2Decay, optional
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    multi_precision : bool
        Keep float16 parameters in float32 besides, and update these.
    rescale_grad : float
        Multiplies gradients.
    use_multi_tensor : bool
        Accepted for the reference's sake.
    name : str, optional
    """

    operation = "momentum"
    state: ClassVar = {"velocity": State()}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        momentum: float = 0.9,
        parameters: Sequence[Any] | None = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            multi_precision=multi_precision,
            hyper={
                "momentum": momentum,
                "use_nesterov": use_nesterov,
                "rescale_grad": rescale_grad,
            },
        )

    def _attributes(
        self, momentum: Any = 0.9, use_nesterov: Any = False, rescale_grad: Any = 1.0
    ) -> dict[str, Any]:
        owner = type(self).__name__
        return {
            "mu": unit_interval(owner, "momentum", momentum),
            "use_nesterov": bool(use_nesterov),
            "rescale_grad": number(owner, "rescale_grad", rescale_grad),
        }
