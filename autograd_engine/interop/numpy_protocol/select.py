"""NumPy's functions that choose elements: by truths, by positions, by order."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import (
    along,
    as_tensor,
    as_tensors,
    operand,
    pick,
    plain,
)
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


@covers("where")
def _where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    truth = as_tensor(condition).astype("bool")
    if x is None and y is None:
        return _nonzero(truth)
    if x is None or y is None:
        raise ArgumentError("np.where takes one array or three: give both x and y")
    return paddle.where(truth, operand(x), operand(y))


_nonzero: Any = covers("nonzero")(
    lambda a: tuple(paddle.reshape(k, [-1]) for k in paddle.nonzero(as_tensor(a), as_tuple=True))
)
covers("flatnonzero")(lambda a: _nonzero(paddle.reshape(as_tensor(a), [-1]))[0])


@covers("select")
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ArgumentError(
            f"np.select: {len(condlist)} conditions for {len(choicelist)} choices; give as many "
            "of each, one at least"
        )
    made, *choices = as_tensors(default, *choicelist)
    for truth, choice in reversed(list(zip(condlist, choices, strict=True))):
        made = paddle.where(as_tensor(truth), choice, made)
    return made


@covers("piecewise")
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    x = as_tensor(x)
    conditions = condlist if isinstance(condlist, (list, tuple)) else [condlist]
    masks = [as_tensor(c).astype("bool") for c in conditions]
    if len(funclist) == len(masks) + 1:
        some = masks[0]
        for mask in masks[1:]:
            some = paddle.logical_or(some, mask)
        masks.append(paddle.logical_not(some))
    if len(funclist) != len(masks):
        raise ArgumentError(
            f"np.piecewise: {len(funclist)} functions for {len(masks)} conditions; give as many, "
            "or one more for the rest"
        )
    made = paddle.zeros_like(x)
    for mask, function in zip(masks, funclist, strict=True):
        mask, part = pick(mask, x)  # a function sees the elements of its piece only
        value = function(part, *args, **kw) if callable(function) else function
        value = as_tensors(x, value)[1].astype(x.dtype)
        if not value.ndim:
            value = value * paddle.ones_like(part)
        made = paddle.masked_scatter(made, mask, value)
    return made


@covers("choose")
def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    which = as_tensor(a)
    parts = as_tensors(*choices)
    which, *parts = paddle.broadcast_tensors([which, *parts])
    places = _within("np.choose", which, len(parts), mode)
    stacked = paddle.stack(parts)
    return paddle.take_along_axis(stacked, paddle.unsqueeze(places, 0), 0)[0]


def _within(name: str, indices: Any, size: int, mode: str) -> Any:
    """Positions in an axis of this size, by NumPy's modes."""
    if mode == "clip":
        return paddle.clip(indices, 0, size - 1)
    if mode == "wrap":
        return paddle.remainder(indices, size)
    if mode != "raise":
        raise ArgumentError(f"{name}: mode must be raise, wrap or clip, got {mode!r}")
    return indices


@covers("take")
def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    x, axis = along(a, axis)
    places = _within("np.take", as_tensor(indices), x.shape[axis], mode)
    return x[(slice(None),) * axis + (places,)]


@covers("take_along_axis")
def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    x, axis = along(arr, axis)
    return paddle.take_along_axis(x, as_tensor(indices), axis)


@covers("compress")
def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    kept = np.flatnonzero(plain("np.compress", as_tensor(condition)))
    return _take(a, paddle.to_tensor(kept), axis)


@covers("extract")
def _extract(condition: Any, arr: Any) -> Any:
    truth = paddle.reshape(as_tensor(condition).astype("bool"), [-1])
    return paddle.masked_select(paddle.reshape(as_tensor(arr), [-1]), truth)


# --- order


@covers("sort")
def _sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None,
    descending: Any = None,
) -> Any:  # fmt: skip
    x, axis = along(a, axis)
    # NaN comes last in either order, ours puts it first.
    if descending and paddle.is_floating_point(x):
        return -paddle.sort(-x, axis)
    return paddle.sort(x, axis, bool(descending))


@covers("argsort")
def _argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None,
    descending: Any = None,
) -> Any:  # fmt: skip
    x, axis = along(a, axis)
    stable = bool(stable) or kind in ("stable", "mergesort")
    if descending and paddle.is_floating_point(x):
        return paddle.argsort(-x, axis, stable=stable)
    return paddle.argsort(x, axis, bool(descending), stable)


@covers("partition")
def _partition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    return _sort(a, axis)  # every sorted array is partitioned


@covers("searchsorted")
def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    x, v = as_tensors(a, v)
    if sorter is not None:
        x = paddle.take(x, as_tensor(sorter))
    return paddle.searchsorted(x, v, right=side == "right")


@covers("isin")
def _isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    kind: Any = None,
) -> Any:  # fmt: skip
    x, wanted = as_tensors(element, test_elements)
    return paddle.isin(x, wanted, assume_unique, invert)
