"""What the operations of `movement` should compute, said in another way."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .references_basic import transpose_of

Array = np.ndarray


def elementwise(shape: tuple[int, ...], f: Callable[[tuple[int, ...]], Any]) -> Array:
    """An array of `shape` whose element at each index is ``f(index)``."""
    out = np.zeros(shape)
    for index in np.ndindex(*shape):
        out[index] = f(index)
    return out


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


def flip(x: Array, axis: tuple[int, ...]) -> Array:
    return elementwise(
        x.shape, lambda i: x[tuple(x.shape[k] - 1 - p if k in axis else p for k, p in enumerate(i))]
    )


def roll(x: Array, shifts: tuple[int, ...], axis: tuple[int, ...]) -> Array:
    for shift, a in zip(shifts, axis, strict=True):
        rows = list(np.moveaxis(x, a, 0))
        for _ in range(shift % len(rows) if rows else 0):
            rows.insert(0, rows.pop())
        x = np.moveaxis(np.asarray(rows).reshape(np.moveaxis(x, a, 0).shape), 0, a)
    return x


def windows(x: Array, axis: int, size: int, step: int) -> Array:
    starts = range(0, x.shape[axis] - size + 1, step)
    pieces = [np.take(x, range(s, s + size), axis) for s in starts]
    return np.stack([np.moveaxis(p, axis, -1) for p in pieces], axis)


def diagonal(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    moved = np.moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = moved.shape[-2:]
    places = [(r, c) for r, c in itertools.product(range(rows), range(columns)) if c - r == offset]
    picked = [moved[..., r, c] for r, c in places]
    return np.stack(picked, -1) if picked else np.zeros((*moved.shape[:-2], 0))


def undiagonal(x: Array, like: Array, **attrs: int) -> Array:
    return transpose_of(lambda y: diagonal(y, **attrs), like.shape, x)


def diag_embed(x: Array, axis1: int, axis2: int, offset: int = 0) -> Array:
    side = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], side, side))
    for k in range(x.shape[-1]):
        out[..., k + max(-offset, 0), k + max(offset, 0)] = x[..., k]
    return np.moveaxis(out, (-2, -1), (axis1, axis2))


def pad(x: Array, pads: tuple[tuple[int, int], ...], value: float = 0.0) -> Array:
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, pads, strict=True))

    def at(index: tuple[int, ...]) -> Any:
        inner = tuple(p - a for p, (a, _) in zip(index, pads, strict=True))
        inside = all(0 <= p < n for p, n in zip(inner, x.shape, strict=True))
        return x[inner] if inside else value

    return elementwise(shape, at)


def unpad(x: Array, pads: tuple[tuple[int, int], ...]) -> Array:
    for axis, (before, after) in enumerate(pads):
        x = np.take(x, range(before, x.shape[axis] - after), axis)
    return x


def extend(x: Array, pads: tuple[tuple[int, int], ...], mode: str) -> Array:
    known = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    return np.pad(x, pads, known[mode])


def unextend(x: Array, pads: tuple[tuple[int, int], ...], mode: str) -> Array:
    shape = tuple(n - a - b for n, (a, b) in zip(x.shape, pads, strict=True))
    return transpose_of(lambda y: extend(y, pads, mode), shape, x)


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


REFERENCES: dict[str, Callable[..., Any]] = {
    "flatten_axes": flatten_axes,
    "unflatten_axis": unflatten_axis,
    "broadcast_like": broadcast_like,
    "flip": flip,
    "roll": roll,
    "windows": windows,
    "unwindows_like": lambda x, like, **attrs: transpose_of(
        lambda y: windows(y, **attrs), like.shape, x
    ),
    "diagonal": diagonal,
    "undiagonal_like": undiagonal,
    "diag_embed": diag_embed,
    "pad": pad,
    "unpad": unpad,
    "extend": extend,
    "unextend": unextend,
    "repeat_index": lambda repeats, like, axis, total: np.asarray(
        [k for k, n in enumerate(repeats.tolist()) for _ in range(n)], np.int64
    ),
    "shape_of": lambda like: np.asarray(list(like.shape), np.int64),
    "numel": lambda like: np.asarray(sum(1 for _ in like.flat)),
    "reinterpret": reinterpret,
}
