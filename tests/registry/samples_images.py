"""Samples of convolution, pooling and normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sampling import RNG, Sample, real, spaced, strided

Shape = tuple[int, ...]

# label: shape of x, of w, of the result, what differs from the plain attributes
CONVOLUTIONS: dict[str, tuple[Shape, Shape, Shape, dict[str, Any]]] = {
    "plain": ((2, 2, 3, 4), (2, 2, 2, 2), (2, 2, 2, 3), {}),
    "stride": ((1, 2, 5, 4), (2, 2, 2, 2), (1, 2, 2, 2), {"stride": (2, 2)}),
    "padding": ((1, 1, 3, 2), (2, 1, 2, 2), (1, 2, 5, 2), {"padding": ((1, 2), (0, 1))}),
    "dilation": ((1, 1, 4, 5), (1, 1, 2, 2), (1, 1, 2, 3), {"dilation": (2, 2)}),
    "groups": ((2, 4, 2, 3), (2, 2, 2, 2), (2, 2, 1, 2), {"groups": 2}),
    "pointwise": ((2, 3, 2, 2), (2, 3, 1, 1), (2, 2, 2, 2), {}),
    "unused-edge": ((1, 1, 6, 4), (1, 1, 2, 2), (1, 1, 2, 2), {"stride": (3, 2)}),
}
STRIDED_CONVOLUTION = ((1, 2, 3, 3), (2, 2, 2, 2), (1, 2, 2, 2))


def _conv_attrs(**changes: Any) -> dict[str, Any]:
    plain = {"stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
    return plain | changes


def _convolutions(order: str, like: str = "") -> list[Sample]:
    """Operands named by `order`, of which `like` gives its shape only."""
    samples = []
    for label, (x, w, y, changes) in CONVOLUTIONS.items():
        shape = {"x": x, "w": w, "y": y}
        operands = tuple(np.zeros(shape[c]) if c == like else real(*shape[c]) for c in order)
        samples.append(Sample(label, operands, _conv_attrs(**changes)))
    shape = dict(zip("xwy", STRIDED_CONVOLUTION, strict=True))
    operands = tuple(strided(real(*shape[c])) for c in order)
    return [*samples, Sample("strided", operands, _conv_attrs())]


# label: shape of x, of the result, what differs from the plain attributes
POOLINGS: dict[str, tuple[Shape, Shape, dict[str, Any]]] = {
    "plain": ((2, 2, 4, 4), (2, 2, 2, 2), {}),
    "overlap": ((1, 2, 4, 3), (1, 2, 3, 2), {"stride": (1, 1)}),
    "padding": ((1, 1, 3, 4), (1, 1, 4, 2), {"padding": ((1, 1), (0, 1)), "stride": (1, 2)}),
    "ceil": ((1, 1, 5, 3), (1, 1, 3, 2), {"ceil_mode": True}),
    "gaps": ((1, 1, 5, 6), (1, 1, 2, 2), {"stride": (3, 3)}),
    "tall": ((1, 2, 5, 2), (1, 2, 2, 1), {"kernel": (3, 2), "stride": (2, 2)}),
}


def _pool_attrs(**changes: Any) -> dict[str, Any]:
    plain = {
        "kernel": (2, 2),
        "stride": (2, 2),
        "padding": ((0, 0), (0, 0)),
        "ceil_mode": False,
    }
    return plain | changes


def _max_pool() -> list[Sample]:
    samples = [Sample(n, (spaced(*x),), _pool_attrs(**c)) for n, (x, _, c) in POOLINGS.items()]
    return [*samples, Sample("strided", (strided(spaced(1, 2, 4, 4)),), _pool_attrs())]


def _average_pool(adjoint: bool) -> list[Sample]:
    samples = []
    for label, (x, y, changes) in POOLINGS.items():
        for exclusive in (True, False):
            operands = (real(*y), np.zeros(x)) if adjoint else (real(*x),)
            name = label if exclusive else f"{label}-inclusive"
            attrs = _pool_attrs(**changes) | {"exclusive": exclusive}
            samples.append(Sample(name, operands, attrs))
    return samples


def _pool_positions() -> np.ndarray:
    """Positions in planes of 3 x 4, some of them twice in a plane."""
    return RNG.integers(0, 12, (2, 2, 3, 2))


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


SAMPLES: dict[str, list[Sample]] = {
    "conv": _convolutions("xw"),
    "conv_input": _convolutions("ywx", like="x"),
    "conv_filter": _convolutions("yxw", like="w"),
    "max_pool": _max_pool(),
    "max_pool_scatter": [
        Sample("plain", (real(2, 2, 3, 2), _pool_positions(), np.zeros((2, 2, 3, 4)))),
        Sample("strided", (strided(real(2, 2, 3, 2)), _pool_positions(), np.zeros((2, 2, 3, 4)))),
    ],
    "max_pool_gather": [
        Sample("plain", (real(2, 2, 3, 4), _pool_positions())),
        Sample("strided", (strided(real(2, 2, 3, 4)), _pool_positions())),
    ],
    "avg_pool": _average_pool(adjoint=False),
    "avg_pool_input": _average_pool(adjoint=True),
    "standardize": _standardize(),
}
