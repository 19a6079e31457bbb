"""Optimizers; each update rule is one operation, run by `step` and by what `minimize` appends."""

from autograd_engine.optimizer.adam import Adam
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.optimizer.sgd import SGD, Momentum

__all__ = ["SGD", "Adam", "Momentum", "Optimizer"]


def __dir__() -> list[str]:
    return __all__
