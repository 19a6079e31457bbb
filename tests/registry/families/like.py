"""Samples and references of `ops/like.py`: spreading and summing to another shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, transpose_of
from ..sampling import Sample, flags, integers, real, with_likes


def _axis(axis: tuple[int, ...], keepdims: bool) -> dict[str, Any]:
    return {"axis": axis, "keepdims": keepdims}


SPREADS = {
    "keep": ((2, 1), (2, 3), (1,), True),
    "drop": ((2,), (2, 3), (1,), False),
    "drop-first": ((3,), (2, 3), (0,), False),
    "drop-all": ((), (2, 3), (0, 1), False),
    "keep-all": ((1, 1), (2, 3), (0, 1), True),
    "drop-outer": ((3,), (2, 3, 2), (0, 2), False),
    "no-axis": ((2, 3), (2, 3), (), True),
    "size-1": ((3,), (1, 3, 1), (0, 2), False),
    "empty": ((0, 1), (0, 3), (1,), True),
}


def _spreads() -> list[Sample]:
    samples = [
        Sample(label, with_likes(x, like), _axis(axis, keep))
        for label, (x, like, axis, keep) in SPREADS.items()
    ]
    last = (strided(real(2, 1)), np.zeros((2, 3)))
    return [*samples, Sample("strided", last, _axis((1,), True))]


def sum_like(x: Array, like: Array) -> Array:
    return transpose_of(lambda v: np.broadcast_to(v, x.shape), like.shape, x)


def expand_like(x: Array, like: Array, axis: tuple[int, ...] = (), keepdims: bool = True) -> Array:
    lined_up = x if keepdims or not x.ndim else np.expand_dims(x, axis)
    return lined_up + np.zeros(like.shape)


def spread_like(x: Array, like: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    return expand_like(x, like, axis, keepdims) / np.prod([like.shape[a] for a in axis])


SAMPLES: dict[str, list[Sample]] = {
    "sum_like": [
        Sample("row", with_likes((2, 3), (3,))),
        Sample("column", with_likes((2, 3), (2, 1))),
        Sample("0-d", with_likes((2, 3), ())),
        Sample("same", with_likes((2, 3), (2, 3))),
        Sample("both", with_likes((2, 2, 3), (1, 3))),
        Sample("ones", with_likes((2, 3), (1, 1))),
        Sample("of-nothing", with_likes((0, 3), (3,))),
        Sample("strided", (strided(real(3, 2)), np.zeros((1, 2)))),
    ],
    "expand_like": [
        *_spreads(),
        Sample("default", with_likes((3,), (2, 3))),
        Sample("stretch", with_likes((1,), (2, 3)), _axis((1,), False)),
    ],
    "spread_like": _spreads(),
    "reshape_like": [
        Sample("plain", with_likes((2, 3), (3, 2))),
        Sample("flat", with_likes((2, 3), (6,))),
        Sample("0-d", with_likes((1, 1), ())),
        Sample("empty", with_likes((0, 3), (3, 0))),
        Sample("strided", (strided(real(2, 3)), np.zeros(6))),
    ],
    "cast_like": [
        Sample("same", with_likes((2, 3), (4,))),
        Sample("to-float32", (real(2, 3), np.zeros(1, np.float32)), smooth=False),
        Sample("to-int64", (real(2, 3), integers(1))),
        Sample("of-bool", (flags(2, 3), np.zeros(2))),
        Sample("0-d", with_likes((), (2,))),
        Sample("empty", with_likes((0, 3), (2,))),
    ],
    "full_like": [
        Sample("plain", (real(2, 3),), {"value": 1.5}),
        Sample("other-dtype", (real(2, 3),), {"value": 1.0, "dtype": "int32"}),
        Sample("0-d", (real(),), {"value": 1.0}),
        Sample("empty", (real(0, 3),), {"value": 1.0}),
    ],
    "zeros_like": [
        Sample("plain", (real(2, 3),)),
        Sample("integers", (integers(1, 2),)),
        Sample("0-d", (real(),)),
    ],
    "unless_zero": [
        Sample("plain", (real(2, 3), real(4))),
        Sample("zero", (real(2, 3), np.zeros(4))),
        Sample("one-of-two", (real(3), np.zeros(2), real(1, 2))),
        Sample("all-of-two", (real(3), np.zeros(2), np.zeros((1, 2)))),
        Sample("0-d", (real(), real())),
        Sample("empty", (real(0, 3), real(0))),
    ],
    "unless_hollow": [
        Sample("plain", (real(2, 3), real(4))),
        Sample("zero", (real(2, 3), np.zeros(4))),
        Sample("two", (real(3), real(2), real(1, 2))),
        Sample("0-d", (real(), real())),
        Sample("empty", (real(0, 3), real(0))),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "sum_like": sum_like,
    "expand_like": expand_like,
    "spread_like": spread_like,
    "reshape_like": lambda x, like: np.asarray(x.ravel().tolist()).reshape(like.shape),
    "cast_like": lambda x, like: np.asarray(x.tolist(), like.dtype).reshape(x.shape),
    "full_like": lambda like, value, dtype=None: np.zeros(like.shape) + value,
    "zeros_like": lambda like: np.asarray([0] * like.size).reshape(like.shape),
    "unless_hollow": lambda x, *gs: x,
    "unless_zero": lambda x, *gs: x * (1.0 if any(v for g in gs for v in g.flat) else 0.0),
}
