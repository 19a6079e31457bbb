"""Optimizers; each update rule is one operation, run by `step` and by what `minimize` appends."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.optimizer.adam import Adam, AdamW
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.optimizer.sgd import SGD, Momentum

if TYPE_CHECKING:
    from autograd_engine.optimizer import lr as lr
    from autograd_engine.optimizer.adam_variants import Adamax as Adamax
    from autograd_engine.optimizer.adam_variants import Lamb as Lamb
    from autograd_engine.optimizer.adam_variants import NAdam as NAdam
    from autograd_engine.optimizer.adam_variants import RAdam as RAdam
    from autograd_engine.optimizer.lbfgs import LBFGS as LBFGS
    from autograd_engine.optimizer.rmsprop import Adadelta as Adadelta
    from autograd_engine.optimizer.rmsprop import Adagrad as Adagrad
    from autograd_engine.optimizer.rmsprop import RMSProp as RMSProp
    from autograd_engine.optimizer.sgd import ASGD as ASGD
    from autograd_engine.optimizer.sgd import Rprop as Rprop
else:
    __getattr__ = lazily(
        __name__,
        {
            "ASGD": "optimizer.sgd",
            "Adadelta": "optimizer.rmsprop",
            "Adagrad": "optimizer.rmsprop",
            "Adamax": "optimizer.adam_variants",
            "LBFGS": "optimizer.lbfgs",
            "Lamb": "optimizer.adam_variants",
            "NAdam": "optimizer.adam_variants",
            "RAdam": "optimizer.adam_variants",
            "RMSProp": "optimizer.rmsprop",
            "Rprop": "optimizer.sgd",
        },
        ("lr",),
    )


__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lamb",
    "Momentum",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSProp",
    "Rprop",
    "lr",
]


def __dir__() -> list[str]:
    return __all__
