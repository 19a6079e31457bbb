"""A rate that falls when a metric stops improving."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from autograd_engine.core.checks import as_number
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.optimizer.lr.scheduler import LRScheduler, number, whole

__all__ = ["ReduceOnPlateau"]


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by `factor` when a metric has been no better for over `patience` epochs.

    Parameters
    ----------
    mode : {"min", "max"}
        Whether less or more is better.
    factor : float
        In [0, 1).
    patience : int
        How many epochs without improvement are let pass.
    threshold : float
        How much better is better: by this part of the best so far, or by this much.
    threshold_mode : {"rel", "abs"}
        Which of the two.
    cooldown : int
        For how many epochs after a reduction the metric is not looked at.
    min_lr : float
        The rate falls no further.
    epsilon : float
        A reduction by no more than this is left out.
    verbose : bool
        Print each new rate.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.ReduceOnPlateau(0.5, factor=0.5, patience=1)
    >>> rates = []
    >>> for loss in [1.0, 0.5, 0.5, 0.5, 0.4]:
    ...     scheduler.step(loss)
    ...     rates.append(scheduler())
    >>> rates
    [0.5, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        learning_rate: float,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        self.mode = _one_of("mode", mode, ("min", "max"))
        self.threshold_mode = _one_of("threshold_mode", threshold_mode, ("rel", "abs"))
        learning_rate = number(self, "learning_rate", learning_rate, least=0)
        self.factor = number(self, "factor", factor, least=0, below=1)
        self.patience = whole(self, "patience", patience, least=0)
        self.threshold = number(self, "threshold", threshold)
        self.cooldown = whole(self, "cooldown", cooldown, least=0)
        self.min_lr = number(self, "min_lr", min_lr, least=0)
        self.epsilon = number(self, "epsilon", epsilon)
        self.cooldown_counter = 0
        self.best: float | None = None
        self.num_bad_epochs = 0
        self._begin(float(learning_rate), 0, verbose)

    def state_keys(self) -> None:
        """See `LRScheduler.state_keys`."""
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def get_lr(self) -> float:
        """The rate now."""
        return self.last_lr

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Go on to the next epoch, or to `epoch`, in which the metric is `metrics`.

        A metric that is NaN is no improvement.

        Parameters
        ----------
        metrics : float, ndarray or Tensor
            One number.
        epoch : int, optional

        Raises
        ------
        TypeError, ArgumentError
        """
        current = _one_number(metrics)
        self.last_epoch = (
            self.last_epoch + 1 if epoch is None else number(self, "epoch", epoch, least=0)
        )
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if not math.isnan(current) and (self.best is None or self._is_better(current, self.best)):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
            rate = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - rate > self.epsilon:
                self.last_lr = float(rate)
                self._report()

    def _is_better(self, current: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return bool(current < best - margin if self.mode == "min" else current > best + margin)


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value.lower() not in known:
        raise ArgumentError(
            f"ReduceOnPlateau: {name} must be {' or '.join(map(repr, known))}, got {value!r}"
        )
    return value.lower()


def _one_number(metrics: Any) -> float:
    if isinstance(metrics, (Tensor, np.ndarray)) and (metrics.size != 1):
        raise ArgumentError(
            f"ReduceOnPlateau: metrics has {metrics.size} elements and must have one; reduce it, "
            "as with paddle.mean"
        )
    value = as_number(metrics)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(
            "ReduceOnPlateau: step takes the metric of the epoch, as step(loss); metrics must be "
            f"a number, an ndarray or a Tensor of one element, got {type(metrics).__name__}"
        )
    return float(value)
