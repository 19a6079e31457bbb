"""Optimizers; each update rule is one operation, run by `step` and by what `minimize` appends."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.optimizer.adam import Adam as Adam, AdamW as AdamW
from autograd_engine.optimizer.optimizer import Optimizer as Optimizer
from autograd_engine.optimizer.sgd import *  # noqa: F403

if typing.TYPE_CHECKING:
    from autograd_engine.optimizer import lr as lr
    from autograd_engine.optimizer.adam_variants import *  # noqa: F403
    from autograd_engine.optimizer.lbfgs import LBFGS as LBFGS
    from autograd_engine.optimizer.rmsprop import *  # noqa: F403
else:
    __getattr__, __dir__, __all__ = _face(
        __name__,
        {
            "optimizer.adam_variants": "Adamax Lamb NAdam RAdam",
            "optimizer.lbfgs": "LBFGS",
            "optimizer.rmsprop": "Adadelta Adagrad RMSProp",
        },
        "lr",
    )
