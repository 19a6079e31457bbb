"""Elementwise steps on large arrays, gathered into loops over blocks that stay in the cache."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.planned.buffers import (
    Buffer,
    Local,
    Place,
    contiguous,
    strides_of,
)
from autograd_engine.compiler.planned.steps import (
    Elementwise,
    Loop,
    Pass,
    Step,
    buffers_of,
)
from autograd_engine.ops.kernels.elementwise import EXACT

__all__ = ["BLOCK", "LARGE", "blocked", "looped"]

Token = Buffer | Local

BLOCK: Final = 3 << 15  # bytes: calls cost little beside them, and a dozen of them fit the cache
LARGE: Final = 2 * BLOCK  # from here on


def blocked(steps: Sequence[Step], kept: Sequence[Any]) -> list[Step]:
    """`steps` with loops; the arrays of `kept` are read afterwards.

    A step may move behind a loop that it depends on, or before one that it does not.
    """
    if not any(isinstance(step, Elementwise) and _fits(step) for step in steps):
        return list(steps)
    uses: Counter[Token] = Counter()
    for step in steps:
        uses.update(set(step.touched()))
    for part in kept:
        uses.update(set(buffers_of(part)))
    gathering = _Gathering(uses)
    for step in steps:
        gathering.take(step)
    gathering.close()
    return gathering.steps


class _Gathering:
    """The loop that is being gathered, and what has to come behind it."""

    def __init__(self, uses: Counter[Token]) -> None:
        self.uses = uses
        self.steps: list[Step] = []
        self._clear()

    def _clear(self) -> None:
        self.body: list[Elementwise] = []
        self.behind: list[Step] = []
        self.made: set[Token] = set()  # by the loop
        self.later: set[Token] = set()  # by what comes behind it
        self.read: set[Token] = set()
        self.always = False

    def take(self, step: Step) -> None:
        touched = set(step.touched())
        writes = set(step.written())
        follows = not touched.isdisjoint(self.later) or not writes.isdisjoint(self.read)
        if isinstance(step, Elementwise) and _fits(step):
            if self.body and (follows or step.out.shape != self.body[0].out.shape):
                if not follows and touched.isdisjoint(self.made):
                    self.steps.append(step)  # of another size, and independent
                    return
                self.close()
            self.body.append(step)
            self.made |= writes
            self.read |= touched - writes
            return
        if not self.body:
            self.steps.append(step)
        elif follows or not touched.isdisjoint(self.made) or (step.always and self.always):
            self.behind.append(step)
            self.later |= writes
            self.read |= touched
            self.always |= step.always
        else:
            self.steps.append(step)

    def close(self) -> None:
        if len(self.body) > 1:
            self.steps.append(looped(self.body, self.uses))
        else:
            self.steps += self.body
        self.steps += self.behind
        self._clear()


def _fits(step: Elementwise) -> bool:
    """Whether it can be done block by block."""
    out = step.out
    return (
        out.nbytes >= LARGE
        and contiguous(out)
        and all(isinstance(s, Place) for s in step.sources)
        and (out.shape[0] > 1 or _is_flat(step))
    )


def _is_flat(step: Elementwise) -> bool:
    """Whether axes mean nothing to it."""
    shape = step.out.shape
    return all(
        isinstance(p, Place) and (not p.shape or (p.shape == shape and contiguous(p)))
        for p in (*step.sources, step.out)
    )


def looped(body: Sequence[Elementwise], uses: Counter[Token]) -> Loop:
    """A loop that does all of `body`; what nothing else uses is no longer than a block."""
    flat = all(map(_is_flat, body))
    shape = body[0].out.shape
    count = math.prod(shape) if flat else shape[0]
    width = 1 if flat else math.prod(shape[1:])
    # As many elements in each block, and not a short one at the end.
    block = max(1, BLOCK // (width * body[0].out.dtype.itemsize))
    block = -(-count // max(1, round(count / block)))
    inside: Counter[Token] = Counter()
    for step in body:
        inside.update(set(step.touched()))
    return _Body(body, flat, count, (block, *(() if flat else shape[1:])), inside, uses).loop()


class _Body:
    """The steps of a loop on slots and on scratch, which is used again as soon as it is free."""

    def __init__(
        self,
        body: Sequence[Elementwise],
        flat: bool,
        count: int,
        shape: tuple[int, ...],
        inside: Counter[Token],
        uses: Counter[Token],
    ) -> None:
        self.flat = flat
        self.count = count
        self.shape = shape
        self.slots: dict[Any, Place] = {}
        self.kinds: dict[Any, str] = {}
        self.scratch: list[Place] = []
        self.held: dict[Any, Place] = {}  # by the key of a place: what stands for it here
        self.free: dict[int, list[Buffer]] = {}
        self.last: dict[Token, int] = {}
        self.own: set[Token] = set()
        for k, step in enumerate(body):
            for token in step.touched():
                self.last[token] = k
            for token in step.written():
                assert isinstance(token, Buffer)
                if inside[token] == uses[token] and not token.persistent:
                    self.own.add(token)
        self.buffers: dict[Token, Buffer] = {}
        self.body = [self._step(step, k) for k, step in enumerate(body)]

    def loop(self) -> Loop:
        slots = list(self.slots.values())
        kinds = [self.kinds[p.key] for p in slots]
        return Loop(
            self.body, slots, kinds, [Pass(tuple(slots), self.count, self.shape[0])], self.scratch
        )

    def _step(self, step: Elementwise, k: int) -> Elementwise:
        sources = [self._read(step, p) for p in step.sources if isinstance(p, Place)]
        tokens = [t for p in step.sources for t in buffers_of(p)]
        dying = {t for t in tokens if t in self.own and self.last[t] == k}
        if step.ufunc in EXACT:
            self._release(dying, step.out.dtype.itemsize)
        out = self._write(step.out)
        self._release(dying, 0)
        return Elementwise(step.ufunc, sources, out, step.origin, step.quiet)

    def _release(self, dying: set[Buffer], itemsize: int) -> None:
        """Give back buffers; with an `itemsize` only of that size: a ufunc may write over them."""
        for token in list(dying):
            buffer = self.buffers[token]
            size = buffer.nbytes // math.prod(self.shape)
            if itemsize in (0, size):
                self.free.setdefault(size, []).append(buffer)
                dying.discard(token)

    def _read(self, step: Elementwise, place: Place) -> Place:
        base = place.base
        if isinstance(base, np.ndarray) and not place.shape:
            if step.ufunc in (np.maximum, np.minimum):
                return self._repeated(place)
            return place
        if isinstance(base, Buffer) and base.root()[0] in self.own:
            return self._scratch(place)
        return self._slot(place)

    def _write(self, place: Place) -> Place:
        assert isinstance(place.base, Buffer)
        root = place.base.root()[0]
        if root in self.own:
            if root not in self.buffers:
                self.buffers[root] = self._buffer(place.dtype)
            return self._scratch(place)
        return self._slot(place)

    def _buffer(self, dtype: np.dtype[Any]) -> Buffer:
        free = self.free.get(dtype.itemsize)
        if free:
            return free.pop()
        return Buffer(math.prod(self.shape) * dtype.itemsize)

    def _scratch(self, place: Place) -> Place:
        assert isinstance(place.base, Buffer)
        buffer = self.buffers[place.base.root()[0]]
        found = Place(buffer, self.shape, strides_of(self.shape, place.dtype.itemsize), place.dtype)
        known = self.held.get(found.key)
        if known is None:
            known = self.held[found.key] = found
            self.scratch.append(found)
        return known

    def _slot(self, place: Place) -> Place:
        if self.flat and place.shape:
            place = place.flat()
        kind = "part" if place.ndim == len(self.shape) and place.shape[0] == self.count else "whole"
        self.kinds.setdefault(place.key, kind)
        return self.slots.setdefault(place.key, place)

    def _repeated(self, number: Place) -> Place:
        """One number that many are compared with, written out: NumPy takes half the time for it."""
        key = ("repeated", number.key)
        found = self.held.get(key)
        if found is None:
            size = math.prod(self.shape)
            assert isinstance(number.base, np.ndarray)
            array = np.full(size, number.base, number.dtype).reshape(self.shape)
            found = self.held[key] = Place(array, array.shape, array.strides, array.dtype)
            self.kinds[found.key] = "head"
            self.slots[found.key] = found
        return found
