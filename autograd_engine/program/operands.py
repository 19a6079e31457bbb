"""What public functions need to know of an operand before they call an operation."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine.core import pytree
from autograd_engine.core.dtypes import EXACT, common_dtype, holds_numbers, scalar_dtype
from autograd_engine.core.spec import Shape, Spec
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError, NotATensorError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program import mode
from autograd_engine.program.builder import Constant, Number
from autograd_engine.program.ir.program import Variable

__all__ = ["NUMBERS", "as_operand", "constant", "shape_of", "spec_of", "with_numbers"]

NUMBERS: Final = (np.ndarray, np.generic, bool, int, float, complex)


def as_operand(op: str, x: Any, argument: str = "x") -> Any:
    """`x` if it is a Tensor or a Variable; an ndarray or a number as one that fits both."""
    if x.__class__ is Tensor or isinstance(x, (Tensor, Variable)):
        return x
    if isinstance(x, NUMBERS):
        array = np.asarray(x)
        if not holds_numbers(array.dtype, wide=True):
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


def shape_of(x: Any) -> Shape:
    """The shape alone, at less cost."""
    found: Shape = x._data.shape if x.__class__ is Tensor else spec_of(x).shape
    return found


def with_numbers(x: Any, y: Any) -> tuple[Any, Any] | None:
    """A list of numbers beside an operand as an array, whose dtype is weak as theirs is.

    None where there is none, and for a list beside one integer: Python repeats it.
    """
    if isinstance(y, (Tensor, Variable)):
        found = _numbers(x, y)
        return None if found is None else (found, y)
    found = _numbers(y, x)
    return None if found is None else (x, found)


def _numbers(values: Any, beside: Any) -> Any:
    if values.__class__ not in (list, tuple):
        return None
    if isinstance(beside, Tensor) and beside.size == 1 and beside._data.dtype in EXACT:
        return None
    leaves = pytree.leaves(values)
    if any(isinstance(v, (Tensor, Variable)) for v in leaves):
        raise NotATensorError(
            "an operator takes a list of numbers, and this one holds tensors: use "
            "paddle.stack(list), paddle.add_n(list) for their sum, or list + [x] for a longer list"
        )
    if not leaves or not all(isinstance(v, (bool, int, float, complex)) for v in leaves):
        return None
    dtypes = [scalar_dtype(v, [spec_of(beside).dtype]) for v in leaves]
    try:
        found = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    return None if found.dtype == np.object_ else found.astype(common_dtype(dtypes))
