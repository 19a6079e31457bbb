"""Calls of the public functions of `activation`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import away_from_zero, real, spaced

from ..calls import draw
from ..case import Case
from ..peers import torch

F = paddle.nn.functional


def each(f: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    return np.vectorize(f, otypes=[np.float64])


def at(*values: float) -> np.ndarray:
    return np.asarray(values)


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def elu(x: float, alpha: float = 1.0) -> float:
    return x if x > 0 else alpha * (math.exp(x) - 1.0)


def gelu(x: float) -> float:
    return 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))


def gelu_tanh(x: float) -> float:
    return 0.5 * x * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def clipped(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def softplus(x: float, beta: float, threshold: float) -> float:
    return x if beta * x > threshold else math.log(1.0 + math.exp(beta * x)) / beta


def prelu(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0.0) + np.minimum(x, 0.0) * weight


def halves(x: np.ndarray, axis: int = -1) -> list[np.ndarray]:
    return np.split(x, 2, axis=axis)


def maxout(x: np.ndarray, groups: int, axis: int) -> np.ndarray:
    moved = np.moveaxis(x, axis, -1)
    grouped = moved.reshape(*moved.shape[:-1], moved.shape[-1] // groups, groups)
    return np.moveaxis(grouped.max(-1), -1, axis)


def gumbel(x: np.ndarray, temperature: float, axis: int = -1) -> np.ndarray:
    return softmax((x + draw().gumbel(size=x.shape)) / temperature, axis)


def hardest(x: np.ndarray) -> np.ndarray:
    return np.eye(x.shape[-1])[np.argmax(x, axis=-1)]


def rrelu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0.0, x * draw().uniform(0.1, 0.4, x.shape), x)


# function: options, operand, numpy, name in torch (None: the same) and its options (None: the same)
UNARY: dict[str, list[tuple[str, dict[str, Any], np.ndarray, Any, Any]]] = {
    "relu": [("plain", {}, away_from_zero(2, 3), lambda x: (x + np.abs(x)) / 2.0, "relu")],
    "relu6": [("plain", {}, at(-2.0, 0.5, 3.0, 7.0), lambda x: np.clip(x, 0.0, 6.0), "relu6")],
    "leaky_relu": [
        ("plain", {}, away_from_zero(2, 3), lambda x: np.where(x > 0, x, 0.01 * x), "leaky_relu"),
        (
            "slope",
            {"negative_slope": 0.3},
            away_from_zero(4),
            lambda x: np.where(x > 0, x, 0.3 * x),
            "leaky_relu",
        ),
    ],
    "elu": [
        ("plain", {}, away_from_zero(2, 3), each(elu), "elu"),
        ("alpha", {"alpha": 0.4}, away_from_zero(4), each(lambda x: elu(x, 0.4)), "elu"),
    ],
    "selu": [
        (
            "plain",
            {},
            away_from_zero(5),
            each(lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772)),
            "selu",
        ),
        (
            "constants",
            {"scale": 1.5, "alpha": 0.5},
            away_from_zero(5),
            each(lambda x: 1.5 * elu(x, 0.5)),
            None,
        ),
    ],
    "celu": [
        ("plain", {}, away_from_zero(5), each(elu), "celu"),
        (
            "negative",
            {"alpha": -0.5},
            away_from_zero(5),
            each(lambda x: x if x > 0.0 else -0.5 * math.expm1(-2.0 * x)),
            "celu",
        ),
    ],
    "silu": [("plain", {}, real(2, 3), lambda x: x * sigmoid(x), "silu")],
    "swish": [("plain", {}, real(2, 3), lambda x: x * sigmoid(x), "silu")],
    "mish": [("plain", {}, real(2, 3), lambda x: x * np.tanh(np.log(1.0 + np.exp(x))), "mish")],
    "gelu": [
        ("plain", {}, real(2, 3), each(gelu), "gelu"),
        ("tanh", {"approximate": "tanh"}, real(2, 3), each(gelu_tanh), "gelu"),
        ("true", {"approximate": True}, at(-12.0, 0.5, 30.0), each(gelu_tanh), None),
    ],
    "hardswish": [
        (
            "plain",
            {},
            at(-4.0, -1.5, 0.5, 2.0, 4.0),
            lambda x: x * np.clip(x + 3.0, 0.0, 6.0) / 6.0,
            "hardswish",
        ),
    ],
    "hardsigmoid": [
        (
            "plain",
            {},
            at(-4.0, -1.5, 0.5, 2.0, 4.0),
            each(lambda x: clipped(0.1666667 * x + 0.5, 0.0, 1.0)),
            None,
        ),
        (
            "slope",
            {"slope": 0.5, "offset": 0.25},
            at(-1.0, 0.5, 3.0),
            each(lambda x: clipped(0.5 * x + 0.25, 0.0, 1.0)),
            None,
        ),
    ],
    "hardtanh": [
        ("plain", {}, at(-2.0, -0.5, 0.3, 1.5), lambda x: np.clip(x, -1.0, 1.0), "hardtanh"),
        (
            "limits",
            {"min": -0.5, "max": 2.0},
            at(-2.0, -0.4, 0.3, 3.0),
            lambda x: np.clip(x, -0.5, 2.0),
            None,
        ),
    ],
    "hardshrink": [
        (
            "plain",
            {},
            at(-2.0, -0.3, 0.2, 1.5),
            lambda x: np.where(np.abs(x) > 0.5, x, 0.0),
            "hardshrink",
        ),
        (
            "threshold",
            {"threshold": 1.0},
            at(-2.0, -0.8, 0.2, 1.5),
            lambda x: np.where(np.abs(x) > 1.0, x, 0.0),
            None,
        ),
    ],
    "softshrink": [
        (
            "plain",
            {},
            at(-2.0, -0.3, 0.2, 1.5),
            lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0.0),
            "softshrink",
        ),
        (
            "threshold",
            {"threshold": 0.1},
            at(-2.0, -0.3, 0.05),
            lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.1, 0.0),
            None,
        ),
    ],
    "softplus": [
        ("plain", {}, real(2, 3), each(lambda x: softplus(x, 1.0, 20.0)), "softplus"),
        (
            "threshold",
            {"beta": 2.0, "threshold": 3.0},
            at(-1.0, 0.5, 1.4, 1.6, 4.0),
            each(lambda x: softplus(x, 2.0, 3.0)),
            "softplus",
        ),
    ],
    "softsign": [("plain", {}, away_from_zero(2, 3), lambda x: x / (1.0 + np.abs(x)), "softsign")],
    "tanhshrink": [("plain", {}, real(2, 3), lambda x: x - np.tanh(x), "tanhshrink")],
    "thresholded_relu": [
        ("plain", {}, at(-1.0, 0.5, 1.5), lambda x: np.where(x > 1.0, x, 0.0), None),
        (
            "value",
            {"threshold": 0.2, "value": 3.0},
            at(-1.0, 0.5, 0.1),
            lambda x: np.where(x > 0.2, x, 3.0),
            None,
        ),
    ],
    "log_sigmoid": [("plain", {}, real(2, 3), lambda x: np.log(sigmoid(x)), "logsigmoid")],
    "logsigmoid": [("plain", {}, real(2, 3), lambda x: np.log(sigmoid(x)), "logsigmoid")],
    "sigmoid": [("plain", {}, real(2, 3), sigmoid, "sigmoid")],
    "tanh": [("plain", {}, real(2, 3), np.tanh, "tanh")],
    "softmax": [
        ("plain", {}, real(2, 3), softmax, None),
        ("axis", {"axis": 0}, real(3, 2), lambda x: softmax(x, 0), None),
        ("0-d", {}, real(), lambda x: np.ones(()), None),
    ],
    "log_softmax": [
        ("plain", {}, real(2, 3), lambda x: np.log(softmax(x)), None),
        ("axis", {"axis": 1}, real(2, 3, 2), lambda x: np.log(softmax(x, 1)), None),
    ],
}


def unary_cases(name: str) -> list[Case]:
    def case(label: str, options: dict[str, Any], x: np.ndarray, numpy: Any, peer: Any) -> Case:
        theirs = None
        if peer is not None:
            theirs = lambda x: getattr(torch.nn.functional, peer)(x, **options)  # noqa: E731
        function = getattr(F, name)
        return Case(label, lambda x: function(x, **options), (x,), numpy=numpy, torch=theirs)

    return [case(*row) for row in UNARY[name]]


def written(name: str, x: np.ndarray, numpy: Any, *arguments: Any) -> list[Case]:
    """The in-place function on a copy of its operand."""
    function = getattr(F, f"{name}_")
    peer = f"{name}_" if name in ("relu", "elu", "leaky_relu", "hardtanh") else None
    theirs = None
    if peer:
        theirs = lambda x: getattr(torch.nn.functional, peer)(x.clone(), *arguments)  # noqa: E731
    call = lambda x: function(x.clone(), *arguments)  # noqa: E731
    return [Case("plain", call, (x,), numpy=numpy, torch=theirs)]


CASES: dict[str, list[Case]] = {
    **{f"nn.functional.{name}": unary_cases(name) for name in UNARY},
    "nn.functional.relu_": written("relu", away_from_zero(4), lambda x: np.maximum(x, 0.0)),
    "nn.functional.elu_": written("elu", away_from_zero(4), each(lambda x: elu(x, 0.4)), 0.4),
    "nn.functional.leaky_relu_": written(
        "leaky_relu", away_from_zero(4), lambda x: np.where(x > 0, x, 0.3 * x), 0.3
    ),
    "nn.functional.hardtanh_": written(
        "hardtanh", at(-2.0, 0.3, 1.5), lambda x: np.clip(x, -0.5, 1.0), -0.5, 1.0
    ),
    "nn.functional.thresholded_relu_": written(
        "thresholded_relu", at(-1.0, 0.5, 1.5), lambda x: np.where(x > 0.2, x, 3.0), 0.2, 3.0
    ),
    "nn.functional.tanh_": written("tanh", real(4), np.tanh),
    "nn.functional.softmax_": written("softmax", real(3, 2), lambda x: softmax(x, 0), 0),
    "nn.functional.prelu": [
        Case(
            "one",
            lambda x, w: F.prelu(x, w),
            (away_from_zero(2, 3), real(1)),
            numpy=prelu,
            torch=lambda x, w: torch.nn.functional.prelu(x, w),
        ),
        Case(
            "channels",
            lambda x, w: F.prelu(x, w),
            (away_from_zero(2, 3, 1, 2), real(3)),
            numpy=lambda x, w: prelu(x, w[:, None, None]),
            torch=lambda x, w: torch.nn.functional.prelu(x, w),
        ),
        Case(
            "channels-last",
            lambda x, w: F.prelu(x, w, "NHWC"),
            (away_from_zero(2, 1, 2, 3), real(3)),
            numpy=prelu,
        ),
        Case("0-d", lambda x, w: F.prelu(x, w), (away_from_zero(3), real()), numpy=prelu),
    ],
    "nn.functional.rrelu": [
        Case(
            "plain",
            lambda x: F.rrelu(x, 0.1, 0.4),
            (away_from_zero(2, 3),),
            numpy=rrelu,
        ),
        Case(
            "test",
            lambda x: F.rrelu(x, 0.1, 0.4, training=False),
            (away_from_zero(2, 3),),
            numpy=lambda x: np.where(x < 0.0, 0.25 * x, x),
            torch=lambda x: torch.nn.functional.rrelu(x, 0.1, 0.4, training=False),
        ),
    ],
    "nn.functional.glu": [
        Case(
            "plain",
            lambda x: F.glu(x),
            (real(2, 4),),
            numpy=lambda x: halves(x)[0] * sigmoid(halves(x)[1]),
            torch=lambda x: torch.nn.functional.glu(x),
        ),
        Case(
            "axis",
            lambda x: F.glu(x, axis=1),
            (real(2, 4, 2),),
            numpy=lambda x: halves(x, 1)[0] * sigmoid(halves(x, 1)[1]),
            torch=lambda x: torch.nn.functional.glu(x, 1),
        ),
    ],
    "nn.functional.swiglu": [
        Case(
            "halves",
            lambda x: F.swiglu(x),
            (real(2, 4),),
            numpy=lambda x: halves(x)[0] * sigmoid(halves(x)[0]) * halves(x)[1],
        ),
        Case(
            "two",
            lambda x, y: F.swiglu(x, y),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: x * sigmoid(x) * y,
            torch=lambda x, y: torch.nn.functional.silu(x) * y,
        ),
    ],
    "nn.functional.maxout": [
        Case(
            "plain",
            lambda x: F.maxout(x, 2),
            (spaced(2, 4, 1, 2),),
            numpy=lambda x: maxout(x, 2, 1),
        ),
        Case(
            "last",
            lambda x: F.maxout(x, groups=3, axis=-1),
            (spaced(2, 6),),
            numpy=lambda x: maxout(x, 3, -1),
        ),
    ],
    "nn.functional.gumbel_softmax": [
        Case(
            "soft",
            lambda x: F.gumbel_softmax(x, 0.8),
            (real(2, 3),),
            numpy=lambda x: gumbel(x, 0.8),
        ),
        Case(
            "axis",
            lambda x: F.gumbel_softmax(x, axis=0),
            (real(3, 2),),
            numpy=lambda x: gumbel(x, 1.0, 0),
        ),
        Case(
            "hard",
            lambda x: F.gumbel_softmax(x, 0.5, hard=True),
            (real(2, 3),),
            numpy=lambda x: hardest(gumbel(x, 0.5)),
            smooth=False,
        ),
    ],
}
