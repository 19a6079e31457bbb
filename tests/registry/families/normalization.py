"""Samples and references of `ops/nn/normalization.py`: normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample, positive, real


def _standardize_adjoint() -> list[Sample]:
    samples = [
        Sample("last", (real(3, 4), real(3, 4), positive(3, 1)), {"axis": (1,)}),
        Sample("last-two", (real(2, 2, 3), real(2, 2, 3), positive(2, 1, 1)), {"axis": (1, 2)}),
        Sample("batch", (real(4, 2), real(4, 2), positive(1, 2)), {"axis": (0,)}),
        Sample("channels", (real(2, 2, 3), real(2, 2, 3), positive(1, 2, 1)), {"axis": (0, 2)}),
        Sample("all", (real(5), real(5), positive(1)), {"axis": (0,)}),
        Sample("size-1", (real(3, 1), real(3, 1), positive(3, 1)), {"axis": (1,)}),
        Sample("empty", (real(0, 3), real(0, 3), positive(0, 1)), {"axis": (1,)}),
        Sample(
            "strided",
            (strided(real(3, 4)), strided(real(3, 4)), strided(positive(3, 1))),
            {"axis": (1,)},
        ),
    ]
    return [Sample(s.label, s.operands, {**s.attrs, "epsilon": 1e-2}) for s in samples]


def _standardize() -> list[Sample]:
    return [
        Sample("last", (real(3, 4),), {"axis": (1,), "epsilon": 1e-5}),
        Sample("batch", (real(4, 2),), {"axis": (0,), "epsilon": 1e-3}),
        Sample("channels", (real(2, 2, 3),), {"axis": (0, 2), "epsilon": 1e-5}),
        Sample("all", (real(5),), {"axis": (0,), "epsilon": 0.0}),
        Sample("size-1", (real(3, 1),), {"axis": (1,), "epsilon": 1e-2}),
        Sample("empty", (real(0, 3),), {"axis": (1,), "epsilon": 1e-5}),
        Sample("strided", (strided(real(3, 4)),), {"axis": (1,), "epsilon": 1e-5}),
    ]


def _affine(adjoint: bool) -> list[Sample]:
    """Layers, layers of two axes, batches, images by channels and by groups, channels last."""
    cases: list[tuple[str, tuple[int, ...], tuple[int, ...], Any]] = [
        ("layer", (3, 4), (4,), ((1,), None, None)),
        ("layer-2d", (2, 2, 3), (2, 3), ((1, 2), None, None)),
        ("batch", (4, 2), (2,), ((0,), None, (1, -1))),
        ("channels", (2, 2, 3), (2,), ((0, 2), None, (1, -1, 1))),
        ("channels-last", (2, 3, 2), (2,), ((0, 1), None, (1, 1, -1))),
        ("instances", (2, 2, 3), (2,), ((2,), None, (1, -1, 1))),
        ("instances-last", (2, 3, 2), (2,), ((1,), None, (1, 1, -1))),
        ("groups", (2, 4, 3), (4,), ((2,), (0, 2, 6), (1, -1, 1))),
        ("size-1", (3, 1), (1,), ((1,), None, None)),
        ("empty", (0, 3), (3,), ((1,), None, None)),
    ]
    # Numbers of their own: all families draw from one stream, and others depend on what they get.
    random = np.random.default_rng(20261123)

    def drawn(*shape: int) -> Array:
        return np.asarray(random.uniform(-2.0, 2.0, shape))

    samples = []
    for label, shape, channels, (axis, split, spread) in cases:
        operands = [drawn(*shape), drawn(*channels)]
        operands.insert(0 if adjoint else 2, drawn(*(shape if adjoint else channels)))
        attrs = {"axis": axis, "epsilon": 1e-2, "split": split, "spread": spread}
        samples.append(Sample(label, tuple(operands), attrs))
        if label == "layer":
            samples.append(Sample("strided", tuple(map(strided, operands)), attrs))
    return samples


def _parts(x: Array, weight: Array, axis: Any, epsilon: float, split: Any, spread: Any) -> Any:
    """`x` standardised, the factor beside it, the axes of its sums, and the moments."""
    sizes = None if split is None else [x.shape[k] if d == 0 else d for k, d in enumerate(split)]
    out, *moments = standardize(x if sizes is None else x.reshape(sizes), axis, epsilon)
    factor = weight if spread is None else weight.reshape(spread)
    whole = np.broadcast_to(factor, x.shape)
    lead = x.ndim - factor.ndim
    axes = (*range(lead), *(lead + k for k, d in enumerate(factor.shape) if d == 1 and spread))
    return out.reshape(x.shape), whole, axes, moments


def standardize_affine(x: Array, weight: Array, bias: Array, **attrs: Any) -> tuple[Array, ...]:
    out, whole, _, moments = _parts(x, weight, **attrs)
    spread = attrs["spread"]
    return out * whole + (bias if spread is None else bias.reshape(spread)), *moments


def standardize_affine_adjoint(
    g: Array, x: Array, weight: Array, **attrs: Any
) -> tuple[Array, ...]:
    out, whole, axes, (_, variance) = _parts(x, weight, **attrs)
    shape = np.shape(x) if attrs["split"] is None else (len(x), *attrs["split"][1:])
    y, h = (g * whole).reshape(shape), out.reshape(shape)
    dx = standardize_adjoint(y, h, variance, attrs["axis"], attrs["epsilon"]).reshape(x.shape)
    return dx, *(np.sum(v, axis=axes).reshape(weight.shape) for v in (g * out, g))


def standardize_adjoint(
    y: np.ndarray, out: np.ndarray, variance: np.ndarray, axis: tuple[int, ...], epsilon: float
) -> np.ndarray:
    """By projections: off what is constant, and off `out`."""
    constant = np.mean(y, axis=axis, keepdims=True)
    along_out = out * np.mean(y * out, axis=axis, keepdims=True)
    return (y - constant - along_out) * (variance + epsilon) ** -0.5


def standardize(x: Array, axis: tuple[int, ...], epsilon: float) -> tuple[Array, ...]:
    mean = np.mean(x, axis=axis, keepdims=True)
    variance = np.var(x, axis=axis, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon), mean, variance


SAMPLES: dict[str, list[Sample]] = {
    "standardize_adjoint": _standardize_adjoint(),
    "running_statistic": [
        Sample("plain", (real(3), real(1, 3)), {"momentum": 0.9}),
        Sample("channels", (real(3), real(1, 3, 1, 1)), {"momentum": 0.5}),
        Sample("strided", (strided(real(3)), strided(real(1, 3))), {"momentum": 0.0}),
        Sample("empty", (real(0), real(1, 0)), {"momentum": 0.9}),
    ],
    "standardize": _standardize(),
    "standardize_affine": _affine(adjoint=False),
    "standardize_affine_adjoint": _affine(adjoint=True),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "standardize_adjoint": standardize_adjoint,
    "running_statistic": lambda running, statistic, momentum: (
        np.ravel(statistic) + momentum * (running - np.ravel(statistic))
    ),
    "standardize": standardize,
    "standardize_affine": standardize_affine,
    "standardize_affine_adjoint": standardize_affine_adjoint,
}
