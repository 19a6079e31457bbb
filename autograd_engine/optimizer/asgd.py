"""Averaged gradient descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.errors import ArgumentError
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.optimizer.settings import State

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """A step along the mean of the last gradient of each batch (Schmidt, Le Roux and Bach 2013).

    Parameters
    ----------
    learning_rate : float or LRScheduler
    batch_num : int
        How many batches there are; each is kept a gradient of.
    parameters : list of Tensor, or of dict, optional
        See `Optimizer`, also for `weight_decay` and `grad_clip`.
    weight_decay : float, L1Decay or L2Decay, optional
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    multi_precision : bool
        Keep float16 parameters in float32 besides, and update these.
    name : str, optional
    """

    operation = "asgd"
    state: ClassVar = {
        "d": State(),
        "y": State(lambda shape, attrs: (attrs["batch_num"], *shape)),
        "m": State(False, dtype="int64"),
    }

    def __init__(
        self,
        learning_rate: Any = 0.001,
        batch_num: int = 1,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            multi_precision=multi_precision,
            hyper={"batch_num": batch_num},
        )

    def _attributes(self, batch_num: Any = 1) -> dict[str, Any]:
        if not isinstance(batch_num, int) or isinstance(batch_num, bool) or batch_num < 1:
            raise ArgumentError(f"ASGD: batch_num must be an int above 0, got {batch_num!r}")
        return {"batch_num": batch_num}
