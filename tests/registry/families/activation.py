"""Samples and references of `ops/nn/activation.py`: activations and derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import like_layout

from ..referencing import along_axis, each
from ..sampling import Sample, along, away_from_zero, real, small_integers, unary


def _beside(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`x` and another array of its shape and layout."""
    return x, like_layout(x, real(*x.shape))


def gelu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The value, and the slope by the normal distribution function and its density."""
    below = each(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))(x)
    density = each(lambda v: math.exp(-(v**2) / 2) / math.sqrt(2 * math.pi))(x)
    return x * below, below + x * density


def mish(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    t = each(lambda v: math.tanh(math.log1p(math.exp(v))))(x)
    s = each(lambda v: 1.0 / (1.0 + math.exp(-v)))(x)
    return x * t, t + x * s * (1.0 - t * t)


def softmax_adjoint(y: np.ndarray, out: np.ndarray, axis: int) -> np.ndarray:
    """By the Jacobian of each line."""
    y, out = np.moveaxis(y, axis, -1), np.moveaxis(out, axis, -1)
    result = np.empty(y.shape)
    for line in np.ndindex(y.shape[:-1]):
        result[line] = (np.diag(out[line]) - np.outer(out[line], out[line])) @ y[line]
    return np.moveaxis(result, -1, axis)


def log_softmax_adjoint(y: np.ndarray, out: np.ndarray, axis: int) -> np.ndarray:
    """By the Jacobian of each line: 1 less the exponential of its column."""
    y, out = np.moveaxis(y, axis, -1), np.moveaxis(out, axis, -1)
    result = np.empty(y.shape)
    for line in np.ndindex(y.shape[:-1]):
        each_of = [math.exp(v) for v in out[line]]
        result[line] = (np.eye(len(each_of)) - np.outer(each_of, np.ones(len(each_of)))) @ y[line]
    return np.moveaxis(result, -1, axis)


def softmax(values: list[float]) -> list[float]:
    weights = [math.exp(v - max(values)) for v in values]
    return [w / math.fsum(weights) for w in weights]


def _grid(*shape: int) -> np.ndarray:
    """Numbers on both sides of 0, of no kink of the samples, and of any threshold."""
    return np.linspace(-1.93, 1.83, max(1, math.prod(shape)))[: math.prod(shape)].reshape(shape)


def _with(**attrs: float) -> list[Sample]:
    return [Sample(s.label, s.operands, attrs) for s in unary(_grid)]


SAMPLES: dict[str, list[Sample]] = {
    "softmax_adjoint": [Sample(s.label, _beside(s.operands[0]), s.attrs) for s in along()],
    "log_softmax_adjoint": [Sample(s.label, _beside(s.operands[0]), s.attrs) for s in along()],
    "bell": unary(),
    "silu": unary(),
    "gelu_tanh": unary(),
    "softplus": unary(),
    "log_sigmoid": unary(),
    "elu": [
        Sample(s.label, s.operands, {"alpha": 1.0 if s.label == "plain" else 0.7})
        for s in unary(away_from_zero)
    ],
    "selu": [
        Sample(s.label, s.operands, {"alpha": 1.7, "scale": 1.1}) for s in unary(away_from_zero)
    ],
    "leaky_relu": [
        Sample(s.label, s.operands, {"negative_slope": 0.1}) for s in unary(away_from_zero)
    ],
    "hardswish": unary(),
    "celu": [
        Sample(s.label, s.operands, {"alpha": 0.7 if s.label == "plain" else -1.3})
        for s in unary(_grid)
    ],
    "hardtanh": _with(low=-0.41, high=0.73),
    "hardsigmoid": _with(slope=0.71, offset=0.43),
    "hardshrink": _with(threshold=0.41),
    "softshrink": _with(threshold=0.41),
    "softmax": along(),
    "log_softmax": along(),
    "relu": [*unary(away_from_zero), Sample("kink", (small_integers(3, 4),), smooth=False)],
    "sigmoid": unary(),
    "gelu": unary(),
    "mish": unary(),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "bell": each(lambda x: math.exp(-(x**2))),
    "gelu": gelu,
    "mish": mish,
    "softmax_adjoint": softmax_adjoint,
    "log_softmax_adjoint": log_softmax_adjoint,
    "silu": each(lambda x: x / (1.0 + math.exp(-x))),
    "gelu_tanh": each(
        lambda x: x / 2 * (1.0 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    "softplus": each(lambda x: math.log(1.0 + math.exp(x))),
    "log_sigmoid": each(lambda x: math.log(1.0 / (1.0 + math.exp(-x)))),
    "elu": lambda x, alpha: each(lambda v: v if v > 0 else alpha * (math.exp(v) - 1.0))(x),
    "selu": lambda x, alpha, scale: each(
        lambda v: scale * (v if v > 0 else alpha * (math.exp(v) - 1.0))
    )(x),
    "leaky_relu": lambda x, negative_slope: each(lambda v: v if v > 0 else negative_slope * v)(x),
    "hardswish": each(lambda x: x * min(max(x + 3.0, 0.0), 6.0) / 6.0),
    "celu": lambda x, alpha: each(lambda v: v if v > 0 else alpha * (math.exp(v / alpha) - 1.0))(x),
    "hardtanh": lambda x, low, high: each(lambda v: sorted((low, v, high))[1])(x),
    "hardsigmoid": lambda x, slope, offset: each(lambda v: min(max(slope * v + offset, 0), 1))(x),
    "hardshrink": lambda x, threshold: each(lambda v: v if abs(v) >= threshold else 0.0)(x),
    "softshrink": lambda x, threshold: each(
        lambda v: math.copysign(max(abs(v) - threshold, 0.0), v)
    )(x),
    "relu": each(lambda x: x if x > 0 else 0.0),
    "sigmoid": each(lambda x: 1 / (1 + math.exp(-x))),
    "softmax": along_axis(softmax),
    "log_softmax": along_axis(lambda v: [math.log(p) for p in softmax(v)]),
}
