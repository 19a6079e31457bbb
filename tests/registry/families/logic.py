"""Samples and references of `ops/logic.py`: comparisons, logic and bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import each
from ..sampling import Sample, binary, flags, integers, integers_between, small_integers, unary


def _special() -> list[Sample]:
    values = np.asarray([[1.0, math.nan, -math.inf], [0.0, math.inf, -2.0]])
    return [
        *unary(),
        Sample("special", (values,)),
        Sample("special-strided", (strided(values),)),
        Sample("integers", (integers(0, -3),)),
        Sample("bools", (flags(3),)),
    ]


def _close() -> list[Sample]:
    x = np.asarray([1.0, 1.0, 100.0, math.nan, math.inf, math.inf, -math.inf])
    y = np.asarray([1.0, 1.5, 101.0, math.nan, math.inf, -math.inf, 3.0])
    loose = {"rtol": 0.25, "atol": 0.125, "equal_nan": False}
    return [
        *(replace(s, attrs=loose) for s in binary(small_integers)),
        Sample("special", (x, y), loose),
        Sample("nan", (x, y), {**loose, "equal_nan": True}),
        Sample(
            "not-symmetric",
            (np.asarray([1.0, 2.0]), np.asarray([2.0, 1.0])),
            {**loose, "rtol": 0.5},
        ),
        Sample("integers", (integers(1, 5), integers(1, 4)), loose),
    ]


def _equal_all() -> list[Sample]:
    x = small_integers(2, 3)
    return [
        Sample("same", (x, x.copy())),
        Sample("one-element", (x, x + (np.arange(6).reshape(2, 3) == 4))),
        Sample("broadcast", (np.ones((2, 3)), np.ones((1, 3)))),
        Sample("ranks", (np.ones((3,)), np.ones((1, 3)))),
        Sample("0-d", (np.asarray(1.0), np.asarray(1.0))),
        Sample("empty", (np.ones((0, 3)), np.ones((0, 3)))),
        Sample("strided", (strided(x), x)),
        Sample("nan", (np.asarray([math.nan]), np.asarray([math.nan]))),
    ]


def _shift_counts(*shape: int) -> np.ndarray:
    return integers_between(*shape, low=1, high=8)


def _bits() -> list[Sample]:
    return [
        *binary(integers_between),
        Sample("bools", (flags(2, 3), flags(3))),
        Sample("bytes", (integers_between(4).astype(np.int8), integers_between(4).astype(np.int8))),
    ]


def is_close(x: float, y: float, rtol: float, atol: float, equal_nan: bool) -> bool:
    if x != x or y != y:
        return equal_nan and x != x and y != y
    if math.inf in (abs(x), abs(y)):
        return x == y
    return abs(x - y) <= atol + rtol * abs(y)


SAMPLES: dict[str, list[Sample]] = {
    "equal": binary(small_integers),
    "not_equal": binary(small_integers),
    "greater_than": binary(small_integers),
    "greater_equal": binary(small_integers),
    "less_than": binary(small_integers),
    "less_equal": binary(small_integers),
    "logical_and": [*binary(flags), Sample("numbers", (small_integers(3), small_integers(3)))],
    "logical_or": [*binary(flags), Sample("numbers", (small_integers(3), small_integers(3)))],
    "logical_xor": [*binary(flags), Sample("numbers", (small_integers(3), small_integers(3)))],
    "logical_not": [*unary(flags), Sample("numbers", (small_integers(3),))],
    "isnan": _special(),
    "isinf": _special(),
    "isfinite": _special(),
    "isreal": [*_special(), Sample("complex", (np.asarray([1.0 + 2.0j, 3.0 + 0.0j]),))],
    "isclose": _close(),
    "equal_all": _equal_all(),
    "bitwise_and": _bits(),
    "bitwise_or": _bits(),
    "bitwise_xor": _bits(),
    "bitwise_not": [*unary(integers_between), Sample("bools", (flags(2, 3),))],
    "bitwise_left_shift": binary(integers_between, _shift_counts),
    "bitwise_right_shift": binary(integers_between, _shift_counts),
    "logical_right_shift": binary(integers_between, _shift_counts),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "equal": each(lambda x, y: x == y),
    "not_equal": each(lambda x, y: x != y),
    "greater_than": each(lambda x, y: x > y),
    "greater_equal": each(lambda x, y: x >= y),
    "less_than": each(lambda x, y: x < y),
    "less_equal": each(lambda x, y: x <= y),
    "logical_and": each(lambda x, y: bool(x and y)),
    "logical_or": each(lambda x, y: bool(x or y)),
    "logical_xor": each(lambda x, y: bool(x) is not bool(y)),
    "logical_not": each(lambda x: not x),
    "isnan": each(lambda x: x != x),
    "isinf": each(lambda x: x in (math.inf, -math.inf)),
    "isfinite": each(lambda x: x - x == 0),
    "isreal": each(lambda x: complex(x).imag == 0),
    "isclose": lambda x, y, **tolerances: each(lambda a, b: is_close(a, b, **tolerances))(x, y),
    "equal_all": lambda x, y: x.shape == y.shape and x.tolist() == y.tolist(),
    "bitwise_and": each(lambda x, y: x & y),
    "bitwise_or": each(lambda x, y: x | y),
    "bitwise_xor": each(lambda x, y: x ^ y),
    "bitwise_not": each(lambda x: (not x) if isinstance(x, bool) else -1 - x),
    "bitwise_left_shift": each(lambda x, y: x * 2**y),
    "bitwise_right_shift": each(lambda x, y: math.floor(x / 2**y)),
    "logical_right_shift": each(lambda x, y: (x % 2**64) // 2**y),
}
