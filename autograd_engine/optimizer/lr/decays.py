"""Rates that change with the epochs: by a formula, at once, by a function, or along a cosine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.optimizer.lr.scheduler import (
    LRScheduler,
    increasing,
    number,
    require_function,
    whole,
)

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LambdaDecay",
    "LinearLR",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "PiecewiseDecay",
    "PolynomialDecay",
    "StepDecay",
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


_MOST_FACTORS: Final = 10**7


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
