"""Names that people type where they are not: errors that say what is there instead."""

from __future__ import annotations

import sys
from typing import Any

from autograd_engine.errors import EagerOnlyError

__all__ = ["eager_only", "missing", "missing_setting"]

_HERE = {
    "autograd_engine": {
        "CUDAPlace": "paddle.CPUPlace(): all arrays are on the CPU",
        "DataParallel": "the layer itself: there is one process",
        "FloatTensor": "paddle.to_tensor(data, 'float32')",
        "LongTensor": "paddle.to_tensor(data, 'int64')",
        "Model": "a loop over a DataLoader, as in docs/training.md",
        "compile": "paddle.jit.to_static(function)",
        "cuda": "nothing: all arrays are on the CPU",
        "device": "paddle.set_device('cpu'): all arrays are on the CPU",
        "func": "paddle.autograd.jvp, vjp, jacobian, hessian and hvp",
        "optim": "paddle.optimizer, and paddle.optimizer.lr for schedules",
    },
    "autograd_engine.autograd": {
        "functional": "autograd.jacobian, hessian, hvp, vjp and jvp themselves",
        "gradcheck": "paddle.testing.gradcheck",
        "gradgradcheck": "paddle.testing.gradgradcheck",
        "profiler": "autograd.saved_report(loss) for memory, paddle.graph(loss) for the operations",
        "set_multithreading_enabled": "nothing: each thread runs its own backward passes",
        "variable": "paddle.to_tensor(data, stop_gradient=False)",
        "Variable": "paddle.to_tensor(data, stop_gradient=False)",
    },
    "autograd_engine.jit": {
        "script": "jit.to_static(function)",
        "trace": "jit.to_static(function), and jit.save(layer, path, input_spec=[...])",
    },
    "autograd_engine.nn": {},
    "autograd_engine.optimizer": {
        "lr_scheduler": "optimizer.lr; a scheduler is the learning_rate of an optimizer",
    },
    "autograd_engine.optimizer.lr": {
        "CosineAnnealingLR": "lr.CosineAnnealingDecay(learning_rate, T_max)",
        "ExponentialLR": "lr.ExponentialDecay(learning_rate, gamma)",
        "LambdaLR": "lr.LambdaDecay(learning_rate, lr_lambda)",
        "MultiStepLR": "lr.MultiStepDecay(learning_rate, milestones)",
        "ReduceLROnPlateau": "lr.ReduceOnPlateau(learning_rate)",
        "StepLR": "lr.StepDecay(learning_rate, step_size)",
    },
}


def missing(module: str, name: str) -> AttributeError:
    """What to raise for a name that `module` does not have."""
    here = _HERE.get(module, {}).get(name)
    if here is None and not name.startswith("_"):  # Conv2d, where it is Conv2D
        folded = name.casefold()
        here = next((n for n in dir(sys.modules[module]) if n.casefold() == folded), None)
    hint = "" if here is None else f"; here it is {here}"
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


_OF_OPTIMIZERS = {
    "param_groups": "get_lr() and set_lr(value); groups are dicts in parameters=[...]",
}


def missing_setting(optimizer: object, name: str) -> AttributeError:
    """What to raise for an attribute that `optimizer` does not have."""
    hint = f"; here it is {_OF_OPTIMIZERS[name]}" if name in _OF_OPTIMIZERS else ""
    return AttributeError(f"{type(optimizer).__name__!r} object has no attribute {name!r}{hint}")


_GRADIENT = (
    "in a program a gradient is a variable: paddle.static.append_backward(loss) and "
    "paddle.static.gradients(loss, x) return it, and it can be fetched"
)
_EAGER_ONLY = {
    "backward": "use paddle.static.append_backward(loss), which returns the gradients",
    "clear_grad": _GRADIENT,
    "clear_gradient": _GRADIENT,
    "grad": _GRADIENT,
    "grad_fn": "paddle.graph(loss) shows the operators of a program",
    "gradient": _GRADIENT,
    "inplace_version": "variables are not written in place",
    "is_leaf": "the variables that parameters and static.data return are the leaves",
    "register_hook": _GRADIENT,
    "register_post_accumulate_grad_hook": _GRADIENT,
    "requires_grad": "use stop_gradient, its opposite",
    "requires_grad_": "use stop_gradient, its opposite",
    "retain_grads": _GRADIENT,
}


def eager_only(variable: Any, name: str, besides: str) -> AttributeError:
    """What to raise for an attribute that `variable` does not have; it says `besides` too."""
    if name not in _EAGER_ONLY:
        return AttributeError(f"{type(variable).__name__!r} object has no attribute {name!r}")
    return EagerOnlyError(
        f"the variable {variable.name} has no {name}, as tensors of eager mode have: "
        + _EAGER_ONLY[name]
        + besides
    )
