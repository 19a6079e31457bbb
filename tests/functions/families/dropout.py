"""Calls of the public functions of `dropout`."""

from __future__ import annotations

import math

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..calls import draw
from ..case import Case

F = paddle.nn.functional
Array = np.ndarray


def kept(shape: tuple[int, ...], p: float) -> Array:
    return (draw().random(shape, dtype=np.float32) >= p).astype(np.float64)


def alpha_dropout(x: Array, p: float, shape: tuple[int, ...]) -> Array:
    floor = -1.0507009873554805 * 1.6732632423543772
    a = 1.0 / math.sqrt((1.0 - p) * (1.0 + p * floor**2))
    return a * np.where(kept(shape, p) > 0.0, x, floor) - a * floor * p


CASES: dict[str, list[Case]] = {
    "nn.functional.dropout": [
        Case(
            "plain",
            lambda x: F.dropout(x, 0.4),
            (real(2, 3),),
            numpy=lambda x: x * kept(x.shape, 0.4) / 0.6,
        ),
        Case(
            "axis",
            lambda x: F.dropout(x, 0.4, axis=1, mode="downscale_in_infer"),
            (real(2, 3),),
            numpy=lambda x: x * kept((1, 3), 0.4),
        ),
        Case(
            "test",
            lambda x: F.dropout(x, 0.4, training=False, mode="downscale_in_infer"),
            (real(2, 3),),
            numpy=lambda x: 0.6 * x,
        ),
        Case(
            "in-place",
            lambda x: F.dropout(x.clone(), 0.4, inplace=True),
            (real(2, 3),),
            numpy=lambda x: x * kept(x.shape, 0.4) / 0.6,
        ),
    ],
    "nn.functional.dropout1d": [
        Case(
            "plain",
            lambda x: F.dropout1d(x, 0.4),
            (real(2, 3, 2),),
            numpy=lambda x: x * kept((2, 3, 1), 0.4) / 0.6,
        )
    ],
    "nn.functional.dropout2d": [
        Case(
            "plain",
            lambda x: F.dropout2d(x, 0.4),
            (real(2, 3, 1, 2),),
            numpy=lambda x: x * kept((2, 3, 1, 1), 0.4) / 0.6,
        ),
        Case(
            "channels-last",
            lambda x: F.dropout2d(x, 0.4, data_format="NHWC"),
            (real(2, 1, 2, 3),),
            numpy=lambda x: x * kept((2, 1, 1, 3), 0.4) / 0.6,
        ),
    ],
    "nn.functional.dropout3d": [
        Case(
            "plain",
            lambda x: F.dropout3d(x, 0.4),
            (real(2, 2, 1, 2, 1),),
            numpy=lambda x: x * kept((2, 2, 1, 1, 1), 0.4) / 0.6,
        )
    ],
    "nn.functional.alpha_dropout": [
        Case(
            "plain",
            lambda x: F.alpha_dropout(x, 0.4),
            (real(2, 3),),
            numpy=lambda x: alpha_dropout(x, 0.4, (2, 3)),
        ),
        Case(
            "test",
            lambda x: F.alpha_dropout(x, 0.4, training=False),
            (real(2, 3),),
            numpy=lambda x: x,
        ),
    ],
    "nn.functional.feature_alpha_dropout": [
        Case(
            "plain",
            lambda x: F.feature_alpha_dropout(x, 0.4),
            (real(2, 3, 2),),
            numpy=lambda x: alpha_dropout(x, 0.4, (2, 3, 1)),
        )
    ],
}
