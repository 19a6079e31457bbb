"""What a layer is told about a parameter that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograd_engine.core.checks import require_bools
from autograd_engine.core.names.constructors import respelled
from autograd_engine.eager.training_options import TrainingOptions
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.nn.initializer import Initializer
from autograd_engine.regularizer import WeightDecayRegularizer

__all__ = ["ParamAttr"]


@respelled
@dataclass(frozen=True)
class ParamAttr:
    """Name, initializer and trainability of a parameter, and how optimizers treat it.

    Parameters
    ----------
    name : str, optional
        By default made from the layer's. Two layers given one name share the parameter.
    initializer : Initializer, optional
    learning_rate : float
        Factor of the optimizer's.
    regularizer : L1Decay or L2Decay, optional
        In the place of the optimizer's `weight_decay`.
    trainable : bool
    do_model_average : bool
        Accepted for the reference's sake.
    need_clip : bool
        Whether the optimizer's `grad_clip` applies.

    Examples
    --------
    >>> ParamAttr(name="W").name
    'W'
    """

    name: str | None = None
    initializer: Initializer | None = None
    learning_rate: float = 1.0
    regularizer: WeightDecayRegularizer | None = None
    trainable: bool = True
    do_model_average: bool = True
    need_clip: bool = True

    def __post_init__(self) -> None:
        rate, regularizer = self.learning_rate, self.regularizer
        if isinstance(rate, bool) or not isinstance(rate, (int, float)):
            raise ArgumentTypeError(
                f"ParamAttr: learning_rate must be a number, the factor of the optimizer's; got "
                f"{type(rate).__name__}"
            )
        if self.name is not None and not isinstance(self.name, str):
            raise ArgumentTypeError(
                f"ParamAttr: name must be a str, got {type(self.name).__name__}"
            )
        if self.initializer is not None and not isinstance(self.initializer, Initializer):
            raise ArgumentTypeError(
                "ParamAttr: initializer must be one of paddle.nn.initializer, got "
                f"{type(self.initializer).__name__}"
            )
        require_bools(
            "ParamAttr",
            trainable=self.trainable,
            do_model_average=self.do_model_average,
            need_clip=self.need_clip,
        )
        if regularizer is not None and not isinstance(regularizer, WeightDecayRegularizer):
            raise ArgumentTypeError(
                "ParamAttr: regularizer must be paddle.regularizer.L1Decay or L2Decay, got "
                f"{type(regularizer).__name__}"
            )

    def training_options(self) -> TrainingOptions | None:
        """Where the parameter differs from others; None where it does not."""
        rate, regularizer, clip = self.learning_rate, self.regularizer, self.need_clip
        if rate == 1.0 and regularizer is None and clip:
            return None
        return TrainingOptions(rate, regularizer, clip)

    @staticmethod
    def of(attr: Any) -> ParamAttr:
        """From what layers take as ``weight_attr``: None, a name, an initializer, a ParamAttr."""
        if attr is None or attr is True:
            return ParamAttr()
        if isinstance(attr, ParamAttr):
            return attr
        if isinstance(attr, str):
            return ParamAttr(name=attr)
        if isinstance(attr, Initializer):
            return ParamAttr(initializer=attr)
        raise ArgumentError(
            f"a parameter attribute must be a ParamAttr, a name, an initializer, None or False; "
            f"got {type(attr).__name__}"
        )
