"""A reader of the table that carries many directions at once: every value may have one axis more.

A rule is linear in the cotangent and never looks at a shape, so what computes it for one cotangent
computes it for a stack of them, if only each operation knows which of its operands are stacks.
`Batched` is such a stack, with the axis of directions in front, and shows the shape of one of its
entries; `Batching(base)` is the namespace whose operations take them, by the rules of
`rules`. ``pullback.pull(batching(raw), Batched(...), saved, attrs)`` then gives a stack
of cotangents for the price of one call of each operation.

The namespace is generic over where the stacks live: ndarrays with `raw`, Tensors with `ops`, which
records the batched pass itself, so that its result can be differentiated.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from autograd_engine.core.operand import OPERATORS, REFLECTED
from autograd_engine.core.spec import Like, Spec
from autograd_engine.ops.registry.namespace import Namespace, ops, raw
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.ops.registry.stand_ins import bind_operators

__all__ = ["Batched", "Batching", "batching", "dtype_of", "shape_of", "value_of"]

_ndarray = np.ndarray


class Batched:
    """One value for each of several directions, along the first axis of `value`.

    Parameters
    ----------
    value : ndarray, Tensor or Scattered
        With the axis of directions in front.
    xp : Batching
        The namespace that computes with it.
    """

    __slots__ = ("value", "xp")

    __array_ufunc__ = None  # an ndarray on the left leaves the operator to us

    def __init__(self, value: Any, xp: Batching) -> None:
        self.value = value
        self.xp = xp

    @property
    def count(self) -> int:
        """The number of directions."""
        return int(shape_of(self.value)[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value of one direction."""
        return shape_of(self.value)[1:]

    @property
    def ndim(self) -> int:
        return len(shape_of(self.value)) - 1

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self.value)

    @property
    def spec(self) -> Spec:
        """Of the value of one direction."""
        return Spec(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"<{self.count} times {self.spec!r}>"

    __hash__ = None  # type: ignore[assignment]


def shape_of(value: Any) -> tuple[int, ...]:
    """Of a stack, that of the value of one direction; of a number, that of a 0-d array."""
    return tuple(getattr(getattr(value, "_data", value), "shape", ()))


def dtype_of(value: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = getattr(value, "_data", value).dtype
    return found


def value_of(stack: Batched) -> Any:
    """The array of a stack, written out where it is scattered."""
    value = stack.value
    if value.__class__ is Scattered:
        value = stack.value = value.dense()
    return value


class Batching(Namespace):
    """The operations of the table on values of which some are `Batched`.

    Without a `Batched` operand an operation is that of the base namespace.
    """

    # What an operation does with stacks: see `rules`.
    rule_of: ClassVar[Callable[[OpDef], Callable[..., Any]]]

    def __init__(self, base: Namespace) -> None:
        self.base = base

    def bind(self, op: OpDef) -> Callable[..., Any]:
        """The function for `op`, made when it is first asked for."""
        rule = Batching.rule_of(op)
        plain = self.base[op]

        def call(*operands: Any, **attrs: Any) -> Any:
            for operand in operands:
                if operand.__class__ is Batched:
                    full = attrs if attrs.keys() == op.attrs.keys() else op.complete_attrs(attrs)
                    return rule(self, op, operands, full)
            return plain(*operands, **attrs)

        return call

    def project(self, g: Any, like: Any) -> Any:
        """`g` summed over the axes that broadcasting stretched."""
        if g.__class__ is not Batched:
            return self.base.project(g, like)
        return g if g.shape == like.shape else self.sum_like(g, like)

    def scatter(self, name: str, *operands: Any, **attrs: Any) -> Any:
        """A stack that is written out when it is read; see `scattered`."""
        values, *places, like = operands
        if values.__class__ is not Batched:
            return self.base.scatter(name, *operands, **attrs)
        if (
            self.base is ops  # a recorded pass has each part as an operation of its own
            or name not in _SHIFTED
            or any(place.__class__ is Batched for place in places)
        ):
            return getattr(self, name)(*operands, **attrs)
        stacked = Spec((values.count, *like.shape), values.dtype)
        shifted = {**attrs, **_SHIFTED[name](attrs)}
        parts = (value_of(values), *places, stacked)
        return Batched(Scattered.of(REGISTRY[name], self.base, parts, shifted), self)

    def each(self, function: Callable[[Any], Any], stack: Any) -> Any:
        """`function` of the value of each direction, on its own, stacked again."""
        if stack.__class__ is not Batched:
            return function(stack)
        if not stack.count:
            return stack
        return self.one_by_one(stack.count, lambda i: (function(self.entry(stack, i)),))[0]

    def entry(self, value: Any, i: int) -> Any:
        """The value of one direction."""
        if value.__class__ is not Batched:
            return value
        return self.base.getitem(value_of(value), key=(i,))

    def one_by_one(self, count: int, call: Callable[[int], Sequence[Any]]) -> tuple[Any, ...]:
        """The results of ``call(i)`` for each direction, stacked; None where there is none."""
        columns = zip(*[call(i) for i in range(count)], strict=True)
        return tuple(
            [
                None if column[0] is None else Batched(self.base.stack(*column, axis=0), self)
                for column in columns
            ]
        )

    def pull(self, pullback: Any, g: Any, saved: Any, attrs: Any) -> tuple[Any, ...]:
        """The pullback of stacks; of a rule that takes one cotangent at a time, each in turn."""
        if getattr(pullback, "batches", True):
            results: tuple[Any, ...] = pullback.pull(self, g, saved, attrs)
            return results
        slots = g if isinstance(g, dict) else {None: g}
        counts = [v.count for v in slots.values() if v.__class__ is Batched]
        if not counts:
            return tuple(pullback.pull(self.base, g, saved, attrs))

        def one(i: int) -> Any:
            at = {k: self.entry(v, i) for k, v in slots.items()}
            given = type(g)(at) if isinstance(g, dict) else at[None]
            return pullback.pull(self.base, given, saved, attrs)

        return self.one_by_one(counts[0], one)

    def stack_of(self, value: Any, count: int, like: Like | None = None) -> Any:
        """The array with the axis of directions in front: repeated, if it is one value for all."""
        if value.__class__ is Batched:
            return value_of(value)
        shape = shape_of(value) if like is None else like.shape
        return self.base.expand_like(value, Spec((count, *shape), dtype_of(value)))


_SHIFTED: Final[dict[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "unslice_like": lambda attrs: {"key": (slice(None), *attrs["key"])},
    "scatter_add_like": lambda attrs: {"axis": attrs["axis"] + 1},
}

_of_arrays: Final = Batching(raw)
_of_tensors: Final = Batching(ops)


def batching(base: Namespace) -> Batching:
    """The batched reader over `raw` or `ops`: one of each, for each binds operations once."""
    return _of_tensors if base is ops else _of_arrays if base is raw else Batching(base)


# --- operators


def _arithmetic(name: str, function: Callable[[Any, Any], Any], reflected: bool) -> Any:
    """An operator that most often meets arrays whose axes are where broadcasting expects them."""

    def apply(self: Batched, other: Any) -> Any:
        x, y = self.value, other
        if y.__class__ is Batched:
            y = y.value
            fits = x.__class__ is _ndarray is y.__class__ and x.ndim == y.ndim
        elif y.__class__ is _ndarray:
            fits = x.__class__ is _ndarray and y.ndim < x.ndim
        else:
            fits = x.__class__ is _ndarray and (y.__class__ is float or y.__class__ is int)
        if fits:
            return Batched(function(y, x) if reflected else function(x, y), self.xp)
        if name == "add" and _may_join(x, y):
            return Batched(y + x if reflected else x + y, self.xp)
        return getattr(self.xp, name)(*((other, self) if reflected else (self, other)))

    return apply


def _may_join(x: Any, y: Any) -> bool:
    """One of the two is scattered, the other as large."""
    scattered = x.__class__ is Scattered or y.__class__ is Scattered
    return scattered and hasattr(y, "dtype") and shape_of(x) == shape_of(y)


_FLAT: Final = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}
for _dunder, _name in (*OPERATORS.items(), *REFLECTED.items()):
    if _name in _FLAT:
        setattr(Batched, _dunder, _arithmetic(_name, _FLAT[_name], _dunder in REFLECTED))
bind_operators(Batched, lambda self, name, operands: getattr(self.xp, name)(*operands))
