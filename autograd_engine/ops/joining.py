"""Arrays joined into one, and cut into several."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim, exceeds
from autograd_engine.core.dtypes import HALVES, common_dtype
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import ShapeError
from autograd_engine.ops.registry.forms import PICKED
from autograd_engine.ops.registry.half_sum import HalfSum
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.scattered_cotangent import Scattered, iadd_scattered
from autograd_engine.ops.registry.symbolic_zero import hollow, is_hollow
from autograd_engine.ops.registry.work import Specs, Work, nothing

# --- along an axis that is there


def _infer_concat(*xs: Spec, axis: int) -> Spec:
    first = xs[0]
    total = first.shape[axis]
    for x in xs[1:]:
        others = (*x.shape[:axis], first.shape[axis], *x.shape[axis + 1 :])
        if x.ndim != first.ndim or not may_equal(first.shape, others):
            raise ShapeError(
                f"concat: {format_shape(first.shape)} and {format_shape(x.shape)} differ in an "
                f"axis other than {axis}; only the axis along which they are joined may differ"
            )
        total = total + x.shape[axis]
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    return Spec(shape, common_dtype([x.dtype for x in xs]))


def _split_like(x: Array, *likes: Like, axis: int) -> tuple[Array, ...]:
    """Cut `x` along `axis` into pieces as long as `likes`."""
    return _cut(x, [like.shape[axis] for like in likes], axis)


def _cut(x: Array, sizes: Sequence[int], axis: int) -> tuple[Array, ...]:
    """Pieces that lie behind each other; the last one as long as what is left."""
    lead, pieces, start = (slice(None),) * axis, [], 0
    for size in sizes[:-1]:
        pieces.append(x[(*lead, slice(start, start + size))])
        start += size
    return (*pieces, x[(*lead, slice(start, None))])


defop(
    "concat",
    lambda *xs, axis: np.concatenate(xs, axis=axis),
    inputs="*xs",
    infer=_infer_concat,
    dtypes="common",
    tangent="linear",
    symbolic=True,
    work=nothing,
).vjp(xs=lambda xp, g, xs_like, *, axis: xp.split_like(g, *xs_like, axis=axis))
defop(
    "split_like",
    _split_like,
    inputs="x *likes",
    outputs="*pieces",
    infer=lambda x, *likes, axis: tuple(Spec(s.shape, x.dtype) for s in likes),
    **PICKED,
).vjp(x=lambda xp, g_pieces, *, axis: xp.concat(*g_pieces, axis=axis), likes=NONDIFF)


def _split(x: Array, *, sizes: tuple[int, ...], axis: int) -> tuple[Array, ...]:
    _check_sizes(x.shape, sizes, axis)
    return _cut(x, sizes, axis)


def _check_sizes(shape: Shape, sizes: tuple[int, ...], axis: int) -> None:
    """NumPy would leave the last piece as long as it happens to be."""
    total = sum(sizes)
    open_sizes = isinstance(shape[axis], Dim) or isinstance(total, Dim)
    if any(exceeds(0, size) for size in sizes) or (not open_sizes and total != shape[axis]):
        raise ShapeError(
            f"split: {list(sizes)} must be sizes that add up to {shape[axis]}, the size of axis "
            f"{axis} of {format_shape(shape)}"
        )


def _infer_split(x: Spec, *, sizes: tuple[int, ...], axis: int) -> tuple[Spec, ...]:
    _check_sizes(x.shape, sizes, axis)
    return tuple(Spec((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype) for size in sizes)


defop("split", _split, inputs="x", outputs="*pieces", infer=_infer_split, **PICKED).vjp(
    x=lambda xp, g_pieces, *, axis: xp.concat(*g_pieces, axis=axis)
)

# --- along a new axis


def _one_shape(op: str, xs: tuple[Spec, ...], hint: str = "") -> Shape:
    """The shape that all of `xs` have."""
    first = xs[0].shape
    for x in xs[1:]:
        if not may_equal(first, x.shape):
            raise ShapeError(
                f"{op}: {format_shape(first)} and {format_shape(x.shape)} differ; all inputs must "
                f"have one shape{hint}"
            )
    return first


def _stack(*xs: Array, axis: int) -> Array:
    """`np.stack`, which takes several times as long as `np.concatenate` on small arrays."""
    shape = xs[0].shape
    for x in xs:
        if x.__class__ is not np.ndarray or x.shape != shape:
            return np.stack(xs, axis=axis)
    made = (*shape[:axis], 1, *shape[axis:])
    return np.concatenate([x.reshape(made) for x in xs], axis=axis)


def _infer_stack(*xs: Spec, axis: int) -> Spec:
    first = _one_shape("stack", xs)
    return Spec((*first[:axis], len(xs), *first[axis:]), common_dtype([x.dtype for x in xs]))


def _unstack(x: Array, *, axis: int) -> tuple[Array, ...]:
    return tuple(x if axis == 0 else np.moveaxis(x, axis, 0))


def _infer_unstack(x: Spec, *, axis: int) -> tuple[Spec, ...]:
    count = x.shape[axis]
    if isinstance(count, Dim):
        raise ShapeError(f"unstack: axis {axis} has an unknown size; declare it in static.data")
    return (Spec((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype),) * count


defop(
    "stack",
    _stack,
    inputs="*xs",
    infer=_infer_stack,
    dtypes="common",
    tangent="linear",
    symbolic=True,
    work=nothing,
).vjp(xs=lambda xp, g, *, axis: xp.unstack(g, axis=axis))
defop("unstack", _unstack, inputs="x", outputs="*pieces", infer=_infer_unstack, **PICKED).vjp(
    x=lambda xp, g_pieces, *, axis: xp.stack(*g_pieces, axis=axis)
)

# --- sum of many: what accumulation in a static program is


def _add_n(*xs: Any) -> Any:
    """Left fold, the order in which the tape accumulates; float16 in float32."""
    if len(xs) == 1:
        return np.copy(xs[0])
    shape = xs[0].shape
    for x in xs:
        if is_hollow(x):
            return _without_hollow(xs)
        if x.shape != shape:
            raise ShapeError("add_n: all inputs must have one shape; use add to broadcast")
    if xs[0].dtype in HALVES:
        total: Any = functools.reduce(HalfSum.of, xs).rounded()
    else:
        total = xs[0]
        for k, x in enumerate(xs[1:]):
            in_place = k and x.__class__ is Scattered
            total = iadd_scattered(total, x) if in_place else total + x
    return total if total.__class__ is Scattered else np.asarray(total)


def _without_hollow(xs: Sequence[Any]) -> Any:
    """The sum of what was computed: the tape knows of nothing else, so a -0.0 stays one."""
    given = [x for x in xs if not is_hollow(x)]
    if not given:
        return hollow(xs[0])
    return given[0] if given[0].__class__ is Scattered and len(given) == 1 else _add_n(*given)


def _infer_add_n(*xs: Spec) -> Spec:
    first = _one_shape("add_n", xs, "; use add to broadcast")
    return Spec(first, common_dtype([x.dtype for x in xs]))


def _additions(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    return Work(0, results[0].size * (len(operands) - 1))


class _Repeat:
    """A sequence that holds the same value at every position."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, _: int) -> Any:
        return self.value


defop(
    "add_n",
    _add_n,
    inputs="*xs",
    infer=_infer_add_n,
    dtypes="common",
    tangent="linear",
    takes_scattered="xs",
    elementwise=True,
    work=_additions,
).vjp(xs=lambda xp, g: _Repeat(g))
