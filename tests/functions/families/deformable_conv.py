"""Calls of the public functions of `deformable_conv`, beside loops over windows."""

from __future__ import annotations

import itertools
import math

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case

Array = np.ndarray
deform_conv2d = paddle.vision.ops.deform_conv2d


def bilinear(plane: Array, y: float, x: float) -> float:
    """Between pixels, with zeros outside."""
    total = 0.0
    for i, j in itertools.product(
        (math.floor(y), math.floor(y) + 1), (math.floor(x), math.floor(x) + 1)
    ):
        if 0 <= i < plane.shape[0] and 0 <= j < plane.shape[1]:
            total += plane[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


def deformed(
    x: Array,
    offset: Array,
    w: Array,
    b: Array | None = None,
    mask: Array | None = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    parts: int = 1,
    groups: int = 1,
) -> Array:
    channels, (filters, inner, kh, kw) = x.shape[1], w.shape
    out = np.zeros((len(x), filters, *offset.shape[2:])) + (0.0 if b is None else b[:, None, None])
    for n, f, i, j in np.ndindex(*out.shape):
        for c, u, v in np.ndindex(inner, kh, kw):
            channel = f // (filters // groups) * inner + c
            tap = channel // (channels // parts) * kh * kw + u * kw + v
            y = i * stride - padding + u * dilation + offset[n, 2 * tap, i, j]
            z = j * stride - padding + v * dilation + offset[n, 2 * tap + 1, i, j]
            weight = w[f, c, u, v] * (1.0 if mask is None else mask[n, tap, i, j])
            out[n, f, i, j] += weight * bilinear(x[n, channel], y, z)
    return out


CASES: dict[str, list[Case]] = {
    "vision.ops.deform_conv2d": [
        Case(
            "plain",
            lambda x, o, w, b: deform_conv2d(x, o, w, b),
            (real(1, 1, 3, 3), real(1, 8, 2, 2), real(2, 1, 2, 2), real(2)),
            numpy=deformed,
            known=True,
        ),
        Case(
            "masked",
            lambda x, o, w, m: deform_conv2d(x, o, w, None, 2, 1, 2, 2, 2, m),
            (real(1, 4, 4, 4), real(1, 8, 3, 2), real(2, 2, 1, 2), real(1, 4, 3, 2)),
            numpy=lambda x, o, w, m: deformed(x, o, w, None, m, 2, 1, 2, 2, 2),
            known=True,
        ),
    ],
}
