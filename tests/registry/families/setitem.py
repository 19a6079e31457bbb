"""Samples and references of `ops/setitem.py`: writing at a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array
from ..sampling import Sample, integers, real, spaced
from .getitem import ROWS, keyed, places


def _setitem() -> list[Sample]:
    rows = (integers(1, 3, 1),)
    return [
        *keyed(lambda whole, part: (real(*whole), real(*part))),
        Sample("slice", (real(4, 3), real(2, 3)), {"key": (slice(1, 3),)}),
        Sample("point", (real(4, 3), real()), {"key": (1, -1)}),
        Sample("everything", (real(2, 3), real(2, 3)), {"key": ()}),
        Sample("number", (real(4, 3), real(), *rows), {"key": ("index",)}),
        Sample("row", (real(4, 3), real(3), *rows), {"key": ("index",)}),
        Sample("column", (real(4, 3), real(3, 1), *rows), {"key": ("index",)}),
        Sample("one-of-mask", (real(4, 3), real(1, 3), ROWS), {"key": ("mask",)}),
        Sample("strided", (strided(real(4, 3)), strided(real(3, 3)), *rows), {"key": ("index",)}),
        Sample("integers", (integers(1, 2, 3), integers(9), integers(2)), {"key": ("index",)}),
    ]


def _extremum() -> list[Sample]:
    def operands(whole: tuple[int, ...], part: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        size = int(np.prod(whole))
        every = spaced(size + int(np.prod(part)))
        return every[:size].reshape(whole), every[size:].reshape(part)

    # Three values for one row: among them, and with what was there, the largest and smallest tie.
    x = np.asarray([[0.0, 1.0, -1.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, -1.0]])
    values = [[1.0, -1.0, 0.0], [1.0, -1.0, 1.0], [0.0, -1.0, -1.0], [0.0, 0.0, -1.0]]
    ties = (x, np.asarray([*values, [1.0, 1.0, -1.0]]), integers(1, 1, 1, 0, -1))
    return [Sample("ties", ties, {"key": ("index",)}, smooth=False), *keyed(operands)]


def written(choose: Callable[[Any, Any], Any]) -> Callable[..., Array]:
    """Values written one after the other, ``choose(old, new)`` of each."""

    def apply(x: Array, value: Array, *arrays: Array, key: tuple[Any, ...]) -> Array:
        out = x.ravel().tolist()
        at = places(x.shape, arrays, key)
        for i, new in zip(at.ravel(), (value + np.zeros(at.shape)).ravel(), strict=True):
            out[i] = choose(out[i], new)
        return np.asarray(out).reshape(x.shape)

    return apply


def index_last(like: Array, *arrays: Array, key: tuple[Any, ...]) -> Array:
    at = places(like.shape, arrays, key)
    seen = at.ravel().tolist()
    last = [i not in seen[k + 1 :] for k, i in enumerate(seen)]
    return np.asarray(last, bool).reshape(at.shape)


SAMPLES: dict[str, list[Sample]] = {
    "setitem": _setitem(),
    "index_last": keyed(lambda whole, part: (np.zeros(whole),)),
    "index_maximum": _extremum(),
    "index_minimum": _extremum(),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "setitem": written(lambda old, new: new),
    "index_last": index_last,
    "index_maximum": written(max),
    "index_minimum": written(min),
}
