"""Gradient descent, plain and with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.update import sgd_rows
from autograd_engine.optimizer.optimizer import Array, Optimizer

__all__ = ["SGD", "Momentum"]


class SGD(Optimizer):
    """param - learning_rate * grad

    Parameters
    ----------
    learning_rate : float
    parameters : sequence of Tensor, optional
        Needed in eager mode; in a program, by default all trainable ones.

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

    def _write_rows(self, data: Array, rows: Array, values: Array, rate: Array, p: Tensor) -> None:
        sgd_rows(data, rows, values, rate)


class Momentum(Optimizer):
    """velocity = momentum * velocity + grad; param - learning_rate * velocity

    Polyak 1964; with `use_nesterov`, Sutskever et al. 2013.

    Parameters
    ----------
    learning_rate : float
    momentum : float
        In [0, 1).
    parameters : sequence of Tensor, optional
    use_nesterov : bool
    """

    operation = "momentum"
    state: ClassVar = {"velocity": (True, lambda attrs: 0.0)}

    def __init__(
        self,
        learning_rate: float = 0.001,
        momentum: float = 0.9,
        parameters: Sequence[Any] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, parameters)
        self._momentum = self._check_decay("momentum", momentum)
        self._use_nesterov = bool(use_nesterov)

    @property
    def attrs(self) -> dict[str, Any]:
        return {"mu": self._momentum, "use_nesterov": self._use_nesterov}
