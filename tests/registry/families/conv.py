"""Samples and references of `ops/nn/conv.py`: convolution, by loops over its definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, adjoint_of, transpose_of
from ..sampling import Sample, Shape, real

# label: shape of x, of w, of the result, what differs from the plain attributes
PLANE_CONVOLUTIONS: dict[str, tuple[Shape, Shape, Shape, dict[str, Any]]] = {
    "plain": ((2, 2, 3, 4), (2, 2, 2, 2), (2, 2, 2, 3), {}),
    "stride": ((1, 2, 5, 4), (2, 2, 2, 2), (1, 2, 2, 2), {"stride": (2, 2)}),
    "padding": ((1, 1, 3, 2), (2, 1, 2, 2), (1, 2, 5, 2), {"padding": ((1, 2), (0, 1))}),
    "dilation": ((1, 1, 4, 5), (1, 1, 2, 2), (1, 1, 2, 3), {"dilation": (2, 2)}),
    "groups": ((2, 4, 2, 3), (2, 2, 2, 2), (2, 2, 1, 2), {"groups": 2}),
    "pointwise": ((2, 3, 2, 2), (2, 3, 1, 1), (2, 2, 2, 2), {}),
    "unused-edge": ((1, 1, 6, 4), (1, 1, 2, 2), (1, 1, 2, 2), {"stride": (3, 2)}),
}

STRIDED_KERNEL = ((1, 2, 3, 3), (2, 2, 2, 2), (1, 2, 2, 2))


def _conv_attrs(**changes: Any) -> dict[str, Any]:
    plain = {"stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
    return plain | changes


def _plane_convolutions(order: str, like: str = "") -> list[Sample]:
    """Operands named by `order`, of which `like` gives its shape only."""
    samples = []
    for label, (x, w, y, changes) in PLANE_CONVOLUTIONS.items():
        shape = {"x": x, "w": w, "y": y}
        operands = tuple(np.zeros(shape[c]) if c == like else real(*shape[c]) for c in order)
        samples.append(Sample(label, operands, _conv_attrs(**changes)))
    shape = dict(zip("xwy", STRIDED_KERNEL, strict=True))
    operands = tuple(strided(real(*shape[c])) for c in order)
    return [*samples, Sample("strided", operands, _conv_attrs())]


# label: shape of x, of w, of the result, stride, padding, dilation, groups
CONVOLUTIONS: dict[str, tuple[Any, ...]] = {
    "one-axis": ((2, 2, 6), (4, 1, 2), (2, 4, 3), (2,), ((0, 1),), (2,), 2),
    "three-axes": (
        (1, 2, 3, 2, 3), (2, 2, 2, 1, 2), (1, 2, 2, 2, 2),
        (1, 2, 2), ((0, 0), (1, 0), (0, 1)), (1, 1, 1), 1,
    ),
    "depthwise": (
        (1, 2, 4, 3), (4, 1, 2, 2), (1, 4, 2, 3), (2, 1), ((0, 1), (1, 0)), (2, 1), 2,
    ),
}  # fmt: skip


def _convolutions(order: str, like: str = "") -> list[Sample]:
    samples = []
    for label, (x, w, y, stride, padding, dilation, groups) in CONVOLUTIONS.items():
        shape = {"x": x, "w": w, "y": y}
        operands = tuple(np.zeros(shape[c]) if c == like else real(*shape[c]) for c in order)
        attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        samples.append(Sample(label, operands, attrs))
    return samples


# label: shape of x, of the result, what differs from the plain attributes
COLUMNS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "plain": ((2, 2, 3, 2), (2, 8, 2), {}),
    "stride": ((1, 1, 4, 5), (1, 4, 4), {"stride": (2, 2)}),
    "padding": ((1, 1, 2, 2), (1, 4, 8), {"padding": ((1, 0), (2, 1)), "kernel": (2, 2)}),
    "dilation": ((1, 2, 4, 3), (1, 4, 6), {"dilation": (2, 1), "kernel": (2, 1)}),
    "no-images": ((0, 1, 2, 2), (0, 4, 1), {}),
}


def _columns(adjoint: bool) -> list[Sample]:
    plain = {
        "kernel": (2, 2),
        "stride": (1, 1),
        "padding": ((0, 0), (0, 0)),
        "dilation": (1, 1),
    }
    samples = []
    for label, (x, y, changes) in COLUMNS.items():
        operands = (real(*y), np.zeros(x)) if adjoint else (real(*x),)
        samples.append(Sample(label, operands, plain | changes))
    operands = (real(1, 4, 2), np.zeros((1, 1, 3, 2))) if adjoint else (real(1, 1, 3, 2),)
    return [*samples, Sample("strided", tuple(map(strided, operands)), plain)]


def conv(x: Array, w: Array, stride: Any, padding: Any, dilation: Any, groups: int) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), *padding))
    taps = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    size = [(n - t) // s + 1 for n, t, s in zip(padded.shape[2:], taps, stride, strict=True)]
    out = np.zeros((x.shape[0], w.shape[0], *size))
    depth, filters = w.shape[1], w.shape[0] // groups
    for n, o, *at in np.ndindex(out.shape):
        for c, *tap in np.ndindex(w.shape[1:]):
            place = [p * s + i * d for p, s, i, d in zip(at, stride, tap, dilation, strict=True)]
            met = padded[(n, o // filters * depth + c, *place)]
            out[(n, o, *at)] += met * w[(o, c, *tap)]
    return out


def unfold(x: Array, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), *padding))
    (sh, sw), (dh, dw) = stride, dilation
    columns = []
    for top in range(0, padded.shape[2] - dh * (kernel[0] - 1), sh):
        for left in range(0, padded.shape[3] - dw * (kernel[1] - 1), sw):
            window = padded[:, :, top:, left:][:, :, ::dh, ::dw][:, :, : kernel[0], : kernel[1]]
            columns.append(window.reshape(x.shape[0], math.prod(window.shape[1:])))
    return np.stack(columns, axis=-1)


SAMPLES: dict[str, list[Sample]] = {
    "conv": [*_plane_convolutions("xw"), *_convolutions("xw")],
    "conv_input": [
        *_plane_convolutions("ywx", like="x"),
        *_convolutions("ywx", like="x"),
    ],
    "conv_filter": [
        *_plane_convolutions("yxw", like="w"),
        *_convolutions("yxw", like="w"),
    ],
    "unfold": _columns(adjoint=False),
    "fold_like": _columns(adjoint=True),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "conv": conv,
    "conv_input": lambda y, w, like, **attrs: transpose_of(
        lambda x: conv(x, w, **attrs), like.shape, y
    ),
    "conv_filter": lambda y, x, like, **attrs: transpose_of(
        lambda w: conv(x, w, **attrs), like.shape, y
    ),
    "unfold": unfold,
    "fold_like": adjoint_of(unfold),
}
