"""Ways of saying what an operation computes that references of several families share.

Functions of one element come from `math`; the adjoints are the transposes of Jacobian matrices
built column by column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


def each(f: Callable[..., Any]) -> Callable[..., Array]:
    """`f` of Python numbers, applied to every element."""

    def apply(*operands: Array) -> Array:
        spread = np.broadcast_arrays(*operands)
        values = [f(*(v.item() for v in vs)) for vs in zip(*(a.flat for a in spread), strict=True)]
        return np.asarray(values).reshape(spread[0].shape)

    return apply


def transpose_of(f: Callable[[Array], Array], shape: tuple[int, ...], y: Array) -> Array:
    """The adjoint of the linear function `f` on arrays of `shape`, at `y`."""
    out = np.zeros(shape)
    for index in np.ndindex(shape):
        unit = np.zeros(shape)
        unit[index] = 1.0
        out[index] = np.sum(f(unit) * y)
    return out


def along_axis(f: Callable[[list[float]], Any]) -> Callable[..., Array]:
    """`f` of the list of elements along one axis."""

    def apply(x: Array, axis: int) -> Array:
        if not x.size:
            return np.zeros(x.shape)
        return np.apply_along_axis(lambda v: np.asarray(f(v.tolist())), axis, x)

    return apply


SEED = 5


def each_matrix(f: Callable[..., Any], outputs: int = 1) -> Callable[..., Any]:
    """`f` of single matrices for every matrix of batches that broadcast."""

    def apply(*operands: Array, **attrs: Any) -> Any:
        batch = np.broadcast_shapes(*[a.shape[:-2] for a in operands])
        spread = [np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in operands]
        found = [f(*[a[i] for a in spread], **attrs) for i in np.ndindex(batch)]
        if not found:  # the shapes of the results, from matrices of zeros
            ones = [np.eye(*a.shape[-2:]) for a in spread]
            like = f(*ones, **attrs)
            likes = like if outputs > 1 else (like,)
            out = tuple(np.zeros((*batch, *np.shape(v)), np.asarray(v).dtype) for v in likes)
        else:
            columns = zip(*found, strict=True) if outputs > 1 else [found]
            out = tuple(np.reshape(np.stack(c), (*batch, *np.shape(c[0]))) for c in columns)
        return out if outputs > 1 else out[0]

    return apply


def elementwise(shape: tuple[int, ...], f: Callable[[tuple[int, ...]], Any]) -> Array:
    """An array of `shape` whose element at each index is ``f(index)``."""
    out = np.zeros(shape)
    for index in np.ndindex(*shape):
        out[index] = f(index)
    return out


def log_of_sum(values: list[float]) -> float:
    if not values:
        return -math.inf
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(v - largest) for v in values))


def adjoint_of(f: Callable[..., Array]) -> Callable[..., Array]:
    return lambda y, like, **attrs: transpose_of(lambda x: f(x, **attrs), like.shape, y)
