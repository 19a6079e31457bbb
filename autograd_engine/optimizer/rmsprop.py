"""Optimizers that divide by means, or sums, of squared gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.errors import ArgumentError
from autograd_engine.optimizer.checks import flag, number, positive, unit_interval
from autograd_engine.optimizer.groups import Hyper, State
from autograd_engine.optimizer.optimizer import Optimizer

__all__ = ["Adadelta", "Adagrad", "RMSProp"]


class RMSProp(Optimizer):
    """Steps divided by the root of the mean square of gradients (Hinton 2012, lecture 6).

    Parameters
    ----------
    rho : float
        In [0, 1): decay of the mean square.
    epsilon : float
    momentum : float
        In [0, 1): how much of the last step is taken again.
    centered : bool
        Divide by the root of the variance instead (Graves 2013).
    """

    operation = "rmsprop"
    state: ClassVar = {"momentum": State(), "mean_square": State(), "mean_grad": State()}
    hyper: ClassVar = {
        "rho": Hyper(unit_interval),
        "epsilon": Hyper(positive),
        "momentum": Hyper(unit_interval, "mu"),
        "centered": Hyper(flag),
    }

    def __init__(
        self,
        learning_rate: Any,
        rho: float = 0.95,
        epsilon: float = 1e-06,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        self._configure(locals())


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of squared gradients (Duchi, Hazan and Singer 2011).

    Parameters
    ----------
    epsilon : float
    initial_accumulator_value : float
        Where the sum starts; 0 or more.
    """

    operation = "adagrad"
    hyper: ClassVar = {"epsilon": Hyper(positive)}

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-06,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        start = number("Adagrad", "initial_accumulator_value", initial_accumulator_value)
        if start < 0:
            raise ArgumentError(
                f"Adagrad: initial_accumulator_value is a sum of squares; {start} is below 0"
            )
        self.state = {"moment": State(True, start)}  # type: ignore[misc]
        self._configure(locals())


class Adadelta(Optimizer):
    """Steps as large, on average, as those before (Zeiler 2012).

    Parameters
    ----------
    epsilon : float
    rho : float
        In [0, 1): decay of both means.
    """

    operation = "adadelta"
    state: ClassVar = {
        "avg_squared_grad": State(suffix="_avg_squared_grad"),
        "avg_squared_update": State(suffix="_avg_squared_update"),
    }
    hyper: ClassVar = {"epsilon": Hyper(positive), "rho": Hyper(unit_interval)}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        epsilon: float = 1e-06,
        rho: float = 0.95,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        self._configure(locals())
