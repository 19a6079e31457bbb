"""In-place writes as the user sees them: a tensor takes over the result of a recorded operation.

No memory is written (docs/design/eager.md, "Values"): the operation makes a new array, and the
tensor becomes its result, values and history both. Graphs recorded before keep the values they saw.
"""

from __future__ import annotations

from typing import TypeVar

from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError, NotDifferentiableError, ShapeError

__all__ = ["check_writable", "rebind"]

T = TypeVar("T", bound=Tensor)


def check_writable(tensor: Tensor, call: str, instead: str) -> None:
    """Refuse a leaf that requires a gradient, unless nothing is recorded.

    Parameters
    ----------
    tensor : Tensor
    call : str
        What the user wrote, ``x.add_`` or ``x[...] = v``.
    instead : str
        What to write for it.

    Raises
    ------
    NotDifferentiableError
        The values that a gradient of this leaf belongs to would be gone.
    """
    if tensor._node is None and not tensor._stop and grad_mode.enabled:
        raise NotDifferentiableError(
            f"{call}: {tensor.name} is a leaf that requires a gradient and cannot be written while "
            f"operations are recorded; use {instead}, or write it under paddle.no_grad()"
        )


def rebind(
    tensor: T,
    result: Tensor,
    call: str,
    instead: str,
    *,
    reshapes: bool = False,
    retypes: bool = False,
) -> T:
    """Make `tensor` the `result` of an operation, and return it.

    A leaf that requires a gradient stays one (under `no_grad`; else it is refused), and keeps its
    shape and dtype. Any other tensor takes over the history of the result: it carries a gradient if
    that does. With `reshapes` and `retypes` it may take another shape and dtype from it.

    Raises
    ------
    NotDifferentiableError
        See `check_writable`.
    ShapeError, DTypeError
        Unless the result has the shape and dtype of the tensor.
    """
    check_writable(tensor, call, instead)
    have, new = tensor._data, result._data
    leaf = tensor._node is None and not tensor._stop
    if new.shape != have.shape and (leaf or not reshapes):
        raise ShapeError(
            f"{call}: {tensor.name} has shape {list(have.shape)} and cannot take a result of shape "
            f"{list(new.shape)}; use {instead}"
        )
    if new.dtype != have.dtype and (leaf or not retypes):
        raise DTypeError(
            f"{call}: {tensor.name} is {have.dtype.name} and cannot take a result of dtype "
            f"{new.dtype.name}; use {instead}, or cast the operands to {have.dtype.name}"
        )
    tensor._version = tensor.inplace_version + 1
    if leaf:
        tensor._data = new
    else:
        # All or nothing, whatever interrupts: values and history belong together.
        tensor._data, tensor._node, tensor._stop = new, result._node, result._stop
        if getattr(tensor, "_retains", False):  # the gradient of what the tensor is from now on
            tensor.retain_grads()
    return tensor
