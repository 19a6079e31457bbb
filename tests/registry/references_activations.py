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


def gelu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The value, and the slope by the normal distribution function and its density."""
    below = each(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))(x)
    density = each(lambda v: math.exp(-(v**2) / 2) / math.sqrt(2 * math.pi))(x)
    return x * below, below + x * density


def softmax_adjoint(y: np.ndarray, out: np.ndarray, axis: int) -> np.ndarray:
    """By the Jacobian of each line."""
    y, out = np.moveaxis(y, axis, -1), np.moveaxis(out, axis, -1)
    result = np.empty(y.shape)
    for line in np.ndindex(y.shape[:-1]):
        result[line] = (np.diag(out[line]) - np.outer(out[line], out[line])) @ y[line]
    return np.moveaxis(result, -1, axis)


def standardize_adjoint(
    y: np.ndarray, out: np.ndarray, variance: np.ndarray, axis: tuple[int, ...], epsilon: float
) -> np.ndarray:
    """By projections: off what is constant, and off `out`."""
    constant = np.mean(y, axis=axis, keepdims=True)
    along_out = out * np.mean(y * out, axis=axis, keepdims=True)
    return (y - constant - along_out) * (variance + epsilon) ** -0.5


def uniform_like(like: np.ndarray, low: float, high: float, training: bool = True) -> np.ndarray:
    middle = np.zeros(like.shape) + (low + high) / 2.0
    drawn = low + (high - low) * np.random.default_rng(SEED).random(like.shape)
    return drawn if training else middle


def alpha_dropout_mask(
    like: np.ndarray, p: float, floor: float, training: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """From the moments: what is drawn and what replaces it have mean 0 and variance 1 together."""
    if not training:
        return np.ones(like.shape), np.zeros(like.shape)
    if p == 1.0:
        return np.zeros(like.shape), np.zeros(like.shape)
    dropped = np.random.default_rng(SEED).random(like.shape, dtype=np.float32) < p
    mean, variance = p * floor, (1 - p) + p * floor**2 - (p * floor) ** 2
    a = 1.0 / np.sqrt(variance)
    return np.where(dropped, 0.0, a), np.where(dropped, (floor - mean) * a, -mean * a)


REFERENCES: dict[str, Callable[..., Any]] = {
    "bell": each(lambda x: math.exp(-(x**2))),
    "gelu": gelu,
    "softmax_adjoint": softmax_adjoint,
    "standardize_adjoint": standardize_adjoint,
    "silu": each(lambda x: x / (1.0 + math.exp(-x))),
    "softplus": each(lambda x: math.log(1.0 + math.exp(x))),
    "log_sigmoid": each(lambda x: math.log(1.0 / (1.0 + math.exp(-x)))),
    "elu": lambda x, alpha: each(lambda v: v if v > 0 else alpha * (math.exp(v) - 1.0))(x),
    "straight_through": along_axis(one_hot_of_maximum),
    "uniform_like": uniform_like,
    "alpha_dropout_mask": alpha_dropout_mask,
    "running_statistic": lambda running, statistic, momentum: (
        np.ravel(statistic) + momentum * (running - np.ravel(statistic))
    ),
}
