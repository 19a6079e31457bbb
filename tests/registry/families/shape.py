"""Samples and references of `ops/shape.py`: shapes."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample, integers, real, with_likes


def flatten_axes(x: Array, start: int, stop: int) -> Array:
    merged = math.prod(x.shape[start : stop + 1])
    shape = (*x.shape[:start], merged, *x.shape[stop + 1 :])
    return np.asarray(list(x.ravel())).reshape(shape)


def unflatten_axis(x: Array, axis: int, sizes: tuple[int, ...]) -> Array:
    rest = math.prod(d for d in sizes if d != -1)
    parts = [x.shape[axis] // rest if d == -1 else d for d in sizes]
    return np.asarray(list(x.ravel())).reshape((*x.shape[:axis], *parts, *x.shape[axis + 1 :]))


def broadcast_like(x: Array, *likes: Array) -> Array:
    total = x
    for like in likes:
        total = total + np.zeros(like.shape)
    return total


def reinterpret(x: Array, dtype: str) -> Array:
    """From the bytes, which are little-endian or as this machine has them."""
    new = np.dtype(dtype)
    data = b"".join(int(v).to_bytes(x.itemsize, sys.byteorder, signed=True) for v in x.ravel())
    signed = new.kind == "i"
    pieces = [data[k : k + new.itemsize] for k in range(0, len(data), new.itemsize)]
    values = [int.from_bytes(p, sys.byteorder, signed=signed) for p in pieces]
    shape = x.shape if x.itemsize == new.itemsize else (*x.shape[:-1], -1 if values else None)
    if shape and shape[-1] is None:
        return np.zeros((*x.shape[:-1], x.shape[-1] * x.itemsize // new.itemsize), new)
    return np.asarray(values, new).reshape(shape)


SAMPLES: dict[str, list[Sample]] = {
    "reshape": [
        Sample("plain", (real(2, 3),), {"shape": (3, 2)}),
        Sample("work-out", (real(2, 3),), {"shape": (-1,)}),
        Sample("keep", (real(2, 3, 2),), {"shape": (0, -1)}),
        Sample("0-d", (real(1, 1),), {"shape": ()}),
        Sample("size-1", (real(),), {"shape": (1, 1)}),
        Sample("empty", (real(0, 3),), {"shape": (0, 3, 1)}),
        Sample("strided", (strided(real(2, 3)),), {"shape": (6,)}),
    ],
    "flatten_lead": [
        Sample("plain", (real(2, 3, 2),)),
        Sample("matrix", (real(2, 3),)),
        Sample("vector", (real(3),)),
        Sample("size-1", (real(1, 1, 1),)),
        Sample("empty", (real(0, 2, 3),)),
        Sample("empty-rows", (real(2, 3, 0),)),
        Sample("strided", (strided(real(2, 3, 2)),)),
    ],
    "unflatten_lead": [
        Sample("plain", with_likes((6, 4), (2, 3, 5))),
        Sample("deep", with_likes((12, 1), (2, 3, 2, 5))),
        Sample("matrix", with_likes((2, 3), (2, 3))),
        Sample("empty", with_likes((0, 3), (2, 0, 1))),
        Sample("empty-rows", with_likes((6, 0), (2, 3, 4))),
        Sample("strided", (strided(real(6, 2)), np.zeros((3, 2, 1)))),
    ],
    "same_shape": [
        Sample("plain", with_likes((2, 3), (2, 3))),
        Sample("0-d", with_likes((), ())),
        Sample("empty", with_likes((0, 3), (0, 3))),
        Sample("strided", (strided(real(2, 3)), np.zeros((2, 3)))),
    ],
    "unsqueeze": [
        Sample("first", (real(2, 3),), {"axis": (0,)}),
        Sample("several", (real(2, 3),), {"axis": (0, 3)}),
        Sample("0-d", (real(),), {"axis": (0,)}),
        Sample("empty", (real(0, 3),), {"axis": (1,)}),
        Sample("strided", (strided(real(2, 3)),), {"axis": (1,)}),
    ],
    "squeeze": [
        Sample("last", (real(2, 1),), {"axis": (1,)}),
        Sample("several", (real(1, 3, 1),), {"axis": (0, 2)}),
        Sample("none", (real(2, 3),), {"axis": ()}),
        Sample("empty", (real(0, 1),), {"axis": (1,)}),
        Sample("strided", (strided(real(2, 1, 3)),), {"axis": (1,)}),
    ],
    "transpose": [
        Sample("plain", (real(2, 3),), {"perm": (1, 0)}),
        Sample("cycle", (real(2, 3, 4),), {"perm": (1, 2, 0)}),
        Sample("same", (real(2, 3),), {"perm": (0, 1)}),
        Sample("0-d", (real(),), {"perm": ()}),
        Sample("empty", (real(0, 3),), {"perm": (1, 0)}),
        Sample("strided", (strided(real(2, 3)),), {"perm": (1, 0)}),
    ],
    "expand": [
        Sample("stretch", (real(2, 1),), {"shape": (2, 3)}),
        Sample("lead", (real(3),), {"shape": (2, 2, 3)}),
        Sample("keep", (real(2, 1),), {"shape": (3, -1, 2)}),
        Sample("same", (real(2, 3),), {"shape": (2, 3)}),
        Sample("0-d", (real(),), {"shape": (2, 2)}),
        Sample("empty", (real(1, 3),), {"shape": (0, 3)}),
        Sample("strided", (strided(real(3, 1)),), {"shape": (3, 2)}),
    ],
    "flatten_axes": [
        Sample("first", (real(2, 3, 2),), {"start": 0, "stop": 1}),
        Sample("last", (real(2, 3, 2),), {"start": 1, "stop": 2}),
        Sample("all", (real(2, 3),), {"start": 0, "stop": 1}),
        Sample("one", (real(2, 3),), {"start": 1, "stop": 1}),
        Sample("empty", (real(0, 2, 3),), {"start": 1, "stop": 2}),
        Sample("strided", (strided(real(2, 3, 2)),), {"start": 0, "stop": 1}),
    ],
    "unflatten_axis": [
        Sample("plain", (real(6, 2),), {"axis": 0, "sizes": (3, 2)}),
        Sample("work-out", (real(2, 6),), {"axis": 1, "sizes": (2, -1)}),
        Sample(
            "work-out-first",
            (
                real(
                    6,
                ),
            ),
            {"axis": 0, "sizes": (-1, 3)},
        ),
        Sample("size-1", (real(3, 1),), {"axis": 1, "sizes": (1, 1, 1)}),
        Sample("empty", (real(0, 4),), {"axis": 1, "sizes": (2, 2)}),
        Sample("strided", (strided(real(4, 3)),), {"axis": 0, "sizes": (2, 2)}),
    ],
    "broadcast_like": [
        Sample("plain", with_likes((2, 1), (2, 3))),
        Sample("lead", with_likes((3,), (2, 2, 3))),
        Sample("several", with_likes((1, 3), (2, 1, 1), (4, 1))),
        Sample("larger", with_likes((2, 3), (3,))),
        Sample("alone", (real(2, 3),)),
        Sample("0-d", with_likes((), (2,))),
        Sample("empty", with_likes((1, 3), (0, 3))),
        Sample("strided", (strided(real(3, 1)), np.zeros((3, 2)))),
    ],
    "shape_of": [
        Sample("plain", (real(2, 3),)),
        Sample("0-d", (real(),)),
        Sample("empty", (real(0, 3),)),
        Sample("strided", (strided(real(2, 3)),)),
    ],
    "numel": [
        Sample("plain", (real(2, 3),)),
        Sample("0-d", (real(),)),
        Sample("empty", (real(0, 3),)),
        Sample("strided", (strided(real(2, 3)),)),
    ],
    "reinterpret": [
        Sample("same-size", (integers([1, -1], [2, 3]),), {"dtype": "uint64"}),
        Sample("smaller", (integers([1, -1], [2**32, 3]),), {"dtype": "int32"}),
        Sample("larger", (np.asarray([[1, 2], [3, 4]], np.int32),), {"dtype": "int64"}),
        Sample("0-d", (np.asarray(-1),), {"dtype": "uint64"}),
        Sample("empty", (np.zeros((0, 2), np.int64),), {"dtype": "int32"}),
        Sample("strided", (strided(integers([1, 2, 3])),), {"dtype": "int32"}),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "reshape": lambda x, shape: np.asarray(x.ravel().tolist()).reshape(
        [x.shape[i] if d == 0 else d for i, d in enumerate(shape)]
    ),
    "flatten_lead": lambda x: np.asarray([v for _, v in np.ndenumerate(x)]).reshape(
        x.size // x.shape[-1] if x.shape[-1] else int(np.prod(x.shape[:-1])), x.shape[-1]
    ),
    "unflatten_lead": lambda x, like: np.moveaxis(
        np.asarray([np.ravel(column) for column in x.T]).reshape(x.shape[-1], *like.shape[:-1]),
        0,
        -1,
    ),
    "same_shape": lambda x, like: x + np.zeros(like.shape),
    "unsqueeze": lambda x, axis: x[
        tuple(None if i in axis else slice(None) for i in range(x.ndim + len(axis)))
    ],
    "squeeze": lambda x, axis: x[tuple(0 if i in axis else slice(None) for i in range(x.ndim))],
    "transpose": lambda x, perm: np.einsum(x, list(range(x.ndim)), list(perm)),
    "expand": lambda x, shape: (
        x + np.zeros([x.shape[i - len(shape)] if d == -1 else d for i, d in enumerate(shape)])
    ),
    "flatten_axes": flatten_axes,
    "unflatten_axis": unflatten_axis,
    "broadcast_like": broadcast_like,
    "shape_of": lambda like: np.asarray(list(like.shape), np.int64),
    "numel": lambda like: np.asarray(sum(1 for _ in like.flat)),
    "reinterpret": reinterpret,
}
