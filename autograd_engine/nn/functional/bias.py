"""The sum of a product and a bias: what mixed precision takes for one operation.

A bias is float32 inside of `amp.auto_cast`, and beside it the product would not stay in the low
dtype that it was computed in.
"""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.eager.generated_calls import generate_call
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.ops.registry.namespace import Namespace, ops
from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["biased"]


def _added(x: Any, y: Any) -> Any:
    autocast = grad_mode.autocast
    return ops.add(x, y if autocast is None else autocast.beside(y, x))


biased: Final = Namespace()
"""``biased.add(product, bias)``"""


def _bind(op: OpDef) -> Any:
    return generate_call(op, _added)


biased.bind = _bind
