"""What is known of a tensor besides its elements, as tensors: programs may compute with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, constant, spec_of

__all__ = ["is_empty", "numel", "rank", "shape", "tolist"]


def numel(x: Any, name: str | None = None) -> Tensor:
    """The number of elements, as an int64 tensor.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.numel(paddle.zeros([2, 3])).item()
    6
    """
    return ops.numel(as_operand("numel", x))


def shape(input: Any) -> Tensor:
    """The sizes, as an int64 tensor; in a program those that it runs with.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.shape(paddle.zeros([2, 3])).tolist()
    [2, 3]
    """
    return ops.shape_of(as_operand("shape", input, "input"))


def rank(input: Any) -> Tensor:
    """The number of axes, as an int32 tensor.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.rank(paddle.zeros([2, 3])).item()
    2
    """
    return constant(np.asarray(spec_of(as_operand("rank", input, "input")).ndim, np.int32))


def is_empty(x: Any, name: str | None = None) -> Tensor:
    """Whether there are no elements, as a bool tensor.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.is_empty(paddle.zeros([0, 3])).item()
    True
    """
    return ops.equal(ops.numel(as_operand("is_empty", x)), 0)


def tolist(x: Any) -> Any:
    """The elements as Python numbers in nested lists.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.tolist(paddle.to_tensor([[1, 2]]))
    [[1, 2]]
    """
    return as_operand("tolist", x).tolist()
