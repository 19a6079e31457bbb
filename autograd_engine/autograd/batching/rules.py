"""How each operation of the table takes stacks of values; see `batched`.

Few operations need a rule of their own. Which kind another is, its row says (`stacks`,
`broadcasts`, `elements`, inputs that give a shape only). An operation whose row says "each" runs
once for each direction, and the results are stacked: right for any operation, and as differentiable
as the operation is.

A rule is called as ``rule(xp, op, operands, attrs)``, with one `Batched` operand at least. It calls
the operation of the base namespace, on values that have the axis of directions in front.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from autograd_engine.autograd.batching.batched import (
    Batched,
    Batching,
    dtype_of,
    shape_of,
    value_of,
)
from autograd_engine.core.spec import Spec
from autograd_engine.ops.nn.normalization import affine, affine_adjoint
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

__all__ = ["loops", "rule_of"]

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


# --- single operations


def _sum_like(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    x, like = operands
    if x.__class__ is not Batched:
        return of_shape(xp, op, operands, attrs)
    value, shape = value_of(x), tuple(shape_of(like))
    lead = x.ndim - len(shape)
    if lead and x.shape[lead:] == shape:
        return Batched(xp.base.sum(value, axis=tuple(range(1, lead + 1)), keepdims=False), xp)
    kept = Spec((x.count, *(1,) * lead, *shape), x.dtype)
    total = xp.base.sum_like(value, kept)
    return Batched(xp.base.reshape_like(total, Spec((x.count, *shape), x.dtype)), xp)


def _matmul(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """A stack times one matrix is one product of all its rows."""
    x, y = operands
    if y.__class__ is Batched or attrs["transpose_x"] or len(shape_of(y)) != 2:
        return broadcast(xp, op, operands, attrs)
    base, value = xp.base, value_of(x)
    *lead, inner = shape_of(value)
    rows = base.reshape_like(value, Spec((math.prod(lead), inner), x.dtype))
    out = base.matmul(rows, y, transpose_x=False, transpose_y=attrs["transpose_y"])
    return Batched(base.reshape_like(out, Spec((*lead, shape_of(out)[-1]), x.dtype)), xp)


def _solve(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """One system with a stack of right sides has so many more columns."""
    a, b = operands
    if a.__class__ is Batched or len(shape_of(a)) != 2 or b.ndim != 2:
        return broadcast(xp, op, operands, attrs)
    out = xp.base[op](a, fold(xp, value_of(b), 1), **attrs)
    return Batched(unfold(xp, out, b.count, 1), xp)


# Where the directions go if the operand at a position is the stack: the axis of it, and of the
# result, that they become part of; and whether within each group.
_CHANNELS: Final[dict[tuple[str, int], tuple[int, bool, int, bool]]] = {
    ("conv", 0): (0, False, 0, False),
    ("conv", 1): (0, True, 1, True),
    ("conv_input", 0): (0, False, 0, False),
    ("conv_input", 1): (1, False, 1, True),
    ("conv_filter", 0): (1, True, 0, True),
    ("conv_filter", 1): (1, True, 1, False),
}


def _conv(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Linear in each operand: directions are images, or channels."""
    stacks = [k for k in (0, 1) if operands[k].__class__ is Batched]
    if len(stacks) != 1:
        return looped(xp, op, operands, attrs)
    (k,) = stacks
    n, groups = operands[k].count, attrs["groups"]
    axis, grouped, out_axis, out_grouped = _CHANNELS[op.name, k]
    values = list(operands)
    values[k] = fold(xp, value_of(operands[k]), axis, groups if grouped else 1)
    if len(values) == 3:
        values[2] = folded(operands[2], n, out_axis)
    out = xp.base[op](*values, **attrs)
    return Batched(unfold(xp, out, n, out_axis, groups if out_grouped else 1), xp)


