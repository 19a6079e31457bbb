"""Operations whose kernels are more than an expression, in terms of those that are.

Cotangents of slices, arrays that are zero but for a part, are summed in one array. Slicing in a
loop would else add up as many arrays of full size as there are slices.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from autograd_engine.compiler.native.ir import Assemble, Term
from autograd_engine.compiler.native.lowering.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.spec import Like

Box = tuple[tuple[int, int], ...]


def summed(loops: Loops, xs: Sequence[Traced]) -> Traced:
    """The sum of `xs`, which have one shape."""
    parts: list[tuple[Term, Term]] = []
    others = []
    for x in xs:
        maker = x.term.buffer.maker if x.term.buffer is not None else None
        if isinstance(maker, Assemble) and x.term.whole and not maker.adds and maker.fill == 0:
            parts += maker.parts
        else:
            others.append(x)
    if len(xs) - len(others) < 2:
        others, parts = list(xs), []
    if not parts and not others:  # parts of nothing, all of them
        return xs[0]
    total = _assembled(loops, xs[0], parts) if parts else others.pop(0)
    for x in others:
        total = total + x
    return total


def _assembled(loops: Loops, like: Traced, parts: Sequence[tuple[Term, Term]]) -> Traced:
    out = loops.buffer(like.shape, like.dtype)
    whole = loops.all_of(out)
    moved = [
        (part, Term(out, region.shape, region.strides, region.offset)) for part, region in parts
    ]
    apart = _apart([_box(region, like.shape) for _, region in parts])
    loops.add(Assemble(moved, out, loops.origin, adds=not apart))
    return whole


def _box(region: Term, shape: tuple[int, ...]) -> Box:
    """Along each axis, the first index of a region and the one behind the last."""
    spans = [(n - 1) * s for n, s in zip(region.shape, region.strides, strict=True)]
    low = region.offset + sum(min(s, 0) for s in spans)
    high = region.offset + sum(max(s, 0) for s in spans)
    corners = np.unravel_index((low, high), shape or (1,))
    return tuple((int(first), int(last) + 1) for first, last in corners)


def _apart(boxes: Sequence[Box], axis: int = 0) -> bool:
    """Whether no two boxes overlap, from `axis` on."""
    if len(boxes) < 2:
        return True
    if axis == len(boxes[0]):
        return False
    groups: dict[tuple[int, int], list[Box]] = {}
    for box in boxes:
        groups.setdefault(box[axis], []).append(box)
    spans = sorted(groups)
    if any(a[1] > b[0] for a, b in pairwise(spans)):
        return _apart(boxes, axis + 1)  # these overlap along this axis: another one must part them
    return all(_apart(group, axis + 1) for group in groups.values())


Axes = tuple[int, ...]


@lowers("relu")
def _relu(np: Loops, x: Traced) -> Traced:
    return np.map("maximum", x, 0)


@lowers("sigmoid", "softplus", "erf")
def _of_maths(np: Loops, x: Traced) -> Traced:
    return np.map(np.origin.op.name, x)


@lowers("silu")
def _silu(np: Loops, x: Traced) -> Traced:
    return x * np.map("sigmoid", x)


@lowers("pow")
def _pow(np: Loops, x: Traced, y: Traced) -> Traced:
    if np.meeting((x, y)).kind != "f":
        raise NotLowered("powers of integers are NumPy's")
    number = y.term.number
    if number == 2:
        return np.map("square", x)
    if number == 0.5:  # of -0 and of -inf NumPy's power is another one, and its root this
        return np.map("sqrt", x)
    return np.map("power", x, y)


@lowers("assign")
def _assign(np: Loops, x: Traced) -> Traced:
    return x


# --- reductions


@lowers("sum")
def _sum(np: Loops, x: Traced, *, axis: Axes, keepdims: bool = False) -> Traced:
    return np.reduce("sum", x, axis, keepdims)


@lowers("mean")
def _mean(np: Loops, x: Traced, *, axis: Axes, keepdims: bool = False) -> Traced:
    count = math.prod(x.shape[a] for a in axis)
    if not count:
        raise NotLowered("an array is empty")
    return np.reduce("sum", x, axis, keepdims) / count


@lowers("logsumexp")
def _logsumexp(np: Loops, x: Traced, *, axis: Axes, keepdims: bool = False) -> Traced:
    largest = np.reduce("max", x, axis, True)
    largest = np.where(np.map("isinf", largest), 0.0, largest)
    total = np.reduce("sum", np.map("exp", x - largest), axis, True)
    out = np.map("log", total) + largest
    return out if keepdims else np.squeeze(out, axis)


@lowers("sum_like")
def _sum_like(np: Loops, x: Traced, like: Like) -> Traced:
    lead = x.ndim - len(like.shape)
    axes = [k for k, d in enumerate(x.shape) if k < lead or (like.shape[k - lead] == 1 and d != 1)]
    return np.reduce("sum", x, axes).reshape(like.shape)


# --- broadcasts


def _spread(np: Loops, x: Traced, like: Like, axis: Axes, keepdims: bool) -> Traced:
    if not keepdims and x.ndim + len(axis) == len(like.shape):
        x = np.expand_dims(x, axis)
    return np.broadcast_to(x, like.shape)


@lowers("expand_like")
def _expand_like(
    np: Loops, x: Traced, like: Like, *, axis: Axes = (), keepdims: bool = True
) -> Traced:
    return _spread(np, x, like, axis, keepdims)


@lowers("spread_like")
def _spread_like(np: Loops, x: Traced, like: Like, *, axis: Axes, keepdims: bool) -> Traced:
    count = math.prod(like.shape[a] for a in axis)
    return _spread(np, x / (count or 1), like, axis, keepdims)


# --- rows


@lowers("softmax")
def _softmax(np: Loops, x: Traced, *, axis: int) -> Traced:
    e = np.map("exp", x - np.reduce("max", x, axis, True))
    return e / np.reduce("sum", e, axis, True)


@lowers("log_softmax")
def _log_softmax(np: Loops, x: Traced, *, axis: int) -> Traced:
    shifted = x - np.reduce("max", x, axis, True)
    return shifted - np.map("log", np.reduce("sum", np.map("exp", shifted), axis, True))


@lowers("softmax_adjoint")
def _softmax_adjoint(np: Loops, y: Traced, out: Traced, *, axis: int) -> Traced:
    return out * (y - np.reduce("sum", y * out, axis, True))


@lowers("standardize")
def _standardize(
    np: Loops, x: Traced, *, axis: Axes, epsilon: float
) -> tuple[Traced, Traced, Traced]:
    count = math.prod(x.shape[a] for a in axis)
    mean = np.reduce("sum", x, axis, True) / count
    centred = x - mean
    variance = np.reduce("sum", centred * centred, axis, True) / count
    return centred / np.map("sqrt", variance + epsilon), mean, variance


@lowers("standardize_adjoint")
def _standardize_adjoint(
    np: Loops, y: Traced, out: Traced, variance: Traced, *, axis: Axes, epsilon: float
) -> Traced:
    count = math.prod(out.shape[a] for a in axis)
    along = np.reduce("sum", y * out, axis, True) / count
    mean = np.reduce("sum", y, axis, True) / count
    return (y - mean - out * along) / np.map("sqrt", variance + epsilon)


# --- products


@lowers("matmul")
def _matmul(
    np: Loops, x: Traced, y: Traced, *, transpose_x: bool = False, transpose_y: bool = False
) -> Traced:
    x = x.swapaxes(-1, -2) if transpose_x else x
    y = y.swapaxes(-1, -2) if transpose_y else y
    if x.shape[-1] == 1:
        return x * y
    if _small_by_vectors(x, y):
        return _by_vectors(np, x, y)
    return np.matmul(x, y)


# So many numbers of a matrix are multiplied by a vector while a BLAS is called.
_SMALL_MATRIX = 4096


def _small_by_vectors(x: Traced, y: Traced) -> bool:
    """Whether it is a small matrix by a vector, or many of them."""
    size = x.shape[-1] * x.shape[-2]
    return y.shape[-1] == 1 and size <= _SMALL_MATRIX and x.dtype.kind == "f"


def _by_vectors(np: Loops, x: Traced, y: Traced) -> Traced:
    """Products that are added up along the axis of the matrix that suits its memory."""
    if x.term.strides[-1] == 1 or x.shape[-1] == 1:
        return np.reduce("sum", x * y.swapaxes(-1, -2), -1, True)
    return np.expand_dims(np.reduce("sum", x.swapaxes(-1, -2) * y, -2), -1)


# --- sums of parts


@lowers("unslice_like")
def _unslice_like(np: Loops, x: Traced, like: Like, *, key: Any) -> Traced:
    return np.assembled(like.shape, x.dtype, [(x, operator.itemgetter(key))])


@lowers("unslice_add")
def _unslice_add(np: Loops, base: Traced, *xs: Traced, keys: tuple[Any, ...]) -> Traced:
    parts: list[Any] = [(base, operator.itemgetter(Ellipsis))]
    parts += [(x, operator.itemgetter(key)) for x, key in zip(xs, keys, strict=True)]
    return np.assembled(base.shape, base.dtype, parts, adds=True)


@lowers("add_n")
def _add_n(np: Loops, *xs: Traced) -> Traced:
    return summed(np, xs)
