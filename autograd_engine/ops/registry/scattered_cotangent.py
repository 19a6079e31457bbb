"""Cotangents that are zero but for some places, kept as what is there until they are read.

``x[i]`` reads one row of x, and the rule that says so (`unslice_like`) writes zeros for all others.
A loop over the rows would write as many arrays as there are rows, each as large as x. A rule may
therefore hand on what is there and where, with ``xp.scatter``; sums of such cotangents join their
parts, and only what reads the sum writes it out, once. Slicing in a loop is then linear, and the
gradient of an embedding follows the rows that were read, not the table.

Whoever adds up cotangents (the tape, ``add_n`` in programs) does so with ``+``, and gets the same
bits either way: parts are added in the order of their arrival.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.dtypes import accumulation_dtype
from autograd_engine.core.spec import Array, Like, Spec

if TYPE_CHECKING:
    from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["Lazy", "Scattered", "dense", "iadd_scattered", "is_row_sparse", "merged_rows"]

Part = tuple[Any, tuple[Any, ...], dict[str, Any]]


class Lazy:
    """What is written out by its method `dense`, when it is read."""

    __slots__ = ()

    def dense(self) -> Any:
        raise NotImplementedError


class Scattered(Lazy):
    """Zeros like `like` (or `base`), to which values are added at places.

    Parameters
    ----------
    op : OpDef
        The operation that would write one part out: ``op(values, *operands, like, **attrs)``.
    xp : Namespace
        Where the values live: `raw` for ndarrays, or a graph of backends.
    like : Spec
    parts : list of (values, operands, attrs)
    base : ndarray or value of the graph, optional
        What arrived before them.
    """

    __slots__ = ("__weakref__", "base", "like", "op", "parts", "xp")

    __array_ufunc__ = None  # an ndarray on the left leaves the sum to us

    def __init__(self, op: OpDef, xp: Any, like: Like, parts: list[Part], base: Any = None) -> None:
        self.op = op
        self.xp = xp
        self.like = like
        self.parts = parts
        self.base = base

    @classmethod
    def of(cls, op: OpDef, xp: Any, operands: Any, attrs: Any) -> Scattered:
        """One part: the operands are the values, what says where, and `like`."""
        values, *places, like = operands
        dtype = getattr(values, "_data", values).dtype
        if like.__class__ is not Spec or like.dtype is not dtype:
            like = Spec(like.shape, dtype)
        return cls(op, xp, like, [(values, tuple(places), attrs)])

    @property
    def shape(self) -> Any:
        return self.like.shape

    @property
    def dtype(self) -> Any:
        return self.like.dtype

    def _joins(self, other: Scattered) -> bool:
        return other.op is self.op and other.base is None

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Scattered):
            if self._joins(other):
                parts = [*self.parts, *other.parts]
                return Scattered(self.op, self.xp, self.like, parts, self.base)
            return other.__radd__(self.dense())
        return self.dense() + other

    def __radd__(self, other: Any) -> Any:
        """`other` arrived first."""
        if self.base is not None:
            return other + self.dense()
        return Scattered(self.op, self.xp, self.like, list(self.parts), other)

    def __iadd__(self, other: Any) -> Any:
        """Only where nobody else sees this sum."""
        if isinstance(other, Scattered) and self._joins(other):
            self.parts += other.parts
            return self
        return self + other

    def dense(self) -> Any:
        """The sum written out."""
        if self.base is None and len(self.parts) == 1:
            values, places, attrs = self.parts[0]
            one = getattr(self.xp, self.op.name)(values, *places, self.like, **attrs)
            return one if one.dtype == self.dtype else self.xp.cast(one, dtype=self.dtype.name)
        place, record = self.op.place, self.op.record_places
        assert place is not None
        assert record is not None
        wide = self._wide()
        if self.parts and not isinstance(self.parts[0][0], np.ndarray):
            return self._recorded(record, wide)
        if self.base is None:
            out = np.zeros(self.shape, wide)
        else:  # + 0 as the zeros would be added: -0 becomes 0
            out = np.asarray(np.add(self.base, 0, dtype=wide, order="C"))
        for values, places, attrs in self.parts:
            place(out, values, *places, **attrs)
        return out.astype(self.dtype, copy=False)

    def _recorded(self, record: Any, wide: Any) -> Any:
        """The same, with operations that can be differentiated."""
        xp, base = self.xp, self.base
        wide = np.dtype(wide)
        if base is not None and base.dtype != wide:
            base = xp.cast(base, dtype=wide.name)
        written = record(xp, base, Spec(self.shape, wide), self.parts)
        return xp.cast(written, dtype=self.dtype.name) if wide != self.dtype else written

    def astype(self, dtype: Any) -> Scattered:
        """The same parts, to be added up in another dtype."""
        like = Spec(self.shape, np.dtype(dtype))
        return Scattered(self.op, self.xp, like, list(self.parts), self.base)

    def rounded(self, name: str) -> Scattered:
        """The same with values of the dtype of this name, where each part writes one to a place."""
        parts = [(self.xp.cast(v, dtype=name), places, attrs) for v, places, attrs in self.parts]
        return Scattered(self.op, self.xp, Spec(self.shape, np.dtype(name)), parts, self.base)

    def _wide(self) -> Any:
        """The dtype to add up in: 2048 + 1 is 2048 in float16."""
        return accumulation_dtype(self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.dense(), dtype)


def dense(g: Any) -> Any:
    """`g` itself, written out where it is scattered."""
    return g.dense() if isinstance(g, Lazy) else g


def iadd_scattered(total: Any, g: Scattered) -> Any:
    """``total += g`` for a sum that nobody else sees."""
    return total.__iadd__(g) if total.__class__ is Scattered else g.__radd__(total)


def is_row_sparse(g: Scattered) -> bool:
    """Whether all its parts are rows of the first axis, that were asked to stay so."""
    return g.base is None and all(attrs.get("sparse") for _, _, attrs in g.parts)


def merged_rows(g: Scattered) -> tuple[Array, Array]:
    """The rows of the first axis that have a part, ascending, and the sum of parts for each."""
    place, wide = g.op.place, g._wide()
    assert place is not None
    if not g.parts:
        return np.zeros(0, np.int64), np.zeros((0, *g.shape[1:]), g.dtype)
    indices = [np.asarray(places[0], np.int64).reshape(-1) for _, places, _ in g.parts]
    every = np.concatenate(indices)
    every = np.where(every < 0, every + g.shape[0], every)
    rows, inverse = np.unique(every, return_inverse=True)
    values = np.zeros((len(rows), *g.shape[1:]), wide)
    start = 0
    for index, (given, _, attrs) in zip(indices, g.parts, strict=True):
        where = inverse[start : start + len(index)]
        start += len(index)
        place(values, given.reshape(len(index), *g.shape[1:]), where, **attrs)
    return rows, values.astype(g.dtype, copy=False)
