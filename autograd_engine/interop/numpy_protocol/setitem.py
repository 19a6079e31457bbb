"""NumPy's functions that write into their first argument.

On a tensor they are recorded: it becomes the result, as with our own in-place methods. Into an
ndarray they write values, so nothing that carries a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.core.operand import Operand
from autograd_engine.eager.inplace import rebind
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ModeError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import (
    as_tensor,
    as_tensors,
    carries_gradient,
    plain,
    refuse_writing,
)
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


def _write(
    function: Callable[..., Any],
    target: Any,
    arguments: tuple[Any, ...],
    values: Any,
    make: Callable[[], Any],
) -> None:
    """Let a tensor become what `make` returns; NumPy's `function` itself writes to an ndarray."""
    name = f"np.{function.__name__}"
    if not isinstance(target, Operand):
        if carries_gradient(values):
            refuse_writing(name)
        function(target, *plain(name, arguments))
        return
    if not isinstance(target, Tensor):
        raise ModeError(
            f"{name} cannot write {getattr(target, 'name', '')}, a variable of a program; use "
            "paddle.where"
        )
    result = make().astype(target.dtype)
    rebind(target, result, f"{name}(t, ...)", "paddle.where and the like")


@covers("copyto")
def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    def make() -> Any:
        source = paddle.broadcast_to(as_tensors(dst, src)[1], dst.shape)
        return source if where is True else paddle.where(as_tensor(where), source, dst)

    _write(np.copyto, dst, (src, casting, where), src, make)


def _cycled(target: Any, values: Any, count: int) -> Any:
    """The first `count` of the values, repeated as often as it takes, in the target's dtype."""
    flat = paddle.reshape(as_tensors(target, values)[1].astype(target.dtype), [-1])
    return paddle.tile(flat, [-(-count // flat.shape[0])])[:count] if count else flat[:0]


@covers("putmask")
def _putmask(a: Any, /, mask: Any, values: Any) -> None:
    def make() -> Any:
        truth = as_tensor(mask).astype("bool")
        return paddle.where(truth, paddle.reshape(_cycled(a, values, a.size), a.shape), a)

    _write(np.putmask, a, (mask, values), values, make)


@covers("place")
def _place(arr: Any, mask: Any, vals: Any) -> None:
    def make() -> Any:
        truth = as_tensor(mask).astype("bool")
        count = int(np.count_nonzero(truth.numpy()))
        return paddle.masked_scatter(arr, truth, _cycled(arr, vals, count))

    _write(np.place, arr, (mask, vals), vals, make)


@covers("put")
def _put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    def make() -> Any:
        places = np.asarray(plain("np.put", ind)).reshape(-1)
        order = np.arange(a.size)
        new = np.arange(places.size) + a.size
        np.put(order, places, new, mode)  # which of the old and the new stands where
        both = paddle.concat([paddle.reshape(a, [-1]), _cycled(a, v, places.size)])
        return paddle.reshape(paddle.index_select(both, paddle.to_tensor(order)), a.shape)

    _write(np.put, a, (ind, v, mode), v, make)


@covers("put_along_axis")
def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    def make() -> Any:
        x = paddle.reshape(arr, [-1]) if axis is None else arr
        places = as_tensor(indices)
        new = paddle.broadcast_to(as_tensors(arr, values)[1].astype(arr.dtype), places.shape)
        made = paddle.put_along_axis(x, places, new, 0 if axis is None else axis, broadcast=False)
        return paddle.reshape(made, arr.shape)

    _write(np.put_along_axis, arr, (indices, values, axis), values, make)


@covers("fill_diagonal")
def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    def make() -> Any:
        mask = np.zeros(a.shape, bool)
        np.fill_diagonal(mask, True, wrap)
        count = int(np.count_nonzero(mask))
        return paddle.masked_scatter(a, paddle.to_tensor(mask), _cycled(a, val, count))

    _write(np.fill_diagonal, a, (val, wrap), val, make)
