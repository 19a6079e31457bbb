"""Samples and references of `ops/padding.py`: padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, elementwise, transpose_of
from ..sampling import Sample, real

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


def pad(x: Array, pads: tuple[tuple[int, int], ...], value: float = 0.0) -> Array:
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, pads, strict=True))

    def at(index: tuple[int, ...]) -> Any:
        inner = tuple(p - a for p, (a, _) in zip(index, pads, strict=True))
        inside = all(0 <= p < n for p, n in zip(inner, x.shape, strict=True))
        return x[inner] if inside else value

    return elementwise(shape, at)


def unpad(x: Array, pads: tuple[tuple[int, int], ...]) -> Array:
    for axis, (before, after) in enumerate(pads):
        x = np.take(x, range(before, x.shape[axis] - after), axis)
    return x


def extend(x: Array, pads: tuple[tuple[int, int], ...], mode: str) -> Array:
    known = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    return np.pad(x, pads, known[mode])


def unextend(x: Array, pads: tuple[tuple[int, int], ...], mode: str) -> Array:
    shape = tuple(n - a - b for n, (a, b) in zip(x.shape, pads, strict=True))
    return transpose_of(lambda y: extend(y, pads, mode), shape, x)


SAMPLES: dict[str, list[Sample]] = {
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
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "pad": pad,
    "unpad": unpad,
    "extend": extend,
    "unextend": unextend,
}
