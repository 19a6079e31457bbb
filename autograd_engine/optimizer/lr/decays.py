"""Rates that fall with every epoch, by a formula."""

from __future__ import annotations

import math

from autograd_engine.errors import ArgumentTypeError
from autograd_engine.optimizer.lr.scheduler import LRScheduler, number, whole

__all__ = [
    "ExponentialDecay",
    "InverseTimeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "PolynomialDecay",
]


class NoamDecay(LRScheduler):
    """``learning_rate * d_model**-0.5 * min(epoch**-0.5, epoch * warmup_steps**-1.5)``

    The rate rises linearly for `warmup_steps` epochs, then falls with the square root of the epoch
    (Vaswani et al. 2017).

    Parameters
    ----------
    d_model : int
        Width of the model.
    warmup_steps : int
    learning_rate : float
        A factor.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.NoamDecay(d_model=100, warmup_steps=4)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(round(scheduler(), 4))
    ...     scheduler.step()
    >>> rates
    [0.0, 0.0125, 0.025, 0.0375, 0.05]
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.d_model = number(self, "d_model", d_model, above=0)
        self.warmup_steps = number(self, "warmup_steps", warmup_steps, above=0)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        falling = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        rising = self.warmup_steps**-1.5 * self.last_epoch
        rate: float = self.base_lr * self.d_model**-0.5 * min(falling, rising)
        return rate


class NaturalExpDecay(LRScheduler):
    """``learning_rate * exp(-gamma * epoch)``

    Parameters
    ----------
    gamma : float
        Positive.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.NaturalExpDecay(0.5, gamma=0.1)
    >>> scheduler.step()
    >>> round(scheduler(), 4)
    0.4524
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = number(self, "gamma", gamma, above=0)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """``learning_rate / (1 + gamma * epoch)``

    Parameters
    ----------
    gamma : float
        Not negative.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.InverseTimeDecay(0.5, gamma=0.25)
    >>> scheduler.step(4)
    >>> scheduler()
    0.25
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = number(self, "gamma", gamma, least=0)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rate: float = self.base_lr / (1 + self.gamma * self.last_epoch)
        return rate


class ExponentialDecay(LRScheduler):
    """``learning_rate * gamma**epoch``

    Parameters
    ----------
    gamma : float
        Between 0 and 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.ExponentialDecay(0.5, gamma=0.5)
    >>> scheduler.step()
    >>> scheduler()
    0.25
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = number(self, "gamma", gamma, above=0, below=1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rate: float = self.base_lr * self.gamma**self.last_epoch
        return rate


class PolynomialDecay(LRScheduler):
    """``(learning_rate - end_lr) * (1 - epoch / decay_steps)**power + end_lr``

    After `decay_steps` epochs the rate stays at `end_lr`. With `cycle`, it starts again instead:
    `decay_steps` is then taken times the smallest whole number that makes it reach the epoch.

    Parameters
    ----------
    decay_steps : int
    end_lr : float
    power : float
        Positive.
    cycle : bool

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.PolynomialDecay(0.5, decay_steps=4, end_lr=0.1)
    >>> rates = []
    >>> for _ in range(6):
    ...     rates.append(round(scheduler(), 4))
    ...     scheduler.step()
    >>> rates
    [0.5, 0.4, 0.3, 0.2, 0.1, 0.1]
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.decay_steps = whole(self, "decay_steps", decay_steps)
        self.end_lr = number(self, "end_lr", end_lr, least=0)
        self.power = number(self, "power", power, above=0)
        if not isinstance(cycle, bool):
            raise ArgumentTypeError(f"PolynomialDecay: cycle must be True or False, got {cycle!r}")
        self.cycle = cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, steps = float(self.last_epoch), float(self.decay_steps)
        if self.cycle:
            steps *= max(math.ceil(epoch / steps), 1)
        else:
            epoch = min(epoch, steps)
        rate: float = (self.base_lr - self.end_lr) * (1 - epoch / steps) ** self.power + self.end_lr
        return rate
