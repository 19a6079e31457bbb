"""Rates that stay for some epochs and then change at once."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.optimizer.lr.scheduler import LRScheduler, increasing, number, whole

__all__ = ["MultiStepDecay", "PiecewiseDecay", "StepDecay"]


class StepDecay(LRScheduler):
    """``learning_rate * gamma**(epoch // step_size)``

    Parameters
    ----------
    step_size : int
    gamma : float
        In [0, 1).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.StepDecay(0.5, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(scheduler())
    ...     scheduler.step()
    >>> rates
    [0.5, 0.5, 0.25, 0.25, 0.125]
    """

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.step_size = whole(self, "step_size", step_size)
        self.gamma = number(self, "gamma", gamma, least=0, below=1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rate: float = self.base_lr * self.gamma ** (self.last_epoch // self.step_size)
        return rate


class MultiStepDecay(LRScheduler):
    """``learning_rate * gamma**n`` where n milestones have been reached.

    Parameters
    ----------
    milestones : list or tuple of int
        Epochs, in increasing order.
    gamma : float
        In [0, 1).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.MultiStepDecay(0.5, milestones=[1, 3], gamma=0.5)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(scheduler())
    ...     scheduler.step()
    >>> rates
    [0.5, 0.25, 0.25, 0.125, 0.125]
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.milestones = increasing(self, "milestones", milestones)
        self.gamma = number(self, "gamma", gamma, least=0, below=1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        reached = sum(epoch <= self.last_epoch for epoch in self.milestones)
        rate: float = self.base_lr * self.gamma**reached
        return rate


class PiecewiseDecay(LRScheduler):
    """``values[n]`` where n boundaries have been reached.

    Parameters
    ----------
    boundaries : list or tuple of int
        Epochs, in increasing order.
    values : list or tuple of float
        One more than there are boundaries.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.PiecewiseDecay([1, 3], [1.0, 0.5, 0.1])
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(scheduler())
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5, 0.5, 0.1, 0.1]
    """

    def __init__(
        self,
        boundaries: Sequence[int],
        values: Sequence[float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.boundaries = increasing(self, "boundaries", boundaries)
        if not boundaries:
            raise ArgumentError("PiecewiseDecay: boundaries is empty; name an epoch at least")
        if not isinstance(values, (list, tuple)):
            raise ArgumentTypeError(
                "PiecewiseDecay: values must be a list or a tuple of learning rates, got "
                f"{type(values).__name__}"
            )
        if len(values) != len(boundaries) + 1:
            raise ArgumentError(
                f"PiecewiseDecay: {len(boundaries)} boundaries part {len(boundaries) + 1} values, "
                f"got {len(values)}"
            )
        self.values = [number(self, f"values[{k}]", v, least=0) for k, v in enumerate(values)]
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        reached = sum(bool(epoch <= self.last_epoch) for epoch in self.boundaries)
        rate: float = self.values[reached]
        return rate