def _transpose(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    perm = (0, *[p + 1 for p in attrs["perm"]])
    return run(xp, op, [value_of(operands[0])], {"perm": perm})


def _padding(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    return run(xp, op, [value_of(operands[0])], {**attrs, "pads": ((0, 0), *attrs["pads"])})


_ALL: Final = slice(None)


def _keyed(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Keys of slices: all of the first axis."""
    shifted_keys: dict[str, Any] = {"key": (_ALL, *attrs.get("key", ()))}
    if "keys" in attrs:
        shifted_keys = {"keys": tuple([(_ALL, *key) for key in attrs["keys"]])}
    return run(xp, op, stacked(xp, op, operands), shifted_keys)


def _front(shape: tuple[int, ...], indices: Sequence[Any], key: Any) -> int | None:
    """How many axes of ``x[key]`` come from arrays and lie in front, away from where they stand.

    NumPy puts them there if slices lie between the arrays; then they also come before an axis that
    is added in front of `x`. None where they stay in their place.
    """
    taken = [k for k, e in enumerate(key) if isinstance(e, (str, int))]
    arrays = [e for e in key if isinstance(e, str)]
    if not arrays or taken == list(range(taken[0], taken[-1] + 1)):
        return None
    ranks = [
        1 if entry == "mask" else len(shape_of(index))
        for entry, index in zip(arrays, indices, strict=True)
    ]
    return max(ranks)


def _indexed(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Keys with arrays, the same in all directions."""
    x, *rest = operands
    writes = op.name == "index_add_like"
    indices = rest[1:] if writes else rest
    if any(v.__class__ is Batched for v in indices):
        return looped(xp, op, operands, attrs)
    if x.__class__ is not Batched:
        return of_shape(xp, op, operands, attrs)
    key, value, n = attrs["key"], value_of(x), x.count
    front = _front(shape_of(rest[0]) if writes else x.shape, indices, key)
    wide = (_ALL, *key)
    rank = len(shape_of(value))
    if not writes:
        out = xp.base.index(value, *indices, key=wide)
        if front is not None:
            axes = range(front + 1, len(shape_of(out)))
            out = xp.base.transpose(out, perm=(front, *range(front), *axes))
        return Batched(out, xp)
    if front is not None:
        perm = (*range(1, front + 1), 0, *range(front + 1, rank))
        value = xp.base.transpose(value, perm=perm)
    like = Spec((n, *shape_of(rest[0])), dtype_of(rest[0]))
    return Batched(xp.base.index_add_like(value, like, *indices, key=wide), xp)


def _setitem(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    x, value, *indices = operands
    key = attrs["key"]
    fixed = not any(v.__class__ is Batched for v in indices)
    if not fixed or _front(shape_of(x), indices, key) is not None:
        return looped(xp, op, operands, attrs)
    if value.__class__ is Batched:
        from autograd_engine.ops.getitem import indexed_shape

        rank = len(indexed_shape(shape_of(x), specs_of(indices), key))
        value = aligned(xp, value_of(value), rank)
    base = xp.stack_of(x, count_of(operands))
    return Batched(xp.base.setitem(base, value, *indices, key=(_ALL, *key)), xp)


def _unless_zero(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Decided for each direction."""
    x, *gs = operands
    alive: Any = None
    for g in gs:
        axes = tuple(range(len(shape_of(g))))
        here = xp.any(xp.not_equal(g, 0.0), axis=axes, keepdims=False)
        alive = here if alive is None else xp.logical_or(alive, here)
    return xp.where(alive, x, 0.0)


def _unless_hollow(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """A stack is never hollow; what is none decides for all directions."""
    x, *gs = operands
    if any(isinstance(g, Batched) for g in gs):
        return x
    return Batched(xp.base.unless_hollow(value_of(x), *gs), xp)


def _isin(xp: Batching, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    x, test = operands
    if test.__class__ is Batched:
        return looped(xp, op, operands, attrs)
    return run(xp, op, [value_of(x), test], attrs)


def _made_of(function: Callable[..., Any]) -> Rule:
    """By the operations that it is made of, ``function(xp, *operands, **attrs)``."""
    return lambda xp, op, operands, attrs: function(xp, *operands, **attrs)


# --- which is which


def _each(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


_RULES: Final[dict[str, Rule]] = {
    **_each(picking, "gather scatter_add_like scatter_add"),
    **_each(expanding, "expand broadcast_like"),
    **_each(spreading, "expand_like spread_like"),
    **_each(_conv, "conv conv_input conv_filter"),
    **_each(_solve, "solve triangular_solve"),
    **_each(_padding, "pad unpad extend unextend"),
    **_each(_keyed, "getitem unslice_like unslice_add"),
    **_each(_indexed, "index index_add_like"),
    "standardize_affine": _made_of(affine),
    "standardize_affine_adjoint": _made_of(affine_adjoint),
    **_each(broadcast, "to_complex distances weighted_differences"),
    "matmul": _matmul,
    "sum_like": _sum_like,
    "transpose": _transpose,
    "setitem": _setitem,
    "unless_hollow": _unless_hollow,
    "unless_zero": _unless_zero,
    "isin": _isin,
}
_STACKS: Final[dict[str, Rule]] = {
    "leading": pointwise,
    "axis": along,
    "reshaped": reshaping,
    "images": folding,
    "each": looped,
}


def rule_of(op: OpDef) -> Rule:
    """The batching rule of `op`."""
    found = _RULES.get(op.name)
    if found is not None and REGISTRY.get(op.name) is op:
        return found
    if not any(op.reads_value(k) for k in range(len(op.inputs))):
        return of_shape
    if op.random:
        return looped  # what is drawn would depend on what else is
    if op.broadcasts == 0:
        return broadcast
    return _STACKS[op.stacks]


def loops(op: OpDef) -> bool:
    """Whether `op` runs once for each direction, whatever its operands are."""
    return rule_of(op) is looped


Batching.rule_of = staticmethod(rule_of)
