"""Operations that make an array from attributes alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim, fresh_dim, slice_length
from autograd_engine.core.dtypes import INT64
from autograd_engine.core.spec import Array, Shape, Spec, ValueSpec
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import nothing


def _range(*, start: float, end: float, step: float, dtype: str) -> Array:
    return np.arange(start, end, step).astype(dtype)


def _infer_range(*, start: float, end: float, step: float, dtype: str) -> Spec:
    if any(isinstance(v, Dim) for v in (start, end, step)):
        return Spec((_steps(start, end, step),), np.dtype(dtype))
    count = math.ceil((end - start) / step)  # as NumPy counts
    return Spec((max(count, 0),), np.dtype(dtype))


def _steps(start: Any, end: Any, step: Any) -> Any:
    """How many values there are, where a number is known when the program runs."""
    try:
        whole = all(isinstance(v, (int, Dim)) for v in (start, end, step))
        if whole and start >= 0 and end >= 0 and step > 0:
            return slice_length(end, start, None, step)
    except TypeError:  # not decided
        pass
    return fresh_dim()


def _eye(*, rows: int, columns: int, dtype: str) -> Array:
    return np.eye(rows, columns, dtype=dtype)


def _linspace(*, start: float, stop: float, num: int) -> Array:
    return np.linspace(start, stop, num)


def _triangle_indices(*, rows: int, columns: int, offset: int, upper: bool) -> Array:
    find = np.triu_indices if upper else np.tril_indices
    return np.stack(find(rows, offset, columns))


def _infer_triangle_indices(*, rows: int, columns: int, offset: int, upper: bool) -> Spec:
    sizes = rows, columns, offset
    if any(isinstance(v, Dim) for v in sizes):
        return Spec((2, fresh_dim()), INT64)
    return Spec(
        _triangle_indices(rows=rows, columns=columns, offset=offset, upper=upper).shape, INT64
    )


def _infer_full(*, shape: Shape, value: float, dtype: str) -> Spec:
    spec = Spec(shape, np.dtype(dtype))
    return ValueSpec.constant(spec, value) if isinstance(value, (int, float)) else spec


defop(
    "full",
    lambda *, shape, value, dtype: np.full(shape, value, dtype),
    inputs="",
    infer=_infer_full,
    elements="fill",
)
defop("range", _range, inputs="", infer=_infer_range, work=nothing)
defop(
    "eye",
    _eye,
    inputs="",
    infer=lambda *, rows, columns, dtype: Spec((rows, columns), np.dtype(dtype)),
    work=nothing,
)
defop(
    "linspace",
    _linspace,
    inputs="",
    infer=lambda *, start, stop, num: Spec((num,), np.dtype(np.float64)),
    work=nothing,
)
defop(
    "triangle_indices",
    _triangle_indices,
    inputs="",
    infer=_infer_triangle_indices,
    work=nothing,
)
# An array of the user's that a program uses: kept as it was when the program was built.
defop(
    "constant",
    lambda *, value: value,
    inputs="",
    infer=lambda *, value: ValueSpec.constant(Spec(value.shape, value.dtype), value),
    work=nothing,
)
