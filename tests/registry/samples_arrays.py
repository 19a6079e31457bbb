"""Samples of the operations that look at whole arrays: products, reductions, shapes, indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sampling import (
    Sample,
    along,
    arrays,
    flags,
    integers,
    positions,
    real,
    reductions,
    small_integers,
    spaced,
    strided,
)

WHOLE = slice(None)


def _matmul() -> list[Sample]:
    return [
        Sample("plain", arrays((2, 3), (3, 2))),
        Sample("x-transposed", arrays((3, 2), (3, 4)), {"transpose_x": True}),
        Sample("y-transposed", arrays((2, 3), (4, 3)), {"transpose_y": True}),
        Sample(
            "both-transposed", arrays((3, 2), (4, 3)), {"transpose_x": True, "transpose_y": True}
        ),
        Sample("batch", arrays((2, 2, 3), (2, 3, 2))),
        Sample("batch-x", arrays((2, 2, 3), (3, 2)), {"transpose_x": False}),
        Sample("batch-y", arrays((2, 3), (2, 2, 3)), {"transpose_y": True}),
        Sample("batches-broadcast", arrays((2, 1, 2, 3), (1, 2, 3, 1))),
        Sample("size-1", arrays((1, 3), (3, 1))),
        Sample("empty", arrays((0, 3), (3, 2))),
        Sample("empty-sum", arrays((2, 0), (0, 3))),
        Sample("strided", (strided(real(3, 2)), strided(real(2, 3)))),
    ]


def _getitem(adjoint: bool) -> list[Sample]:
    keys: dict[str, tuple[Any, ...]] = {
        "int": (1,),
        "negative": (-1,),
        "int-last": (WHOLE, 2),
        "slice": (slice(1, 3),),
        "step": (slice(None, None, 2), slice(1, None)),
        "backwards": (WHOLE, slice(None, None, -1)),
        "backwards-part": (slice(3, 0, -2),),
        "none": (None, slice(0, 2), None, 1),
        "ellipsis": (Ellipsis, -1),
        "nothing": (slice(2, 2),),
        "point": (2, 1),
        "tail": (slice(-2, None),),
        "everything": (),
    }
    base = real(4, 3)
    samples = []
    for label, key in keys.items():
        piece = np.asarray(base[key])
        operands = (real(*piece.shape), np.zeros((4, 3))) if adjoint else (real(4, 3),)
        samples.append(Sample(label, operands, {"key": key}))
    last = (strided(real(2, 3)), np.zeros((4, 3))) if adjoint else (strided(real(4, 3)),)
    return [*samples, Sample("strided", last, {"key": (slice(1, 3),)})]


def _joins(axis_of_one: bool) -> list[Sample]:
    """Samples of concat, or of stack, whose inputs must be of one shape."""
    uneven = (2, 3) if axis_of_one else (1, 3)
    return [
        Sample("first", arrays((2, 3), uneven), {"axis": 0}),
        Sample("last", arrays((2, 1), (2, 1), (2, 1)), {"axis": 1}),
        Sample("one", arrays((2, 3)), {"axis": 1}),
        Sample("empty", arrays((0, 3), (0, 3)), {"axis": 0}),
        Sample("strided", (strided(real(2, 3)), real(2, 3)), {"axis": 1}),
    ]


def _triangles() -> list[Sample]:
    return [
        Sample("plain", arrays((3, 3))),
        Sample("above", arrays((2, 4)), {"diagonal": 1}),
        Sample("below", arrays((4, 2)), {"diagonal": -1}),
        Sample("far-above", arrays((2, 3)), {"diagonal": 10**20}),
        Sample("far-below", arrays((2, 3)), {"diagonal": -(10**20)}),
        Sample("batch", arrays((2, 2, 3)), {"diagonal": 0}),
        Sample("size-1", arrays((1, 1))),
        Sample("empty", arrays((0, 3))),
        Sample("strided", (strided(real(3, 3)),)),
    ]


def _like(shape: tuple[int, ...], like: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return real(*shape), np.zeros(like)


def _axis(axis: tuple[int, ...], keepdims: bool) -> dict[str, Any]:
    return {"axis": axis, "keepdims": keepdims}


def _truths() -> list[Sample]:
    numbers = Sample("numbers", (small_integers(2, 3),), {"axis": (1,)})
    return [*reductions(flags, of_nothing=True), numbers]


SPREADS = {
    "keep": ((2, 1), (2, 3), (1,), True),
    "drop": ((2,), (2, 3), (1,), False),
    "drop-first": ((3,), (2, 3), (0,), False),
    "drop-all": ((), (2, 3), (0, 1), False),
    "keep-all": ((1, 1), (2, 3), (0, 1), True),
    "drop-outer": ((3,), (2, 3, 2), (0, 2), False),
    "no-axis": ((2, 3), (2, 3), (), True),
    "size-1": ((3,), (1, 3, 1), (0, 2), False),
    "empty": ((0, 1), (0, 3), (1,), True),
}


def _spreads() -> list[Sample]:
    samples = [
        Sample(label, _like(x, like), _axis(axis, keep))
        for label, (x, like, axis, keep) in SPREADS.items()
    ]
    last = (strided(real(2, 1)), np.zeros((2, 3)))
    return [*samples, Sample("strided", last, _axis((1,), True))]


SAMPLES: dict[str, list[Sample]] = {
    "matmul": _matmul(),
    "softmax": along(),
    "log_softmax": along(),
    # --- reductions
    "sum": [*reductions(of_nothing=True), Sample("integers", (integers(1, 2),), {"axis": (0,)})],
    "mean": reductions(),
    "max": reductions(spaced),
    "min": reductions(spaced),
    "argmax": positions(),
    "argmin": positions(),
    "any": _truths(),
    "all": _truths(),
    # --- like another array
    "sum_like": [
        Sample("row", _like((2, 3), (3,))),
        Sample("column", _like((2, 3), (2, 1))),
        Sample("0-d", _like((2, 3), ())),
        Sample("same", _like((2, 3), (2, 3))),
        Sample("both", _like((2, 2, 3), (1, 3))),
        Sample("ones", _like((2, 3), (1, 1))),
        Sample("of-nothing", _like((0, 3), (3,))),
        Sample("strided", (strided(real(3, 2)), np.zeros((1, 2)))),
    ],
    "expand_like": [
        *_spreads(),
        Sample("default", _like((3,), (2, 3))),
        Sample("stretch", _like((1,), (2, 3)), _axis((1,), False)),
    ],
    "spread_like": _spreads(),
    "reshape_like": [
        Sample("plain", _like((2, 3), (3, 2))),
        Sample("flat", _like((2, 3), (6,))),
        Sample("0-d", _like((1, 1), ())),
        Sample("empty", _like((0, 3), (3, 0))),
        Sample("strided", (strided(real(2, 3)), np.zeros(6))),
    ],
    "cast_like": [
        Sample("same", _like((2, 3), (4,))),
        Sample("to-float32", (real(2, 3), np.zeros(1, np.float32)), smooth=False),
        Sample("to-int64", (real(2, 3), integers(1))),
        Sample("of-bool", (flags(2, 3), np.zeros(2))),
        Sample("0-d", _like((), (2,))),
        Sample("empty", _like((0, 3), (2,))),
    ],
    "full_like": [
        Sample("plain", (real(2, 3),), {"value": 1.5}),
        Sample("other-dtype", (real(2, 3),), {"value": 1.0, "dtype": "int32"}),
        Sample("0-d", (real(),), {"value": 1.0}),
        Sample("empty", (real(0, 3),), {"value": 1.0}),
    ],
    "zeros_like": [
        Sample("plain", (real(2, 3),)),
        Sample("integers", (integers(1, 2),)),
        Sample("0-d", (real(),)),
    ],
    # --- shapes
    "reshape": [
        Sample("plain", (real(2, 3),), {"shape": (3, 2)}),
        Sample("work-out", (real(2, 3),), {"shape": (-1,)}),
        Sample("keep", (real(2, 3, 2),), {"shape": (0, -1)}),
        Sample("0-d", (real(1, 1),), {"shape": ()}),
        Sample("size-1", (real(),), {"shape": (1, 1)}),
        Sample("empty", (real(0, 3),), {"shape": (0, 3, 1)}),
        Sample("strided", (strided(real(2, 3)),), {"shape": (6,)}),
    ],
    "flatten_lead": [
        Sample("plain", (real(2, 3, 2),)),
        Sample("matrix", (real(2, 3),)),
        Sample("vector", (real(3),)),
        Sample("size-1", (real(1, 1, 1),)),
        Sample("empty", (real(0, 2, 3),)),
        Sample("empty-rows", (real(2, 3, 0),)),
        Sample("strided", (strided(real(2, 3, 2)),)),
    ],
    "unflatten_lead": [
        Sample("plain", _like((6, 4), (2, 3, 5))),
        Sample("deep", _like((12, 1), (2, 3, 2, 5))),
        Sample("matrix", _like((2, 3), (2, 3))),
        Sample("empty", _like((0, 3), (2, 0, 1))),
        Sample("empty-rows", _like((6, 0), (2, 3, 4))),
        Sample("strided", (strided(real(6, 2)), np.zeros((3, 2, 1)))),
    ],
    "same_shape": [
        Sample("plain", _like((2, 3), (2, 3))),
        Sample("0-d", _like((), ())),
        Sample("empty", _like((0, 3), (0, 3))),
        Sample("strided", (strided(real(2, 3)), np.zeros((2, 3)))),
    ],
    "unsqueeze": [
        Sample("first", (real(2, 3),), {"axis": (0,)}),
        Sample("several", (real(2, 3),), {"axis": (0, 3)}),
        Sample("0-d", (real(),), {"axis": (0,)}),
        Sample("empty", (real(0, 3),), {"axis": (1,)}),
        Sample("strided", (strided(real(2, 3)),), {"axis": (1,)}),
    ],
    "squeeze": [
        Sample("last", (real(2, 1),), {"axis": (1,)}),
        Sample("several", (real(1, 3, 1),), {"axis": (0, 2)}),
        Sample("none", (real(2, 3),), {"axis": ()}),
        Sample("empty", (real(0, 1),), {"axis": (1,)}),
        Sample("strided", (strided(real(2, 1, 3)),), {"axis": (1,)}),
    ],
    "transpose": [
        Sample("plain", (real(2, 3),), {"perm": (1, 0)}),
        Sample("cycle", (real(2, 3, 4),), {"perm": (1, 2, 0)}),
        Sample("same", (real(2, 3),), {"perm": (0, 1)}),
        Sample("0-d", (real(),), {"perm": ()}),
        Sample("empty", (real(0, 3),), {"perm": (1, 0)}),
        Sample("strided", (strided(real(2, 3)),), {"perm": (1, 0)}),
    ],
    "expand": [
        Sample("stretch", (real(2, 1),), {"shape": (2, 3)}),
        Sample("lead", (real(3),), {"shape": (2, 2, 3)}),
        Sample("keep", (real(2, 1),), {"shape": (3, -1, 2)}),
        Sample("same", (real(2, 3),), {"shape": (2, 3)}),
        Sample("0-d", (real(),), {"shape": (2, 2)}),
        Sample("empty", (real(1, 3),), {"shape": (0, 3)}),
        Sample("strided", (strided(real(3, 1)),), {"shape": (3, 2)}),
    ],
    "concat": _joins(axis_of_one=False),
    "stack": _joins(axis_of_one=True),
    "split": [
        Sample("first", (real(4, 2),), {"sizes": (1, 3), "axis": 0}),
        Sample("last", (real(2, 6),), {"sizes": (2, 2, 2), "axis": 1}),
        Sample("one", (real(2, 3),), {"sizes": (3,), "axis": 1}),
        Sample("nothing", (real(2, 3),), {"sizes": (0, 3), "axis": 1}),
        Sample("empty", (real(0, 3),), {"sizes": (1, 2), "axis": 1}),
        Sample("strided", (strided(real(3, 4)),), {"sizes": (1, 3), "axis": 1}),
    ],
    "split_like": [
        Sample("first", (real(4, 2), np.zeros((1, 2)), np.zeros((3, 2))), {"axis": 0}),
        Sample("last", (real(2, 3), np.zeros((2, 1)), np.zeros((2, 2))), {"axis": 1}),
        Sample("one", (real(2, 3), np.zeros((2, 3))), {"axis": 1}),
    ],
    "unstack": [
        Sample("first", (real(2, 3),), {"axis": 0}, unknown=False),
        Sample("last", (real(2, 3),), {"axis": 1}),
        Sample("one", (real(2, 1),), {"axis": 1}),
        Sample("empty", (real(0, 3),), {"axis": 1}),
        Sample("strided", (strided(real(3, 2)),), {"axis": 1}),
    ],
    "tril": _triangles(),
    "triu": _triangles(),
    "getitem": _getitem(adjoint=False),
    "unslice_like": _getitem(adjoint=True),
    # --- index arrays
    "unless_zero": [
        Sample("plain", (real(2, 3), real(4))),
        Sample("zero", (real(2, 3), np.zeros(4))),
        Sample("one-of-two", (real(3), np.zeros(2), real(1, 2))),
        Sample("all-of-two", (real(3), np.zeros(2), np.zeros((1, 2)))),
        Sample("0-d", (real(), real())),
        Sample("empty", (real(0, 3), real(0))),
    ],
    "unless_hollow": [
        Sample("plain", (real(2, 3), real(4))),
        Sample("zero", (real(2, 3), np.zeros(4))),
        Sample("two", (real(3), real(2), real(1, 2))),
        Sample("0-d", (real(), real())),
        Sample("empty", (real(0, 3), real(0))),
    ],
    "scatter_add": [
        Sample("plain", (real(4, 3), real(3, 3), integers(2, 0, 2)), {"axis": 0}),
        Sample("last", (real(2, 4), real(2, 2), integers(3, 3)), {"axis": 1}),
        Sample("matrix-index", (real(4, 2), real(2, 2, 2), integers([0, 3], [3, 1])), {"axis": 0}),
        Sample("no-index", (real(4, 2), real(0, 2), np.zeros(0, np.int64)), {"axis": 0}),
        Sample("strided", (strided(real(4, 3)), real(1, 3), integers(1)), {"axis": 0}),
        Sample("from-the-back", (np.ones(3), np.ones(2), integers(-1, 1)), {"axis": 0}),
    ],
    "unslice_add": [
        Sample("one", (real(4, 3), real(3)), {"keys": ((1,),)}),
        Sample(
            "overlapping",
            (real(4, 3), real(2, 3), real(3), real(4)),
            {"keys": ((slice(0, 2),), (1,), (WHOLE, 2))},
        ),
        Sample("strided", (strided(real(4, 3)), strided(real(2, 3))), {"keys": ((slice(2, 4),),)}),
        Sample("empty", (real(0, 3), real(0, 3)), {"keys": ((WHOLE,),)}),
    ],
    "one_hot": [
        Sample("plain", (integers(2, 0, 1),), {"num_classes": 3, "dtype": "float32"}),
        Sample("matrix", (integers([2, 0], [1, 1]),), {"num_classes": 4, "dtype": "int64"}),
        Sample("0-d", (np.asarray(1),), {"num_classes": 2, "dtype": "float64"}),
        Sample("empty", (np.zeros((0, 2), np.int64),), {"num_classes": 2, "dtype": "float32"}),
    ],
}
