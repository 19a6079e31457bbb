"""Where a plan says that an array lies is where the kernel would have put it.

The order of elements in memory is part of what makes the bits of a sum or a product. So this looks
at strides, and not at bits, which may agree by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_engine.compiler.concrete_graph import Graph, NotConcrete, Value
from autograd_engine.compiler.planned import planner as planning  # noqa: F401 - registers what handles what
from autograd_engine.compiler.planned.buffers import Local, Place
from autograd_engine.compiler.planned.lowering import HANDLERS, Lowering
from autograd_engine.compiler.planned.ufunc_trace import NotTraced, traced
from autograd_engine.core.spec import Spec
from autograd_engine.ops.kernels.elementwise import EXACT
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from tests.over import over
from tests.registry.samples import cases
from tests.registry.sampling import Sample

Array = np.ndarray


def _spread(a: Array) -> Array:
    """The same values, every second element of each axis of a larger array."""
    if not a.ndim:
        return a
    out = np.zeros([2 * n for n in a.shape], a.dtype)[(slice(None, None, 2),) * a.ndim]
    out[...] = a
    return out


def _rows(a: Array) -> Array:
    """The same values, the first columns of a wider array."""
    if not a.ndim:
        return a
    out = np.zeros((*a.shape[:-1], a.shape[-1] + 3), a.dtype)[..., :-3]
    out[...] = a
    return out


def _backwards(a: Array) -> Array:
    turned = (slice(None, None, -1),) * a.ndim
    return np.array(a[turned])[turned]


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "in C order": np.ascontiguousarray,
    "in columns": np.asfortranarray,
    "with gaps": _spread,
    "with gaps between rows": _rows,
    "backwards": _backwards,
}
# Which of the operands lie so; the others are in C order.
WHICH: dict[str, Callable[[int], bool]] = {
    "all": lambda k: True,
    "the first": lambda k: k == 0,
    "all but the first": lambda k: k > 0,
}


def _order(shape: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Axes from the slowest to the fastest, and whether each goes on, back, or stays.

    Gaps are left out: what reads elements with gaps between them copies them first, where its bits
    would depend on it.
    """
    axes = [k for k, d in enumerate(shape) if d != 1]
    return [(k, np.sign(strides[k])) for k in sorted(axes, key=lambda k: -abs(strides[k]))]


def _lowered(op: OpDef, operands: Sequence[Array], attrs: dict[str, Any]) -> list[Any]:
    """What a plan knows of where the results are."""
    graph = Graph()
    values = [graph.input(Spec(a.shape, a.dtype)) for a in operands]
    results = graph.call(op, values, attrs)
    inputs = [Place(k, a.shape, a.strides, a.dtype, 1 << 16) for k, a in enumerate(operands)]
    lowering = Lowering(graph, inputs, fast=False)
    for node in graph.nodes:
        lowering.node(node)
    return [lowering.where.get(id(r)) if isinstance(r, Value) else None for r in results]


@over(("op", "sample"), cases(lambda op, s: not (op.random or op.effect)))
def test_results_lie_where_the_kernel_puts_them(op: OpDef, sample: Sample) -> None:
    attrs = op.complete_attrs(sample.attrs)
    for label, layout in LAYOUTS.items():
        for which, chosen in WHICH.items():
            given = [
                layout(a) if chosen(k) else np.ascontiguousarray(a)
                for k, a in enumerate(sample.cast("float32"))
            ]
            given = [a.reshape(o.shape) for a, o in zip(given, sample.operands, strict=True)]
            try:
                found = _lowered(op, given, attrs)
            except NotConcrete:
                return
            with np.errstate(all="ignore"):
                made = op.kernel(*given, **attrs)
            for place, array in zip(found, made if op.multiple else (made,), strict=True):
                expected = np.asarray(array)
                if not expected.size:
                    continue
                if isinstance(place, Place):
                    have = _order(place.shape, place.strides)
                    assert have == _order(expected.shape, expected.strides), (label, which)
                elif isinstance(place, Local) and place.contiguous:
                    assert expected.flags.c_contiguous, (label, which)
                elif isinstance(place, Local) and place.in_order:
                    found_axes = [k for k, _ in _order(expected.shape, expected.strides)]
                    assert found_axes == sorted(found_axes), (label, which)


def test_most_results_have_a_known_place() -> None:
    """Else the test above would look at nothing."""
    known = 0
    for parameters in cases(lambda op, s: not (op.random or op.effect)):
        op, sample = parameters.values
        try:
            found = _lowered(op, sample.cast("float32"), op.complete_attrs(sample.attrs))
        except NotConcrete:
            continue
        known += any(isinstance(place, Place) for place in found)
    assert known > 700
    assert len(HANDLERS) > 30


def _direct(op: OpDef, sample: Sample) -> list[Any]:
    """The calls of a kernel that read an operand of the operation as it is given."""
    operands = [a.dtype for a in sample.cast("float32")]
    found = traced(op.kernel, operands, op.complete_attrs(sample.attrs), op.multiple)
    given = range(len(operands))
    return [c for c in found.calls if any(s in given for s in c.sources if isinstance(s, int))]


TRACED = {
    op.name: (op, sample)
    for op, sample in (p.values for p in cases(lambda op, s: op.tangent == "elementwise"))
}


@over("name", TRACED)
def test_what_rounds_by_its_loop_is_given_elements_that_follow_each_other(name: str) -> None:
    """Whether or not the processor at hand has several loops for it."""
    op, sample = TRACED[name]
    try:
        calls = _direct(op, sample)
    except NotTraced:
        return
    for call in calls:
        compares = call.dtype.kind == "b"
        if call.function not in EXACT and call.reduces is None and not compares:
            assert call.alike or call.function in (None, np.where, *INTEGRAL), call


# Whose results are one of the operands, or whole numbers: nothing is rounded.
INTEGRAL = (np.sign, np.floor, np.ceil, np.trunc, np.rint, np.copysign, np.positive)


def test_the_rule_is_looked_at_for_most_functions() -> None:
    looked = 0
    for op, sample in TRACED.values():
        try:
            looked += any(call.alike for call in _direct(op, sample))
        except NotTraced:
            continue
    assert looked >= 20
    assert set(TRACED) <= set(REGISTRY)
