"""What the operations of `activations` should compute, said in another way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .references_basic import SEED, along_axis, each


def one_hot_of_maximum(values: list[float]) -> list[float]:
    best = values.index(max(values))
    return [float(k == best) for k in range(len(values))]


REFERENCES: dict[str, Callable[..., Any]] = {
    "bell": each(lambda x: math.exp(-(x**2))),
    "silu": each(lambda x: x / (1.0 + math.exp(-x))),
    "softplus": each(lambda x: math.log(1.0 + math.exp(x))),
    "log_sigmoid": each(lambda x: math.log(1.0 / (1.0 + math.exp(-x)))),
    "elu": lambda x, alpha: each(lambda v: v if v > 0 else alpha * (math.exp(v) - 1.0))(x),
    "straight_through": along_axis(one_hot_of_maximum),
    "uniform_like": lambda like, low, high: (
        low + (high - low) * np.random.default_rng(SEED).random(like.shape)
    ),
    "gumbel_like": lambda like: np.random.default_rng(SEED).gumbel(size=like.shape),
}
