"""Resilient propagation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.errors import ArgumentError
from autograd_engine.optimizer.checks import number
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.optimizer.settings import State

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """A rate for each element, which only the signs of gradients change (Riedmiller, Braun 1993).

    Parameters
    ----------
    learning_rate : float or LRScheduler
        Where the rates start.
    learning_rate_range : (float, float)
        The smallest and the largest rate.
    parameters : list of Tensor, or of dict, optional
        See `Optimizer`, also for `grad_clip`.
    etas : (float, float)
        Factors of a rate where the sign of the gradient changed, and where it did not.
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    multi_precision : bool
        Keep float16 parameters in float32 besides, and update these.
    name : str, optional
    """

    operation = "rprop"
    state: ClassVar = {
        "prevs": State(),
        "learning_rates": State(True, lambda attrs, rate: rate),
    }

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
        super().__init__(
            learning_rate,
            parameters,
            None,
            grad_clip,
            name,
            multi_precision=multi_precision,
            hyper={"learning_rate_range": learning_rate_range, "etas": etas},
        )

    def _attributes(
        self, learning_rate_range: Any = (1e-5, 50), etas: Any = (0.5, 1.2)
    ) -> dict[str, Any]:
        smallest, largest = _pair("learning_rate_range", learning_rate_range)
        shrink, grow = _pair("etas", etas)
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


def _pair(name: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ArgumentError(f"Rprop: {name} must be a pair of numbers, got {value!r}")
    return number("Rprop", name, value[0]), number("Rprop", name, value[1])
