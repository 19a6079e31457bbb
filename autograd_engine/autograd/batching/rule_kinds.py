"""The kinds of operations that take stacks of values alike; `rules` says which is which.

A rule is called as ``rule(xp, op, operands, attrs)``, with one `Batched` operand at least. It calls
the operation of the base namespace, on values that have the axis of directions in front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from autograd_engine.autograd.batching.batched import (
    Batched,
    Batching,
    dtype_of,
    shape_of,
    value_of,
)
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import OpDef

__all__ = [
    "Rule",
    "aligned",
    "along",
    "broadcast",
    "count_of",
    "expanding",
    "fold",
    "folded",
    "folding",
    "looped",
    "of_shape",
    "picking",
    "pointwise",
    "reshaping",
    "run",
    "specs_of",
    "spreading",
    "stacked",
    "unfold",
]

Rule: TypeAlias = Callable[[Batching, OpDef, Sequence[Any], dict[str, Any]], Any]


def count_of(operands: Sequence[Any]) -> int:
    """The number of directions."""
    return next(v.count for v in operands if v.__class__ is Batched)


def wrap(xp: Batching, op: OpDef, out: Any) -> Any:
    """Results of the base operation, which have the axis of directions in front."""
    if op.multiple:
        return tuple([Batched(o, xp) for o in out])
    return Batched(out, xp)


def specs_of(operands: Sequence[Any]) -> list[Spec]:
    """Of one direction."""
    return [v if isinstance(v, Spec) else Spec(shape_of(v), dtype_of(v)) for v in operands]


def stacked(xp: Batching, op: OpDef, operands: Sequence[Any]) -> list[Any]:
    """All operands with the axis of directions; those that only give a shape as Specs."""
    n = count_of(operands)
    return [
        xp.stack_of(v, n) if op.reads_value(k) else Spec((n, *shape_of(v)), dtype_of(v))
        for k, v in enumerate(operands)
    ]


def run(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    return wrap(xp, op, xp.base[op](*operands, **attrs))


# --- kinds of operations


def looped(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """One call for each direction."""
    n = count_of(operands)
    call = xp.base[op]
    if n == 0:
        specs = op.infer_tuple(specs_of(operands), attrs)
        empty = [xp.base.zeros_like(Spec((0, *s.shape), s.dtype)) for s in specs]
        return wrap(xp, op, empty if op.multiple else empty[0])

    read = [
        v.spec if v.__class__ is Batched and not op.reads_value(k) else v
        for k, v in enumerate(operands)
    ]

    def one(i: int) -> Any:
        out = call(*[xp.entry(v, i) for v in read], **attrs)
        return out if op.multiple else (out,)

    results = xp.one_by_one(n, one)
    return results if op.multiple else results[0]


def of_shape(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """The operands give a shape and a dtype only, which is that of one direction."""
    likes = [v.spec if v.__class__ is Batched else v for v in operands]
    return xp.base[op](*likes, **attrs)


def pointwise(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Each element on its own, or the last axes alone: one more axis in front changes nothing."""
    return run(xp, op, stacked(xp, op, operands), attrs)


