"""Another scheduler, or a rate, after a slow start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograd_engine.errors import ArgumentError
from autograd_engine.optimizer.lr.plateau import ReduceOnPlateau
from autograd_engine.optimizer.lr.scheduler import LRScheduler, number, whole

__all__ = ["LinearWarmup"]

_INNER = "LinearWarmup_LR"


class LinearWarmup(LRScheduler):
    """From `start_lr` to `end_lr` along a line in `warmup_steps` epochs, then `learning_rate`.

    Parameters
    ----------
    learning_rate : float or LRScheduler
        A scheduler begins with its epoch 0 after `warmup_steps` epochs, and is stepped by this
        one: do not step it yourself.
    warmup_steps : int
    start_lr, end_lr : float
        `end_lr` is the greater one.

    Raises
    ------
    TypeError, ArgumentError
        As `LRScheduler`; also for a `ReduceOnPlateau`, which goes by a metric and not by epochs.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> lr = paddle.optimizer.lr
    >>> scheduler = lr.LinearWarmup(lr.ExponentialDecay(0.5, 0.5), 2, start_lr=0.0, end_lr=0.5)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(scheduler())
    ...     scheduler.step()
    >>> rates
    [0.0, 0.25, 0.5, 0.25, 0.125]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if isinstance(learning_rate, ReduceOnPlateau):
            raise ArgumentError(
                "LinearWarmup steps the scheduler that it is given by epochs, and ReduceOnPlateau "
                "goes by a metric: train with LinearWarmup first, then "
                "optimizer.set_lr_scheduler(ReduceOnPlateau(...))"
            )
        if not isinstance(learning_rate, LRScheduler):
            learning_rate = number(self, "learning_rate", learning_rate, least=0)
        self.learning_rate = learning_rate
        self.warmup_steps = whole(self, "warmup_steps", warmup_steps)
        self.start_lr = number(self, "start_lr", start_lr, least=0)
        self.end_lr = number(self, "end_lr", end_lr)
        if self.end_lr <= self.start_lr:
            raise ArgumentError(
                f"LinearWarmup: end_lr {end_lr} must be greater than start_lr {start_lr}"
            )
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch < self.warmup_steps:
            height = self.end_lr - self.start_lr
            rate: float = height * float(self.last_epoch) / float(self.warmup_steps) + self.start_lr
            return rate
        if not isinstance(self.learning_rate, LRScheduler):
            return self.learning_rate
        self.learning_rate.step(self.last_epoch - self.warmup_steps)
        return self.learning_rate()

    def state_dict(self) -> dict[str, Any]:
        """See `LRScheduler.state_dict`; that of the scheduler inside is in it."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state[_INNER] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See `LRScheduler.set_state_dict`."""
        inner = self.learning_rate
        nested = isinstance(inner, LRScheduler)
        found = self._checked_state(state_dict, (_INNER,) if nested else ())
        if isinstance(inner, LRScheduler):
            if _INNER not in state_dict:
                raise ArgumentError(
                    f"LinearWarmup: the state has no {_INNER}, the state of the "
                    f"{type(inner).__name__} inside; it is that of a warm-up to a constant rate"
                )
            inner.set_state_dict(state_dict[_INNER])
        vars(self).update(found)

    set_dict = set_state_dict
