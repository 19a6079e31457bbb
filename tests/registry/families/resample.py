"""Samples and references of `ops/nn/resample.py`: resampling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, adjoint_of
from ..sampling import Sample, real

# label: shape of x, sizes of the result, what differs from the plain attributes
RESAMPLINGS: dict[str, tuple[Any, tuple[int, ...], dict[str, Any]]] = {
    "linear": ((2, 3), (5,), {}),
    "linear-down": ((2, 5), (3,), {}),
    "linear-corners": ((1, 4), (6,), {"align_corners": True}),
    "linear-corners-one": ((1, 4), (1,), {"align_corners": True}),
    "linear-beginnings": ((4, 2), (7, 3), {"align_mode": 1}),
    "linear-scale": ((2, 3, 2), (4, 3), {"size": (None, None), "scale": (1.5, 1.5)}),
    "nearest": ((2, 3), (5,), {"mode": "nearest"}),
    "nearest-down": ((2, 5), (2,), {"mode": "nearest"}),
    "cubic": ((1, 4), (7,), {"mode": "cubic"}),
    "cubic-corners": ((1, 5), (3,), {"mode": "cubic", "align_corners": True}),
    "cubic-few": ((1, 2), (5,), {"mode": "cubic"}),
    "linear-antialias": ((1, 7), (3,), {"antialias": True}),
    "cubic-antialias": ((1, 7), (3,), {"mode": "cubic", "antialias": True}),
    "antialias-up": ((1, 3), (5,), {"antialias": True}),
    "size-1": ((1, 1), (3,), {}),
    "volume": ((1, 2, 3, 2), (3, 2, 4), {"mode": "cubic"}),
    "no-lines": ((0, 3), (2,), {}),
    "strided": ((2, 3), (5,), {}),
}


def _resamplings(adjoint: bool) -> list[Sample]:
    samples = []
    for label, (x, size, changes) in RESAMPLINGS.items():
        plain = {
            "size": size,
            "scale": (None,) * len(size),
            "mode": "linear",
            "align_corners": False,
            "align_mode": 0,
            "antialias": False,
        }
        attrs = plain | changes
        y = (*x[: -len(size)], *size)
        operands = (real(*y), np.zeros(x)) if adjoint else (real(*x),)
        if label == "strided":
            operands = tuple(map(strided, operands))
        samples.append(Sample(label, operands, attrs))
    return samples


def _cubic(t: float, a: float) -> float:
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def resample(x: Array, size: Any, scale: Any, **how: Any) -> Array:
    """Along one of the last axes after the other."""
    for axis, each in enumerate(zip(size, scale, strict=True), x.ndim - len(size)):
        x = along(x, axis, *each, **how)
    return x


def along(
    x: Array,
    axis: int,
    size: int | None,
    scale: float | None,
    mode: str,
    align_corners: bool,
    align_mode: int,
    antialias: bool,
) -> Array:
    """A weight for every pair of elements, from the distance of their centres."""
    n = x.shape[axis]
    m = int(n * scale) if size is None else size
    step = n / m if scale is None else 1 / scale
    if align_corners:
        step = (n - 1) / (m - 1) if m > 1 else 0.0
    matrix = np.zeros((m, n))
    for p in range(m):
        half = mode == "cubic" or align_mode == 0
        at = p * step if align_corners or not half else (p + 0.5) * step - 0.5
        if mode == "nearest":
            matrix[p, min(int(p * step), n - 1)] = 1.0
        elif antialias:
            wide = max(step, 1.0)
            for i in range(n):
                t = abs(i - at) / wide
                matrix[p, i] = max(1 - t, 0) if mode == "linear" else _cubic(t, -0.5)
            matrix[p] /= matrix[p].sum()
        elif mode == "linear":
            at = min(max(at, 0.0), n - 1.0)
            for i in range(n):
                matrix[p, i] = max(1 - abs(i - at), 0.0)
        else:
            for i in range(-2, n + 2):
                matrix[p, min(max(i, 0), n - 1)] += _cubic(i - at, -0.75)
    return np.moveaxis(np.moveaxis(x, axis, -1) @ matrix.T, -1, axis)


SAMPLES: dict[str, list[Sample]] = {
    "resample": _resamplings(adjoint=False),
    "resample_like": _resamplings(adjoint=True),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "resample": resample,
    "resample_like": adjoint_of(resample),
}
