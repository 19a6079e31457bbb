"""Calls of the public functions of `pool`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families import (
    pool as pool_loops,
)
from tests.registry.sampling import integers, real, spaced

from ..case import Case
from ..peers import TF
from .conv import first, last

F = paddle.nn.functional


def max_pool(x: Any, kernel: Any, stride: Any, padding: Any, ceil: bool = False) -> Any:
    return pool_loops.max_pool(x, kernel, stride, padding, ceil)


def avg_pool(x: Any, kernel: Any, stride: Any, padding: Any, **how: Any) -> Any:
    ceil, exclusive = how.pop("ceil", False), how.pop("exclusive", True)
    return pool_loops.avg_pool(x, kernel, stride, padding, ceil, exclusive, **how)


def unpooled(x: Any, index: Any, size: Any) -> Any:
    out = np.zeros((*x.shape[:2], *size))
    for at in np.ndindex(x.shape):
        out[at[:2]].flat[index[at]] = x[at]
    return out


def fractional(x: Any, size: Any, kernel: Any, u: float | None) -> Any:
    index = pool_loops.fractional_max_index(x, size, kernel, u)
    return pool_loops.max_pool_gather(x, index)


def lp(x: Any, p: float, kernel: Any, stride: Any, padding: Any) -> Any:
    return pool_loops.avg_pool(x**p, kernel, stride, padding, False, True, 1.0) ** (1.0 / p)


CASES: dict[str, list[Case]] = {
    "nn.functional.max_pool1d": [
        Case(
            "plain",
            lambda x: F.max_pool1d(x, 2, 1),
            (spaced(1, 2, 4),),
            numpy=lambda x: max_pool(x, (2,), (1,), ((0, 0),))[0],
            torch=lambda x: TF.max_pool1d(x, 2, 1),
        ),
        Case(
            "mask",
            lambda x: F.max_pool1d(x, 3, 2, 1, return_mask=True, ceil_mode=True),
            (spaced(1, 1, 6),),
            numpy=lambda x: max_pool(x, (3,), (2,), ((1, 1),), True),
        ),
    ],
    "nn.functional.max_pool2d": [
        Case(
            "plain",
            lambda x: F.max_pool2d(x, 2),
            (spaced(1, 1, 4, 4),),
            numpy=lambda x: max_pool(x, (2, 2), (2, 2), ((0, 0),) * 2)[0],
            torch=lambda x: TF.max_pool2d(x, 2),
        ),
        Case(
            "padding",
            lambda x: F.max_pool2d(x, [3, 2], [2, 1], [1, 0], ceil_mode=True),
            (spaced(1, 2, 4, 2),),
            numpy=lambda x: max_pool(x, (3, 2), (2, 1), ((1, 1), (0, 0)), True)[0],
            torch=lambda x: TF.max_pool2d(x, (3, 2), (2, 1), (1, 0), ceil_mode=True),
        ),
        Case(
            "last-mask",
            lambda x: F.max_pool2d(x, 2, 1, return_mask=True, data_format="NHWC"),
            (spaced(1, 2, 3, 2),),
            numpy=lambda x: [last(v) for v in max_pool(first(x), (2, 2), (1, 1), ((0, 0),) * 2)],
        ),
    ],
    "nn.functional.max_pool3d": [
        Case(
            "plain",
            lambda x: F.max_pool3d(x, 2, 1),
            (spaced(1, 1, 2, 3, 3),),
            numpy=lambda x: max_pool(x, (2,) * 3, (1,) * 3, ((0, 0),) * 3)[0],
            torch=lambda x: TF.max_pool3d(x, 2, 1),
        ),
    ],
    "nn.functional.avg_pool1d": [
        Case(
            "plain",
            lambda x: F.avg_pool1d(x, 2, 1),
            (real(1, 2, 4),),
            numpy=lambda x: avg_pool(x, (2,), (1,), ((0, 0),)),
            torch=lambda x: TF.avg_pool1d(x, 2, 1),
        ),
        Case(
            "inclusive",
            lambda x: F.avg_pool1d(x, 3, 2, 1, exclusive=False, ceil_mode=True),
            (real(1, 1, 4),),
            numpy=lambda x: avg_pool(x, (3,), (2,), ((1, 1),), exclusive=False, ceil=True),
            torch=lambda x: TF.avg_pool1d(x, 3, 2, 1, ceil_mode=True),
        ),
    ],
    "nn.functional.avg_pool2d": [
        Case(
            "plain",
            lambda x: F.avg_pool2d(x, 2),
            (real(1, 1, 4, 4),),
            numpy=lambda x: avg_pool(x, (2, 2), (2, 2), ((0, 0),) * 2),
            torch=lambda x: TF.avg_pool2d(x, 2),
        ),
        Case(
            "exclusive",
            lambda x: F.avg_pool2d(x, 2, 1, 1),
            (real(1, 1, 3, 2),),
            numpy=lambda x: avg_pool(x, (2, 2), (1, 1), ((1, 1),) * 2),
            torch=lambda x: TF.avg_pool2d(x, 2, 1, 1, count_include_pad=False),
        ),
        Case(
            "divisor-last",
            lambda x: F.avg_pool2d(x, 2, 1, divisor_override=3, data_format="NHWC"),
            (real(1, 2, 3, 2),),
            numpy=lambda x: last(avg_pool(first(x), (2, 2), (1, 1), ((0, 0),) * 2, divisor=3.0)),
        ),
    ],
    "nn.functional.avg_pool3d": [
        Case(
            "plain",
            lambda x: F.avg_pool3d(x, 2, 1, [1, 0, 0], exclusive=False),
            (real(1, 1, 2, 2, 3),),
            numpy=lambda x: avg_pool(
                x, (2,) * 3, (1,) * 3, ((1, 1), (0, 0), (0, 0)), exclusive=False
            ),
            torch=lambda x: TF.avg_pool3d(x, 2, 1, (1, 0, 0)),
        ),
    ],
    "nn.functional.adaptive_avg_pool1d": [
        Case(
            "uneven",
            lambda x: F.adaptive_avg_pool1d(x, 3),
            (real(1, 2, 5),),
            numpy=lambda x: pool_loops.adaptive_avg_pool(x, (3,)),
            torch=lambda x: TF.adaptive_avg_pool1d(x, 3),
        ),
    ],
    "nn.functional.adaptive_avg_pool2d": [
        Case(
            "uneven",
            lambda x: F.adaptive_avg_pool2d(x, [2, 3]),
            (real(1, 1, 3, 4),),
            numpy=lambda x: pool_loops.adaptive_avg_pool(x, (2, 3)),
            torch=lambda x: TF.adaptive_avg_pool2d(x, (2, 3)),
        ),
        Case(
            "last",
            lambda x: F.adaptive_avg_pool2d(x, [None, 1], data_format="NHWC"),
            (real(1, 3, 2, 2),),
            numpy=lambda x: x.mean(axis=2, keepdims=True),
        ),
    ],
    "nn.functional.adaptive_avg_pool3d": [
        Case(
            "uneven",
            lambda x: F.adaptive_avg_pool3d(x, [2, 1, 2]),
            (real(1, 1, 3, 2, 2),),
            numpy=lambda x: pool_loops.adaptive_avg_pool(x, (2, 1, 2)),
            torch=lambda x: TF.adaptive_avg_pool3d(x, (2, 1, 2)),
        ),
    ],
    "nn.functional.adaptive_max_pool1d": [
        Case(
            "uneven",
            lambda x: F.adaptive_max_pool1d(x, 3, return_mask=True),
            (spaced(1, 2, 5),),
            numpy=lambda x: pool_loops.adaptive_max_pool(x, (3,)),
        ),
    ],
    "nn.functional.adaptive_max_pool2d": [
        Case(
            "uneven",
            lambda x: F.adaptive_max_pool2d(x, [2, 3]),
            (spaced(1, 1, 3, 4),),
            numpy=lambda x: pool_loops.adaptive_max_pool(x, (2, 3))[0],
            torch=lambda x: TF.adaptive_max_pool2d(x, (2, 3)),
        ),
    ],
    "nn.functional.adaptive_max_pool3d": [
        Case(
            "uneven",
            lambda x: F.adaptive_max_pool3d(x, 2),
            (spaced(1, 1, 3, 2, 2),),
            numpy=lambda x: pool_loops.adaptive_max_pool(x, (2, 2, 2))[0],
            torch=lambda x: TF.adaptive_max_pool3d(x, 2),
        ),
    ],
    "nn.functional.lp_pool1d": [
        Case(
            "plain",
            lambda x: F.lp_pool1d(x, 3, 2),
            (real(1, 2, 4, low=0.4, high=2.0),),
            numpy=lambda x: lp(x, 3.0, (2,), (2,), ((0, 0),)),
            torch=lambda x: TF.lp_pool1d(x, 3.0, 2),
        ),
    ],
    "nn.functional.lp_pool2d": [
        Case(
            "plain",
            lambda x: F.lp_pool2d(x, 2, 2, 1),
            (real(1, 1, 3, 3),),
            numpy=lambda x: lp(x, 2.0, (2, 2), (1, 1), ((0, 0),) * 2),
            torch=lambda x: TF.lp_pool2d(x, 2.0, 2, 1),
        ),
        Case(
            "infinite",
            lambda x: F.lp_pool2d(x, float("inf"), 2, data_format="NHWC"),
            (spaced(1, 2, 4, 2),),
            numpy=lambda x: last(max_pool(first(x), (2, 2), (2, 2), ((0, 0),) * 2)[0]),
        ),
    ],
    "nn.functional.fractional_max_pool2d": [
        Case(
            "bins",
            lambda x: F.fractional_max_pool2d(x, [3, None], random_u=0.3),
            (spaced(1, 2, 5, 3),),
            numpy=lambda x: fractional(x, (3, None), None, 0.3),
        ),
        Case(
            "drawn",
            lambda x: F.fractional_max_pool2d(x, 2, 2),
            (spaced(1, 1, 5, 4),),
            numpy=lambda x: fractional(x, (2, 2), (2, 2), None),
        ),
    ],
    "nn.functional.fractional_max_pool3d": [
        Case(
            "mask",
            lambda x: F.fractional_max_pool3d(x, [2, 1, 3], random_u=0.6, return_mask=True)[0],
            (spaced(1, 1, 3, 2, 4),),
            numpy=lambda x: fractional(x, (2, 1, 3), None, 0.6),
        ),
    ],
    "nn.functional.max_unpool1d": [
        Case(
            "plain",
            lambda x, i: F.max_unpool1d(x, i, 2),
            (real(1, 2, 2), integers([[1, 2], [0, 3]])),
            numpy=lambda x, i: unpooled(x, i, (4,)),
            torch=lambda x, i: TF.max_unpool1d(x, i, 2),
            known=True,
        ),
    ],
    "nn.functional.max_unpool2d": [
        Case(
            "plain",
            lambda x, i: F.max_unpool2d(x, i, 2, output_size=[4, 5]),
            (real(1, 1, 2, 2), integers([[[1, 7], [15, 18]]])),
            numpy=lambda x, i: unpooled(x, i, (4, 5)),
            torch=lambda x, i: TF.max_unpool2d(x, i, 2, output_size=(4, 5)),
            known=True,
        ),
        Case(
            "twice",
            lambda x, i: F.max_unpool2d(x, i, 3, 1),
            (real(1, 1, 2, 2), integers([[[5, 5], [9, 6]]])),
            numpy=lambda x, i: unpooled(x, i, (4, 4)),
            known=True,
        ),
    ],
    "nn.functional.max_unpool3d": [
        Case(
            "plain",
            lambda x, i: F.max_unpool3d(x, i, [1, 2, 2]),
            (real(1, 1, 1, 1, 2), integers([[[[5, 2]]]])),
            numpy=lambda x, i: unpooled(x, i, (1, 2, 4)),
            torch=lambda x, i: TF.max_unpool3d(x, i, (1, 2, 2)),
            known=True,
        ),
    ],
}
