"""Optimizers; each update rule is one operation, run by `step` and by what `minimize` appends."""

from typing import TYPE_CHECKING, Final

from autograd_engine.optimizer.adam import Adam, AdamW
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.optimizer.sgd import SGD, Momentum

_LATER: Final = {
    "ASGD": "asgd",
    "Adadelta": "squares",
    "Adagrad": "squares",
    "Adamax": "adam_variants",
    "LBFGS": "lbfgs",
    "Lamb": "adam_variants",
    "NAdam": "adam_variants",
    "RAdam": "adam_variants",
    "RMSProp": "squares",
    "Rprop": "rprop",
    "lr": "lr",
}

if TYPE_CHECKING:
    from autograd_engine.optimizer import lr as lr
    from autograd_engine.optimizer.adam_variants import Adamax as Adamax
    from autograd_engine.optimizer.adam_variants import Lamb as Lamb
    from autograd_engine.optimizer.adam_variants import NAdam as NAdam
    from autograd_engine.optimizer.adam_variants import RAdam as RAdam
    from autograd_engine.optimizer.asgd import ASGD as ASGD
    from autograd_engine.optimizer.lbfgs import LBFGS as LBFGS
    from autograd_engine.optimizer.rprop import Rprop as Rprop
    from autograd_engine.optimizer.squares import Adadelta as Adadelta
    from autograd_engine.optimizer.squares import Adagrad as Adagrad
    from autograd_engine.optimizer.squares import RMSProp as RMSProp
else:

    def __getattr__(name):
        """What most programs never ask for is imported when it is first asked for."""
        if name in _LATER:
            import importlib

            module = importlib.import_module(f"{__name__}.{_LATER[name]}")
            found = globals()[name] = module if name == "lr" else getattr(module, name)
            return found
        from autograd_engine.elsewhere import missing

        raise missing(__name__, name)


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
