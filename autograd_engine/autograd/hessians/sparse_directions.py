"""Stacks of directions of which each element follows few, kept as what moves it.

The unit directions of an input with n elements are an identity: n * n numbers, n of which are not
zero. Elementwise operations and slices keep it so. `OneHot` holds such a stack as terms: for each
element of one direction's value, which direction moves it, and by how much. `OneHotBatching` is a
`Batching` over a `Graph` whose operations carry terms as far as they can, at the price of one value
for each, and write out the stack for the others.

What moves an element depends on shapes alone and is known when the graph is made, by how much does
not: the first is an array of row numbers, the second a `Value`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.autograd.batching.batched import Batched, Batching
from autograd_engine.autograd.hessians.row_spans import Span, on_rows
from autograd_engine.compiler.concrete_graph import Graph, Value
from autograd_engine.core.spec import Array, Like, Spec
from autograd_engine.ops.registry.opdef import NONDIFF, REGISTRY, OpDef

__all__ = ["OneHot", "OneHotBatching"]

_WRITTEN: Final = (Batched, Span)
_MOST: Final = 16  # terms of a stack
_WORTH: Final = 0.9  # of all directions, up to which a stack is written out as a span


class Term(NamedTuple):
    """``values[i]`` in the direction ``rows[i]``, for each element i; in none where that is -1."""

    rows: Array
    values: Value


class OneHot(Batched):
    """A stack that is a sum of terms, in `terms`; ``value`` is its Spec, or it written out."""

    __slots__ = ("terms",)

    def __init__(self, terms: Sequence[Term], wide: Spec, xp: OneHotBatching) -> None:
        super().__init__(wide, xp)
        self.terms = terms

    def like(self, terms: Sequence[Term], spec: Spec) -> Batched:
        """Other terms of as many directions, those of the same elements in the same ones joined.

        Many terms are written out, for a stack is then as quick.
        """
        assert isinstance(self.xp, OneHotBatching)
        wide = Spec((self.count, *spec.shape), spec.dtype)
        joined: list[Term] = []
        for term in terms:
            for k, (rows, values) in enumerate(joined):
                if np.array_equal(rows, term.rows):
                    joined[k] = Term(rows, self.xp.base.add(values, term.values))
                    break
            else:
                joined.append(term)
            if len(joined) > _MOST:
                return OneHot(terms, wide, self.xp).written()
        return OneHot(joined, wide, self.xp)

    def written(self) -> Batched:
        """The same as a plain stack."""
        wide = self.value
        if wide.__class__ is Spec:
            base = self.xp.base
            if not self.terms:
                self.value = base.zeros_like(wide)
            else:
                places = _places([t.rows for t in self.terms])
                values = [t.values for t in self.terms]
                self.value = base[_write](*values, places=places, shape=wide.shape)
        return Batched(self.value, self.xp)

    def rows_written(self) -> Batched:
        """The same, without directions before the first and after the last that moves anything."""
        rows = [t.rows[t.rows >= 0] for t in self.terms]
        begin = min([int(r.min()) for r in rows if r.size], default=0)
        end = max([int(r.max()) + 1 for r in rows if r.size], default=self.count)
        if end - begin > _WORTH * self.count:
            return self.written()
        assert isinstance(self.xp, OneHotBatching)
        wide = Spec((end - begin, *self.shape), self.dtype)
        terms = [Term(np.where(t.rows < 0, -1, t.rows - begin), t.values) for t in self.terms]
        block = OneHot(terms, wide, self.xp).written()
        return Span(block.value, self.xp, begin, self.count)


class OneHotBatching(Batching):
    """The operations on values of which some are stacks, written out or not.

    Parameters
    ----------
    base : Graph
    """

    base: Graph

    def units(self, like: Like) -> OneHot:
        """The unit directions of an array."""
        shape = tuple(like.shape)
        size = math.prod(shape)
        ones = self.base.number(1, like.dtype, shape)
        wide = Spec((size, *shape), like.dtype)
        return OneHot([Term(np.arange(size).reshape(shape), ones)], wide, self)

    def bind(self, op: OpDef) -> Callable[..., Any]:
        plain = super().bind(op)
        keep = _keep_of(op)

        def call(*operands: Any, **attrs: Any) -> Any:
            if any(o.__class__ is OneHot for o in operands):
                if keep is not None and not any(o.__class__ in _WRITTEN for o in operands):
                    full = attrs if attrs.keys() == op.attrs.keys() else op.complete_attrs(attrs)
                    found = keep(self, op, operands, full)
                    if found is not None:
                        return found
                operands = tuple([_plain(op, k, o) for k, o in enumerate(operands)])
            if any(o.__class__ is Span for o in operands):
                return on_rows(self, op, operands, attrs, plain)
            return plain(*operands, **attrs)

        return call

    def is_zero(self, value: Any) -> bool:
        """Whether it is known to be nothing but zeros."""
        if value.__class__ is OneHot:
            return not value.terms
        number = value.uniform if isinstance(value, Value) else value
        return number is not None and bool(number == 0.0)

    def project(self, g: Any, like: Any) -> Any:
        if g.__class__ is OneHot or g.__class__ is Span:
            return g if g.shape == like.shape else self.sum_like(g, like)
        return super().project(g, like)

    def scatter(self, name: str, *operands: Any, **attrs: Any) -> Any:
        if any(o.__class__ is OneHot or o.__class__ is Span for o in operands):
            return getattr(self, name)(*operands, **attrs)
        return super().scatter(name, *operands, **attrs)

    def stack_of(self, value: Any, count: int, like: Like | None = None) -> Any:
        if value.__class__ is OneHot or value.__class__ is Span:
            value = value.written()
        return super().stack_of(value, count, like)


def _plain(op: OpDef, k: int, operand: Any) -> Any:
    if operand.__class__ is not OneHot:
        return operand
    return operand.rows_written() if op.reads_value(k) else operand.spec


# --- operations that keep terms; None where they cannot

Keep = Callable[[OneHotBatching, OpDef, Sequence[Any], dict[str, Any]], Batched | None]


def _scaled(
    xp: OneHotBatching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> Batched | None:
    """Linear in one operand, elementwise in both."""
    (k, *others) = [k for k, o in enumerate(operands) if o.__class__ is OneHot]
    if others or (op.name == "divide" and k == 1):
        return None
    stack = operands[k]
    call = xp.base[op]

    def of(values: Value) -> Value:
        out: Value = call(*[values if j == k else o for j, o in enumerate(operands)], **attrs)
        return out

    return _mapped(stack, of, operands)


def _mapped(stack: OneHot, of: Callable[[Value], Value], operands: Sequence[Any]) -> Batched:
    terms = []
    for rows, values in stack.terms:
        out = of(values)
        terms.append(Term(np.broadcast_to(rows, tuple(out.shape)), out))
    if terms:
        return stack.like(terms, terms[0].values.spec)
    shapes = [tuple(o.shape) for o in operands if hasattr(o, "shape")]
    return stack.like([], Spec(np.broadcast_shapes(*shapes), stack.dtype))


def _where(
    xp: OneHotBatching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> Batched | None:
    condition, *sides = operands
    chosen = [k for k, o in enumerate(sides) if o.__class__ is OneHot]
    if condition.__class__ is OneHot or not all(
        k in chosen or xp.is_zero(o) for k, o in enumerate(sides)
    ):
        return None
    parts = []
    for k in chosen:

        def of(values: Value, k: int = k) -> Value:
            sides_of = (values, 0.0) if k == 0 else (0.0, values)
            out: Value = xp.base.where(condition, *sides_of)
            return out

        parts.append(_mapped(sides[k], of, operands))
    return parts[0] if len(parts) == 1 else _added(parts)


def _added(parts: Sequence[Any]) -> Batched | None:
    first = parts[0]
    if any(
        p.__class__ is not OneHot or p.shape != first.shape or p.dtype != first.dtype for p in parts
    ):
        return None
    found: Batched = first.like([t for p in parts for t in p.terms], first.spec)
    return found


def _sum_of(
    xp: OneHotBatching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> Batched | None:
    return _added(operands)


def _less(
    xp: OneHotBatching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> Batched | None:
    x, y = operands
    return None if y.__class__ is not OneHot else _added([x, xp.negative(y)])


def _moved(
    xp: OneHotBatching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> Batched | None:
    """Elements change their places, are repeated or left out; what is new is zero."""
    stack, *likes = operands
    if stack.__class__ is not OneHot:  # only the shape of another is a stack's
        return None
    specs = [o.spec if isinstance(o, (Value, Batched)) else o for o in likes]
    (out,) = op.infer_tuple([stack.spec, *specs], attrs)
    if any(d.__class__ is not int for d in out.shape):
        return None
    counted = [Spec(tuple(s.shape), np.dtype(np.int64)) for s in specs]
    call, casts = xp.base[op], op.name in ("cast", "cast_like")
    terms = []
    for rows, values in stack.terms:
        # New places get -1.
        found = rows if casts else op.kernel(rows + 1, *counted, **attrs) - 1
        terms.append(Term(found, call(values, *specs, **attrs)))
    return stack.like(terms, out)


def _gathered(
    xp: OneHotBatching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> Batched | None:
    """Slices put in their places, on top of one another."""
    base, *parts = operands
    if not all(o.__class__ is OneHot or xp.is_zero(o) for o in operands):
        return None
    stacks = [o for o in operands if o.__class__ is OneHot]
    if len(stacks) > _MOST:
        return None
    out = Spec(tuple(base.shape), base.dtype)
    placed = [base] if base.__class__ is OneHot else []
    for part, key in zip(parts, attrs["keys"], strict=True):
        if part.__class__ is OneHot:
            placed.append(xp.unslice_like(part, out, key=key))
    return _added(placed) if placed else stacks[0].like([], out)


def _total(
    xp: OneHotBatching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> Batched | None:
    """The sum of all elements, where each direction moves one, in order."""
    (stack,) = operands
    if len(stack.terms) != 1 or attrs["keepdims"] or len(attrs["axis"]) != stack.ndim:
        return None
    rows, values = stack.terms[0]
    if not np.array_equal(rows.ravel(), np.arange(stack.count)):
        return None
    return Batched(xp.base.reshape_like(values, Spec((stack.count,), stack.dtype)), xp)


_KEPT: Final[dict[str, Keep]] = {
    **dict.fromkeys(("multiply", "divide", "negative"), _scaled),
    **dict.fromkeys(("add", "add_n"), _sum_of),
    **dict.fromkeys(("cast", "cast_like"), _moved),
    "subtract": _less,
    "where": _where,
    "unslice_add": _gathered,
    "sum": _total,
}


def _keep_of(op: OpDef) -> Keep | None:
    """What keeps the terms of operands of `op`."""
    if REGISTRY.get(op.name) is not op:
        return None
    moves = op.elements is not None and op.tangent == "linear" and not op.multiple
    if moves and not any(op.reads_value(k) for k in range(1, len(op.inputs))):
        return _moved
    return _KEPT.get(op.name)


# --- written out


class _Place(NamedTuple):
    """Where the values of one term go in the flat stack, and whether nothing is there yet.

    Attributes
    ----------
    at : slice or ndarray
        Places in the stack.
    of : ndarray or None
        Elements that are in some direction; None for all of them.
    fresh : bool
    """

    at: Any
    of: Array | None
    fresh: bool


def _places(terms: Sequence[Array]) -> tuple[_Place, ...]:
    seen = np.empty(0, np.int64)
    places = []
    for rows in terms:
        flat = rows.ravel()
        (of,) = np.nonzero(flat >= 0)
        at = flat[of] * flat.size + of
        fresh = not np.isin(at, seen).any()
        seen = np.concatenate([seen, at])
        places.append(_Place(_as_slice(at), None if of.size == flat.size else of, fresh))
    return tuple(places)


def _as_slice(places: Array) -> Any:
    """The slice that takes `places`, where there is one: NumPy is quick with it."""
    steps = np.diff(places)
    if not steps.size or steps[0] <= 0 or (steps != steps[0]).any():
        return places
    return slice(int(places[0]), int(places[-1]) + 1, int(steps[0]))


def _write_terms(*xs: Array, places: tuple[_Place, ...], shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape, xs[0].dtype)
    flat = out.reshape(-1)
    for values, place in zip(xs, places, strict=True):
        given = values.reshape(-1) if place.of is None else values.reshape(-1)[place.of]
        if place.fresh:
            flat[place.at] = given
        else:
            flat[place.at] += given
    return out


_write: Final = OpDef(
    "write_terms",
    _write_terms,
    inputs="*xs",
    infer=lambda *xs, places, shape: Spec(shape, xs[0].dtype),
    tangent="linear",
).vjp(xs=NONDIFF)
