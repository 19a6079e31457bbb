"""Calls of the public functions of `normalization`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import TF
from .conv import first, last

F = paddle.nn.functional


def standardized(x: Any, axes: Any, epsilon: float = 1e-5) -> Any:
    deviation = np.sqrt(x.var(axis=axes, keepdims=True) + epsilon)
    return (x - x.mean(axis=axes, keepdims=True)) / deviation


def along(v: Any, ndim: int, axis: int = 1) -> Any:
    return v.reshape([-1 if i == axis else 1 for i in range(ndim)])


def grouped(x: Any, groups: int) -> Any:
    n = len(x)
    return standardized(x.reshape(n, groups, -1), 2).reshape(x.shape)


def local_response(x: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    out = np.zeros(x.shape)
    for n, c, *at in np.ndindex(x.shape):
        near = range(max(c - size // 2, 0), min(c + (size - 1) // 2 + 1, x.shape[1]))
        mean = sum(x[(n, i, *at)] ** 2 for i in near) / size
        out[(n, c, *at)] = x[(n, c, *at)] / (k + alpha * mean) ** beta
    return out


# Statistics are data, not differentiated.
MEAN, VARIANCE = np.full(3, 0.25, np.float32), np.full(3, 2.0, np.float32)


CASES: dict[str, list[Case]] = {
    "nn.functional.batch_norm": [
        Case(
            "fixed",
            lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b),
            (real(2, 3, 2), real(3), real(3), MEAN, VARIANCE),
            numpy=lambda x, w, b, m, v: (
                (x - 0.25) / np.sqrt(2.0 + 1e-5) * along(w, 3) + along(b, 3)
            ),
            torch=lambda x, w, b, m, v: TF.batch_norm(x, m.to(x.dtype), v.to(x.dtype), w, b),
        ),
        Case(
            "training",
            lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
            (real(4, 2), real(2), real(2)),
            numpy=lambda x, w, b: standardized(x, (0,)) * w + b,
            torch=lambda x, w, b: TF.batch_norm(x, None, None, w, b, training=True),
        ),
        Case(
            "last",
            lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True, data_format="NLC"),
            (real(2, 2, 3), real(3), real(3)),
            numpy=lambda x, w, b: standardized(x, (0, 1)) * w + b,
        ),
    ],
    "nn.functional.layer_norm": [
        Case(
            "plain",
            lambda x, w, b: F.layer_norm(x, 4, w, b),
            (real(2, 4), real(4), real(4)),
            numpy=lambda x, w, b: standardized(x, (1,)) * w + b,
            torch=lambda x, w, b: TF.layer_norm(x, (4,), w, b),
            known=True,
        ),
        Case(
            "two-axes",
            lambda x: F.layer_norm(x, [2, 3]),
            (real(2, 2, 3),),
            numpy=lambda x: standardized(x, (1, 2)),
            torch=lambda x: TF.layer_norm(x, (2, 3)),
            known=True,
        ),
    ],
    "nn.functional.rms_norm": [
        Case(
            "plain",
            lambda x, w: F.rms_norm(x, 4, w)[0],
            (real(2, 4), real(4)),
            numpy=lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w,
            torch=lambda x, w: TF.rms_norm(x, (4,), w, eps=1e-5),
            known=True,
        ),
        Case(
            "inverse",
            lambda x: F.rms_norm(x, [3], eps=0.1)[1],
            (real(2, 3),),
            numpy=lambda x: 1.0 / np.sqrt((x * x).mean(-1) + 0.1),
            known=True,
        ),
    ],
    "nn.functional.group_norm": [
        Case(
            "plain",
            lambda x, w, b: F.group_norm(x, 2, weight=w, bias=b),
            (real(2, 4, 2), real(4), real(4)),
            numpy=lambda x, w, b: grouped(x, 2) * along(w, 3) + along(b, 3),
            torch=lambda x, w, b: TF.group_norm(x, 2, w, b),
            known=True,
        ),
        Case(
            "last",
            lambda x: F.group_norm(x, 1, data_format="NHWC"),
            (real(1, 2, 2, 3),),
            numpy=lambda x: standardized(x, (1, 2, 3)),
            known=True,
        ),
    ],
    "nn.functional.instance_norm": [
        Case(
            "plain",
            lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
            (real(2, 2, 4), real(2), real(2)),
            numpy=lambda x, w, b: standardized(x, (2,)) * along(w, 3) + along(b, 3),
            torch=lambda x, w, b: TF.instance_norm(x, weight=w, bias=b),
        ),
        Case(
            "fixed",
            lambda x, m, v: F.instance_norm(x, m, v, use_input_stats=False),
            (real(1, 2, 3), real(2), real(2, low=0.5, high=2.0)),
            numpy=lambda x, m, v: (x - along(m, 3)) / np.sqrt(along(v, 3) + 1e-5),
        ),
    ],
    "nn.functional.local_response_norm": [
        Case(
            "plain",
            lambda x: F.local_response_norm(x, 3, alpha=0.5),
            (real(1, 4, 3),),
            numpy=lambda x: local_response(x, 3, 0.5, 0.75, 1.0),
            torch=lambda x: TF.local_response_norm(x, 3, alpha=0.5),
            known=True,
        ),
        Case(
            "even-last",
            lambda x: F.local_response_norm(x, 2, alpha=0.5, beta=2.0, k=2.0, data_format="NHWC"),
            (real(1, 2, 2, 3),),
            numpy=lambda x: last(local_response(first(x), 2, 0.5, 2.0, 2.0)),
            known=True,
        ),
    ],
}
