"""Calls of the public functions of `setitem`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real

from ..case import Case
from .getitem import MASK, ROWS, with_arrays

Array = np.ndarray


def assigned(key: Any) -> Callable[..., Any]:
    """``x[key] = value`` on a copy, in each of the systems; arrays in `key` come as operands."""

    def call(x: Any, value: Any, *arrays: Any) -> Any:
        full = with_arrays(key, arrays)
        if not isinstance(x, paddle.Tensor):
            return paddle.static.setitem(x, full, value)
        y = x.clone()
        y[full] = value
        return y

    return call


def numpy_assigned(key: Any) -> Callable[..., Any]:
    def call(x: Array, value: Array, *arrays: Array) -> Array:
        y = x.copy()
        y[with_arrays(key, arrays)] = value
        return y

    return call


def torch_assigned(key: Any) -> Callable[..., Any]:
    def call(x: Any, value: Any, *arrays: Any) -> Any:
        y = x.clone()
        y[with_arrays(key, arrays)] = value
        return y

    return call


def assignment(
    label: str, key: Any, *operands: Array, in_torch: bool = True, **options: Any
) -> Case:
    return Case(
        label,
        assigned(key),
        operands,
        numpy=numpy_assigned(key),
        torch=torch_assigned(key) if in_torch else None,
        **options,
    )


CASES: dict[str, list[Case]] = {
    "Tensor.__setitem__": [
        assignment("slice", (slice(1, 3),), real(4, 3), real(3)),
        assignment("point", (1, -1), real(2, 3), real()),
        assignment("rows", ("i",), real(4, 3), real(2, 3), integers(2, 0)),
        assignment("repeats", ("i",), real(4, 2), real(3, 2), integers(2, 0, 2), in_torch=False),
        assignment("column", (slice(None), "i"), real(2, 3), real(2, 1), integers(0, 2)),
        assignment("mask", ("m",), real(3, 2), real(2), ROWS),
        assignment("mask-of-all", ("m",), real(2, 3), real(4), MASK),
    ],
    "static.setitem": [
        Case(
            "slice",
            lambda x, v: paddle.static.setitem(x, (slice(None), 1), v),
            (real(2, 3), real(2)),
            numpy=lambda x, v: np.stack([x[:, 0], v, x[:, 2]], 1),
        )
    ],
}
