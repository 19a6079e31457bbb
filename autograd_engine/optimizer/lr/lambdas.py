"""Rates by a function of the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autograd_engine.core.checks import check_callback
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.optimizer.lr.scheduler import LRScheduler

__all__ = ["LambdaDecay", "MultiplicativeDecay", "require_function"]

_MOST_FACTORS: Final = 10**7


def require_function(scheduler: object, name: str, value: Any, given: str = "epoch") -> None:
    owner = type(scheduler).__name__
    if not callable(value):
        raise ArgumentTypeError(
            f"{owner}: {name} must be a function, as lambda epoch: 0.95 ** epoch; got "
            f"{type(value).__name__}"
        )
    check_callback(owner, name, value, given)


class LambdaDecay(LRScheduler):
    """``learning_rate * lr_lambda(epoch)``

    Parameters
    ----------
    lr_lambda : callable
        A factor, from the epoch.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.LambdaDecay(0.5, lambda epoch: 0.5**epoch)
    >>> scheduler.step()
    >>> scheduler()
    0.25
    """

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_function(self, "lr_lambda", lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """``learning_rate * lr_lambda(1) * lr_lambda(2) * ... * lr_lambda(epoch)``

    Parameters
    ----------
    lr_lambda : callable
        By what the rate is multiplied in an epoch. It gives the same for the same epoch each time.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.MultiplicativeDecay(1.0, lambda epoch: 1 / epoch)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(round(scheduler(), 4))
    ...     scheduler.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.1667]
    """

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_function(self, "lr_lambda", lr_lambda)
        self.lr_lambda = lr_lambda
        self._product: tuple[int, float] = (0, 1.0)  # an epoch, and its rate
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        done, rate = self._product
        epoch = int(self.last_epoch)
        if not 0 < done <= epoch:
            done, rate = 0, self.base_lr
        if epoch - done > _MOST_FACTORS:
            raise ArgumentError(
                f"{type(self).__name__}: last_epoch {epoch} asks for the product of so many "
                f"factors; {_MOST_FACTORS} at most"
            )
        for k in range(done + 1, epoch + 1):
            rate = rate * self.lr_lambda(k)
        self._product = (epoch, rate)
        return rate
