"""What is known of an array besides its elements, as an array; and its bits under another dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import INT64
from autograd_engine.core.spec import (
    Like,
    Shape,
    Spec,
    format_shape,
)
from autograd_engine.errors import ShapeError
from autograd_engine.ops.registry.opdef import defop

Array = NDArray[Any]


def _shape_of(like: Like) -> Array:
    return np.asarray(like.shape, np.int64)


def _numel(like: Like) -> Array:
    return np.asarray(math.prod(like.shape), np.int64)


defop("shape_of", _shape_of, inputs="like", infer=lambda like: Spec((like.ndim,), INT64)).nondiff()
defop("numel", _numel, inputs="like", infer=lambda like: Spec((), INT64)).nondiff()


def _reinterpret(x: Array, *, dtype: str) -> Array:
    _reinterpreted(x.shape, x.dtype, np.dtype(dtype))
    return np.ascontiguousarray(x).reshape(x.shape).view(dtype)


def _reinterpreted(shape: Shape, old: np.dtype[Any], new: np.dtype[Any]) -> Shape:
    """Shape once the bytes of the last axis are read as `new`."""
    if old.itemsize == new.itemsize:
        return shape
    if not shape or (not isinstance(shape[-1], Dim) and shape[-1] * old.itemsize % new.itemsize):
        raise ShapeError(
            f"view: the last axis of {format_shape(shape)} {old.name} does not hold whole elements "
            f"of {new.name}; use a dtype of {old.itemsize} bytes, or astype for another value type"
        )
    return (*shape[:-1], shape[-1] * old.itemsize // new.itemsize)


# The bits of a number are no smooth function of it.
defop(
    "reinterpret",
    _reinterpret,
    inputs="x",
    infer=lambda x, *, dtype: Spec(
        _reinterpreted(x.shape, x.dtype, np.dtype(dtype)), np.dtype(dtype)
    ),
    casts=True,
).nondiff()
