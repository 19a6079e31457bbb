"""Inference rules that many operations share: Specs in, Spec of the output out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import BOOL, BOOLS, COMPLEX, EXACT, INT64, INTEGERS, common_dtype
from autograd_engine.core.spec import Like, Spec, ValueSpec, broadcast_shapes
from autograd_engine.errors import DTypeError

__all__ = [
    "broadcast",
    "cast",
    "compare",
    "index_dtype",
    "like",
    "no_bools",
    "same",
    "sum_dtype",
]


def same(x: Spec, *_: Spec, **_attrs: Any) -> Spec:
    """The output is like the first input."""
    return Spec(x.shape, x.dtype)


def like(g: Spec, *others: Spec, **_attrs: Any) -> Spec:
    """The output has the dtype of `g` and the shape of `like`, the last input."""
    return Spec(others[-1].shape, g.dtype)


def cast(x: Like, dtype: np.dtype[Any]) -> Spec:
    """The output is `x` in that dtype, which is none of real numbers if `x` is complex."""
    if x.dtype in COMPLEX and dtype not in COMPLEX and dtype not in BOOLS:
        raise DTypeError(
            f"cast: {x.dtype.name} values have no {dtype.name} form; use paddle.real, paddle.imag "
            "or paddle.abs"
        )
    if isinstance(x, ValueSpec) and x.dtype in INTEGERS:
        return ValueSpec.of(Spec(x.shape, dtype), x.value)
    return Spec(x.shape, dtype)


def broadcast(name: str) -> Callable[..., Spec]:
    """Shapes broadcast; the dtype is the one in which the inputs meet."""

    def infer(*specs: Spec, **_: Any) -> Spec:
        shape = broadcast_shapes(name, *[s.shape for s in specs])
        return Spec(shape, common_dtype([s.dtype for s in specs]))

    return infer


def compare(name: str) -> Callable[..., Spec]:
    """Shapes broadcast; the result is bool."""

    def infer(*specs: Spec, **_: Any) -> Spec:
        return Spec(broadcast_shapes(name, *[s.shape for s in specs]), BOOL)

    return infer


def no_bools(name: str, infer: Callable[..., Spec], instead: str) -> Callable[..., Spec]:
    """`infer` for an operation that has no meaning on bools."""

    def checked(*specs: Spec, **attrs: Any) -> Spec:
        out = infer(*specs, **attrs)
        if out.dtype in BOOLS:
            raise DTypeError(
                f"{name}: takes numbers, got bools; use {instead}, or x.astype('int64')"
            )
        return out

    return checked


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Dtype of a sum: integers and bools add up as int64."""
    return INT64 if dtype in EXACT else dtype


def index_dtype(op: str, argument: str, spec: Like) -> None:
    """Raise DTypeError unless `spec` can index."""
    if spec.dtype not in INTEGERS:
        raise DTypeError(
            f"{op}: {argument} must hold integers, got {spec.dtype.name}; "
            f"use {argument}.astype('int64')"
        )
