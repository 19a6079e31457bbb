"""Calls of the public functions of `elementwise`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import apart, away_from_zero, flags, integers, positive, real, spaced

from ..calls import PAIR, ROUNDED, binary, unary
from ..case import Case
from ..peers import torch
from .getitem import MASK

APART = tuple(apart(*PAIR))
MULTIPLEX = (real(3, 2), real(3, 2), integers([1], [0], [1]))


CASES: dict[str, list[Case]] = {
    # --- arithmetic
    "add": [
        *binary("add", np.add),
        Case("alpha", lambda x, y: paddle.add(x, y, alpha=3), APART, lambda x, y: x + 3 * y),
        Case("operator", lambda x: 1 + (x + 2.5), (real(3),), lambda x: x + 3.5),
    ],
    "subtract": [
        *binary("subtract", np.subtract),
        Case("alpha", lambda x, y: paddle.subtract(x, y, alpha=2), APART, lambda x, y: x - 2 * y),
    ],
    "divide": [
        *binary("divide", np.divide, real, away_from_zero),
        Case(
            "integers",
            lambda x, y: paddle.divide(x, y),
            (integers(7, -7), integers(2, 4)),
            np.divide,
            lambda x, y: torch.divide(x, y),
            differentiable=False,
        ),
        *(
            Case(
                mode,
                lambda x, y, mode=mode: paddle.divide(x, y, rounding_mode=mode),
                (np.asarray([7.3, -7.3]), np.asarray([2.0, 2.0])),
                lambda x, y, mode=mode: getattr(np, mode)(x / y),
                lambda x, y, mode=mode: torch.divide(x, y, rounding_mode=mode),
                **ROUNDED,
            )
            for mode in ("floor", "trunc")
        ),
    ],
    "pow": [
        *binary("pow", np.power, positive, real),
        Case("square", lambda x: paddle.pow(x, 2), (real(2, 3),), np.square),
        Case("number", lambda x: x**3, (real(3),), lambda x: x * x * x, lambda x: x**3),
        Case("base", lambda x: 2.0**x, (real(3),), np.exp2, lambda x: 2.0**x),
        Case(
            "integers",
            lambda x, y: paddle.pow(x, y),
            (integers(2, -3), integers(5, 3)),
            np.power,
            differentiable=False,
        ),
    ],
    "neg": unary("neg", real, np.negative),
    "positive": [Case("plain", lambda x: paddle.positive(x), (real(3),), np.copy)],
    "reciprocal": unary("reciprocal", away_from_zero, lambda x: 1.0 / x),
    "lerp": [
        Case(
            "weights",
            lambda x, y, w: paddle.lerp(x, y, w),
            (real(2, 3), real(3), real(2, 1)),
            lambda x, y, w: (1.0 - w) * x + w * y,
            lambda x, y, w: torch.lerp(*torch.broadcast_tensors(x, y, w)),
        ),
        Case(
            "number",
            lambda x, y: x.lerp(y, 0.25),
            (real(2), real(2)),
            lambda x, y: 0.75 * x + 0.25 * y,
            lambda x, y: torch.lerp(x, y, 0.25),
        ),
    ],
    "increment": [
        Case("counter", lambda x: paddle.increment(x * 2.0), (real(1),), lambda x: 2 * x + 1),
        Case(
            "value",
            lambda x: paddle.increment(x * 1.0, -0.5),
            (real(2, 3),),
            lambda x: x - 0.5,
        ),
    ],
    "scale": [
        Case("plain", lambda x: paddle.scale(x, 2.0, 1.0), (real(3),), lambda x: 2 * x + 1),
        Case(
            "bias-first",
            lambda x: paddle.scale(x, 2.0, 1.0, bias_after_scale=False, act="tanh"),
            (real(3),),
            lambda x: np.tanh(2 * (x + 1)),
        ),
        Case("tensor", lambda x, s: x.scale(s), (real(3), real(1)), lambda x, s: x * s),
    ],
    "add_n": [
        Case(
            "three",
            lambda x, y, z: paddle.add_n([x, y, z]),
            (real(2), real(2), real(2)),
            lambda x, y, z: x + y + z,
        ),
        Case("one", lambda x: paddle.add_n(x), (real(2),), np.copy),
    ],
    "multiplex": [
        Case(
            "column",
            lambda x, y, k: paddle.multiplex([x, y], k),
            MULTIPLEX,
            lambda x, y, k: np.stack([(x, y)[k[i, 0]][i] for i in range(3)]),
        ),
        Case(
            "vector",
            lambda x, y, k: paddle.multiplex([x, y], k),
            (real(2), real(2), integers(1, 0)),
            lambda x, y, k: np.stack([(x, y)[k[i]][i] for i in range(2)]),
        ),
    ],
    "clip": [
        Case(
            "both",
            lambda x: paddle.clip(x, -0.9, 1.1),
            (spaced(2, 3),),
            lambda x: np.clip(x, -0.9, 1.1),
            lambda x: torch.clip(x, -0.9, 1.1),
        ),
        Case("lower", lambda x: x.clip(min=0.1), (spaced(4),), lambda x: np.maximum(x, 0.1)),
        Case("none", lambda x: paddle.clip(x), (spaced(4),), np.copy),
    ],
    "cast": [
        Case("same", lambda x: paddle.cast(x, x.dtype), (real(3),), np.copy),
        Case(
            "int64",
            lambda x: x.astype("int64"),
            (real(3),),
            lambda x: np.trunc(x).astype(np.int64),
            **ROUNDED,
        ),
    ],
    # --- order and signs
    "sgn": unary("sgn", away_from_zero, np.sign, **ROUNDED),
    "heaviside": [
        *binary("heaviside", np.heaviside, away_from_zero, like=""),
        Case(
            "zero",
            lambda y: paddle.heaviside(paddle.zeros_like(y), y),
            (real(3),),
            np.copy,
        ),
    ],
    "fmax": [
        Case(
            "plain", lambda x, y: paddle.fmax(x, y), APART, np.fmax, lambda x, y: torch.fmax(x, y)
        ),
        Case("number", lambda x: paddle.fmax(x, 0.01), (spaced(4),), lambda x: np.fmax(x, 0.01)),
    ],
    "fmin": [
        Case(
            "plain", lambda x, y: paddle.fmin(x, y), APART, np.fmin, lambda x, y: torch.fmin(x, y)
        ),
        Case("number", lambda x: x.fmin(0.01), (spaced(4),), lambda x: np.fmin(x, 0.01)),
    ],
    # --- roots, exponentials, logarithms
    "rsqrt": unary("rsqrt", positive, lambda x: 1.0 / np.sqrt(x)),
    # --- trigonometry
    "stanh": [
        Case(
            "plain",
            lambda x: paddle.stanh(x),
            (real(3),),
            lambda x: 1.7159 * np.tanh(0.67 * x),
        ),
        Case(
            "scales", lambda x: paddle.stanh(x, 2.0, 0.5), (real(2),), lambda x: np.tanh(2 * x) / 2
        ),
    ],
    "deg2rad": unary("deg2rad", real, np.deg2rad),
    "rad2deg": unary("rad2deg", real, np.rad2deg),
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
}
