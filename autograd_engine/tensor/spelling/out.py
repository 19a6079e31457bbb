"""``out=``: a tensor that takes the result of a call, as in-place changes do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from autograd_engine.core.operand import Operand
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.inplace import rebind
from autograd_engine.errors import ArgumentError, NotATensorError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.builder import assigned
from autograd_engine.program.ir.program import Variable

__all__ = ["check_out", "gives_tensors", "written"]


def gives_tensors(function: Callable[..., Any]) -> bool:
    """Whether the results of a function are tensors, of which another one can take the values."""
    returns = str(inspect.signature(function).return_annotation)
    return ("Tensor" in returns or returns == "Any") and not function.__name__.endswith("_")


def written(function: str, out: Any, result: Any) -> Any:
    """`result` as what `out` holds from now on.

    It is put into `out` as an in-place operation would put it there: graphs recorded before keep
    the values they saw, and gradients flow from `out` to what `result` was computed from. An `out`
    without elements takes any shape. In a program it is assigned to `out`.

    Raises
    ------
    NotATensorError, ShapeError, DTypeError
        Where `out` cannot take it.
    """
    call = f"{function}(out=...)"
    if isinstance(result, (list, tuple)):
        if not isinstance(out, (list, tuple)) or len(out) != len(result):
            raise ArgumentError(
                f"{function}: out must be a tuple of {len(result)} tensors, one for each result; "
                f"got {type(out).__name__}"
            )
        taken = [written(function, o, r) for o, r in zip(out, result, strict=True)]
        named = getattr(type(result), "_make", type(result))
        return named(taken)
    instead = f"out = {function}(...)"
    if grad_mode.trace is not None:
        return grad_mode.trace.write(out, result, call, instead)
    if isinstance(out, Variable):
        return assigned(result, out)
    if isinstance(result, Variable):
        raise NotATensorError(
            f"{function}: out={out.name} is an eager Tensor, and the result a Variable of a "
            "program; make out with paddle.static.create_global_var, or use the result"
        )
    if getattr(result, "_group", None) is not None:  # values of its own
        result = ops.assign(result)
    return rebind(out, result, call, instead, reshapes=out.size == 0)


def check_out(function: str, out: Any) -> None:
    """Refuse what no result can be written into."""
    for taken in out if isinstance(out, (list, tuple)) else [out]:
        if not isinstance(taken, Operand):
            raise NotATensorError(
                f"{function}: out must be a Tensor to take the result, got {type(taken).__name__}"
            )
