"""Calls of the public functions of `logic`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import RNG, flags, integers, small_integers

from ..calls import made
from ..case import Case
from ..peers import torch


def compared(name: str, numpy: Any, *, same: str = "") -> list[Case]:
    """Function, method and broadcast of a comparison."""
    function = getattr(paddle, name)
    theirs = (lambda x, y: getattr(torch, same)(x, y)) if same else None
    return [
        made("plain", function, numpy, small_integers(2, 3), small_integers(2, 3), torch=theirs),
        made("broadcast", function, numpy, small_integers(2, 1), small_integers(3), torch=theirs),
        made("number", lambda x: function(x, 1), lambda x: numpy(x, 1), small_integers(3)),
        made(
            "method", lambda x, y: getattr(x, name)(y), numpy, small_integers(3), small_integers(3)
        ),
    ]


def bits(*shape: int) -> Any:
    return np.asarray(RNG.integers(-9, 10, shape))


def counts(*shape: int) -> Any:
    return np.asarray(RNG.integers(1, 6, shape))


SPECIAL = np.asarray([1.0, math.nan, math.inf, -math.inf, 0.0])
NEAR = np.asarray([1.0, 2.0, math.nan, math.inf])
OFF = np.asarray([1.000001, 2.5, math.nan, math.inf])


CASES: dict[str, list[Case]] = {
    "equal": [
        *compared("equal", np.equal, same="eq"),
        made("operator", lambda x, y: x == y, np.equal, small_integers(3), small_integers(3)),
    ],
    "not_equal": [
        *compared("not_equal", np.not_equal, same="ne"),
        made("operator", lambda x, y: x != y, np.not_equal, small_integers(3), small_integers(3)),
    ],
    "greater_than": [
        *compared("greater_than", np.greater, same="gt"),
        made("operator", lambda x, y: x > y, np.greater, small_integers(3), small_integers(3)),
    ],
    "greater_equal": [
        *compared("greater_equal", np.greater_equal, same="ge"),
        made("reflected", lambda x: 1 <= x, lambda x: x >= 1, small_integers(3)),  # noqa: SIM300
    ],
    "less_than": [
        *compared("less_than", np.less, same="lt"),
        made("reflected", lambda x: 1 > x, lambda x: x < 1, small_integers(3)),  # noqa: SIM300
    ],
    "less_equal": compared("less_equal", np.less_equal, same="le"),
    "greater": compared("greater", np.greater),
    "less": compared("less", np.less),
    "eq": compared("eq", np.equal),
    "ne": compared("ne", np.not_equal),
    "gt": compared("gt", np.greater),
    "ge": compared("ge", np.greater_equal),
    "lt": compared("lt", np.less),
    "le": compared("le", np.less_equal),
    "logical_and": compared("logical_and", np.logical_and, same="logical_and"),
    "logical_or": compared("logical_or", np.logical_or, same="logical_or"),
    "logical_xor": compared("logical_xor", np.logical_xor, same="logical_xor"),
    "logical_not": [
        made("bools", paddle.logical_not, np.logical_not, flags(2, 3)),
        made("numbers", lambda x: x.logical_not(), np.logical_not, small_integers(4)),
    ],
    "equal_all": [
        made("same", paddle.equal_all, np.array_equal, np.ones((2, 3)), np.ones((2, 3))),
        made("other", paddle.equal_all, np.array_equal, np.ones((2, 3)), np.zeros((2, 3))),
        made("shape", paddle.equal_all, np.array_equal, np.ones((1, 3)), np.ones((2, 3))),
    ],
    "isclose": [
        made(
            "plain", paddle.isclose, np.isclose, NEAR, OFF, torch=lambda x, y: torch.isclose(x, y)
        ),
        made(
            "options",
            lambda x, y: paddle.isclose(x, y, 0.3, 0.0, True),
            lambda x, y: np.isclose(x, y, 0.3, 0.0, True),
            NEAR,
            OFF,
            torch=lambda x, y: torch.isclose(x, y, 0.3, 0.0, True),
        ),
    ],
    "allclose": [
        made("off", paddle.allclose, lambda x, y: np.asarray(np.allclose(x, y)), NEAR, OFF),
        made(
            "near",
            lambda x, y: paddle.allclose(x, y, rtol=0.5, equal_nan=True),
            lambda x, y: np.asarray(True),
            NEAR,
            OFF,
        ),
    ],
    "isnan": [made("plain", paddle.isnan, np.isnan, SPECIAL, torch=lambda x: torch.isnan(x))],
    "isinf": [made("plain", paddle.isinf, np.isinf, SPECIAL, torch=lambda x: torch.isinf(x))],
    "isfinite": [made("plain", paddle.isfinite, np.isfinite, SPECIAL)],
    "isposinf": [
        made("plain", paddle.isposinf, np.isposinf, SPECIAL),
        made("ints", paddle.isposinf, lambda x: x > 9, integers(1, 2)),
    ],
    "isneginf": [made("plain", paddle.isneginf, np.isneginf, SPECIAL)],
    "isreal": [made("plain", paddle.isreal, np.isreal, SPECIAL)],
    "bitwise_and": [
        made("plain", paddle.bitwise_and, lambda x, y: x & y, bits(2, 3), bits(3)),
        made("operator", lambda x, y: x & y & 6, lambda x, y: x & y & 6, bits(4), bits(4)),
        made("bools", lambda x, y: x & y, lambda x, y: x & y, flags(4), flags(4)),
        made("reflected", lambda x: 5 & x, lambda x: 5 & x, bits(4)),
    ],
    "bitwise_or": [
        made("plain", paddle.bitwise_or, lambda x, y: x | y, bits(2, 3), bits(3)),
        made("operator", lambda x, y: 8 | x | y, lambda x, y: 8 | x | y, bits(4), bits(4)),
    ],
    "bitwise_xor": [
        made("plain", paddle.bitwise_xor, lambda x, y: x ^ y, bits(2, 3), bits(3)),
        made("operator", lambda x, y: 8 ^ x ^ y, lambda x, y: 8 ^ x ^ y, bits(4), bits(4)),
    ],
    "bitwise_not": [
        made("plain", paddle.bitwise_not, lambda x: -x - 1, bits(2, 3)),
        made("operator", lambda x: ~x, np.logical_not, flags(4)),
    ],
    "bitwise_invert": [made("plain", paddle.bitwise_invert, lambda x: -x - 1, bits(2, 3))],
    "bitwise_left_shift": [
        made("plain", paddle.bitwise_left_shift, lambda x, y: x * 2**y, bits(2, 3), counts(3)),
        made("operator", lambda x: (x << 2) + (1 << x), lambda x: 4 * x + 2**x, counts(3)),
    ],
    "bitwise_right_shift": [
        made("plain", paddle.bitwise_right_shift, lambda x, y: x // 2**y, bits(2, 3), counts(3)),
        made("operator", lambda x: (x >> 1) + (64 >> x), lambda x: x // 2 + 64 // 2**x, counts(3)),
        made(
            "logical",
            lambda x, y: paddle.bitwise_right_shift(x, y, False),
            lambda x, y: (x.view(np.uint64) >> y.view(np.uint64)).view(np.int64),
            bits(2, 3),
            counts(2, 3),
        ),
    ],
}
