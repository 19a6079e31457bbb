"""Samples of the operations of `movement`."""

from __future__ import annotations

import numpy as np

from .sampling import Sample, integers, real, strided


def _like(shape: tuple[int, ...], *likes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return real(*shape), *(np.zeros(s) for s in likes)


def _diagonals(adjoint: bool) -> list[Sample]:
    """Samples of diagonal, or of its adjoint: (label, shape, offset, axis1, axis2, length)."""
    cases = {
        "square": ((3, 3), 0, 0, 1, 3),
        "above": ((2, 4), 1, 0, 1, 2),
        "below": ((4, 2), -1, 0, 1, 2),
        "far-above": ((2, 3), 10**20, 0, 1, 0),
        "far-below": ((2, 3), -(10**20), 0, 1, 0),
        "outer": ((2, 3, 4), 1, 2, 0, 1),
        "batch": ((2, 3, 2), 0, 1, 2, 2),
        "size-1": ((1, 1), 0, 1, 0, 1),
        "empty": ((0, 3), 0, 0, 1, 0),
    }
    samples = []
    for label, (shape, offset, axis1, axis2, length) in cases.items():
        kept = tuple(d for k, d in enumerate(shape) if k not in (axis1, axis2))
        operands = _like((*kept, length), shape) if adjoint else (real(*shape),)
        attrs = {"offset": offset, "axis1": axis1, "axis2": axis2}
        samples.append(Sample(label, operands, attrs))
    last = (strided(real(2, 3)), np.zeros((3, 3, 2))) if adjoint else (strided(real(3, 3, 2)),)
    return [*samples, Sample("strided", last, {"offset": 0, "axis1": 0, "axis2": 1})]


WINDOWS = {
    # shape, axis, size, step, how many windows
    "plain": ((5,), 0, 3, 1, 3),
    "steps": ((2, 6), 1, 2, 2, 3),
    "gaps": ((7, 2), 0, 2, 3, 2),
    "remainder": ((6,), 0, 3, 2, 2),
    "one": ((3, 2), 0, 3, 1, 1),
    "single-elements": ((2, 3), 1, 1, 1, 3),
    "empty": ((0, 3), 1, 2, 1, 2),
}


def _windows(adjoint: bool) -> list[Sample]:
    samples = []
    for label, (shape, axis, size, step, count) in WINDOWS.items():
        out = (*shape[:axis], count, *shape[axis + 1 :], size)
        operands = _like(out, shape) if adjoint else (real(*shape),)
        samples.append(Sample(label, operands, {"axis": axis, "size": size, "step": step}))
    last = (strided(real(2, 3, 2)), np.zeros((2, 4))) if adjoint else (strided(real(2, 4)),)
    return [*samples, Sample("strided", last, {"axis": 1, "size": 2, "step": 1})]


PADS = {
    "both": ((2, 3), ((1, 2), (0, 1))),
    "last": ((2, 3), ((0, 0), (2, 0))),
    "none": ((2, 3), ((0, 0), (0, 0))),
    "vector": ((3,), ((1, 1),)),
    "0-d": ((), ()),
    "empty": ((0, 3), ((1, 2), (0, 0))),
}


def _padded(shape: tuple[int, ...], pads: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    return tuple(n + a + b for n, (a, b) in zip(shape, pads, strict=True))


def _extended(adjoint: bool) -> list[Sample]:
    cases = {
        "reflect": ((2, 4), ((1, 0), (2, 3)), "reflect"),
        "replicate": ((2, 3), ((0, 3), (1, 2)), "replicate"),
        "circular": ((2, 3), ((1, 1), (2, 3)), "circular"),
        "circular-far": ((2, 2), ((5, 0), (0, 3)), "circular"),
        "size-1": ((1, 1), ((0, 2), (1, 1)), "replicate"),
        "beside-empty": ((0, 2), ((0, 0), (1, 1)), "reflect"),
        "none": ((2, 1), ((0, 0), (0, 0)), "reflect"),
    }
    samples = []
    for label, (shape, pads, mode) in cases.items():
        operand = real(*(_padded(shape, pads) if adjoint else shape))
        samples.append(Sample(label, (operand,), {"pads": pads, "mode": mode}))
    attrs = {"pads": ((1, 1), (1, 2)), "mode": "reflect"}
    last = strided(real(5, 6)) if adjoint else strided(real(3, 3))
    return [*samples, Sample("strided", (last,), attrs)]


SAMPLES: dict[str, list[Sample]] = {
    "flatten_axes": [
        Sample("first", (real(2, 3, 2),), {"start": 0, "stop": 1}),
        Sample("last", (real(2, 3, 2),), {"start": 1, "stop": 2}),
        Sample("all", (real(2, 3),), {"start": 0, "stop": 1}),
        Sample("one", (real(2, 3),), {"start": 1, "stop": 1}),
        Sample("empty", (real(0, 2, 3),), {"start": 1, "stop": 2}),
        Sample("strided", (strided(real(2, 3, 2)),), {"start": 0, "stop": 1}),
    ],
    "unflatten_axis": [
        Sample("plain", (real(6, 2),), {"axis": 0, "sizes": (3, 2)}),
        Sample("work-out", (real(2, 6),), {"axis": 1, "sizes": (2, -1)}),
        Sample(
            "work-out-first",
            (
                real(
                    6,
                ),
            ),
            {"axis": 0, "sizes": (-1, 3)},
        ),
        Sample("size-1", (real(3, 1),), {"axis": 1, "sizes": (1, 1, 1)}),
        Sample("empty", (real(0, 4),), {"axis": 1, "sizes": (2, 2)}),
        Sample("strided", (strided(real(4, 3)),), {"axis": 0, "sizes": (2, 2)}),
    ],
    "broadcast_like": [
        Sample("plain", _like((2, 1), (2, 3))),
        Sample("lead", _like((3,), (2, 2, 3))),
        Sample("several", _like((1, 3), (2, 1, 1), (4, 1))),
        Sample("larger", _like((2, 3), (3,))),
        Sample("alone", (real(2, 3),)),
        Sample("0-d", _like((), (2,))),
        Sample("empty", _like((1, 3), (0, 3))),
        Sample("strided", (strided(real(3, 1)), np.zeros((3, 2)))),
    ],
    "flip": [
        Sample("last", (real(2, 3),), {"axis": (1,)}),
        Sample("both", (real(2, 3),), {"axis": (0, 1)}),
        Sample("none", (real(2, 3),), {"axis": ()}),
        Sample("0-d", (real(),), {"axis": ()}),
        Sample("empty", (real(0, 3),), {"axis": (0, 1)}),
        Sample("strided", (strided(real(2, 3)),), {"axis": (0,)}),
    ],
    "roll": [
        Sample("last", (real(2, 3),), {"shifts": (1,), "axis": (1,)}),
        Sample("both", (real(2, 3),), {"shifts": (-1, 5), "axis": (0, 1)}),
        Sample("twice", (real(4),), {"shifts": (1, 2), "axis": (0, 0)}),
        Sample("none", (real(2, 3),), {"shifts": (), "axis": ()}),
        Sample("empty", (real(0, 3),), {"shifts": (1,), "axis": (0,)}),
        Sample("strided", (strided(real(2, 3)),), {"shifts": (2,), "axis": (1,)}),
    ],
    "windows": _windows(adjoint=False),
    "unwindows_like": _windows(adjoint=True),
    "diagonal": _diagonals(adjoint=False),
    "undiagonal_like": _diagonals(adjoint=True),
    "diag_embed": [
        Sample("plain", (real(3),), {"axis1": 0, "axis2": 1}),
        Sample("above", (real(2, 2),), {"offset": 1, "axis1": 1, "axis2": 2}),
        Sample("below", (real(2, 3),), {"offset": -2, "axis1": 0, "axis2": 2}),
        Sample("swapped", (real(2),), {"offset": 1, "axis1": 1, "axis2": 0}),
        Sample("empty", (real(2, 0),), {"axis1": 0, "axis2": 1}),
        Sample("strided", (strided(real(3, 2)),), {"axis1": 0, "axis2": 2}),
    ],
    "pad": [
        *(Sample(label, (real(*s),), {"pads": pads}) for label, (s, pads) in PADS.items()),
        Sample("value", (real(2, 2),), {"pads": ((1, 0), (0, 1)), "value": 1.5}),
        Sample("strided", (strided(real(2, 3)),), {"pads": ((1, 0), (0, 1))}),
    ],
    "unpad": [
        *(
            Sample(label, (real(*_padded(s, pads)),), {"pads": pads})
            for label, (s, pads) in PADS.items()
        ),
        Sample("strided", (strided(real(3, 4)),), {"pads": ((1, 0), (0, 1))}),
    ],
    "extend": _extended(adjoint=False),
    "unextend": _extended(adjoint=True),
    # What the result of repeats without `total` is as long as, nobody knows before.
    "repeat_index": [
        Sample("plain", (integers(1, 0, 2), np.zeros((2, 3))), {"axis": 1, "total": 3}),
        Sample("nothing", (integers(0, 0), np.zeros((2, 3))), {"axis": 0, "total": 0}),
        Sample("int32", (np.asarray([2], np.int32), np.zeros(1)), {"axis": 0, "total": 2}),
        Sample("empty", (np.zeros(0, np.int64), np.zeros((0, 2))), {"axis": 0, "total": 0}),
    ],
    "shape_of": [
        Sample("plain", (real(2, 3),)),
        Sample("0-d", (real(),)),
        Sample("empty", (real(0, 3),)),
        Sample("strided", (strided(real(2, 3)),)),
    ],
    "numel": [
        Sample("plain", (real(2, 3),)),
        Sample("0-d", (real(),)),
        Sample("empty", (real(0, 3),)),
        Sample("strided", (strided(real(2, 3)),)),
    ],
    "reinterpret": [
        Sample("same-size", (integers([1, -1], [2, 3]),), {"dtype": "uint64"}),
        Sample("smaller", (integers([1, -1], [2**32, 3]),), {"dtype": "int32"}),
        Sample("larger", (np.asarray([[1, 2], [3, 4]], np.int32),), {"dtype": "int64"}),
        Sample("0-d", (np.asarray(-1),), {"dtype": "uint64"}),
        Sample("empty", (np.zeros((0, 2), np.int64),), {"dtype": "int32"}),
        Sample("strided", (strided(integers([1, 2, 3])),), {"dtype": "int32"}),
    ],
}
