"""``paddle.incubate.autograd``: derivatives of functions as Paddle has them, and of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.autograd.flat_jacobian import (
    Hessian as Hessian,
    Jacobian as Jacobian,
    jvp as jvp,
    vjp as vjp,
)
from autograd_engine.autograd.gradient import grad as eager_grad
from autograd_engine.core.lazy import listed
from autograd_engine.program.backward.append_backward import gradients
from autograd_engine.program.ir.program import Variable
from autograd_engine.static.forward_mode import forward_grad as forward_grad

__all__ = [
    "Hessian",
    "Jacobian",
    "disable_prim",
    "enable_prim",
    "forward_grad",
    "grad",
    "jvp",
    "prim_enabled",
    "vjp",
]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None) -> Any:
    """`paddle.grad`, and of variables `static.gradients`: a list of them, or one of one input.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor(3.0, stop_gradient=False)
    >>> paddle.incubate.autograd.grad(x * x, x).item()
    6.0
    """
    several = isinstance(inputs, (list, tuple))
    first = inputs[0] if several and inputs else inputs
    derive: Any = gradients if isinstance(first, Variable) else eager_grad
    found = derive(outputs, inputs, grad_outputs)
    return found if several else found[0]


def enable_prim() -> None:
    """Accepted: derivatives are those of primitive operations in any case."""


def disable_prim() -> None:
    """Accepted, see `enable_prim`."""


def prim_enabled() -> bool:
    """True, see `enable_prim`."""
    return True
