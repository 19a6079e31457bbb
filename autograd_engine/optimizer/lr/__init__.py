"""Learning-rate schedulers: pass one as ``learning_rate``; call its `step` when an epoch ends."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.optimizer.lr.annealing import *  # noqa: F403
from autograd_engine.optimizer.lr.cycles import CyclicLR as CyclicLR, OneCycleLR as OneCycleLR
from autograd_engine.optimizer.lr.decays import *  # noqa: F403
from autograd_engine.optimizer.lr.lambdas import (
    LambdaDecay as LambdaDecay,
    MultiplicativeDecay as MultiplicativeDecay,
)
from autograd_engine.optimizer.lr.plateau import ReduceOnPlateau as ReduceOnPlateau
from autograd_engine.optimizer.lr.scheduler import LRScheduler as LRScheduler
from autograd_engine.optimizer.lr.stages import *  # noqa: F403
from autograd_engine.optimizer.lr.warmup import LinearWarmup as LinearWarmup

if not typing.TYPE_CHECKING:
    from autograd_engine.tensor.spelling.wrapper import spelled_classes as _spelled_classes

    __getattr__, __dir__, __all__ = _face(__name__)
    _spelled_classes({name: globals()[name] for name in __all__})
