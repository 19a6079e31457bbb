"""Products of matrices and sums, into planned memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.compiler.concrete_graph import Node, Value
from autograd_engine.compiler.planned.buffers import (
    Local,
    Place,
    contiguous,
    ordered,
    view,
    written,
)
from autograd_engine.compiler.planned.lowering import Lowering, Operand, handles
from autograd_engine.core.dtypes import BLAS_REALS, BOOLS, COMPLEX
from autograd_engine.core.spec import Spec
from autograd_engine.ops.kernels import rows
from autograd_engine.ops.kernels.compiled import LARGE, compiled
from autograd_engine.ops.kernels.products import function_for, multiply, readable
from autograd_engine.ops.kernels.sums import MANY_ROWS, leading

__all__ = ["product"]


def _stacked(place: Operand) -> bool:
    """Whether the axes before the last two lie in C order: then the products do."""
    if isinstance(place, Local):
        return place.in_order
    lead = Place(place.base, place.shape[:-2], place.strides[:-2], place.dtype)
    return ordered(lead)


@handles("matmul")
def _matmul(lowering: Lowering, node: Node) -> bool:
    operands: list[Operand] = []
    result = node.results[0]
    for name, value in zip(("transpose_x", "transpose_y"), node.operands, strict=True):
        assert isinstance(value, Value)
        operand = lowering.operand(value)
        if node.attrs[name]:
            if isinstance(operand, Local):
                return False
            operand = view(operand, lambda x: x.swapaxes(-1, -2))
        operands.append(operand)
    x, y = operands
    if result.dtype not in BLAS_REALS or x.dtype != result.dtype or y.dtype != result.dtype:
        return False
    if not result.size or not x.shape[-1]:
        return False
    if x.shape[-1] == 1 == y.shape[-2]:  # an outer product, as in the kernel
        out = written(result.shape, result.dtype, operands)
        if out is None:
            return False
        lowering.define(result, lowering.apply(np.multiply, operands, out))
        return True
    if not (_stacked(x) and _stacked(y)):
        return False
    made = product(lowering, x, y)
    if made is None:
        return False
    lowering.define(result, made)
    return True


def product(lowering: Lowering, x: Operand, y: Operand) -> Place | None:
    """The product of matrices, or of stacks of them in C order, as `multiply` makes it."""
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    out = Place.of((*lead, x.shape[-2], y.shape[-1]), x.dtype)
    square = x.shape[-2] == y.shape[-1]
    function = function_for(x.shape, y.shape)
    if isinstance(x, Place) and isinstance(y, Place):
        if square and x.key[:2] == y.key[:2]:  # they begin together
            copy = written(y.shape, y.dtype, (y,))
            if copy is None:
                return None
            y = lowering.copied(y, copy)
        if function is np.matmul:
            x, y = (_readable(lowering, p) for p in (x, y))
    elif square or not all(isinstance(p, Place) or p.contiguous for p in (x, y)):
        function = _into_product
    lowering.call(function, x, y, out, writes=[out])
    return out


def _readable(lowering: Lowering, place: Operand) -> Operand:
    assert isinstance(place, Place)
    return place if readable(place.strides, place.dtype.itemsize) else lowering.packed(place)


def _into_product(x: Any, y: Any, out: Any) -> None:
    out[...] = multiply(x, y)


def _row_sums(lowering: Lowering, x: Place, out: Place) -> None:
    """As `rows.row_sums`: `x` is [rows, width], `out` [rows]."""
    _count, width = x.shape
    run = compiled("sums.sum", np.empty(0, x.dtype))
    if run is not None:
        lowering.call(run, x, out, writes=[out])
    elif width <= rows.WIDE:
        ones = lowering.number(np.ones((), x.dtype), (width,))
        lowering.call(np.vecdot, x, ones, out, writes=[out])
    else:
        lowering.call(_into_row_sums, x, out, writes=[out])


def _into_row_sums(x: Any, out: Any) -> None:
    out[...] = rows.row_sums(x)


def _total(lowering: Lowering, x: Place, axis: Any, keepdims: bool, out: Place) -> None:
    """As `total_over`; `x` is contiguous."""
    seen = rows.lines(Spec(x.shape, x.dtype), axis) if x.size >= LARGE else None  # type: ignore[arg-type]
    if seen is None:
        _reduced(lowering, "sum", np.add, x, axis, keepdims, out)
    else:
        _row_sums(lowering, view(x, lambda a: a.reshape(seen)), out.flat())


def _reduced(
    lowering: Lowering, name: str, ufunc: Any, x: Place, axis: Any, keepdims: bool, out: Place
) -> None:
    """As the kernels of reductions: by C along short rows, and over rows that are short."""
    like = np.broadcast_to(np.zeros((), x.dtype), x.shape)
    short, between = rows.short_rows(name, like, axis), rows.between(name, like, axis)
    if short is not None:
        lowering.call(short, x, out.shaped(x.shape[:-1]), writes=[out])
    elif between is not None:
        lowering.call(between, x, out, writes=[out])
    else:
        lowering.reduce(ufunc, x, axis, keepdims, out)


def _plain(lowering: Lowering, node: Node) -> Place | None:
    """The operand of a reduction, where it has elements in C order."""
    place = lowering.place(node.operands[0])
    if place is None or not contiguous(place) or not place.size or not node.results[0].size:
        return None
    return place


@handles("sum", "mean")
def _sum(lowering: Lowering, node: Node) -> bool:
    x = _plain(lowering, node)
    if x is None or x.dtype not in BLAS_REALS:
        return False
    result = node.results[0]
    axis, keepdims = node.attrs["axis"], node.attrs["keepdims"]
    out = Place.of(result.shape, result.dtype)
    _total(lowering, x, axis, keepdims, out)
    if node.op.name == "mean":
        count = math.prod(x.shape[a] for a in axis)
        total, out = out, Place.of(result.shape, result.dtype)
        lowering.apply(np.true_divide, (total, lowering.number(np.asarray(count, x.dtype))), out)
    lowering.define(result, out)
    return True


@handles("max", "min", "any", "all")
def _extremum(lowering: Lowering, node: Node) -> bool:
    x = _plain(lowering, node)
    result = node.results[0]
    if x is None or x.dtype in COMPLEX or (result.dtype in BOOLS and x.dtype not in BOOLS):
        return False
    ufunc = {"max": np.maximum, "min": np.minimum, "any": np.logical_or, "all": np.logical_and}
    out = Place.of(result.shape, result.dtype)
    name, axis, keepdims = node.op.name, node.attrs["axis"], node.attrs["keepdims"]
    _reduced(lowering, name, ufunc[name], x, axis, keepdims, out)
    lowering.define(result, out)
    return True


@handles("sum_like")
def _sum_like(lowering: Lowering, node: Node) -> bool:
    """As its kernel."""
    x, result = lowering.place(node.operands[0]), node.results[0]
    if x is None or x.dtype not in BLAS_REALS or not x.size or not result.size or not ordered(x):
        return False
    given, shape = x.shape, result.shape
    out = Place.of(shape, result.dtype)
    lead = leading(given, shape)
    if lead is not None:
        count = math.prod(given[:lead])
        if count >= MANY_ROWS:
            table = view(lowering.packed(x), lambda a: a.reshape(count, -1))
            ones = lowering.number(np.ones((), x.dtype), (count,))
            lowering.call(np.dot, ones, table, out.flat(), writes=[out])
        else:
            total = view(out, lambda a: a.reshape(given[lead:]))
            lowering.reduce(np.add, x, 0 if lead == 1 else tuple(range(lead)), False, total)
    else:
        if not contiguous(x):
            return False
        lead = len(given) - len(shape)
        stretched = [k + lead for k, d in enumerate(shape) if d == 1 and given[k + lead] != 1]
        axes = (*range(lead), *stretched)
        kept = view(out, lambda a: a.reshape((1,) * lead + shape))
        _total(lowering, x, axes, True, kept)
    lowering.define(result, out)
    return True
