"""Calls of the public functions of `put_along`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import apart, integers, real

from ..case import Case

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


CASES: dict[str, list[Case]] = {
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
