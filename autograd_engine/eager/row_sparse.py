"""Gradients that are zero but for some rows, which are all that is kept."""

from __future__ import annotations

from sys import getrefcount
from typing import Any
from weakref import getweakrefcount

import numpy as np

from autograd_engine.core.dtypes import DType, as_dtype
from autograd_engine.core.size import Size
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.scattered_cotangent import Scattered, merged_rows

__all__ = ["RowSparse", "held_by_one"]

_PARTS = 16  # passes that add to a gradient before their rows are merged


class RowSparse(Tensor):
    """The gradient of a table whose rows were gathered.

    A Tensor like any other, but that its zeros are written out only when something asks for its
    values: optimizers ask for the rows. `rows` are those that were read, each once, in ascending
    order; `values` the gradients of these.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> table = paddle.create_parameter([1000, 2])
    >>> ids = paddle.to_tensor([7, 3, 7])
    >>> paddle.nn.functional.embedding(ids, table, sparse=True).sum().backward()
    >>> table.grad.rows.tolist(), table.grad.values.tolist()
    ([3, 7], [[1.0, 1.0], [2.0, 2.0]])
    >>> table.grad.shape
    paddle.Size([1000, 2])
    """

    __slots__ = ("_merged", "_written", "scattered")

    scattered: Scattered | None
    _written: Array | None
    _merged: tuple[Array, Array] | None

    def __init__(self, scattered: Scattered) -> None:
        self.scattered = scattered
        self._written = None
        self._merged = None
        self._node = None
        self._stop = False

    @property
    def _data(self) -> Array:
        if self._written is None:
            assert self.scattered is not None
            self._written = self.scattered.dense()
        return self._written

    @_data.setter
    def _data(self, value: Array) -> None:
        """Another value, which is no longer sparse."""
        self._written, self.scattered, self._merged = value, None, None

    _copied = Tensor  # pickled, and copied deeply, written out

    def __copy__(self) -> Tensor:
        return super().__copy__() if self.scattered is None else RowSparse(self.scattered)

    def merged(self) -> tuple[Array, Array]:
        """`rows` and `values` as ndarrays."""
        if self._merged is None:
            assert self.scattered is not None
            self._merged = merged_rows(self.scattered)
        return self._merged

    def compact(self) -> Scattered | None:
        """What is kept: merged, where it has grown, so that passes without end take no more room
        than the rows that they read.
        """
        kept = self.scattered
        if kept is not None and len(kept.parts) > _PARTS:
            rows, values = self.merged()
            part = values, (rows,), kept.parts[0][2]
            kept = self.scattered = Scattered(kept.op, kept.xp, kept.like, [part])
        return kept

    def is_selected_rows(self) -> bool:
        """Whether rows are all that is kept."""
        return self.scattered is not None

    @property
    def rows(self) -> Tensor:
        return Tensor._wrap(self.merged()[0])

    @property
    def values(self) -> Tensor:
        return Tensor._wrap(self.merged()[1])

    def _zeroed(self) -> Tensor:
        if self.scattered is None:
            return super()._zeroed()
        nothing = self.scattered
        return RowSparse(Scattered(nothing.op, nothing.xp, nothing.like, []))

    # What is known without the values.

    @property
    def shape(self) -> Size:
        return Size(self._data.shape if self.scattered is None else self.scattered.shape)

    @property
    def dtype(self) -> DType:
        return as_dtype(self._data.dtype if self.scattered is None else self.scattered.dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)


class _Holder:
    __slots__ = ("_data",)

    _data: Array


def _references(holder: Any) -> int:
    return getrefcount(holder._data)


def _references_of_one() -> int:
    holder = _Holder()
    holder._data = np.zeros(1)
    return _references(holder)


_ONE = _references_of_one()


def held_by_one(tensor: Tensor) -> bool:
    """Whether nothing but `tensor` holds its array: no graph, no view, no other tensor.

    Then writing to the array is something that nobody can see. Who has a weak reference, as
    recomputation has, takes the same array for the same values.
    """
    data = tensor._data
    owned = data.base is None and data.flags.writeable and not getweakrefcount(data)
    del data
    return owned and _references(tensor) == _ONE
