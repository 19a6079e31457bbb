"""Loops that a listing holds unrolled, as loops of XLA."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograd_engine.compiler.folded_sums import folded
from autograd_engine.compiler.repetition import Stacked, Stretch, repetitions
from autograd_engine.compiler.xla.control_flow.loops import Iterated
from autograd_engine.compiler.xla.operators import Values, keys_read, run_operators, value_of
from autograd_engine.compiler.xla.rows import PLACES
from autograd_engine.compiler.xla.run import Run, XlaUnavailable
from autograd_engine.compiler.xla.values import (
    MaybeHollow,
    Row,
    Stack,
    opened,
    split,
    stacked,
)
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Literal, Operator, Ref

__all__ = ["Item", "as_loop", "one_by_one", "rolled", "run_items"]

Item: TypeAlias = Operator | Stretch


def rolled(operators: Sequence[Operator], outputs: Sequence[Ref]) -> Sequence[Item]:
    """The operators, those that repeat themselves together.

    Sums of what each round adds are made as it is there: so they are carried.
    """
    sparse = _rows_of_tables(operators)
    steps = folded(operators, outputs, sparse)
    found = repetitions(
        steps, outputs, _takes_places, lambda o: any(r.key in sparse for r in o.results)
    )
    return found if any(isinstance(item, Stretch) for item in found) else operators


def _rows_of_tables(operators: Sequence[Operator]) -> set[tuple[str, int]]:
    """Gradients of which few rows are there, and which an update takes as such."""
    found: set[tuple[str, int]] = set()
    for operator in reversed(operators):
        op = operator.op
        if isinstance(op, GradOp):
            continue
        whole = op.name == "add_n" and operator.results[0].key in found
        for k, operand in enumerate(operator.operands):
            takes = op.input_at(k) in getattr(op, "takes_scattered", ())
            if isinstance(operand, Ref) and takes and (whole or operator.role == "optimize"):
                found.add(operand.key)
    return {
        ref.key
        for operator in operators
        if operator.attrs.get("sparse") is True
        for ref in operator.results
        if ref.key in found
    }


def _takes_places(operator: Operator) -> bool:
    op = operator.op.pullback.op if isinstance(operator.op, GradOp) else operator.op
    return op.name in PLACES and REGISTRY.get(op.name) is op


def as_loop(item: Item, traced: Collection[int]) -> Stretch | None:
    """A stretch that became a loop: operators of its body were traced, by their ids."""
    if isinstance(item, Stretch) and any(id(o) in traced for o in item.body):
        return item
    return None


def one_by_one(items: Sequence[Item], traced: Collection[int]) -> Iterator[Operator]:
    """The operators that were traced: of a loop those of one round."""
    for item in items:
        loop = as_loop(item, traced)
        if loop is not None:
            yield from loop.body
        elif isinstance(item, Stretch):
            yield from item.operators
        else:
            yield item


def run_items(
    run: Run, items: Sequence[Item], values: Values, outputs: Sequence[Ref]
) -> None:
    """Compute the results of all items into `values`, which has what they read."""
    every = [o for i in items for o in (i.operators if isinstance(i, Stretch) else [i])]
    read = keys_read(every, outputs)
    for item in items:
        if isinstance(item, Stretch):
            undo = run.attempt()
            try:
                values.update(_Rounds(run, item, values).results())
            except XlaUnavailable:
                undo()
                run_operators(run, item.operators, values, read)
        else:
            run_operators(run, [item], values, read)


class _Rounds(Iterated):
    """A stretch, with the values that it reads."""

    def __init__(self, run: Run, stretch: Stretch, values: Values) -> None:
        super().__init__(run)
        self.stretch, self.values = stretch, values
        for ref in stretch.shared():
            value_of(ref, values)  # which may be an element of a stack: taken once
        self.elements = [_of_round(s, values) for s in stretch.stacked]
        # What is read after the last round alone is there if it is carried.
        at = {c.result.key: k for k, c in enumerate(stretch.carried)}
        self.last = [(k, at[k.result.key]) for k in stretch.kept if k.last and k.result.key in at]
        self.pushed = [k for k in stretch.kept if not (k.last and k.result.key in at)]
        self.asked = [c.result for c in stretch.carried] + [k.result for k in self.pushed]
        self.read = keys_read(stretch.body, self.asked)

    def iteration(self, carried: Any, elements: Any) -> tuple[list[Any], list[Any]]:
        stretch = self.stretch
        outer, self.run.round = self.run.round, elements[0]
        try:
            own = {a.argument.key: v for a, v in zip(stretch.carried, carried, strict=True)}
            for one, of_round in zip(stretch.stacked, self.elements, strict=True):
                own[one.argument.key] = of_round(elements[0])
            values: Values = ChainMap(own, self.values)
            run_operators(self.run, stretch.body, values, self.read)
            found = [values[ref.key] for ref in self.asked]
        finally:
            self.run.round = outer
        return found[: len(stretch.carried)], found[len(stretch.carried) :]

    def results(self) -> dict[tuple[str, int], Any]:
        """What is read after it."""
        begin = [value_of(c.first, self.values) for c in self.stretch.carried]
        rounds = self.stretch.rounds
        after, stacks = self.scanned(rounds, begin, [Stack(jnp.arange(rounds), rounds)], False)
        found = {kept.each[-1].key: after[at] for kept, at in self.last}
        for kept, stack in zip(self.pushed, stacks, strict=True):
            found.update((ref.key, Row(stack, t)) for t, ref in enumerate(kept.each))
        return found


def _of_round(one: Stacked, values: Values) -> Callable[[Any], Any]:
    """What gives a round its own of some values."""
    if isinstance(one.each[0], Literal):
        literals: Any = one.each
        known = np.array([e.value for e in literals], one.each[0].dtype)
        return lambda t: jnp.asarray(known)[t]
    refs: Any = one.each
    found = [values[ref.key] for ref in refs]
    pieces = list(_pieces(found))
    if len(pieces) == 1 and isinstance(pieces[0], tuple):
        stack, start, step, _ = pieces[0]
    else:
        stack, start, step = _joined(pieces, refs, values), 0, 1
    arrays, rebuilt = split(stack.elements)

    def of_round(t: Any) -> Any:
        at = start + step * t
        return opened(rebuilt([_at(a, at) for a in arrays]))

    return of_round


def _at(array: Any, place: Any) -> Any:
    """``array[place]`` for a place that is there: negative ones are not looked for."""
    return lax.dynamic_index_in_dim(
        array, place, keepdims=False, allow_negative_indices=False
    )


Piece: TypeAlias = tuple[Stack, int, int, int]  # (stack, first, step, how many)


def _pieces(found: Sequence[Any]) -> list[Piece | int]:
    """Elements of one stack one after the other, and places of what is none."""
    pieces: list[Piece | int] = []
    for at, value in enumerate(found):
        before = pieces[-1] if pieces else None
        if not isinstance(value, Row):
            pieces.append(at)
        elif isinstance(before, tuple) and before[0] is value.stack:
            stack, first, step, count = before
            if count == 1:
                step = value.place - first
            if value.place == first + step * count and step:
                pieces[-1] = stack, first, step, count + 1
            else:
                pieces.append((value.stack, value.place, 1, 1))
        else:
            pieces.append((value.stack, value.place, 1, 1))
    return pieces


def _joined(pieces: Sequence[Piece | int], refs: Sequence[Ref], values: Values) -> Stack:
    """All of them as one stack."""
    parts: list[Any] = []
    for piece in pieces:
        if isinstance(piece, tuple):
            stack, first, step, count = piece
            if not isinstance(stack.elements, jax.Array):
                return stacked([value_of(ref, values) for ref in refs])
            last = first + step * count
            parts.append(stack.elements[first : None if last < 0 else last : step])
        else:
            value = value_of(refs[piece], values)
            if isinstance(value, MaybeHollow):
                return stacked([value_of(ref, values) for ref in refs])
            parts.append(jnp.asarray(value)[None])
    joined = jnp.concatenate(parts)
    return Stack(joined, len(joined))
