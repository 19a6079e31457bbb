"""Which public functions are methods of Tensor and Variable."""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.autograd.backward import tensor_backward
from autograd_engine.eager.tensor import Tensor
from autograd_engine.namespace import ops
from autograd_engine.static.program import Variable
from autograd_engine.tensor import linalg, manipulation, math, reduction

__all__ = ["METHODS", "bind_methods"]


def _clone(self: Any) -> Any:
    """A copy through which gradients flow."""
    return ops.assign(self)


METHODS: Final[dict[str, Any]] = {
    **{name: getattr(math, name) for name in math.__all__ if name not in ("add_n", "where")},
    **{name: getattr(reduction, name) for name in reduction.__all__},
    **{
        name: getattr(manipulation, name)
        for name in manipulation.__all__
        if name not in ("concat", "stack", "slice")
    },
    "matmul": linalg.matmul,
    "mm": linalg.matmul,
    "astype": math.cast,
    "clone": _clone,
    "__matmul__": linalg.matmul,
    "__rmatmul__": lambda self, other: linalg.matmul(other, self),
    "__pow__": math.pow,
    "__rpow__": lambda self, other: math.pow(other, self),
    "__getitem__": manipulation.getitem,
}


def bind_methods() -> None:
    """Give both classes the functions of `METHODS`."""
    for cls in (Tensor, Variable):
        for name, function in METHODS.items():
            setattr(cls, name, function)
    setattr(Tensor, "backward", tensor_backward)  # noqa: B010 - a method made elsewhere
