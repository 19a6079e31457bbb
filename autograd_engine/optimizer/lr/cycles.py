"""Rates that rise, or rise and fall."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.optimizer.lr.plateau import ReduceOnPlateau
from autograd_engine.optimizer.lr.scheduler import LRScheduler, number, require_function, whole

__all__ = [
    "CyclicLR",
    "LinearWarmup",
    "OneCycleLR",
]


class OneCycleLR(LRScheduler):
    """One rise to `max_learning_rate` and one fall to `end_learning_rate`, in `total_steps` steps.

    It begins with ``max_learning_rate / divide_factor`` (Smith and Topin 2017). With `three_phase`
    the rate falls back to where it began as fast as it rose, and from there to the end.

    Parameters
    ----------
    max_learning_rate : float
    total_steps : int
    divide_factor : float
    end_learning_rate : float
    phase_pct : float
        The part of all steps in which the rate rises.
    anneal_strategy : {"cos", "linear"}
    three_phase : bool
        `phase_pct` is then less than 0.5.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.OneCycleLR(
    ...     1.0, total_steps=6, divide_factor=5.0, phase_pct=0.5, anneal_strategy="linear"
    ... )
    >>> rates = []
    >>> for _ in range(6):
    ...     rates.append(round(scheduler(), 4))
    ...     scheduler.step()
    >>> rates
    [0.2, 0.6, 1.0, 0.6667, 0.3334, 0.0001]
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        max_learning_rate = number(self, "max_learning_rate", max_learning_rate, least=0)
        lowest = float(number(self, "end_learning_rate", end_learning_rate, least=0))
        self.total_steps = whole(self, "total_steps", total_steps)
        phase_pct = number(self, "phase_pct", phase_pct, least=0, most=1)
        divide_factor = number(self, "divide_factor", divide_factor, above=0)
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentError(
                f"OneCycleLR: anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}"
            )
        if not isinstance(three_phase, bool):
            raise ArgumentTypeError(
                f"OneCycleLR: three_phase must be True or False, got {three_phase!r}"
            )
        if three_phase and phase_pct >= 0.5:
            raise ArgumentError(
                f"OneCycleLR: with three_phase, phase_pct must be less than 0.5, got {phase_pct}"
            )
        self.anneal_strategy = anneal_strategy
        first, top = max_learning_rate / float(divide_factor), max_learning_rate
        rise, last = phase_pct * self.total_steps - 1, self.total_steps - 1
        # Where each phase ends, and the rate there.
        ends: list[float]
        if three_phase:
            ends, rates = [rise, 2 * phase_pct * self.total_steps - 2, last], [top, first, lowest]
        else:
            ends, rates = [rise, last], [top, lowest]
        starts, begin = [0, *ends], [first, *rates]
        self._phases = list(zip(starts, ends, begin, rates, strict=False))
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        step = self.last_epoch
        if step > self.total_steps:
            raise ArgumentError(
                f"OneCycleLR: step {step} of {self.total_steps}; make it with a greater "
                "total_steps, or stop calling step()"
            )
        phases = self._phases
        start, end, rate, target = next((p for p in phases if step <= p[1]), phases[-1])
        share = (step - start) / (end - start) if end != start else 1.0
        if self.anneal_strategy == "linear":
            return (target - rate) * share + rate
        return target + (rate - target) / 2.0 * (math.cos(math.pi * share) + 1)


class CyclicLR(LRScheduler):
    """From `base_learning_rate` to `max_learning_rate` and back, again and again (Smith 2017).

    Parameters
    ----------
    base_learning_rate, max_learning_rate : float
    step_size_up : int
        How many steps the rate rises for.
    step_size_down : int, optional
        How many it falls for; by default as many.
    mode : {"triangular", "triangular2", "exp_range"}
        Each peak is as high as the first; half as high as the one before; or its height is taken
        times ``exp_gamma**step``. Heights are above `base_learning_rate`.
    exp_gamma : float
    scale_fn : callable, optional
        In the place of `mode`: the height as a part of that of the first peak, from the number of
        the cycle, which begins with 1, or of the step.
    scale_mode : {"cycle", "iterations"}
        What `scale_fn` gets.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> scheduler = paddle.optimizer.lr.CyclicLR(0.5, 1.0, step_size_up=2, mode="triangular2")
    >>> rates = []
    >>> for _ in range(8):
    ...     rates.append(scheduler())
    ...     scheduler.step()
    >>> rates
    [0.5, 0.75, 1.0, 0.75, 0.5, 0.625, 0.75, 0.625]
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        base_learning_rate = number(self, "base_learning_rate", base_learning_rate, least=0)
        self.max_lr = float(number(self, "max_learning_rate", max_learning_rate, least=0))
        up = float(whole(self, "step_size_up", step_size_up))
        down = up if step_size_down is None else whole(self, "step_size_down", step_size_down)
        self.gamma = number(self, "exp_gamma", exp_gamma, least=0)
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ArgumentError(
                "CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range' (or pass a "
                f"scale_fn), got {mode!r}"
            )
        if scale_fn is not None:
            require_function(self, "scale_fn", scale_fn, "cycle")
        if scale_mode not in ("cycle", "iterations"):
            raise ArgumentError(
                f"CyclicLR: scale_mode must be 'cycle' or 'iterations', got {scale_mode!r}"
            )
        self.cycle_size = up + down
        self.step_up_pct = up / self.cycle_size
        self.amplitude = self.max_lr - base_learning_rate
        self.mode = mode
        self.scale_fn = scale_fn
        self.scale_mode = scale_mode
        super().__init__(base_learning_rate, last_epoch, verbose)

    def _scale(self, cycle: float) -> float:
        if self.scale_fn is not None:
            return self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.mode == "triangular":
            return 1.0
        scale: float = (
            1 / 2.0 ** (cycle - 1) if self.mode == "triangular2" else self.gamma**self.last_epoch
        )
        return scale

    def get_lr(self) -> float:
        cycle = 1 + self.last_epoch // self.cycle_size
        position = 1.0 + self.last_epoch / self.cycle_size - cycle
        if position <= self.step_up_pct:
            height = position / self.step_up_pct
        else:
            height = (1 - position) / (1 - self.step_up_pct)
        rate: float = self.base_lr + self.amplitude * height * self._scale(cycle)
        return rate


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
