"""In-place writes as the user sees them: a tensor takes over the result of a recorded operation.

What shares its values, as views do, changes with it; see `eager.views`. No memory is written
(docs/design/eager.md, "Values"): the operation makes a new array, and the tensor becomes its
result, values and history both. Graphs recorded before keep the values they saw.
"""

from __future__ import annotations

from typing import TypeVar

from autograd_engine.core.locations import caller
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import (
    carried_by,
    is_alone,
    leave,
    lost_through,
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
            f"{call} at {_here()}: {tensor.name}, made{made}, is a view of {leaf.name}, a leaf "
            "that requires a gradient and cannot be written while operations are recorded, through "
            f"a view neither; use {instead}, or write it under paddle.no_grad()"
        )


def _here() -> str:
    at = caller()
    return f"{at} ({at.text})"


def _check_recorded(tensor: Tensor, result: Tensor, call: str) -> None:
    """Refuse a change that would lose a gradient."""
    group = tensor._group
    assert group is not None
    if not grad_mode.enabled or (group.node is None and result._stop):
        return
    if group.begun is not None and not result._stop:
        raise NotDifferentiableError(
            f"{call} at {_here()}: {tensor.name} is a view that was made under no_grad, at "
            f"{group.begun} ({group.begun.text}), of a tensor that carries a gradient, and what is "
            "written has a gradient that would be lost there; make the view where operations are "
            "recorded, or write value.detach()"
        )
    through = lost_through(tensor)
    if through is not None:
        raise NotDifferentiableError(
            f"{call} at {_here()}: {tensor.name} is a view through {through}, which has no "
            "gradient, and that of what it is a view of, or of what is written, would be lost; "
            "write it under paddle.no_grad(), or to a clone"
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
    shape and dtype. Any other tensor takes over the history of the result, where operations are
    recorded: it carries a gradient if that does. Under `no_grad` it takes the values only. With
    `reshapes` the result is the same values in another shape; with `retypes` it may have another
    dtype. Tensors that share the values of this one change with it.

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
    shares = getattr(tensor, "_group", None) is not None
    if reshapes:
        _take_place(tensor, result, leaf)
    elif shares and new.dtype == have.dtype and not is_alone(tensor):
        _check_recorded(tensor, result, call)
        overwrite(tensor, result)
        return tensor
    else:
        if shares:
            leave(tensor)
        kept = leaf or (tensor._node is not None and not grad_mode.enabled)
        if kept and new.dtype == have.dtype:  # other values, and the history stays
            tensor._data = new
        else:
            # All or nothing, whatever interrupts: values and history belong together.
            tensor._data, tensor._node, tensor._stop = new, result._node, result._stop
        tensor._version = tensor.inplace_version + 1
    if not leaf and getattr(tensor, "_retains", False):  # the gradient of what it is from now on
        tensor.retain_grads()
    return tensor


def _take_place(tensor: Tensor, result: Tensor, leaf: bool) -> None:
    """`tensor` becomes the `result` of a movement: another view of the same values."""
    version = tensor.inplace_version + 1
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
    if group is None:
        tensor._version = version
    else:
        storage_of(tensor).changes = version
