"""Learning-rate schedulers: pass one as ``learning_rate``; call its `step` when an epoch ends."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
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
from autograd_engine.optimizer.lr.lambdas import LambdaDecay, MultiplicativeDecay
from autograd_engine.optimizer.lr.plateau import ReduceOnPlateau
from autograd_engine.optimizer.lr.scheduler import LRScheduler
from autograd_engine.optimizer.lr.stages import MultiStepDecay, PiecewiseDecay, StepDecay
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
    __getattr__ = lazily(__name__, {})


def __dir__() -> list[str]:
    return __all__
