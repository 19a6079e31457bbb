"""What public functions need to know of an operand before they call an operation."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine.core.spec import Spec
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError, NotATensorError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program import mode
from autograd_engine.program.builder import Constant, Number
from autograd_engine.program.ir.program import Variable

__all__ = ["NUMBERS", "as_operand", "constant", "spec_of"]

NUMBERS: Final = (np.ndarray, np.generic, bool, int, float, complex)


def as_operand(op: str, x: Any, argument: str = "x") -> Any:
    """`x` if it is a Tensor or a Variable; an ndarray or a number as one that fits both."""
    if x.__class__ is Tensor or isinstance(x, (Tensor, Variable)):
        return x
    if isinstance(x, NUMBERS):
        array = np.asarray(x)
        if array.dtype.kind not in "biufc":
            raise DTypeError(
                f"{op}: argument {argument!r} is an array of dtype {array.dtype}; use bool, "
                "integers, floats or complex numbers"
            )
        return Constant(Tensor(x)._data) if mode.building() else Number(x)
    raise NotATensorError(
        f"{op}: argument {argument!r} must be a Tensor, a Variable, an ndarray or a number; got "
        f"{type(x).__name__}" + (": use paddle.to_tensor" if isinstance(x, (list, tuple)) else "")
    )


def constant(x: Any) -> Any:
    """The numbers in `x` as a Tensor; while a program is built, as a constant of it."""
    array = Tensor(x)._data
    array.flags.writeable = False  # every run hands it on as it is
    return ops.constant(value=array)


def spec_of(x: Any) -> Spec:
    """Shape and dtype of a Tensor or a Variable; unknown sizes are symbols."""
    if isinstance(x, Tensor):
        return Spec(x._data.shape, x._data.dtype)
    spec: Spec = x if isinstance(x, Spec) else x.spec
    return spec
