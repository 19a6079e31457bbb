"""What Python itself asks of tensors: copy, deepcopy and pickle, and ``for row in x``.

A shallow copy is another tensor with the same values and the same history: arrays are never
written, so both may have one. A deep copy or a pickle of a history would need all of the graph, so
only leaves have them. Hooks belong to the tensor they were registered on and do not go along.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograd_engine.eager.array_methods import read_only
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import link
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.tensor.joining import unbind

__all__ = ["deep", "reduced", "restored", "shallow", "rows"]

_NAMED = ("_name", "_persistable", "_options", "_open")


def shallow(tensor: Any) -> Any:
    """``copy.copy(x)``: the same values, the same place in the graph, attributes of its own.

    Gradients that reach a copy of a leaf are the copy's.
    """
    return _filled(_like(tensor), tensor, tensor._data, copy.copy)


def deep(tensor: Any, memo: dict[int, Any]) -> Any:
    """``copy.deepcopy(x)``: a leaf with copies of the values and the gradient."""
    _require_leaf(tensor, "copy.deepcopy")
    new = memo[id(tensor)] = _like(tensor)
    return _filled(new, tensor, np.array(tensor._data), lambda v: copy.deepcopy(v, memo))


def _filled(new: Any, tensor: Any, data: Any, copied: Callable[[Any], Any]) -> Any:
    """`new` in the place of `tensor`, with these values and copies of what it carries."""
    new._data, new._node, new._stop = data, tensor._node, tensor._stop
    grad = tensor.grad
    if grad is not None:
        new._grad = copied(grad)
    if hasattr(tensor, "__dict__"):
        new.__dict__.update(copied(tensor.__dict__))
    return new


def reduced(tensor: Any) -> tuple[Any, ...]:
    """What pickle keeps: class, values, ``stop_gradient``, ``grad``, ``name``, ``persistable``."""
    _require_leaf(tensor, "pickle")
    state = {name: getattr(tensor, name) for name in _NAMED if hasattr(tensor, name)}
    if tensor.grad is not None:
        state["_grad"] = tensor.grad
    cls = tensor._copied or type(tensor)
    extra = getattr(tensor, "__dict__", None)
    data = tensor._data
    # Read-only, for protocol 5 may hand the memory itself to whoever asks for buffers.
    values = read_only(np.ascontiguousarray(data).reshape(data.shape))
    return restored, (cls, values, tensor._stop, state, extra or None)


def restored(
    cls: type[Any], data: Any, stop: bool, state: dict[str, Any], extra: dict[str, Any] | None
) -> Any:
    """The tensor that `reduced` took apart."""
    new = object.__new__(cls)
    # A pickle of protocol 5 may hand on a buffer that its owner can write.
    new._data = data if data.flags.owndata and data.flags.writeable else np.array(data)
    new._node, new._stop = None, stop
    for name, value in state.items():
        setattr(new, name, value)
    if extra:
        new.__dict__.update(extra)
    return new


def _like(tensor: Any) -> Any:
    new = object.__new__(tensor._copied or type(tensor))
    for name in _NAMED:
        if hasattr(tensor, name):
            setattr(new, name, copy.deepcopy(getattr(tensor, name)))
    return new


def _require_leaf(tensor: Tensor, call: str) -> None:
    if tensor._node is not None:
        raise ArgumentError(
            f"{call}: {tensor.name} is the result of {tensor._node.name} at "
            f"{tensor._node.location}, and a copy of it would need a copy of its graph: use "
            "x.detach(), or x.clone() for another tensor in the same graph"
        )


def rows(tensor: Any, step: int) -> Iterator[Tensor]:
    """The slices along the first axis, forwards or backwards.

    They are taken all at once where that is recorded: one operation whose gradient is one array,
    and not one of zeros but for a row for each.
    """
    if not tensor.ndim:
        raise TypeError(
            "a 0-d tensor has no rows to iterate over; use .item(), or .reshape([1]) first"
        )
    return _rows(tensor, step)


def _rows(tensor: Any, step: int) -> Iterator[Tensor]:
    data, node = tensor._data, tensor._node
    order = range(len(data))[::step]
    taken = None if tensor._stop or not grad_mode.enabled else unbind(tensor)
    for k in order:
        if tensor._data is not data or tensor._node is not node:
            yield tensor[k]  # written in the meantime: as it is now
        elif taken is None:
            row = Tensor._wrap(data[k, ...])
            link(row, tensor, REGISTRY["getitem"], {"key": (k,)})
            yield row
        else:
            yield taken[k]
