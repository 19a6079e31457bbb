"""Convolutions by the C of ``compiler/kernels/c/conv.c``: where its loops go, as tables.

An axis of a correlation is told by where window p and tap t of it lie: at stride p + dilation t -
before in the source, first + step p in the result and tap + tap_step t in the filter. That holds
for a convolution, and for what each phase of a stride adds to the adjoint in the images.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_engine.ops.kernels.windows import Ints

__all__ = ["Along", "job"]

_WIDE: Final = 3  # vectors of a tile
_BYTES: Final = 64  # of a vector
# The part of the lanes that windows fill, from which on lanes of pixels are worth it.
_FULL: Final = 0.5
# The same of filters.
_FILTERS: Final = 0.7


class Along(NamedTuple):
    """One axis of a correlation."""

    size: int
    windows: int
    taps: int
    stride: int
    dilation: int
    before: int
    first: int
    step: int
    whole: int
    kernel: int
    tap: int
    tap_step: int


_ONE: Final = Along(1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1)


@lru_cache(maxsize=512)
def job(
    axes: tuple[Along, ...], sizes: Ints, itemsize: int, to_filters: bool
) -> NDArray[np.int64] | None:
    """What C is told of one correlation; None where few lanes would be filled.

    `sizes`: images, groups, filters and channels of a group, and the steps of the filter array from
    group to group, filter to filter, and channel to channel. `to_filters`: for the adjoint in the
    filters.
    """
    plain = all(
        a.kernel == a.taps == a.stride == a.step == 1
        and a.size == a.windows == a.whole
        and not (a.before or a.first)
        for a in axes
    )
    if plain:  # a matrix for each image
        size = prod(a.size for a in axes)
        axes = (axes[-1]._replace(size=size, windows=size, whole=size),)
    axes = (_ONE,) * (3 - len(axes)) + axes
    found = [_phases(a) for a in axes]
    phases = [list(dict.fromkeys(r for r, _ in taps)) for taps in found]
    pitch = [a.windows + max(s for _, s in taps) for a, taps in zip(axes, found, strict=True)]
    span, lanes = prod(pitch), _BYTES // itemsize
    offsets, weights = [], []
    for tap in product(*(range(a.taps) for a in axes)):
        part = at = weight = 0
        for a, taps, known, n, t in zip(axes, found, phases, pitch, tap, strict=True):
            part = part * len(known) + known.index(taps[t][0])
            at = at * n + taps[t][1]
            weight = weight * a.kernel + a.tap + a.tap_step * t
        offsets.append(part * span + at)
        weights.append(weight)
    first, second, last = axes
    rows = []
    for r1, r2, r3 in product(*phases):
        lo = min(max(0, -((r3 - last.before) // last.stride)), pitch[2])
        hi = max(lo, min(pitch[2], -((r3 - last.before - last.size) // last.stride)))
        for q1, q2 in product(range(pitch[0]), range(pitch[1])):
            i1, i2 = first.stride * q1 + r1 - first.before, second.stride * q2 + r2 - second.before
            inside = 0 <= i1 < first.size and 0 <= i2 < second.size
            start = (i1 * second.size + i2) * last.size if inside else -1
            rows.append((start, r3 - last.before, lo, hi))
    frame = span * prod(map(len, phases))
    if frame % 256 == 0:  # channels do not share the sets of a cache
        frame, plain = frame + 16, False
    lines = [
        (
            (p1 * pitch[1] + p2) * pitch[2],
            ((first.first + first.step * p1) * second.whole + second.first + second.step * p2)
            * last.whole
            + last.first,
        )
        for p1, p2 in product(range(first.windows), range(second.windows))
    ]
    dense = lines[-1][0] + last.windows
    across = -(-last.windows // lanes)
    windows = len(lines) * last.windows
    direct = (
        last.step == 1 and last.windows >= lanes and len(lines) * across <= 1.1 * dense / lanes + 1
    )
    vectors = len(lines) * across if direct else -(-dense // lanes)
    computed = vectors if to_filters else vectors + -vectors % _WIDE
    filters = sizes[2]
    by_filters = filters >= _FILTERS * (filters + -filters % lanes)
    if not to_filters and windows >= (0.95 if filters > 2 * lanes else _FILTERS) * computed * lanes:
        by_filters = False
    if not by_filters and windows < _FULL * computed * lanes:
        return None
    places: list[tuple[int, int]]
    if direct:
        along = [min(i * lanes, last.windows - lanes) for i in range(across)]
        places = [(a + i, b + i) for a, b in lines for i in along]
    else:
        places = [(i * lanes, i * lanes) for i in range(vectors)]
    if not to_filters:
        places += [places[-1]] * (-len(places) % _WIDE)
    dense = -(-dense // lanes) * lanes
    head = [
        1, *sizes, prod(a.size for a in axes), prod(a.whole for a in axes), len(offsets), frame,
        len(rows), pitch[2], last.stride, len(places), int(direct), len(lines), last.windows,
        last.step, dense, int(by_filters), int(plain),
    ]  # fmt: skip
    starts, ends = zip(*places, strict=True)
    tables: list[Sequence[Any]] = [head, offsets, weights, rows, starts, ends, lines]
    return np.concatenate([np.ravel(np.asarray(t, np.int64)) for t in tables])


def _phases(a: Along) -> list[tuple[int, int]]:
    """Of each tap: its phase of the stride, and how many windows further it lies there."""
    return [((a.dilation * t) % a.stride, a.dilation * t // a.stride) for t in range(a.taps)]
