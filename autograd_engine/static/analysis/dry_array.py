"""Arrays of tensors in a dry run: which elements one holds, and how many there are.

Where an element goes is known of places that are constants of the program. Any other write is taken
to add one, and a read to be that of the last. What a loop writes is known from its first iteration
and its last; the elements in between are memory in one piece.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from autograd_engine.core.dims import Size
from autograd_engine.core.spec import known_value
from autograd_engine.ops import control_flow
from autograd_engine.program.ir.program import Operator
from autograd_engine.static.analysis.fake_array import FakeArray, Layout, Memory

if TYPE_CHECKING:
    from autograd_engine.static.analysis.dry_run import DryRun

__all__ = ["ARRAY_FUNCTIONS", "Elements", "added", "after_iterations", "held_by"]


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """What stands for an array; each write makes another, as in a run.

    Attributes
    ----------
    known : tuple of FakeArray
        The first elements, and the last.
    between : tuple of Memory
        What the others hold.
    count : int or Dim
        How many there are.
    """

    known: tuple[FakeArray, ...] = ()
    between: tuple[Memory, ...] = ()
    count: Size = 0


def held_by(array: Elements) -> list[Memory]:
    """The memory that an array keeps, each piece once."""
    found = [e.memory for e in array.known if e.memory is not None] + list(array.between)
    return list({id(m): m for m in found}.values())


def after_iterations(run: DryRun, before: Elements, first: Elements, trips: Size) -> Elements:
    """An array as the last iteration finds it, from what the first has made of it."""
    grown = first.count - before.count
    if grown == 0:
        return first
    count = first.count + grown * (trips - 2)
    had = {id(m) for m in held_by(before)}
    own = [m for m in held_by(first) if id(m) not in had]
    more: Size = sum((m.allocation.size for m in own), start=0) * (trips - 2)
    # It lost elements: a gradient, of which an iteration lets go the last that the one before made.
    if len(first.known) <= len(before.known) or more == 0:
        return Elements(first.known[: len(before.known)], (), count)
    memory = run.meter.hold(more, run.operator())
    for m in own:
        memory.allocation.names.update(m.allocation.names)
    return Elements(first.known, (*first.between, memory), count)


# --- the operators


def _new(_: DryRun) -> Elements:
    return Elements()


def _write(run: DryRun, array: Elements, x: FakeArray, i: Any) -> Elements:
    operator, known, count = run.operator(), list(array.known), array.count
    place = _place(operator, 2)
    if place is not None and (array.between or count != len(known)):
        place = None  # it may be one of those between
    if place is not None and place < len(known):
        known[place] = x
    elif known and None in (x.memory, known[-1].memory):  # in a gradient, of what is there
        known[-1] = x
    else:
        known.append(x)
        count = count + 1 if place is None else place + 1
        if place is None and operator is not None:
            run.symbols.growing.add(operator.results[0].var.name)
    made = Elements(tuple(known), array.between, count)
    _name(run, made)
    return made


def _read(run: DryRun, array: Elements, i: Any) -> FakeArray:
    if not array.known:
        return _declared(run)
    place = _place(run.operator(), 1)
    return array.known[-1 if place is None or place >= len(array.known) else place]


def _place(operator: Operator | None, position: int) -> int | None:
    """The place that an operator writes or reads, where that is a constant."""
    value = None if operator is None else known_value(operator.operands[position].spec)  # type: ignore[union-attr]
    number = None if value is None else value.ravel()[0]
    return number if isinstance(number, int) else None


def _like(run: DryRun, array: Elements, like: Elements) -> Elements:
    if array.count == like.count:
        return array
    return Elements(
        array.known[: len(like.known)], array.between if like.between else (), like.count
    )


def added(run: DryRun, *given: Any) -> Elements:
    """A sum, element by element: new ones where more than one is computed."""
    arrays = [a for a in given if isinstance(a, Elements)]
    known = []
    for elements in itertools.zip_longest(*(a.known for a in arrays)):
        there = [e for e in elements if e is not None]
        computed = [e for e in there if e.memory is not None] or there[:1]
        if len(computed) == 1:
            known.append(computed[0])
        else:
            known.append(_made(run, computed[0].shape, computed[0].dtype))
    between = max((a.between for a in arrays), key=len)
    return Elements(tuple(known), between, arrays[0].count)


def _join(run: DryRun, array: Elements, *, axis: int, stack: bool) -> FakeArray:
    if not array.known:
        return _declared(run)
    last = array.known[-1]
    shape, others = list(last.shape), array.count - len(array.known)
    if stack:
        shape.insert(axis, array.count)
    else:
        shape[axis] = sum((e.shape[axis] for e in array.known), start=last.shape[axis] * others)
    return _made(run, shape, last.dtype)


def _split(run: DryRun, x: FakeArray, like: Elements, **_: Any) -> Elements:
    views = [FakeArray(e.shape, x.dtype, e.layout, x.memory, view=True) for e in like.known]
    return Elements(tuple(views), (), like.count)


def _sizes(run: DryRun, array: Elements, **_: Any) -> FakeArray:
    return _made(run, [array.count], np.dtype(np.int32))


def _length(run: DryRun, array: Elements) -> FakeArray:
    return _made(run, [1], np.dtype(np.int64))


def _declared(run: DryRun) -> FakeArray:
    """Of an array that holds nothing where it is looked at first: what the program says."""
    operator = run.operator()
    assert operator is not None
    spec = operator.results[0].spec
    return _made(run, list(map(run.symbols.resolved, spec.shape)), spec.dtype)


def _made(run: DryRun, shape: Sequence[Size], dtype: np.dtype[Any]) -> FakeArray:
    made = FakeArray(tuple(shape), dtype, Layout.plain(len(shape)))
    made.memory = run.meter.hold(made.nbytes, run.operator())
    made.memory.allocation.spec = None
    _name(run, made)
    run.meter.note(run.operator())
    return made


def _name(run: DryRun, value: Any) -> None:
    operator = run.operator()
    for ref in () if operator is None else operator.results:
        run.name(value, ref.key)


def _on_elements(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, for which a list, of a branch that did not run, is an array of no elements."""

    def call(run: DryRun, *operands: Any, **attrs: Any) -> Any:
        return function(run, *(Elements() if isinstance(o, list) else o for o in operands), **attrs)

    return call


_BY_KIND: Final[dict[str, Callable[..., Any]]] = {
    "array_new": _new,
    "array_write": _write,
    "array_read": _read,
    "array_like": _like,
    "array_join": _join,
    "array_split": _split,
    "array_sizes": _sizes,
    "array_length": _length,
}
ARRAY_FUNCTIONS: Final = {
    id(getattr(control_flow, kind)): _on_elements(_BY_KIND[kind]) for kind in control_flow.ARRAYS
}
