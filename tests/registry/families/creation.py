"""Samples and references of `ops/creation.py`: filling."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..sampling import Sample, integers, real

SAMPLES: dict[str, list[Sample]] = {
    "full": [
        Sample("plain", (), {"shape": (2, 3), "value": 1.5, "dtype": "float32"}),
        Sample("0-d", (), {"shape": (), "value": -2.0, "dtype": "float64"}),
        Sample("empty", (), {"shape": (0, 3), "value": 0.0, "dtype": "float16"}),
        Sample("integers", (), {"shape": (2,), "value": 7, "dtype": "int64"}),
    ],
    "range": [
        Sample("plain", (), {"start": 0, "end": 5, "step": 1, "dtype": "int64"}),
        Sample("floats", (), {"start": -1.0, "end": 1.0, "step": 0.3, "dtype": "float32"}),
        Sample("down", (), {"start": 5, "end": 0, "step": -2, "dtype": "int32"}),
        Sample("empty", (), {"start": 3, "end": 3, "step": 1, "dtype": "int64"}),
    ],
    "eye": [
        Sample("plain", (), {"rows": 2, "columns": 3, "dtype": "float32"}),
        Sample("empty", (), {"rows": 0, "columns": 2, "dtype": "int64"}),
    ],
    "linspace": [
        Sample("plain", (), {"start": -1.0, "stop": 2.0, "num": 4}),
        Sample("one", (), {"start": 3.0, "stop": 5.0, "num": 1}),
        Sample("empty", (), {"start": 0.0, "stop": 1.0, "num": 0}),
    ],
    "triangle_indices": [
        Sample("lower", (), {"rows": 3, "columns": 2, "offset": 0, "upper": False}),
        Sample("upper", (), {"rows": 2, "columns": 3, "offset": 1, "upper": True}),
        Sample("empty", (), {"rows": 2, "columns": 2, "offset": 5, "upper": True}),
    ],
    "constant": [
        Sample("plain", (), {"value": real(2, 3)}),
        Sample("0-d", (), {"value": real()}),
        Sample("integers", (), {"value": integers(3, 1)}),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "full": lambda shape, value, dtype: np.zeros(shape, dtype) + np.asarray(value, dtype),
    "range": lambda start, end, step, dtype: np.asarray(
        [start + k * step for k in range(max(0, math.ceil((end - start) / step)))], dtype
    ),
    "eye": lambda rows, columns, dtype: np.asarray(
        [[i == j for j in range(columns)] for i in range(rows)], dtype
    ).reshape(rows, columns),
    "linspace": lambda start, stop, num: np.asarray(
        [start + k * ((stop - start) / max(num - 1, 1)) for k in range(num)], np.float64
    ),
    "triangle_indices": lambda rows, columns, offset, upper: (
        np.asarray(
            [
                (i, j)
                for i in range(rows)
                for j in range(columns)
                if (j - i >= offset if upper else j - i <= offset)
            ],
            np.int64,
        )
        .reshape(-1, 2)
        .T
    ),
    "constant": lambda value: value + 0,
}
