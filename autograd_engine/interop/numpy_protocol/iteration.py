"""``for row in x``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.tensor.shape.splitting import unbind

__all__ = ["rows"]


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
            yield Tensor._wrap(data[k, ...])
        else:
            yield taken[k]
