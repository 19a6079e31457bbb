"""Calls of the public functions of `scatter`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import apart, integers, real

from ..case import Case
from ..peers import torch
from .getitem import MASK, ROWS
from .setitem import numpy_assigned

Array = np.ndarray


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


def added(x: Array, index: Array, axis: int, value: Array) -> Array:
    out = np.moveaxis(x.copy(), axis, 0)
    for k, row in zip(index, np.moveaxis(value, axis, 0), strict=True):
        out[k] = out[k] + row
    return np.moveaxis(out, 0, axis)


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


CASES: dict[str, list[Case]] = {
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
}
