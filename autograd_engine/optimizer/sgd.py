"""Gradient descent, plain and with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.update import sgd_rows
from autograd_engine.optimizer.checks import count, flag, number, pair, unit_interval
from autograd_engine.optimizer.groups import Hyper, State
from autograd_engine.optimizer.optimizer import Optimizer

__all__ = ["ASGD", "Momentum", "Rprop", "SGD"]


class SGD(Optimizer):
    """param - learning_rate * grad

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
        self._configure(locals())

    def _write_rows(
        self, data: Array, rows: Array, values: Array, rate: Array, p: Tensor, attrs: dict[str, Any]
    ) -> None:
        sgd_rows(data, rows, values, rate)


class Momentum(Optimizer):
    """velocity = momentum * velocity + grad; param - learning_rate * velocity

    Polyak 1964; with `use_nesterov`, Sutskever et al. 2013.

    Parameters
    ----------
    momentum : float
        In [0, 1).
    use_nesterov : bool
    rescale_grad : float
        Multiplies gradients.
    use_multi_tensor : bool
        Accepted for the reference's sake.
    """

    operation = "momentum"
    state: ClassVar = {"velocity": State()}
    hyper: ClassVar = {
        "momentum": Hyper(unit_interval, "mu"),
        "use_nesterov": Hyper(flag),
        "rescale_grad": Hyper(number),
    }

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
        self._configure(locals())


class ASGD(Optimizer):
    """A step along the mean of the last gradient of each batch (Schmidt, Le Roux and Bach 2013).

    Parameters
    ----------
    batch_num : int
        How many batches there are; each is kept a gradient of.
    """

    operation = "asgd"
    state: ClassVar = {
        "d": State(),
        "y": State(lambda shape, attrs: (attrs["batch_num"], *shape)),
        "m": State(False, dtype="int64"),
    }
    hyper: ClassVar = {"batch_num": Hyper(count)}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        batch_num: int = 1,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        self._configure(locals())


class Rprop(Optimizer):
    """A rate for each element, which only the signs of gradients change (Riedmiller, Braun 1993).

    Parameters
    ----------
    learning_rate : float or LRScheduler
        Where the rates start.
    learning_rate_range : (float, float)
        The smallest and the largest rate.
    etas : (float, float)
        Factors of a rate where the sign of the gradient changed, and where it did not.
    """

    operation = "rprop"
    state: ClassVar = {"prevs": State(), "learning_rates": State(True, "learning_rate")}
    hyper: ClassVar = {"learning_rate_range": Hyper(pair), "etas": Hyper(pair)}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_range: tuple[float, float] = (1e-5, 50),
        parameters: Sequence[Any] | None = None,
        etas: tuple[float, float] = (0.5, 1.2),
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        self._configure(locals())

    def _attributes(self, **given: Any) -> dict[str, Any]:
        (smallest, largest), (shrink, grow) = super()._attributes(**given).values()
        if not 0 < smallest <= self.get_lr() <= largest:
            raise ArgumentError(
                f"Rprop: learning_rate {self.get_lr()} must be in the learning_rate_range "
                f"{(smallest, largest)}, and this above 0"
            )
        if not 0 < shrink < 1 < grow:
            raise ArgumentError(
                f"Rprop: etas must be a factor below 1 and one above 1, got {(shrink, grow)}"
            )
        return {"smallest": smallest, "largest": largest, "shrink": shrink, "grow": grow}
