"""Samples and references of `ops/getitem.py`: reading at a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, transpose_of
from ..sampling import Sample, integers, real

WHOLE = slice(None)


def _getitem(adjoint: bool) -> list[Sample]:
    keys: dict[str, tuple[Any, ...]] = {
        "int": (1,),
        "negative": (-1,),
        "int-last": (WHOLE, 2),
        "slice": (slice(1, 3),),
        "step": (slice(None, None, 2), slice(1, None)),
        "backwards": (WHOLE, slice(None, None, -1)),
        "backwards-part": (slice(3, 0, -2),),
        "none": (None, slice(0, 2), None, 1),
        "ellipsis": (Ellipsis, -1),
        "nothing": (slice(2, 2),),
        "point": (2, 1),
        "tail": (slice(-2, None),),
        "everything": (),
    }
    base = real(4, 3)
    samples = []
    for label, key in keys.items():
        piece = np.asarray(base[key])
        operands = (real(*piece.shape), np.zeros((4, 3))) if adjoint else (real(4, 3),)
        samples.append(Sample(label, operands, {"key": key}))
    last = (strided(real(2, 3)), np.zeros((4, 3))) if adjoint else (strided(real(4, 3)),)
    return [*samples, Sample("strided", last, {"key": (slice(1, 3),)})]


NOTHING = np.zeros(0, np.int64)

ROWS = np.asarray([True, False, True, True])

INNER = np.asarray([[True, False], [False, True], [True, True]])

# Keys of an array of shape (4, 3, 2), with the arrays in their places.
KEYS: dict[str, tuple[Any, ...]] = {
    "rows": (integers(2, 0, 2),),
    "pairs": (integers(2, 0, 2, -1), integers(1, 1, 1, -3)),
    "broadcast": (integers([0], [3]), integers(1, 2, 1)),
    "apart": (integers(2, 0, 2), WHOLE, integers(1, 1, 0)),
    "int-beside": (1, WHOLE, integers(1, 0, 1)),
    "none-between": (integers(0, 0), None, integers(1, 2)),
    "middle": (slice(1, 3), integers([2, 2], [0, 1])),
    "last": (Ellipsis, integers(1, 1, 0)),
    "backwards": (slice(None, None, -2), integers(0, 2), slice(1, None)),
    "0-d": (np.asarray(2), integers(0, 0)),
    "int32": (np.asarray([3, 3], np.int32), 1),
    "no-index": (NOTHING, 1),
    "mask": (ROWS,),
    "mask-of-all": (np.stack([INNER, ~INNER, INNER, INNER]),),
    "mask-inside": (slice(1, None), INNER),
    "masks": (ROWS, np.asarray([True, True, True])),
    "mask-and-index": (ROWS, integers(2, 2, 0)),
    "mask-of-none": (np.zeros(4, bool), None),
    "bool": (np.asarray(True), integers(1, 1)),
}


def index_arrays_of(key: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[np.ndarray, ...]]:
    """A key as the operations take it, and its arrays."""
    arrays = tuple(k for k in key if isinstance(k, np.ndarray))
    plain = tuple(
        ("mask" if k.dtype == bool else "index") if isinstance(k, np.ndarray) else k for k in key
    )
    return plain, arrays


def keyed(make: Any) -> list[Sample]:
    """``make(whole, part)`` gives the operands before the index arrays, from two shapes."""
    base = np.zeros((4, 3, 2))
    samples = []
    for label, key in KEYS.items():
        plain, arrays = index_arrays_of(key)
        operands = make(base.shape, np.shape(base[key]))
        samples.append(Sample(label, (*operands, *arrays), {"key": plain}))
    return samples


def _index() -> list[Sample]:
    plain, arrays = index_arrays_of((integers(2, 2), WHOLE, integers(1, 0)))
    return [
        *keyed(lambda whole, part: (real(*whole),)),
        Sample("strided", (strided(real(4, 3, 2)), *arrays), {"key": plain}),
    ]


def full_key(key: tuple[Any, ...], arrays: tuple[Array, ...]) -> tuple[Any, ...]:
    given = iter(arrays)
    return tuple(next(given) if isinstance(k, str) else k for k in key)


def places(shape: tuple[int, ...], arrays: tuple[Array, ...], key: tuple[Any, ...]) -> Array:
    """Which element of an array of `shape` each element of ``x[key]`` is, by NumPy's own rule."""
    count = int(np.prod(shape))
    return np.asarray(np.arange(count).reshape(shape)[full_key(key, arrays)])


def index(x: Array, *arrays: Array, key: tuple[Any, ...]) -> Array:
    at = places(x.shape, arrays, key)
    elements = x.ravel().tolist()
    return np.asarray([elements[i] for i in at.ravel()], float).reshape(at.shape)


def index_add_like(x: Array, like: Array, *arrays: Array, key: tuple[Any, ...]) -> Array:
    out = [0.0] * like.size
    for i, value in zip(places(like.shape, arrays, key).ravel(), x.ravel(), strict=True):
        out[i] += value
    return np.asarray(out).reshape(like.shape)


SAMPLES: dict[str, list[Sample]] = {
    "getitem": _getitem(adjoint=False),
    "unslice_like": _getitem(adjoint=True),
    "unslice_add": [
        Sample("one", (real(4, 3), real(3)), {"keys": ((1,),)}),
        Sample(
            "overlapping",
            (real(4, 3), real(2, 3), real(3), real(4)),
            {"keys": ((slice(0, 2),), (1,), (WHOLE, 2))},
        ),
        Sample("strided", (strided(real(4, 3)), strided(real(2, 3))), {"keys": ((slice(2, 4),),)}),
        Sample("empty", (real(0, 3), real(0, 3)), {"keys": ((WHOLE,),)}),
    ],
    "index": _index(),
    "index_add_like": keyed(lambda whole, part: (real(*part), np.zeros(whole))),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "getitem": lambda x, key: np.asarray(x.tolist()).reshape(x.shape)[key],
    "unslice_like": lambda x, like, key: transpose_of(lambda v: v[key], like.shape, x),
    "unslice_add": lambda base, *xs, keys: (
        base
        + sum(
            transpose_of(lambda v, key=key: v[key], base.shape, x)
            for x, key in zip(xs, keys, strict=True)
        )
    ),
    "index": index,
    "index_add_like": index_add_like,
}
