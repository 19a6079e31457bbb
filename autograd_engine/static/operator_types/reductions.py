"""Types that reduce, sort, search and count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.static.operator_types.declaring import DType, declare, dtype_name
from autograd_engine.tensor import public as paddle

_ANY = DType(-1)
_INT64 = DType(3)


def _reduce(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(
        x: Any,
        *,
        dim: list[int],
        keep_dim: bool,
        reduce_all: bool,
        in_dtype: int,
        out_dtype: int,
    ) -> Any:
        every = reduce_all or not dim or len(dim) == x.ndim
        axis = None if every else dim[0] if len(dim) == 1 else dim
        out = function(x, axis, keepdim=keep_dim)
        name = dtype_name(out_dtype)
        return out if name is None or out.dtype == name else paddle.cast(out, name)

    return call


_REDUCE: dict[str, Callable[..., Any]] = {
    "reduce_sum": paddle.sum,
    "reduce_mean": paddle.mean,
    "reduce_max": paddle.max,
    "reduce_min": paddle.min,
    "reduce_amax": paddle.amax,
    "reduce_amin": paddle.amin,
    "reduce_prod": paddle.prod,
    "reduce_all": paddle.all,
    "reduce_any": paddle.any,
}
for _name, _function in _REDUCE.items():
    declare(
        _name,
        "X -> Out",
        _reduce(_function),
        dim=[0],
        keep_dim=False,
        reduce_all=False,
        in_dtype=_ANY,
        out_dtype=_ANY,
    )
declare("mean", "X -> Out", paddle.mean)
declare(
    "logsumexp",
    "X -> Out",
    lambda x, *, axis, keepdim, reduce_all: paddle.logsumexp(
        x, None if reduce_all else axis, keepdim
    ),
    axis=[0],
    keepdim=False,
    reduce_all=False,
)


# --- places and orders


def _arg(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, *, axis: int, keepdims: bool, flatten: bool, dtype: int) -> Any:
        name = dtype_name(dtype) or "int64"
        return function(x, None if flatten else axis, keepdims, name)

    return call


for _name, _function in (("arg_max", paddle.argmax), ("arg_min", paddle.argmin)):
    declare(
        _name, "X -> Out", _arg(_function), axis=-1, keepdims=False, flatten=False, dtype=_INT64
    )


def _argsort(x: Any, *, axis: int, descending: bool) -> Any:
    indices = paddle.argsort(x, axis, descending)
    return paddle.take_along_axis(x, indices, axis), indices


declare("argsort", "X -> Out Indices", _argsort, axis=-1, descending=False)
declare(
    "top_k",
    "X K? -> Out Indices",
    lambda x, given, *, k: paddle.topk(x, k if given is None else given),
    k=1,
)
declare(
    "top_k_v2",
    "X K? -> Out Indices",
    lambda x, given, *, k, axis, largest, sorted: paddle.topk(
        x, k if given is None else given, axis, largest, sorted
    ),
    k=1,
    axis=-1,
    largest=True,
    sorted=True,
)


def _cumsum(x: Any, *, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> Any:
    if flatten:
        x, axis = paddle.flatten(x), 0
    if reverse:
        x = paddle.flip(x, axis)
    if exclusive:  # sums of what is before each element
        first = paddle.zeros_like(paddle.slice(x, [axis], [0], [1]))
        x = paddle.concat([first, paddle.slice(x, [axis], [0], [-1])], axis)
    sums = paddle.cumsum(x, axis)
    return paddle.flip(sums, axis) if reverse else sums


declare("cumsum", "X -> Out", _cumsum, axis=-1, flatten=False, exclusive=False, reverse=False)


# --- how good a prediction is


def _accuracy(out: Any, indices: Any, label: Any) -> Any:
    hits = paddle.any(paddle.equal(indices, label), axis=1)
    ones = paddle.ones_like(hits, dtype="int32")
    correct, total = paddle.sum(paddle.cast(hits, "int32")), paddle.sum(ones)
    share = paddle.mean(paddle.cast(hits, "float32"))
    return share, paddle.cast(correct, "int32"), paddle.cast(total, "int32")


declare("accuracy", "Out Indices Label -> Accuracy Correct Total", _accuracy)
