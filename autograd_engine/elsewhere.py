"""Names that people type where they are not: errors that say what is there instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_engine.errors import EagerOnlyError

if TYPE_CHECKING:
    from autograd_engine.static.program import Variable

__all__ = ["eager_only", "missing"]

_HERE = {
    "autograd_engine": {
        "as_tensor": "paddle.to_tensor(data)",
        "from_numpy": "paddle.to_tensor(array)",
        "func": "paddle.autograd.jvp, vjp, jacobian, hessian and hvp",
        "manual_seed": "paddle.seed(value)",
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
}


def missing(module: str, name: str) -> AttributeError:
    """What to raise for a name that `module` does not have."""
    here = _HERE.get(module, {}).get(name)
    hint = "" if here is None else f"; here it is {here}"
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


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


def eager_only(variable: Variable, name: str) -> AttributeError:
    """What to raise for an attribute that `variable` does not have."""
    if name not in _EAGER_ONLY:
        return AttributeError(f"{type(variable).__name__!r} object has no attribute {name!r}")
    return EagerOnlyError(
        f"the variable {variable.name} has no {name}, as tensors of eager mode have: "
        + _EAGER_ONLY[name]
    )
