"""Samples and references of `ops/complex.py`: the parts, element by element."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from ..sampling import Sample, real


def complex_values(*shape: int) -> np.ndarray:
    return np.asarray(real(*shape) + 1j * real(*shape))


SAMPLES: dict[str, list[Sample]] = {
    "real_part": [
        Sample("plain", (complex_values(2, 3),), smooth=False),
        Sample("0-d", (complex_values(),), smooth=False),
        Sample("empty", (complex_values(0, 3),), smooth=False),
    ],
    "imag_part": [
        Sample("plain", (complex_values(2, 3),), smooth=False),
        Sample("0-d", (complex_values(),), smooth=False),
        Sample("empty", (complex_values(0, 3),), smooth=False),
    ],
    "to_complex": [
        Sample("plain", (real(2, 3), real(2, 3)), smooth=False),
        Sample("row", (real(2, 3), real(3)), smooth=False),
        Sample("0-d", (real(), real()), smooth=False),
    ],
    "conj": [
        Sample("complex", (complex_values(2, 3),), smooth=False),
        Sample("0-d", (complex_values(),), smooth=False),
    ],
    "angle": [
        Sample("real", (real(2, 3),)),
        Sample("0-d", (real(),)),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "real_part": lambda x: np.asarray([v.real for v in x.ravel().tolist()]).reshape(x.shape),
    "imag_part": lambda x: np.asarray([v.imag for v in x.ravel().tolist()]).reshape(x.shape),
    "to_complex": lambda real, imag: real + 1j * imag,
    "conj": lambda x: x.real - 1j * x.imag,
    "angle": lambda x: np.asarray([cmath.phase(v) for v in x.ravel().tolist()]).reshape(x.shape),
}
