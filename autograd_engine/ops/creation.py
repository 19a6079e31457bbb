"""Operations that make an array from attributes alone."""

from __future__ import annotations

import math

import numpy as np

from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.work import nothing


def _range(*, start: float, end: float, step: float, dtype: str) -> Array:
    return np.arange(start, end, step).astype(dtype)


def _infer_range(*, start: float, end: float, step: float, dtype: str) -> Spec:
    count = math.ceil((end - start) / step)  # as NumPy counts
    return Spec((max(count, 0),), np.dtype(dtype))


defop(
    "full",
    lambda *, shape, value, dtype: np.full(shape, value, dtype),
    inputs="",
    infer=lambda *, shape, value, dtype: Spec(shape, np.dtype(dtype)),
    elements="fill",
)
defop("range", _range, inputs="", infer=_infer_range, work=nothing)
# An array of the user's that a program uses: kept as it was when the program was built.
defop(
    "constant",
    lambda *, value: value,
    inputs="",
    infer=lambda *, value: Spec(value.shape, value.dtype),
    work=nothing,
)