def broadcast(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Axes line up from the back."""
    rank = max([len(shape_of(v)) for v in operands])
    values = [aligned(xp, value_of(v), rank) if v.__class__ is Batched else v for v in operands]
    return run(xp, op, values, attrs)


def aligned(xp: Batching, value: Any, rank: int) -> Any:
    """The array of a stack, with ones behind its first axis where `rank` asks for more axes."""
    missing = rank + 1 - len(shape_of(value))
    return xp.base.unsqueeze(value, axis=tuple(range(1, missing + 1))) if missing > 0 else value


def along(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Axes are named by attributes, which count from the front: one more."""
    return run(xp, op, stacked(xp, op, operands), shifted(attrs))


def shifted(attrs: dict[str, Any]) -> dict[str, Any]:
    out = dict(attrs)
    for name in ("axis", "axis1", "axis2"):
        axis = attrs.get(name)
        if isinstance(axis, tuple):
            out[name] = tuple([a + 1 for a in axis])
        elif axis is not None:
            out[name] = axis + 1
    return out


def picking(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """As `along`, with an index that is the same in all directions and has axes of its own."""
    index = op.inputs.index("index")
    if operands[index].__class__ is Batched:
        return looped(xp, op, operands, attrs)
    values = stacked(xp, op, operands)
    values[index] = operands[index]
    return run(xp, op, values, shifted(attrs))


def reshaping(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """The same elements in the same order, in the shape that the operation infers."""
    x = operands[0]
    if x.__class__ is not Batched:  # only the shape of another is a stack's
        return of_shape(xp, op, operands, attrs)
    (out,) = op.infer_tuple(specs_of(operands), attrs)
    value = value_of(x)
    return Batched(xp.base.reshape_like(value, Spec((x.count, *out.shape), x.dtype)), xp)


def expanding(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Broadcast to the shape that the operation infers."""
    x = operands[0]
    if x.__class__ is not Batched:
        return of_shape(xp, op, operands, attrs)
    (out,) = op.infer_tuple(specs_of(operands), attrs)
    value = aligned(xp, value_of(x), len(out.shape))
    return Batched(xp.base.expand_like(value, Spec((x.count, *out.shape), x.dtype)), xp)


def spreading(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """A reduction undone: dropped axes come back, then sizes of 1 are stretched."""
    x, like = operands
    if x.__class__ is not Batched:
        return of_shape(xp, op, operands, attrs)
    value, axis = value_of(x), tuple([a + 1 for a in attrs["axis"]])
    if not attrs["keepdims"]:
        value = xp.base.unsqueeze(value, axis=axis)
    value = aligned(xp, value, len(shape_of(like)))
    wide = Spec((x.count, *shape_of(like)), dtype_of(like))
    return Batched(xp.base[op](value, wide, axis=axis, keepdims=True), xp)


def folding(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Images [N, C, ...]: the directions are so many more images."""
    n = count_of(operands)
    values = [
        fold(xp, xp.stack_of(v, n), 0) if op.reads_value(k) else folded(v, n, 0)
        for k, v in enumerate(operands)
    ]
    out = xp.base[op](*values, **attrs)
    results = [unfold(xp, o, n, 0) for o in (out if op.multiple else (out,))]
    return wrap(xp, op, results if op.multiple else results[0])


def fold(xp: Batching, value: Any, axis: int, groups: int = 1) -> Any:
    """The axis of directions made part of `axis` (as one value counts), within each group."""
    n, *shape = shape_of(value)
    dtype = dtype_of(value)
    size = shape[axis] // groups
    merged = [*shape[:axis], groups * n * size, *shape[axis + 1 :]]
    if axis or groups > 1:
        split = (n, *shape[:axis], groups, size, *shape[axis + 1 :])
        value = xp.base.reshape_like(value, Spec(split, dtype))
        rest = range(axis + 2, len(split))
        value = xp.base.transpose(value, perm=(*range(1, axis + 2), 0, *rest))
    return xp.base.reshape_like(value, Spec(tuple(merged), dtype))


def unfold(xp: Batching, value: Any, n: int, axis: int, groups: int = 1) -> Any:
    """`fold` undone."""
    shape, dtype = shape_of(value), dtype_of(value)
    size = shape[axis] // (groups * n) if n else 0
    merged = (n, *shape[:axis], groups * size, *shape[axis + 1 :])
    if axis or groups > 1:
        split = (*shape[:axis], groups, n, size, *shape[axis + 1 :])
        value = xp.base.reshape_like(value, Spec(split, dtype))
        rest = range(axis + 2, len(split))
        value = xp.base.transpose(value, perm=(axis + 1, *range(axis + 1), *rest))
    return xp.base.reshape_like(value, Spec(merged, dtype))


def folded(like: Any, n: int, axis: int) -> Spec:
    shape = shape_of(like)
    return Spec((*shape[:axis], shape[axis] * n, *shape[axis + 1 :]), dtype_of(like))
