"""Operations whose results are views: they are bound once, and take no time in a run."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.concrete_graph import Node, Value
from autograd_engine.compiler.planned.buffers import (
    Local,
    Place,
    contiguous,
    ordered,
    view,
    views,
    written,
)
from autograd_engine.compiler.planned.lowering import Lowering, handles
from autograd_engine.core.dtypes import BLAS_REALS
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY

__all__: list[str] = []

_VIEWS: Final = [
    op.name for op in REGISTRY.values() if op.result == "view" and op.elements is not None
]


def _function(node: Node) -> Any:
    """The kernel, of its first operand alone."""
    others = node.operands[1:]
    if not all(isinstance(v, Spec) for v in others):
        return None
    kernel, attrs = node.op.kernel, node.attrs
    if node.op.name == "getitem" and not node.results[0].shape:
        key = (*(k for k in attrs["key"] if k is not Ellipsis), Ellipsis)  # else it is no view
        return lambda x: x[key]
    return lambda x: kernel(x, *others, **attrs)


@handles(*_VIEWS)
def _view(lowering: Lowering, node: Node) -> bool:
    value = node.operands[0]
    assert isinstance(value, Value)
    source = lowering.operand(value)
    function = _function(node)
    if function is None:
        return False
    if isinstance(source, Local):
        return _of_local(lowering, node, source)
    made = views(source, function)
    if not all(isinstance(p, Place) for p in made):
        return node.op.elements == "ordered" and _copied(lowering, node, source, function)
    for result, place in zip(node.results, made, strict=True):
        assert isinstance(place, Place)
        lowering.define(result, place)
    return True


def _copied(lowering: Lowering, node: Node, source: Place, function: Any) -> bool:
    """A reshape of what lies in another order: first in order, and then a view."""
    out = Place.of(source.shape, source.dtype)
    lowering.copied(source, out)
    lowering.define(node.results[0], view(out, function))
    return True


def _of_local(lowering: Lowering, node: Node, source: Local) -> bool:
    if not (node.op.elements == "ordered" and source.in_order):
        return False
    result = node.results[0]
    made = lowering.local(result, in_order=True, contiguous=source.contiguous, reads=[source])
    function = partial(node.op.kernel, **node.attrs)
    lowering.call(function, source, *node.operands[1:], makes=[made])
    return True


@handles("assign")
def _assign(lowering: Lowering, node: Node) -> bool:
    """A copy, which lies without gaps; what does so already need not be copied."""
    place = lowering.place(node.operands[0])
    if place is None:
        return False
    out = written(place.shape, place.dtype, (place,))
    if out is None:
        return False
    if out.strides != place.strides and not contiguous(place):
        place = lowering.copied(place, out)
    lowering.define(node.results[0], place)
    return True


@handles("spread_like")
def _spread_like(lowering: Lowering, node: Node) -> bool:
    """Divided before it is spread, as the kernel does."""
    source, like = lowering.place(node.operands[0]), node.operands[1]
    if source is None or source.dtype not in BLAS_REALS or not isinstance(like, Spec):
        return False
    if not ordered(source):
        return False
    count = math.prod(like.shape[a] for a in node.attrs["axis"])
    share = Place.of(source.shape, source.dtype)
    divisor = lowering.number(np.asarray(count or 1, source.dtype))
    lowering.apply(np.true_divide, (source, divisor), share)
    spread = partial(REGISTRY["expand_like"].kernel, **node.attrs)
    lowering.define(node.results[0], view(share, lambda x: spread(x, like)))
    return True


@handles("concat", "stack")
def _joined(lowering: Lowering, node: Node) -> bool:
    places: list[Place] = []
    for value in node.operands:
        place = lowering.place(value)
        if place is None or not ordered(place) or place.dtype != node.results[0].dtype:
            return False
        places.append(place)
    out = Place.of(node.results[0].shape, node.results[0].dtype)
    axis = node.attrs["axis"]
    if node.op.name == "stack":
        places = [view(p, partial(np.expand_dims, axis=axis)) for p in places]
    lowering.define(node.results[0], lowering.joined(places, axis, out))
    return True
