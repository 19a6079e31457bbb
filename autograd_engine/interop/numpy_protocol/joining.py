"""NumPy's functions that put arrays together, take elements away and make new arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import (
    UNSET,
    along,
    as_tensor,
    as_tensors,
    floats,
    plain,
)
from autograd_engine.nn import functional
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


def _listed(arrays: Any, dtype: Any = None) -> list[Any]:
    tensors = as_tensors(*arrays)
    return tensors if dtype is None else [t.astype(dtype) for t in tensors]


@covers("concatenate", "concat")
def _concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Any:  # fmt: skip
    parts = _listed(arrays, dtype)
    if axis is None:
        parts, axis = [paddle.reshape(p, [-1]) for p in parts], 0
    return paddle.concat(parts, axis)


@covers("stack")
def _stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    return paddle.stack(_listed(arrays, dtype), axis)


covers("vstack")(lambda tup, *, dtype=None, casting="same_kind": paddle.vstack(_listed(tup, dtype)))
covers("hstack")(lambda tup, *, dtype=None, casting="same_kind": paddle.hstack(_listed(tup, dtype)))
covers("dstack")(lambda tup: paddle.dstack(_listed(tup)))
covers("column_stack")(lambda tup: paddle.column_stack(_listed(tup)))
covers("append")(lambda arr, values, axis=None: _concatenate((arr, values), axis))


@covers("block")
def _block(arrays: Any) -> Any:
    depth, inner = 0, arrays
    while isinstance(inner, list):
        depth, inner = depth + 1, inner[0]

    def leaves(part: Any) -> list[Any]:
        return [v for p in part for v in leaves(p)] if isinstance(part, list) else [part]

    tensors = as_tensors(*leaves(arrays))
    ndim = max(depth, *(x.ndim for x in tensors))
    rest = iter(tensors)

    def joined(part: Any, level: int) -> Any:
        if not isinstance(part, list):
            x = next(rest)
            return paddle.reshape(x, [*[1] * (ndim - x.ndim), *x.shape])
        parts = [joined(p, level + 1) for p in part]
        return paddle.concat(parts, axis=ndim - depth + level)

    return joined(arrays, 0)


def _places(name: str, obj: Any, size: int) -> np.ndarray[Any, Any]:
    """Positions along an axis of this size: ints, a slice or a mask."""
    if isinstance(obj, slice):
        return np.arange(size)[obj]
    array = np.asarray(plain(name, obj))
    if array.dtype == bool:
        return np.flatnonzero(array)
    array = array.astype(np.int64)
    if array.size and (array.min() < -size or array.max() > size):
        raise IndexError(f"{name}: position {array} is out of range for an axis of size {size}")
    return np.where(array < 0, array + size, array)


@covers("delete")
def _delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    x, axis = along(arr, axis)
    kept = np.delete(np.arange(x.shape[axis]), _places("np.delete", obj, x.shape[axis]))
    return paddle.index_select(x, paddle.to_tensor(kept), axis)


@covers("insert")
def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    x, axis = along(arr, axis)
    size = x.shape[axis]
    places = _places("np.insert", obj, size)
    new = as_tensors(x, values)[1].astype(x.dtype)
    count = max(places.size, 1) if places.ndim else 1
    rest = [*x.shape[:axis], *x.shape[axis + 1 :]]
    if not places.ndim:  # as NumPy: what is inserted at one position has the axis first
        while new.ndim < x.ndim:
            new = paddle.unsqueeze(new, 0)
        new = paddle.moveaxis(new, 0, axis)
        count = new.shape[axis]
        places = np.full(count, places)
    shape = [*rest[:axis], count, *rest[axis:]]
    new = paddle.broadcast_to(new, shape)
    # Where each element of the result comes from: x, then what is inserted.
    order = np.insert(np.arange(size), places, size + np.arange(count))
    return paddle.index_select(paddle.concat([x, new], axis), paddle.to_tensor(order), axis)


@covers("trim_zeros")
def _trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    x = as_tensor(filt)
    filled = np.argwhere(plain("np.trim_zeros", x))
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis) % x.ndim
    for k in axes:
        size = x.shape[k]
        first, last = (filled[:, k].min(), filled[:, k].max() + 1) if len(filled) else (size, size)
        low = int(first) if "f" in trim.lower() else 0
        high = int(last) if "b" in trim.lower() else size
        x = paddle.slice(x, [int(k)], [low], [max(high, low)])
    return x


@covers("pad")
def _pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    x = as_tensor(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(k, pad_width.get(k - x.ndim, 0)) for k in range(x.ndim)]
        pad_width = [(w, w) if isinstance(w, int) else w for w in pad_width]
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    if mode == "constant":
        values = np.broadcast_to(np.asarray(kwargs.pop("constant_values", 0)), (x.ndim, 2))
    elif mode not in ("edge", "reflect", "symmetric", "wrap", "empty"):
        raise ArgumentError(
            f"np.pad: mode {mode!r} is not taken on tensors; use constant, edge, reflect, "
            "symmetric or wrap, or t.numpy() where no gradient is needed"
        )
    if mode == "reflect" and kwargs.get("reflect_type", "even") != "even":
        raise ArgumentError("np.pad: reflect_type must be even on tensors")
    for k, (before, after) in enumerate(widths):
        size = x.shape[k]
        if mode not in ("constant", "empty"):  # every element is one of x: ask NumPy which
            order = np.pad(np.arange(size), (before, after), mode=mode)
            x = paddle.index_select(x, paddle.to_tensor(order), k)
            continue
        sides = values[k] if mode == "constant" else (0, 0)
        parts = []
        for width, value in zip((before, after), sides, strict=True):
            shape = [*x.shape[:k], width, *x.shape[k + 1 :]]
            parts.append(
                paddle.full(shape, value.item() if hasattr(value, "item") else value, x.dtype)
            )
        x = paddle.concat([parts[0], x, parts[1]], axis=k)
    return x


# --- new arrays


def _like(a: Any, dtype: Any, shape: Any, fill: Any) -> Any:
    x = as_tensor(a)
    if shape is None:
        return paddle.full_like(x, fill, dtype=dtype)
    return paddle.full(shape, fill, x.dtype if dtype is None else dtype)


def _full_of(name: str, fill: int) -> Any:
    @covers(name)
    def like(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
        device: Any = None,
    ) -> Any:  # fmt: skip
        return _like(a, dtype, shape, fill)

    return like


_zeros_like, _ones_like = _full_of("zeros_like", 0), _full_of("ones_like", 1)


@covers("empty_like")
def _empty_like(
    prototype: Any, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None,
    *, device: Any = None,
) -> Any:  # fmt: skip
    return _like(prototype, dtype, shape, 0)


@covers("full_like")
def _full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
    shape: Any = None, *, device: Any = None,
) -> Any:  # fmt: skip
    if isinstance(fill_value, (bool, int, float, complex)):
        return _like(a, dtype, shape, fill_value)
    fill = as_tensor(fill_value)
    if fill.ndim or not fill.stop_gradient:
        ones = _ones_like(a, dtype, shape=shape)
        return ones * fill.astype(ones.dtype)
    return _like(a, dtype, shape, fill.item())


@covers("linspace")
def _linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    low, high = paddle.broadcast_tensors(floats(start, stop))
    steps = num - 1 if endpoint else num
    grid = np.arange(num) / max(steps, 1)
    t = paddle.reshape(paddle.to_tensor(grid, low.dtype), [num, *[1] * low.ndim])
    made = low * (1.0 - t) + high * t
    made = paddle.moveaxis(made, 0, axis) if axis else made
    made = made if dtype is None else made.astype(dtype)
    return (made, (high - low) / steps) if retstep else made


@covers("logspace")
def _logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    start, stop, base = floats(start, stop, base)
    made = base ** _linspace(start, stop, num, endpoint, axis=axis)
    return made if dtype is None else made.astype(dtype)


@covers("geomspace")
def _geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    low, high = floats(start, stop)
    sign = paddle.sign(low).detach() if hasattr(low, "detach") else paddle.sign(low)
    logs = _linspace(paddle.log(sign * low), paddle.log(sign * high), num, endpoint, axis=axis)
    made = paddle.exp(logs) * (paddle.unsqueeze(sign, axis) if sign.ndim else sign)
    return made if dtype is None else made.astype(dtype)


@covers("vander")
def _vander(x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803 - NumPy's name
    return paddle.vander(as_tensor(x), N, increasing)


covers("copy")(lambda a, order="K", subok=False: paddle.clone(as_tensor(a)))
covers("astype")(lambda x, dtype, /, *, copy=True, device=None: as_tensor(x).astype(dtype))


# --- differences and products along an axis


@covers("diff")
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = UNSET, append: Any = UNSET) -> Any:
    x = as_tensor(a)

    def side(value: Any) -> Any:
        if value is UNSET:
            return None
        value = as_tensors(x, value)[1].astype(x.dtype)
        if value.ndim:
            return value
        k = axis % x.ndim
        return paddle.broadcast_to(value, [*x.shape[:k], 1, *x.shape[k + 1 :]])

    return paddle.diff(x, n, axis, side(prepend), side(append))


@covers("ediff1d")
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    x = paddle.reshape(as_tensor(ary), [-1])

    def side(value: Any) -> list[Any]:
        if value is None:
            return []
        return [paddle.reshape(as_tensors(x, value)[1], [-1]).astype(x.dtype)]

    return paddle.concat([*side(to_begin), x[1:] - x[:-1], *side(to_end)])


@covers("correlate")
def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    x, w = as_tensors(a, v)
    if w.shape[0] > x.shape[0]:  # the shorter one slides along the longer, backwards
        return paddle.flip(_sliding(w, paddle.flip(x, [0]), mode), [0])
    return _sliding(x, paddle.flip(w, [0]), mode)


_convolve: Any = covers("convolve")(lambda a, v, mode="full": _sliding(a, v, mode))


def _sliding(a: Any, v: Any, mode: str) -> Any:
    x, w = floats(a, v)
    if w.shape[0] > x.shape[0]:
        x, w = w, x
    size = w.shape[0]
    pads = {"full": (size - 1, size - 1), "same": (size // 2, (size - 1) // 2), "valid": (0, 0)}
    if mode not in pads:
        raise ArgumentError(f"mode must be full, same or valid, got {mode!r}")
    x = _pad(x, pads[mode])
    kernel = paddle.reshape(paddle.flip(w, [0]), [1, 1, -1])
    return paddle.reshape(functional.conv1d(paddle.reshape(x, [1, 1, -1]), kernel), [-1])
