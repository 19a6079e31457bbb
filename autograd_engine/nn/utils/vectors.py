"""All parameters as one vector, for what treats a model as a function of one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ModeError, NotATensorError, ShapeError
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import spec_of
from autograd_engine.tensor.joining import concat
from autograd_engine.tensor.shape import reshape

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def tensors(function: str, parameters: Any, *, variables: bool = False) -> list[Any]:
    """The parameters as a list."""
    if isinstance(parameters, (Tensor, Variable)):
        parameters = [parameters]
    if not isinstance(parameters, Iterable) or isinstance(parameters, (str, bytes, dict)):
        raise NotATensorError(
            f"{function}: parameters must be a list of Tensors, as layer.parameters() gives; got "
            f"{type(parameters).__name__}"
        )
    listed = list(parameters)
    for k, p in enumerate(listed):
        if isinstance(p, Variable) and not variables:
            raise ModeError(
                f"{function} is for eager mode, and parameters[{k}], {p.name}, is of a program"
            )
        if not isinstance(p, (Tensor, Variable)):
            raise NotATensorError(
                f"{function}: parameters[{k}] must be a Tensor, got {type(p).__name__}"
            )
    return listed


def parameters_to_vector(parameters: Iterable[Any], name: str | None = None) -> Any:
    """All elements of all parameters, one after another.

    Parameters
    ----------
    parameters : iterable of Tensor or Variable
        Of one dtype.
    name : str, optional
        Not used.

    Returns
    -------
    Tensor or Variable
        Of one dimension; a gradient flows from it to the parameters.

    Raises
    ------
    ArgumentError
        When there are none.
    NotATensorError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> parameters_to_vector([paddle.ones([2]), paddle.zeros([1, 2])]).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    listed = tensors("parameters_to_vector", parameters, variables=True)
    if not listed:
        raise ArgumentError(
            "parameters_to_vector: parameters is empty; an iterator gives its elements once"
        )
    return concat([reshape(p, [-1]) for p in listed])


def vector_to_parameters(vec: Any, parameters: Iterable[Any], name: str | None = None) -> None:
    """Give the parameters the values of a vector, in the order of `parameters_to_vector`.

    Parameters
    ----------
    vec : Tensor
        Of one dimension, with as many elements as the parameters together; what is behind them is
        left.
    parameters : iterable of Tensor
    name : str, optional
        Not used.

    Raises
    ------
    ShapeError
        When `vec` is too short. No parameter is written then.
    NotATensorError, ModeError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w, b = paddle.zeros([1, 2]), paddle.zeros([1])
    >>> vector_to_parameters(paddle.to_tensor([1.0, 2.0, 3.0]), [w, b])
    >>> w.tolist(), b.tolist()
    ([[1.0, 2.0]], [3.0])
    """
    function = "vector_to_parameters"
    listed = tensors(function, parameters)
    if not isinstance(vec, (Tensor, Variable)):
        raise NotATensorError(f"{function}: vec must be a Tensor, got {type(vec).__name__}")
    shape = spec_of(vec).shape
    if len(shape) != 1:
        raise ShapeError(
            f"{function}: vec must have one dimension, got {list(shape)}; use vec.flatten()"
        )
    sizes = [math.prod(p.shape) for p in listed]
    if int(shape[0]) < sum(sizes):
        raise ShapeError(
            f"{function}: vec has {shape[0]} elements, and the parameters {sum(sizes)} together"
        )
    start = 0
    with no_grad():
        for p, size in zip(listed, sizes, strict=True):
            p.set_value(reshape(vec[start : start + size], list(p.shape)))
            start += size
