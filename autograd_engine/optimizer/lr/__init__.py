"""Learning-rate schedulers: pass one as ``learning_rate``; call its `step` when an epoch ends."""

from typing import TYPE_CHECKING

from autograd_engine.optimizer.lr.annealing import (
    CosineAnnealingDecay,
    CosineAnnealingWarmRestarts,
    LinearLR,
)
from autograd_engine.optimizer.lr.cycles import CyclicLR, OneCycleLR
from autograd_engine.optimizer.lr.decays import (
    ExponentialDecay,
    InverseTimeDecay,
    NaturalExpDecay,
    NoamDecay,
    PolynomialDecay,
)
from autograd_engine.optimizer.lr.plateau import ReduceOnPlateau
from autograd_engine.optimizer.lr.scheduler import LRScheduler
from autograd_engine.optimizer.lr.stages import MultiStepDecay, PiecewiseDecay, StepDecay
from autograd_engine.optimizer.lr.users import LambdaDecay, MultiplicativeDecay
from autograd_engine.optimizer.lr.warmup import LinearWarmup

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]


if not TYPE_CHECKING:

    def __getattr__(name):
        """What is called otherwise elsewhere is named as it is here."""
        from autograd_engine.elsewhere import missing

        raise missing(__name__, name)


def __dir__() -> list[str]:
    return __all__
