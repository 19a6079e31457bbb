"""Samples of the operations of `vision`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .samples_images import SAMPLES as IMAGES
from .sampling import Sample, integers, real, spaced, strided

# label: shape of x, sizes, shape of the result
BINS: dict[str, tuple[Any, Any, Any]] = {
    "even": ((1, 2, 4, 2), (2, 1), (1, 2, 2, 1)),
    "uneven": ((1, 1, 5, 4), (3, 3), (1, 1, 3, 3)),
    "more-than-elements": ((2, 1, 2), (3,), (2, 1, 3)),
    "as-many": ((1, 1, 3, 4), (None, 3), (1, 1, 3, 3)),
    "three-axes": ((1, 1, 3, 2, 2), (2, 1, 2), (1, 1, 2, 1, 2)),
    "no-images": ((0, 2, 5), (2,), (0, 2, 2)),
}


def _adaptive(which: str) -> list[Sample]:
    samples = []
    for label, (x, size, y) in BINS.items():
        domain = spaced if which == "max" else real
        operands = (real(*y), np.zeros(x)) if which == "adjoint" else (domain(*x),)
        # How many are as many as the elements is not told by the sizes of a cotangent.
        samples.append(Sample(label, operands, {"size": size}))
    operands = (real(1, 1, 2), np.zeros((1, 1, 5))) if which == "adjoint" else (spaced(1, 1, 5),)
    return [*samples, Sample("strided", tuple(map(strided, operands)), {"size": (2,)})]


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


# label: shape of x, of the result, attributes
POOLINGS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "one-axis": (
        (2, 1, 5),
        (2, 1, 3),
        {"kernel": (2,), "stride": (2,), "padding": ((0, 0),), "ceil_mode": True},
    ),
    "three-axes": (
        (1, 1, 3, 2, 4),
        (1, 1, 2, 2, 2),
        {
            "kernel": (2, 2, 3),
            "stride": (1, 1, 2),
            "padding": ((0, 0), (1, 0), (0, 1)),
            "ceil_mode": False,
        },
    ),
}


def _average(adjoint: bool) -> list[Sample]:
    samples = []
    for label, (x, y, attrs) in POOLINGS.items():
        for name, how in (("", {"exclusive": False}), ("-divisor", {"divisor": 3.0})):
            operands = (real(*y), np.zeros(x)) if adjoint else (real(*x),)
            samples.append(Sample(label + name, operands, {"exclusive": True} | attrs | how))
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


# label: shape of x, size of the result, what differs from the plain attributes
RESAMPLINGS: dict[str, tuple[Any, int, dict[str, Any]]] = {
    "linear": ((2, 3), 5, {}),
    "linear-down": ((2, 5), 3, {}),
    "linear-corners": ((1, 4), 6, {"align_corners": True}),
    "linear-corners-one": ((1, 4), 1, {"align_corners": True}),
    "linear-beginnings": ((4, 2), 7, {"align_mode": 1, "axis": 0}),
    "linear-scale": ((2, 3, 1), 4, {"size": None, "scale": 1.5, "axis": 1}),
    "nearest": ((2, 3), 5, {"mode": "nearest"}),
    "nearest-down": ((2, 5), 2, {"mode": "nearest"}),
    "cubic": ((1, 4), 7, {"mode": "cubic"}),
    "cubic-corners": ((1, 5), 3, {"mode": "cubic", "align_corners": True}),
    "cubic-few": ((1, 2), 5, {"mode": "cubic"}),
    "linear-antialias": ((1, 7), 3, {"antialias": True}),
    "cubic-antialias": ((1, 7), 3, {"mode": "cubic", "antialias": True}),
    "antialias-up": ((1, 3), 5, {"antialias": True}),
    "size-1": ((1, 1), 3, {}),
    "no-lines": ((0, 3), 2, {}),
    "strided": ((2, 3), 5, {}),
}


def _resamplings(adjoint: bool) -> list[Sample]:
    samples = []
    for label, (x, size, changes) in RESAMPLINGS.items():
        plain = {
            "axis": 1,
            "size": size,
            "scale": None,
            "mode": "linear",
            "align_corners": False,
            "align_mode": 0,
            "antialias": False,
        }
        attrs = plain | changes
        axis = attrs["axis"]
        y = (*x[:axis], size, *x[axis + 1 :])
        operands = (real(*y), np.zeros(x)) if adjoint else (real(*x),)
        if label == "strided":
            operands = tuple(map(strided, operands))
        samples.append(Sample(label, operands, attrs))
    return samples


SAMPLES: dict[str, list[Sample]] = {
    **IMAGES,
    "conv": IMAGES["conv"] + _convolutions("xw"),
    "conv_input": IMAGES["conv_input"] + _convolutions("ywx", like="x"),
    "conv_filter": IMAGES["conv_filter"] + _convolutions("yxw", like="w"),
    "max_pool": IMAGES["max_pool"]
    + [Sample(n, (spaced(*x),), attrs) for n, (x, _, attrs) in POOLINGS.items()],
    "max_pool_scatter": [
        *IMAGES["max_pool_scatter"],
        Sample("one-axis", (real(1, 2, 2), integers([[3, 0], [1, 1]]), np.zeros((1, 2, 4)))),
    ],
    "max_pool_gather": [
        *IMAGES["max_pool_gather"],
        Sample("one-axis", (real(1, 2, 4), integers([[3, 0], [1, 1]]))),
    ],
    "avg_pool": IMAGES["avg_pool"] + _average(adjoint=False),
    "avg_pool_input": IMAGES["avg_pool_input"] + _average(adjoint=True),
    "adaptive_max_pool": _adaptive("max"),
    "adaptive_avg_pool": _adaptive("mean"),
    "adaptive_avg_pool_input": _adaptive("adjoint"),
    "last_writes": [
        Sample("plain", (integers([[1, 0, 1]], [[2, 2, 2]]), np.zeros((2, 1, 3)))),
        Sample("plane", (integers([[[3, 0], [3, 1]]]), np.zeros((1, 1, 2, 2)))),
    ],
    "unfold": _columns(adjoint=False),
    "fold_like": _columns(adjoint=True),
    "resample": _resamplings(adjoint=False),
    "resample_like": _resamplings(adjoint=True),
}
