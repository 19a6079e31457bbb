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
    "constant": lambda value: value + 0,
}
