"""Samples of the operations of `indexing`: keys, index arrays, sorting and searching."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sampling import (
    RNG,
    Sample,
    along,
    flags,
    integers,
    real,
    small_integers,
    spaced,
    strided,
)

WHOLE = slice(None)
NOTHING = np.zeros(0, np.int64)
ROWS = np.asarray([True, False, True, True])
INNER = np.asarray([[True, False], [False, True], [True, True]])

# Keys of an array of shape (4, 3, 2), with the arrays in their places.
KEYS: dict[str, tuple[Any, ...]] = {
    "rows": (integers(2, 0, 2),),
    "pairs": (integers(2, 0, 2, -1), integers(1, 1, 1, -3)),
    "broadcast": (integers([0], [3]), integers(1, 2, 1)),
    "apart": (integers(2, 0, 2), WHOLE, integers(1, 1, 0)),
    "int-beside": (1, WHOLE, integers(1, 0, 1)),
    "none-between": (integers(0, 0), None, integers(1, 2)),
    "middle": (slice(1, 3), integers([2, 2], [0, 1])),
    "last": (Ellipsis, integers(1, 1, 0)),
    "backwards": (slice(None, None, -2), integers(0, 2), slice(1, None)),
    "0-d": (np.asarray(2), integers(0, 0)),
    "int32": (np.asarray([3, 3], np.int32), 1),
    "no-index": (NOTHING, 1),
    "mask": (ROWS,),
    "mask-of-all": (np.stack([INNER, ~INNER, INNER, INNER]),),
    "mask-inside": (slice(1, None), INNER),
    "masks": (ROWS, np.asarray([True, True, True])),
    "mask-and-index": (ROWS, integers(2, 2, 0)),
    "mask-of-none": (np.zeros(4, bool), None),
    "bool": (np.asarray(True), integers(1, 1)),
}


def _apart(key: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[np.ndarray, ...]]:
    """A key as the operations take it, and its arrays."""
    arrays = tuple(k for k in key if isinstance(k, np.ndarray))
    plain = tuple(
        ("mask" if k.dtype == bool else "index") if isinstance(k, np.ndarray) else k for k in key
    )
    return plain, arrays


def _keyed(make: Any) -> list[Sample]:
    """``make(whole, part)`` gives the operands before the index arrays, from two shapes."""
    base = np.zeros((4, 3, 2))
    samples = []
    for label, key in KEYS.items():
        plain, arrays = _apart(key)
        operands = make(base.shape, np.shape(base[key]))
        samples.append(Sample(label, (*operands, *arrays), {"key": plain}))
    return samples


def _index() -> list[Sample]:
    plain, arrays = _apart((integers(2, 2), WHOLE, integers(1, 0)))
    return [
        *_keyed(lambda whole, part: (real(*whole),)),
        Sample("strided", (strided(real(4, 3, 2)), *arrays), {"key": plain}),
    ]


def _setitem() -> list[Sample]:
    rows = (integers(1, 3, 1),)
    return [
        *_keyed(lambda whole, part: (real(*whole), real(*part))),
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

    ties = (small_integers(4, 3), small_integers(5, 3), integers(1, 1, 1, 0, -1))
    return [Sample("ties", ties, {"key": ("index",)}, smooth=False), *_keyed(operands)]


def _gather(adjoint: bool) -> list[Sample]:
    cases = {
        "plain": ((4, 3), integers(2, 0, 2), 0),
        "last": ((2, 4), integers(3, 3, 1), 1),
        "matrix-index": ((4, 2), integers([0, 3], [3, 1]), 0),
        "one-index": ((4, 2), np.asarray(1), 0),
        "middle": ((2, 3, 2), integers(1), 1),
        "middle-repeats": ((2, 3, 2), integers(1, 2, 1), 1),
        "no-index": ((4, 2), NOTHING, 0),
        "no-columns": ((4, 0), integers(1, 1), 0),
        "int32": ((4, 2), np.asarray([1, 1], np.int32), 0),
        "from-the-back": ((4, 2), integers(-1, 3, -4), 0),
    }
    samples = []
    for label, (shape, index, axis) in cases.items():
        out = (*shape[:axis], *index.shape, *shape[axis + 1 :])
        operands = (real(*out), index, np.zeros(shape)) if adjoint else (real(*shape), index)
        attrs: dict[str, Any] = {"axis": axis}
        if label == "from-the-back" and not adjoint:
            attrs["wraps"] = True
        samples.append(Sample(label, operands, attrs))
    return samples


def _along_axis(adjoint: bool) -> list[Sample]:
    cases = {
        "pick-one": ((3, 4), integers([1], [3], [0]), 1),
        "repeats": ((3, 2), integers([0, 1], [0, 1], [2, 1], [0, 0]), 0),
        "last": ((2, 4), integers([3, 3, 0], [1, 2, 1]), 1),
        "3-d": ((2, 3, 2), RNG.integers(0, 3, (2, 2, 2)), 1),
        "nothing": ((2, 3), np.zeros((2, 0), np.int64), 1),
        "no-lines": ((0, 3), np.zeros((0, 2), np.int64), 1),
        "from-the-back": ((2, 3), integers([-1, 2], [-3, 0]), 1),
    }
    samples = []
    for label, (shape, index, axis) in cases.items():
        out = index.shape
        operands = (real(*out), index, np.zeros(shape)) if adjoint else (real(*shape), index)
        attrs: dict[str, Any] = {"axis": axis}
        if label == "from-the-back" and not adjoint:
            attrs["wraps"] = True
        samples.append(Sample(label, operands, attrs))
    return samples


def _sorts() -> list[Sample]:
    return [
        *along(spaced),
        Sample("down", (spaced(2, 4),), {"axis": 1, "descending": True}),
        Sample("vector", (spaced(5),), {"axis": 0}),
        Sample("ties", (small_integers(3, 4),), {"axis": 1}, smooth=False),
        Sample("ties-down", (small_integers(4, 3),), {"axis": 0, "descending": True}, smooth=False),
        Sample("integers", (integers(3, 1, 3, 2),), {"axis": 0, "descending": True}),
        Sample("bools", (flags(6),), {"axis": 0}),
    ]


def _sets() -> list[Sample]:
    rows = np.asarray([[1.0, 2.0], [1.0, 2.0], [0.0, 2.0], [1.0, 2.0]])
    return [
        Sample("plain", (np.asarray([2.0, 2.0, 0.5, 2.0, 3.0, 3.0]),)),
        Sample("matrix", (small_integers(3, 4),)),
        Sample("integers", (integers(5, 5, -1, 5, 0),)),
        Sample("rows", (rows,), {"axis": 0}),
        Sample("columns", (rows.T.copy(),), {"axis": 1}),
        Sample("one", (np.asarray([1.5]),)),
        Sample("0-d", (np.asarray(2.0),)),
        Sample("empty", (np.zeros(0),)),
        Sample("strided", (strided(small_integers(3, 2)),)),
    ]


EDGES = np.asarray([-1.5, 0.0, 0.25, 0.25, 2.0])

SAMPLES: dict[str, list[Sample]] = {
    # --- index arrays
    "gather": _gather(adjoint=False),
    "scatter_add_like": _gather(adjoint=True),
    "take_along_axis": _along_axis(adjoint=False),
    "put_along_axis_like": _along_axis(adjoint=True),
    "positions_like": [
        Sample("first", (real(3, 2),), {"axis": 0}),
        Sample("last", (real(2, 3),), {"axis": 1}),
        Sample("empty", (real(0, 2),), {"axis": 0}),
    ],
    # --- keys
    "index": _index(),
    "index_add_like": _keyed(lambda whole, part: (real(*part), np.zeros(whole))),
    "setitem": _setitem(),
    "index_last": _keyed(lambda whole, part: (np.zeros(whole),)),
    "index_maximum": _extremum(),
    "index_minimum": _extremum(),
    # --- sorting and searching
    "sort": _sorts(),
    "argsort": _sorts(),
    "searchsorted": [
        Sample("plain", (EDGES, spaced(4))),
        Sample("matrix-of-values", (EDGES, real(2, 3))),
        Sample("equal", (EDGES, np.asarray([0.25, 2.0, -1.5]))),
        Sample("equal-right", (EDGES, np.asarray([0.25, 2.0, -1.5])), {"right": True}),
        Sample("lines", (np.sort(real(2, 4)), real(2, 3))),
        Sample("0-d", (EDGES, real())),
        Sample("no-edges", (np.zeros(0), real(2))),
        Sample("empty", (EDGES, real(0, 3))),
        Sample("strided", (EDGES, strided(real(3, 2)))),
    ],
    "unique": _sets(),
    "unique_consecutive": _sets(),
    "nonzero": [
        Sample("plain", (small_integers(3, 4),)),
        Sample("vector", (flags(5),)),
        Sample("3-d", (flags(2, 2, 3),)),
        Sample("none", (np.zeros((2, 2)),)),
        Sample("empty", (real(0, 3),)),
        Sample("strided", (strided(small_integers(3, 2)),)),
    ],
    "isin": [
        Sample("plain", (small_integers(3, 4), np.asarray([1.0, 5.0]))),
        Sample("not", (small_integers(2, 3), np.asarray([[0.0], [5.0]])), {"invert": True}),
        Sample("integers", (integers(1, 2, 3), integers(3, 1))),
        Sample("of-none", (small_integers(3), np.zeros(0))),
        Sample("0-d", (np.asarray(1.0), np.asarray(1.0))),
        Sample("empty", (real(0, 3), real(2))),
    ],
}
