"""Learning-rate schedulers: pass one as ``learning_rate``; call its `step` when an epoch ends."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.optimizer.lr.cycles import *  # noqa: F403
from autograd_engine.optimizer.lr.decays import *  # noqa: F403
from autograd_engine.optimizer.lr.plateau import ReduceOnPlateau as ReduceOnPlateau
from autograd_engine.optimizer.lr.scheduler import LRScheduler as LRScheduler

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
