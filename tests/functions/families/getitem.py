"""Calls of the public functions of `getitem`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.registry.sampling import integers, real

from ..case import Case

Array = np.ndarray
MASK = np.asarray([[True, False, True], [False, True, True]])
ROWS = np.asarray([True, False, True])


def with_arrays(key: Any, arrays: Any) -> Any:
    """`key` with arrays for the strings in it."""
    given = iter(arrays)
    return tuple(next(given) if isinstance(k, str) else k for k in key)


def read(
    label: str, key: Any, x: Array, *arrays: Array, in_torch: bool = True, **options: Any
) -> Case:
    def call(x: Any, *arrays: Any) -> Any:
        return x[with_arrays(key, arrays)]

    return Case(label, call, (x, *arrays), numpy=call, torch=call if in_torch else None, **options)


CASES: dict[str, list[Case]] = {
    "Tensor.__getitem__": [
        read("slices", (slice(None, None, 2), None, -1), real(4, 3)),
        read("backwards", (slice(None, None, -1),), real(4, 3), in_torch=False),
        read("rows", ("i",), real(4, 3), integers(2, 0, 2)),
        read("columns", (Ellipsis, "i"), real(2, 3), integers(-1, 0)),
        read("pairs", ("i", "j"), real(4, 3), integers(2, 0, 2), integers(1, 1, -2)),
        read("apart", ("i", slice(1, None), "j"), real(3, 3, 2), integers(2, 0), integers(1, 1)),
        read("broadcast", ("i", "j"), real(4, 3), integers([0], [3]), integers(1, 1, 2)),
        read("mask", ("m",), real(3, 2), ROWS),
        read("mask-of-all", ("m",), real(2, 3), MASK),
        read("mask-behind", (slice(1), "m"), real(2, 2, 3), MASK),
        read("0-d", (slice(None), "i"), real(2, 3), np.asarray(1)),
    ],
}
