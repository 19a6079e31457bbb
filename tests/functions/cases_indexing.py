"""Calls of the public functions that read and write by position, sort and search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import apart, flags, integers, real, spaced

from .case import Case
from .peers import torch

Array = np.ndarray
MASK = np.asarray([[True, False, True], [False, True, True]])
ROWS = np.asarray([True, False, True])


def assigned(key: Any) -> Callable[..., Any]:
    """``x[key] = value`` on a copy, in each of the systems; arrays in `key` come as operands."""

    def call(x: Any, value: Any, *arrays: Any) -> Any:
        full = with_arrays(key, arrays)
        if not isinstance(x, paddle.Tensor):
            return paddle.static.setitem(x, full, value)
        y = x.clone()
        y[full] = value
        return y

    return call


def numpy_assigned(key: Any) -> Callable[..., Any]:
    def call(x: Array, value: Array, *arrays: Array) -> Array:
        y = x.copy()
        y[with_arrays(key, arrays)] = value
        return y

    return call


def torch_assigned(key: Any) -> Callable[..., Any]:
    def call(x: Any, value: Any, *arrays: Any) -> Any:
        y = x.clone()
        y[with_arrays(key, arrays)] = value
        return y

    return call


def assignment(
    label: str, key: Any, *operands: Array, in_torch: bool = True, **options: Any
) -> Case:
    return Case(
        label,
        assigned(key),
        operands,
        numpy=numpy_assigned(key),
        torch=torch_assigned(key) if in_torch else None,
        **options,
    )


def with_arrays(key: Any, arrays: Any) -> Any:
    """`key` with arrays for the strings in it."""
    given = iter(arrays)
    return tuple(next(given) if isinstance(k, str) else k for k in key)


def read(
    label: str, key: Any, x: Array, *arrays: Array, in_torch: bool = True, **options: Any
) -> Case:
    def call(x: Any, *arrays: Any) -> Any:
        return x[with_arrays(key, arrays)]

    return Case(label, call, (x, *arrays), numpy=call, torch=call if in_torch else None, **options)


def added(x: Array, index: Array, axis: int, value: Array) -> Array:
    out = np.moveaxis(x.copy(), axis, 0)
    for k, row in zip(index, np.moveaxis(value, axis, 0), strict=True):
        out[k] = out[k] + row
    return np.moveaxis(out, 0, axis)


def along(reduce: str, include_self: bool = True) -> Callable[..., Array]:
    """put_along_axis along the last axis of a matrix, one value after the other."""
    together: dict[str, Any] = {
        "assign": lambda old: old[-1],
        "add": sum,
        "multiply": np.prod,
        "mean": np.mean,
        "amin": min,
        "amax": max,
    }

    def call(x: Array, index: Array, values: Array) -> Array:
        out = x.copy()
        values = np.broadcast_to(values, index.shape)
        for i in range(x.shape[0]):
            for j in set((index[i] % x.shape[1]).tolist()):
                found = [v for k, v in zip(index[i] % x.shape[1], values[i], strict=True) if k == j]
                out[i, j] = together[reduce]([x[i, j]] * include_self + found)
        return out

    return call


def reduced(reduce: str, in_torch: str, include_self: bool = True) -> Case:
    x, values = apart((2, 3), (2, 4))
    index = integers([0, 2, 0, 0], [1, -1, 1, 2])
    return Case(
        f"{reduce}{'' if include_self else '-without-self'}",
        lambda x, i, v: paddle.put_along_axis(x, i, v, 1, reduce=reduce, include_self=include_self),
        (x, index, values),
        numpy=along(reduce, include_self),
        torch=lambda x, i, v: x.scatter_reduce(1, i % 3, v, in_torch, include_self=include_self),
    )


def reduced_torch(reduce: str) -> Case:
    x, values = apart((2, 3), (2, 4))
    names = {"sum": "add", "prod": "multiply"}
    return Case(
        reduce,
        lambda x, i, v: paddle.scatter_reduce(x, 1, i, v, reduce),
        (x, integers([0, 2, 0, 0], [1, 2, 1, 2]), values),
        numpy=along(names.get(reduce, reduce)),
        torch=lambda x, i, v: x.scatter_reduce(1, i, v, reduce),
    )


def masked_scatter(x: Array, mask: Array, value: Array) -> Array:
    out, given = x.copy(), iter(value.ravel())
    for at in np.ndindex(x.shape):
        if np.broadcast_to(mask, x.shape)[at]:
            out[at] = next(given)
    return out


def nd_added(x: Array, index: Array, updates: Array) -> Array:
    out = x.copy()
    for at in np.ndindex(index.shape[:-1]):
        out[tuple(index[at])] += updates[at]
    return out


def down(x: Array, axis: int) -> Array:
    return np.flip(np.sort(x, axis), axis)


CASES: dict[str, list[Case]] = {
    # --- keys
    "Tensor.__getitem__": [
        read("slices", (slice(None, None, 2), None, -1), real(4, 3)),
        read("backwards", (slice(None, None, -1),), real(4, 3), in_torch=False),
        read("rows", ("i",), real(4, 3), integers(2, 0, 2)),
        read("columns", (Ellipsis, "i"), real(2, 3), integers(-1, 0)),
        read("pairs", ("i", "j"), real(4, 3), integers(2, 0, 2), integers(1, 1, -2)),
        read("apart", ("i", slice(1, None), "j"), real(3, 3, 2), integers(2, 0), integers(1, 1)),
        read("broadcast", ("i", "j"), real(4, 3), integers([0], [3]), integers(1, 1, 2)),
        read("mask", ("m",), real(3, 2), ROWS),
        read("mask-of-all", ("m",), real(2, 3), MASK),
        read("mask-behind", (slice(1), "m"), real(2, 2, 3), MASK),
        read("0-d", (slice(None), "i"), real(2, 3), np.asarray(1)),
    ],
    "Tensor.__setitem__": [
        assignment("slice", (slice(1, 3),), real(4, 3), real(3)),
        assignment("point", (1, -1), real(2, 3), real()),
        assignment("rows", ("i",), real(4, 3), real(2, 3), integers(2, 0)),
        assignment("repeats", ("i",), real(4, 2), real(3, 2), integers(2, 0, 2), in_torch=False),
        assignment("column", (slice(None), "i"), real(2, 3), real(2, 1), integers(0, 2)),
        assignment("mask", ("m",), real(3, 2), real(2), ROWS),
        assignment("mask-of-all", ("m",), real(2, 3), real(4), MASK),
    ],
    "static.setitem": [
        Case(
            "slice",
            lambda x, v: paddle.static.setitem(x, (slice(None), 1), v),
            (real(2, 3), real(2)),
            numpy=lambda x, v: np.stack([x[:, 0], v, x[:, 2]], 1),
        )
    ],
    # --- along an axis
    "gather": [
        Case(
            "rows",
            lambda x, i: paddle.gather(x, i),
            (real(4, 2), integers(2, -4, 2)),
            numpy=lambda x, i: x[i],
            torch=lambda x, i: x[i],
        ),
        Case(
            "columns",
            lambda x, i: paddle.gather(x, i, axis=1),
            (real(2, 3), integers(2, 0)),
            numpy=lambda x, i: x[:, i],
            torch=lambda x, i: torch.index_select(x, 1, i),
        ),
    ],
    "index_select": [
        Case(
            "columns",
            lambda x, i: paddle.index_select(x, i, axis=-1),
            (real(2, 3), integers(2, 0, 2)),
            numpy=lambda x, i: x[:, i],
            torch=lambda x, i: torch.index_select(x, -1, i),
        ),
    ],
    "gather_nd": [
        Case(
            "points",
            lambda x, i: paddle.gather_nd(x, i),
            (real(2, 3), integers([1, 2], [0, 0], [1, -1])),
            numpy=lambda x, i: np.asarray([x[a, b] for a, b in i]),
            torch=lambda x, i: x[i[:, 0], i[:, 1]],
        ),
        Case(
            "rows",
            lambda x, i: paddle.gather_nd(x, i),
            (real(3, 2), integers([[1], [2]], [[1], [0]])),
            numpy=lambda x, i: x[i[..., 0]],
            torch=lambda x, i: x[i[..., 0]],
        ),
        Case(
            "everything",
            lambda x, i: paddle.gather_nd(x, i),
            (real(3), np.zeros((2, 0), np.int64)),
            numpy=lambda x, i: np.stack([x, x]),
            known=True,
        ),
    ],
    "take": [
        Case(
            "raise",
            lambda x, i: paddle.take(x, i),
            (real(2, 3), integers([5, 0], [-1, 3])),
            numpy=np.take,
            torch=lambda x, i: torch.take(x, i),
        ),
        Case(
            "wrap",
            lambda x, i: paddle.take(x, i, mode="wrap"),
            (real(2, 3), integers(7, -8, 2)),
            numpy=lambda x, i: np.take(x, i, mode="wrap"),
            known=True,
        ),
        Case(
            "clip",
            lambda x, i: paddle.take(x, i, mode="clip"),
            (real(2, 3), integers(7, -8, 2)),
            numpy=lambda x, i: np.take(x, i, mode="clip"),
            known=True,
        ),
    ],
    "take_along_axis": [
        Case(
            "plain",
            lambda x, i: paddle.take_along_axis(x, i, 1),
            (real(2, 3), integers([2, 0, 2, 1], [0, 0, -1, 1])),
            numpy=lambda x, i: np.take_along_axis(x, i, 1),
            torch=lambda x, i: torch.gather(x, 1, i % 3),
        ),
        Case(
            "broadcast",
            lambda x, i: paddle.take_along_axis(x, i, 0),
            (real(3, 2), integers([2], [0])),
            numpy=lambda x, i: x[i[:, 0]],
            known=True,
        ),
        Case(
            "part",
            lambda x, i: paddle.take_along_axis(x, i, 0, broadcast=False),
            (real(3, 2), integers([2], [0])),
            numpy=lambda x, i: x[i, 0],
            torch=lambda x, i: torch.gather(x, 0, i),
            known=True,
        ),
    ],
    "index_sample": [
        Case(
            "plain",
            lambda x, i: paddle.index_sample(x, i),
            (real(2, 3), integers([2, 0, 2], [0, 1, 1])),
            numpy=lambda x, i: np.stack([x[0][i[0]], x[1][i[1]]]),
            torch=lambda x, i: torch.gather(x, 1, i),
        )
    ],
    "put_along_axis": [
        Case(
            "assign",
            lambda x, i, v: paddle.put_along_axis(x, i, v, 1),
            (real(2, 3), integers([2, 0], [-1, 1]), real(2, 2)),
            numpy=along("assign"),
            torch=lambda x, i, v: x.scatter(1, i % 3, v),
        ),
        Case(
            "assign-repeats",
            lambda x, i, v: paddle.put_along_axis(x, i, v, 1),
            (real(2, 3), integers([2, 0, 2], [1, 1, 1]), real(2, 3)),
            numpy=along("assign"),
        ),
        Case(
            "part",
            lambda x, i, v: paddle.put_along_axis(x, i, v, 1, reduce="mul", broadcast=False),
            (real(2, 3), integers([2, 2]), real(1, 2)),
            numpy=lambda x, i, v: np.stack([[x[0, 0], x[0, 1], x[0, 2] * v[0, 0] * v[0, 1]], x[1]]),
            torch=lambda x, i, v: x.scatter_reduce(1, i, v, "prod"),
            known=True,
        ),
        reduced("add", "sum"),
        reduced("add", "sum", include_self=False),
        reduced("multiply", "prod"),
        reduced("multiply", "prod", include_self=False),
        reduced("mean", "mean"),
        reduced("mean", "mean", include_self=False),
        reduced("amax", "amax"),
        reduced("amin", "amin"),
        reduced("amax", "amax", include_self=False),
    ],
    "scatter_reduce": [reduced_torch(r) for r in ("sum", "prod", "mean", "amin", "amax")],
    "scatter_add": [
        Case(
            "plain",
            lambda x, i, v: paddle.scatter_add(x, 1, i, v),
            (real(2, 3), integers([2, 2], [0, 1]), real(2, 2)),
            numpy=along("add"),
            torch=lambda x, i, v: x.scatter_add(1, i, v),
        ),
        Case(
            "larger-source",
            lambda x, i, v: paddle.scatter_add(x, 1, i, v),
            (real(2, 3), integers([2, 2], [0, 1]), real(3, 4)),
            numpy=lambda x, i, v: along("add")(x, i, v[:2, :2]),
            torch=lambda x, i, v: x.scatter_add(1, i, v[:2, :2]),
            known=True,
        ),
    ],
    # --- writing rows and elements
    "index_add": [
        Case(
            "rows",
            lambda x, i, v: paddle.index_add(x, i, 0, v),
            (real(3, 2), integers(2, 0, 2), real(3, 2)),
            numpy=lambda x, i, v: added(x, i, 0, v),
            torch=lambda x, i, v: torch.index_add(x, 0, i, v),
        ),
        Case(
            "columns-alpha",
            lambda x, i, v: paddle.index_add(x, i, 1, v, alpha=-2.5),
            (real(2, 3), integers(2, 2), real(2, 2)),
            numpy=lambda x, i, v: added(x, i, 1, -2.5 * v),
            torch=lambda x, i, v: torch.index_add(x, 1, i, v, alpha=-2.5),
        ),
    ],
    "index_fill": [
        Case(
            "number",
            lambda x, i: paddle.index_fill(x, i, 1, 7.0),
            (real(2, 3), integers(2, 0)),
            numpy=lambda x, i: np.where(np.isin(range(3), i), 7.0, x),
            torch=lambda x, i: torch.index_fill(x, 1, i, 7.0),
        ),
        Case(
            "0-d",
            lambda x, i, v: paddle.index_fill(x, i, 0, v),
            (real(3, 2), integers(2, -3), real()),
            numpy=lambda x, i, v: np.stack([np.full(2, v), x[1], np.full(2, v)]),
            torch=lambda x, i, v: torch.index_fill(x, 0, i % 3, v),
        ),
    ],
    "index_put": [
        Case(
            "assign",
            lambda x, i, j, v: paddle.index_put(x, (i, j), v),
            (real(2, 3), integers(0, 1), integers(2, -2), real(2)),
            numpy=lambda x, i, j, v: numpy_assigned(("i", "j"))(x, v, i, j),
            torch=lambda x, i, j, v: torch.index_put(x, (i, j), v),
        ),
        Case(
            "accumulate",
            lambda x, i, v: paddle.index_put(x, (i,), v, accumulate=True),
            (real(3, 2), integers(2, 0, 2), real(2)),
            numpy=lambda x, i, v: added(x, i, 0, np.stack([v, v, v])),
            torch=lambda x, i, v: torch.index_put(x, (i,), v, accumulate=True),
        ),
        Case(
            "mask",
            lambda x, m, v: paddle.index_put(x, (m,), v),
            (real(2, 3), MASK, real()),
            numpy=lambda x, m, v: np.where(m, v, x),
            torch=lambda x, m, v: torch.index_put(x, (m,), v),
        ),
        Case(
            "mask-accumulate",
            lambda x, m, v: paddle.index_put(x, (m,), v, accumulate=True),
            (real(2, 3), MASK, real()),
            numpy=lambda x, m, v: np.where(m, x + v, x),
            torch=lambda x, m, v: torch.index_put(x, (m,), v, accumulate=True),
        ),
    ],
    "scatter": [
        Case(
            "overwrite",
            lambda x, i, v: paddle.scatter(x, i, v),
            (real(4, 2), integers(3, 1), real(2, 2)),
            numpy=lambda x, i, v: np.stack([x[0], v[1], x[2], v[0]]),
            torch=lambda x, i, v: torch.index_copy(x, 0, i, v),
        ),
        Case(
            "overwrite-repeats",
            lambda x, i, v: paddle.scatter(x, i, v),
            (real(3, 2), integers(1, 1), real(2, 2)),
            numpy=lambda x, i, v: np.stack([x[0], v[1], x[2]]),
        ),
        Case(
            "add",
            lambda x, i, v: paddle.scatter(x, i, v, overwrite=False),
            (real(3, 2), integers(1, 1, 0), real(3, 2)),
            numpy=lambda x, i, v: np.stack([v[2], v[0] + v[1], x[2]]),
        ),
        Case(
            "0-d",
            lambda x, i, v: paddle.scatter(x, i, v),
            (real(3, 2), np.asarray(-1), real(2)),
            numpy=lambda x, i, v: np.stack([x[0], x[1], v]),
        ),
    ],
    "scatter_nd_add": [
        Case(
            "points",
            lambda x, i, v: paddle.scatter_nd_add(x, i, v),
            (real(2, 3), integers([1, 2], [0, 0], [1, -1]), real(3)),
            numpy=nd_added,
            torch=lambda x, i, v: torch.index_put(x, (i[:, 0], i[:, 1]), v, accumulate=True),
        ),
        Case(
            "rows",
            lambda x, i, v: paddle.scatter_nd_add(x, i, v),
            (real(3, 2), integers([1], [1]), real(2, 2)),
            numpy=nd_added,
        ),
        Case(
            "everything",
            lambda x, i, v: paddle.scatter_nd_add(x, i, v),
            (real(3), np.zeros((2, 0), np.int64), real(2, 3)),
            numpy=lambda x, i, v: x + v[0] + v[1],
        ),
    ],
    "scatter_nd": [
        Case(
            "rows",
            lambda i, v: paddle.scatter_nd(i, v, [4, 2]),
            (integers([1], [3], [1]), real(3, 2)),
            numpy=lambda i, v: nd_added(np.zeros((4, 2)), i, v),
        )
    ],
    # --- masks
    "masked_select": [
        Case(
            "plain",
            lambda x, m: paddle.masked_select(x, m),
            (real(2, 3), MASK),
            numpy=lambda x, m: x[m],
            torch=lambda x, m: torch.masked_select(x, m),
        ),
        Case(
            "broadcast",
            lambda x, m: paddle.masked_select(x, m),
            (real(2, 3), ROWS),
            numpy=lambda x, m: np.concatenate([v[m] for v in x]),
            torch=lambda x, m: torch.masked_select(x, m),
        ),
    ],
    "masked_fill": [
        Case(
            "number",
            lambda x, m: paddle.masked_fill(x, m, 0.5),
            (real(2, 3), ROWS),
            numpy=lambda x, m: np.where(m, 0.5, x),
            torch=lambda x, m: torch.masked_fill(x, m, 0.5),
        ),
        Case(
            "column",
            lambda x, m, v: paddle.masked_fill(x, m, v),
            (real(2, 3), MASK, real(2, 1)),
            numpy=lambda x, m, v: np.where(m, v, x),
        ),
    ],
    "masked_scatter": [
        Case(
            "plain",
            lambda x, m, v: paddle.masked_scatter(x, m, v),
            (real(2, 3), MASK, real(2, 3)),
            numpy=masked_scatter,
            torch=lambda x, m, v: torch.masked_scatter(x, m, v),
        ),
        Case(
            "broadcast",
            lambda x, m, v: paddle.masked_scatter(x, m, v),
            (real(2, 3), ROWS, real(4)),
            numpy=masked_scatter,
            torch=lambda x, m, v: torch.masked_scatter(x, m, v),
        ),
    ],
    "where": [
        Case(
            "plain",
            lambda c, x, y: paddle.where(c, x, y),
            (flags(2, 3), real(2, 3), real(3)),
            numpy=np.where,
            torch=lambda c, x, y: torch.where(c, x, y),
        ),
        Case(
            "positions",
            lambda c: paddle.where(c),
            (MASK,),
            numpy=np.where,
            torch=lambda c: torch.where(c),
            differentiable=False,
        ),
    ],
    "nonzero": [
        Case(
            "rows",
            lambda x: paddle.nonzero(x),
            (MASK,),
            numpy=np.argwhere,
            torch=lambda x: torch.nonzero(x),
            differentiable=False,
        ),
        Case(
            "tuple",
            lambda x: paddle.nonzero(x, as_tuple=True),
            (real(2, 2),),
            numpy=np.nonzero,
            differentiable=False,
        ),
    ],
    # --- order
    "sort": [
        Case(
            "last",
            lambda x: paddle.sort(x),
            (spaced(2, 4),),
            numpy=np.sort,
            torch=lambda x: torch.sort(x)[0],
        ),
        Case(
            "first-down",
            lambda x: paddle.sort(x, axis=0, descending=True),
            (spaced(4, 2),),
            numpy=lambda x: down(x, 0),
            torch=lambda x: torch.sort(x, 0, descending=True)[0],
        ),
        Case("0-d", lambda x: paddle.sort(x), (real(),), numpy=lambda x: x),
    ],
    "msort": [
        Case(
            "plain",
            lambda x: paddle.msort(x),
            (spaced(4, 2),),
            numpy=lambda x: np.sort(x, 0),
            torch=lambda x: torch.msort(x),
        )
    ],
    "argsort": [
        Case(
            "last",
            lambda x: paddle.argsort(x),
            (spaced(2, 4),),
            numpy=np.argsort,
            torch=lambda x: torch.argsort(x),
            differentiable=False,
        ),
        Case(
            "ties-down",
            lambda x: paddle.argsort(x, axis=0, descending=True, stable=True),
            (integers(1, 2, 1, 2, 3),),
            numpy=lambda x: np.asarray([4, 1, 3, 0, 2]),
            torch=lambda x: torch.argsort(x, dim=0, descending=True, stable=True),
            differentiable=False,
        ),
        Case(
            "0-d",
            lambda x: paddle.argsort(x),
            (real(),),
            numpy=lambda x: np.asarray(0),
            differentiable=False,
        ),
    ],
    "searchsorted": [
        Case(
            "plain",
            lambda s, v: paddle.searchsorted(s, v),
            (np.asarray([0.0, 0.5, 0.5, 2.0]), np.asarray([[0.5, 3.0], [-1.0, 0.1]])),
            numpy=np.searchsorted,
            torch=lambda s, v: torch.searchsorted(s, v),
            differentiable=False,
        ),
        Case(
            "lines-right",
            lambda s, v: paddle.searchsorted(s, v, out_int32=True, right=True),
            (integers([1, 3, 5], [2, 4, 6]), integers([3, 0], [4, 9])),
            numpy=lambda s, v: np.asarray([[2, 0], [2, 3]], np.int32),
            torch=lambda s, v: torch.searchsorted(s, v, out_int32=True, right=True),
            differentiable=False,
        ),
        Case(
            "sorter",
            lambda s, v: paddle.searchsorted(s, v, side="right", sorter=paddle.argsort(s)),
            (integers(5, 1, 3), integers(3, 0)),
            numpy=lambda s, v: np.asarray([2, 0]),
            differentiable=False,
        ),
    ],
    "bucketize": [
        Case(
            "plain",
            lambda x, s: paddle.bucketize(x, s),
            (np.asarray([[0.0, 2.0], [1.0, 9.0]]), np.asarray([1.0, 3.0])),
            numpy=lambda x, s: np.asarray([[0, 1], [0, 2]]),
            torch=lambda x, s: torch.bucketize(x, s),
            differentiable=False,
        )
    ],
    "isin": [
        Case(
            "plain",
            lambda x, t: paddle.isin(x, t),
            (integers([1, 2], [3, 4]), integers(4, 1)),
            numpy=np.isin,
            torch=lambda x, t: torch.isin(x, t),
            differentiable=False,
        ),
        Case(
            "not",
            lambda x, t: paddle.isin(x, t, invert=True),
            (integers(1, 2, 3), integers([3], [1])),
            numpy=lambda x, t: np.asarray([False, True, False]),
            torch=lambda x, t: torch.isin(x, t, invert=True),
            differentiable=False,
        ),
    ],
    "unique": [
        Case(
            "plain",
            lambda x: paddle.unique(x),
            (integers(3, 1, 3, 2),),
            numpy=np.unique,
            torch=lambda x: torch.unique(x),
            differentiable=False,
        ),
        Case(
            "everything",
            lambda x: paddle.unique(
                x, return_index=True, return_inverse=True, return_counts=True, dtype="int32"
            ),
            (integers(3, 1, 3, 2),),
            numpy=lambda x: (
                np.asarray([1, 2, 3]),
                np.asarray([1, 3, 0], np.int32),
                np.asarray([2, 0, 2, 1], np.int32),
                np.asarray([1, 1, 2], np.int32),
            ),
            differentiable=False,
        ),
        Case(
            "rows",
            lambda x: paddle.unique(x, axis=0, return_counts=True),
            (np.asarray([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0]]),),
            numpy=lambda x: (np.asarray([[0.0, 1.0], [2.0, 1.0]]), np.asarray([1, 2])),
            torch=lambda x: torch.unique(x, dim=0, return_counts=True),
            differentiable=False,
        ),
    ],
    "unique_consecutive": [
        Case(
            "plain",
            lambda x: paddle.unique_consecutive(x, return_inverse=True, return_counts=True),
            (integers(1, 1, 2, 2, 2, 1),),
            numpy=lambda x: (
                np.asarray([1, 2, 1]),
                np.asarray([0, 0, 1, 1, 1, 2]),
                np.asarray([2, 3, 1]),
            ),
            torch=lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
            differentiable=False,
        ),
        Case(
            "columns",
            lambda x: paddle.unique_consecutive(x, axis=1),
            (np.asarray([[2.0, 2.0, 1.0], [0.0, 0.0, 0.0]]),),
            numpy=lambda x: x[:, 1:],
            torch=lambda x: torch.unique_consecutive(x, dim=1),
            differentiable=False,
        ),
    ],
}
