"""In-place writes as the user sees them: a tensor takes over the result of a recorded operation.

What shares its values, as views do, changes with it; see `eager.views`. No memory is written
(docs/design/eager.md, "Values"): the operation makes a new array, and the tensor becomes its
result, values and history both. Graphs recorded before keep the values they saw.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import (
    carried_by,
    here,
    is_alone,
    leave,
    overwrite,
    storage_of,
)
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
    if not grad_mode.enabled:
        return
    if tensor._node is None and not tensor._stop:
        raise NotDifferentiableError(
            f"{call}: {tensor.name} is a leaf that requires a gradient and cannot be written while "
            f"operations are recorded; use {instead}, or write it under paddle.no_grad()"
        )
    leaf = carried_by(tensor)
    if leaf is not None:
        node = tensor._node
        made = "" if node is None else f" by {node.name} at {node.location} ({node.location.text})"
        raise NotDifferentiableError(
            f"{call} at {here()}: {tensor.name}, made{made}, is a view of {leaf.name}, a leaf "
            "that requires a gradient and cannot be written while operations are recorded, through "
            f"a view neither; use {instead}, or write it under paddle.no_grad()"
        )


def rebind(
    tensor: T,
    result: Tensor,
    call: str,
    instead: str,
    *,
    reshapes: bool = False,
    resizes: bool = False,
    retypes: bool = False,
) -> T:
    """Make `tensor` the `result` of an operation, and return it.

    A leaf that requires a gradient stays one (under `no_grad`; else it is refused), and keeps its
    shape and dtype. Any other tensor takes over the history of the result, where operations are
    recorded: it carries a gradient if that does. Under `no_grad` it takes the values only. With
    `reshapes` the result is the same values in another shape; with `resizes` it may be other values
    in another shape; with `retypes` it may have another dtype. Tensors that share the values of
    this one change with it.

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
    alone = is_alone(tensor)
    if new.shape != have.shape and (leaf or not (reshapes or (resizes and alone))):
        raise ShapeError(
            f"{call}: {tensor.name} has shape {list(have.shape)} and cannot take a result of shape "
            f"{list(new.shape)}"
            + (", for it shares its values with others" if resizes and not alone else "")
            + f"; use {instead}"
        )
    if new.dtype != have.dtype and (leaf or not retypes):
        raise DTypeError(
            f"{call}: {tensor.name} is {have.dtype.name} and cannot take a result of dtype "
            f"{new.dtype.name}; use {instead}, or {_operands_for(have.dtype, new.dtype)}"
        )
    if reshapes:
        _take_place(tensor, result, leaf)
    elif not alone:
        if new.dtype != have.dtype and call != "cast_":
            raise DTypeError(
                f"{call}: {tensor.name} shares its values with others and stays {have.dtype.name}; "
                f"the result is {new.dtype.name}: use {instead}, or cast the operands to "
                f"{have.dtype.name}"
            )
        if new.dtype == have.dtype:
            overwrite(tensor, result, call)
            return tensor
        leave(tensor)  # as values of another dtype it has memory of its own
        _become(tensor, result, leaf)
    else:
        _become(tensor, result, leaf)
    return tensor


def _operands_for(wanted: np.dtype[Any], made: np.dtype[Any]) -> str:
    if made in COMPLEX and wanted not in COMPLEX:
        return "take paddle.real of the complex operands"
    return f"cast the operands to {wanted.name}"


def _become(tensor: Tensor, result: Tensor, leaf: bool) -> None:
    """`tensor`, which shares its values with no other, takes those and the history of `result`."""
    new, node = result._data, tensor._node
    keeps = leaf or (node is not None and not grad_mode.enabled)
    if keeps and new.dtype == tensor._data.dtype:
        tensor._data = new
    else:
        # All or nothing, whatever interrupts: values and history belong together.
        tensor._data, tensor._node, tensor._stop = new, result._node, result._stop
    tensor._version = tensor.inplace_version + 1
    _retain_again(tensor, node)


def _retain_again(tensor: Tensor, before: Any) -> None:
    """The gradient that is retained is that of what the tensor is from now on."""
    if tensor._node is not before and getattr(tensor, "_retains", False):
        tensor.retain_grads()


def _take_place(tensor: Tensor, result: Tensor, leaf: bool) -> None:
    """`tensor` becomes the `result` of a movement: another view of the same values."""
    version, before = tensor.inplace_version + 1, tensor._node
    group = getattr(result, "_group", None)
    path = None if group is None else result._path
    if leaf:  # its shape is the same, and it stays the leaf
        mine = getattr(tensor, "_group", None)
        group = mine if group is not None else None
        tensor._data, tensor._group, tensor._path = result._data, group, path
    else:
        tensor._data, tensor._node, tensor._stop, tensor._group, tensor._path = (
            result._data,
            result._node,
            result._stop,
            group,
            path,
        )
    storage = storage_of(tensor)
    if storage is None:
        tensor._version = version
    else:
        storage.changes = version
    _retain_again(tensor, before)
