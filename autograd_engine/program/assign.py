"""Giving a variable of a program another value."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.array_conversion import in_dtype
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError, NotATensorError, ShapeError
from autograd_engine.program.builder import Constant, append_write
from autograd_engine.program.ir.variable import Variable

__all__ = ["assigned"]


def assigned(x: Any, output: Variable) -> Variable:
    """`output`, which has the value of `x` in what is built from here on."""
    wanted = output.spec
    if isinstance(x, np.ndarray):
        if wanted.dtype.kind in _TAKES.get(x.dtype.kind, ""):
            x = in_dtype("assign", x, wanted.dtype)
        x = Constant(np.array(x))
    elif not isinstance(x, Variable):
        raise NotATensorError(
            f"assign: x must be a Variable, an ndarray or a number for the Variable {output.name}; "
            f"got {type(x).__name__}" + (": pass x.numpy()" if isinstance(x, Tensor) else "")
        )
    if x.spec.dtype != wanted.dtype:
        raise DTypeError(
            f"assign: {output.name} is {wanted.dtype.name} and cannot take {x.spec.dtype.name}: "
            f"cast x first, x.astype({wanted.dtype.name!r})"
        )
    if not may_equal(x.spec.shape, wanted.shape):
        raise ShapeError(
            f"assign: {output.name} is {format_shape(wanted.shape)} and cannot take "
            f"{format_shape(x.spec.shape)}: reshape or expand x first"
        )
    if isinstance(x, Constant):
        x = x.placed(output.block.program.current_block())
    append_write(output, x)
    return output


# Kinds of dtypes that numbers are given in, and those that they may become.
_TAKES = {"b": "bf", "i": "iuf", "u": "iuf", "f": "fc", "c": "c"}
