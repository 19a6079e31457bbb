"""Names of other systems that people type here: an error that says what the name is here."""

from __future__ import annotations

__all__ = ["missing"]

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
