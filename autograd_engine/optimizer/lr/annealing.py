"""Rates that go from one value to another along a line or a cosine."""

from __future__ import annotations

import math
from typing import Any

from autograd_engine.optimizer.lr.scheduler import LRScheduler, number, whole

__all__ = ["CosineAnnealingDecay", "CosineAnnealingWarmRestarts", "LinearLR"]


class CosineAnnealingDecay(LRScheduler):
    """``eta_min + (learning_rate - eta_min) * (1 + cos(pi * epoch / T_max)) / 2``

    The rate reaches `eta_min` after `T_max` epochs, and is back where it began after as many more
    (Loshchilov and Hutter 2017, without restarts). One step computes it from the rate before, so
    a rate that was set otherwise goes on from there; ``step(epoch)`` uses the formula.

    Parameters
    ----------
    T_max : int
    eta_min : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.CosineAnnealingDecay(0.5, T_max=4)
    >>> rates = []
    >>> for _ in range(6):
    ...     rates.append(round(scheduler(), 4))
    ...     scheduler.step()
    >>> rates
    [0.5, 0.4268, 0.25, 0.0732, 0.0, 0.0732]
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,  # noqa: N803 - the public name
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_max = whole(self, "T_max", T_max)
        self.eta_min = float(number(self, "eta_min", eta_min, least=0))
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, half = self.last_epoch, self.T_max
        if epoch == 0:
            return self.base_lr
        if (epoch - 1 - half) % (2 * half) == 0:  # the rate before was eta_min
            height = self.base_lr - self.eta_min
            return self.last_lr + height * (1 - math.cos(math.pi / half)) / 2
        now = 1 + math.cos(math.pi * epoch / half)
        before = 1 + math.cos(math.pi * (epoch - 1) / half)
        return now / before * (self.last_lr - self.eta_min) + self.eta_min

    def _get_closed_form_lr(self) -> float:
        turn = math.cos(math.pi * self.last_epoch / self.T_max)
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + turn) / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """``eta_min + (learning_rate - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2``

    `T_cur` counts the epochs since the last restart. The first restart comes after `T_0` epochs,
    and each of the others after `T_mult` times as many as the one before (Loshchilov and Hutter
    2017). ``step(epoch)`` also takes a part of an epoch, ``epoch + batch / batches``.

    Parameters
    ----------
    T_0, T_mult : int
    eta_min : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.CosineAnnealingWarmRestarts(0.5, T_0=2, T_mult=2)
    >>> rates = []
    >>> for _ in range(7):
    ...     rates.append(round(scheduler(), 4))
    ...     scheduler.step()
    >>> rates
    [0.5, 0.25, 0.5, 0.4268, 0.25, 0.0732, 0.5]
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,  # noqa: N803 - the public name
        T_mult: int = 1,  # noqa: N803 - the public name
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_0 = self.T_i = whole(self, "T_0", T_0)
        self.T_mult = whole(self, "T_mult", T_mult)
        self.T_cur: Any = 0
        self.eta_min = number(self, "eta_min", eta_min, least=0)
        super().__init__(learning_rate, last_epoch, verbose)

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next whole epoch, or to `epoch`; see `LRScheduler.step`."""
        super().step(epoch)  # type: ignore[arg-type]
        self.last_epoch = math.floor(self.last_epoch)

    def get_lr(self) -> float:
        if self.T_mult == 1:
            self.T_cur = self.last_epoch % self.T_0
        else:
            self.T_cur, self.T_i = self.last_epoch, self.T_0
            while self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        turn = math.cos(math.pi * self.T_cur / self.T_i)
        rate: float = self.eta_min + (self.base_lr - self.eta_min) * (1 + turn) / 2
        return rate


class LinearLR(LRScheduler):
    """`learning_rate` times a factor that goes from `start_factor` to `end_factor` along a line.

    After `total_steps` epochs it stays. One step computes the rate from the one before.

    Parameters
    ----------
    total_steps : int
    start_factor : float
        In (0, 1].
    end_factor : float
        In [0, 1].

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.LinearLR(0.5, total_steps=4, start_factor=0.2)
    >>> rates = []
    >>> for _ in range(6):
    ...     rates.append(round(scheduler(), 4))
    ...     scheduler.step()
    >>> rates
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.5]
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.total_steps = whole(self, "total_steps", total_steps)
        self.start_factor = number(self, "start_factor", start_factor, above=0, most=1)
        self.end_factor = number(self, "end_factor", end_factor, least=0, most=1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch == 0:
            first: float = self.base_lr * self.start_factor
            return first
        if self.last_epoch > self.total_steps:
            return self.last_lr
        rise = self.end_factor - self.start_factor
        before = self.total_steps * self.start_factor + (self.last_epoch - 1) * rise
        rate: float = self.last_lr * (1.0 + rise / before)
        return rate

    def _get_closed_form_lr(self) -> float:
        share = min(self.last_epoch, self.total_steps) / self.total_steps
        factor = self.start_factor + (self.end_factor - self.start_factor) * share
        rate: float = self.base_lr * factor
        return rate
