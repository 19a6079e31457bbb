"""`while` and `scan`: loops, forwards and backwards.

Of three forms the first that can be is taken. A loop whose number of iterations follows from what
the program holds is a `lax.scan`, and what it pushes has one element for each of them; where XLA
cannot have its body (an index that has to be known, sizes that change), its iterations are written
one after the other. Any other one is a `lax.while_loop`, and pushes into memory for so many
iterations and no more. One that needs more goes on and counts, and the step says so: it is compiled
again with more, and run again on the same state.

A loop does not begin another iteration once a check has failed: on values that are out of order it
might not end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograd_engine.compiler.live_operators import arguments_read, carried_for, live_operators
from autograd_engine.compiler.xla.control_flow.branches import condition
from autograd_engine.compiler.xla.control_flow.parts import Part
from autograd_engine.compiler.xla.memory import is_traced
from autograd_engine.compiler.xla.operators import block_operator, run_block
from autograd_engine.compiler.xla.run import Run, XlaUnavailable
from autograd_engine.compiler.xla.values import (
    ABSENT,
    Every,
    MaybeHollow,
    Stack,
    closed,
    common,
    conform,
    element_of,
    opened,
    outline,
    plain,
    split,
    stacked,
)
from autograd_engine.program.ir.block import operators_within
from autograd_engine.program.ir.control_flow_op import BlockOp, body_of, split_operands
from autograd_engine.program.ir.program import Block, Operator, Ref

__all__ = ["Iterated"]

_FORESEEN: Final = 1 << 12  # iterations that are counted while the program is traced
_WRITTEN_OUT: Final = 256  # iterations that are written one after the other, at most

_FINE = jax.ShapeDtypeStruct((), np.dtype(np.bool_))


class Iterated:
    """What is done again and again.

    Attributes
    ----------
    run : Run
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def iteration(self, carried: Any, elements: Any) -> tuple[list[Any], list[Any]]:
        """(what is carried on, what is pushed)"""
        raise NotImplementedError

    def goes_on(self, carried: Any) -> Any:
        """Whether there is another one."""
        raise NotImplementedError

    def traced(
        self, carried: list[Any], elements: Any, asks: bool
    ) -> tuple[list[Any], Part, list[Any]]:
        """(the outline of what is carried, an iteration, the outline of what it pushes)

        What is hollow in one iteration, and not in another, has a flag in all of them.
        """

        def function(carried: Any, elements: Any) -> tuple[Any, Any, Any]:
            after, pushed = self.iteration(carried, elements)
            return after, pushed, self.goes_on(after) if asks else True

        form = outline(carried)
        while True:
            part = Part(lambda *g: self.run.aside(function, g[2], *g[:2]), form, elements, _FINE)
            (after, pushed, _), _, _ = part.outline
            try:
                wider = [common(a, b) for a, b in zip(form, outline(after), strict=True)]
            except XlaUnavailable:
                raise XlaUnavailable(
                    "what it carries changes its size from one iteration to the next"
                ) from None
            if jax.tree.flatten(wider) == jax.tree.flatten(form):
                return form, part, pushed
            form = wider

    def scanned(
        self, trips: int, carried: list[Any], stacks: Sequence[Any], reverse: bool
    ) -> tuple[list[Any], list[Any]]:
        columns, given = split([_elements(s, trips) for s in stacks])
        element = opened(given([jax.ShapeDtypeStruct(c.shape[1:], c.dtype) for c in columns]))
        form, part, pushed = self.traced(carried, element, asks=False)
        _, rebuilt = split(form)
        _, found_fine, found_trips = part.outline
        looped = sorted(found_trips)

        def step(state: Any, row: Any) -> tuple[Any, Any]:
            arrays, fine, most = state
            (after, values, _), noted, counts = part(rebuilt(arrays), opened(given(row)), fine)
            fine = fine if noted is True else noted
            most = [jnp.maximum(m, counts[k]) for m, k in zip(most, looped, strict=True)]
            return (split(conform(after, form))[0], fine, most), split(values)[0]

        fine = jnp.asarray(self.run.fine)
        begin = split(conform(carried, form))[0], fine, [jnp.int64(0) for _ in looped]
        (arrays, fine, most), rows = lax.scan(
            step, begin, columns, length=trips, reverse=reverse
        )
        self.run.note(True if found_fine is True else fine, dict(zip(looped, most, strict=True)))
        _, of_pushed = split(pushed)
        return rebuilt(arrays), [Stack(e, trips) for e in closed(of_pushed(rows))]


class _Loop(Iterated):
    """A loop for what is asked of it.

    Attributes
    ----------
    operator : Operator
    kept : list of int
        Positions of what is carried.
    pushed : list of Ref
    captured : list
    """

    def __init__(
        self,
        run: Run,
        operator: Operator,
        kept: list[int],
        pushed: list[Ref],
        captured: list[Any],
    ) -> None:
        super().__init__(run)
        self.operator, self.kept, self.pushed = operator, kept, pushed
        self.captured = captured

    @property
    def body(self) -> Block:
        return body_of(self.operator)

    def arguments(self, carried: Sequence[Any], elements: Sequence[Any] = ()) -> list[Any]:
        full: list[Any] = [ABSENT] * self.operator.attrs["carried"]
        for k, value in zip(self.kept, carried, strict=True):
            full[k] = value
        return [*full, *self.captured, *elements]

    def iteration(self, carried: Any, elements: Any) -> tuple[list[Any], list[Any]]:
        refs = [*(self.body.results[k] for k in self.kept), *self.pushed]
        found = run_block(self.run, self.body, self.arguments(carried, elements), refs)
        return found[: len(self.kept)], found[len(self.kept) :]

    def goes_on(self, carried: Any) -> Any:
        block = self.operator.attrs["cond_block"]
        (found,) = run_block(self.run, block, self.arguments(carried), block.results)
        return condition(found)

    # --- forms

    def one_by_one(
        self, trips: int, carried: list[Any], stacks: Sequence[Any], reverse: bool
    ) -> tuple[list[Any], list[Any]]:
        made: list[list[Any]] = [[ABSENT] * trips for _ in self.pushed]
        for t in range(trips - 1, -1, -1) if reverse else range(trips):
            carried, pushed = self.iteration(carried, [element_of(s, t) for s in stacks])
            for column, value in zip(made, pushed, strict=True):
                column[t] = value
        return carried, made

    def unforeseen(
        self, trips: Any, carried: list[Any], stacks: Sequence[Any], reverse: bool
    ) -> tuple[list[Any], list[Any], Any]:
        """(what is carried in the end, stacks, iterations); `trips` is None of a `while`."""
        run, key = self.run, id(self.operator)
        stacks = [stacked(s) if isinstance(s, list) else s for s in stacks]
        limit = stacks[0].size if stacks else run.limit(key)
        columns, given = split([s.elements for s in stacks])
        element = opened(given([jax.ShapeDtypeStruct(c.shape[1:], c.dtype) for c in columns]))
        asks = trips is None
        more = self.goes_on(carried) if asks else trips > 0
        form, part, pushed = self.traced(carried, element, asks)
        _, rebuilt = split(form)
        _, found_fine, found_trips = part.outline
        looped = sorted(found_trips)
        places, of_pushed = split(pushed)

        def body(state: Any) -> Any:
            t, _, arrays, buffers, fine, most = state
            at = trips - 1 - t if reverse else t
            row = [lax.dynamic_index_in_dim(c, at, keepdims=False) for c in columns]
            (after, values, more), noted, counts = part(
                rebuilt(arrays), opened(given(row)), fine
            )
            fine = fine if noted is True else noted
            most = [jnp.maximum(m, counts[k]) for m, k in zip(most, looped, strict=True)]
            rows = split(values)[0]
            # What does not fit goes over the last row: the run does not count then.
            buffers = [
                lax.dynamic_update_index_in_dim(b, v, at, 0)
                for b, v in zip(buffers, rows, strict=True)
            ]
            more = more if asks else t + 1 < trips
            return t + 1, more & fine, split(conform(after, form))[0], buffers, fine, most

        fine = jnp.asarray(run.fine)
        state = (
            jnp.int64(0),
            jnp.asarray(more & fine),
            split(conform(carried, form))[0],
            [jnp.zeros((limit, *p.shape), p.dtype) for p in places],
            fine,
            [jnp.int64(0) for _ in looped],
        )
        count, _, arrays, buffers, fine, most = lax.while_loop(lambda s: s[1], body, state)
        noted = dict(zip(looped, most, strict=True))
        if places and not stacks:
            noted[key] = jnp.maximum(noted[key], count) if key in noted else count
        run.note(True if found_fine is True else fine, noted)
        made = [Stack(e, limit) for e in closed(of_pushed(buffers))]
        return rebuilt(arrays), made, count

    def foreseen(
        self, trips: int, carried: list[Any], stacks: Sequence[Any], reverse: bool
    ) -> tuple[list[Any], list[Any]]:
        # Arrays of tensors stay lists, of which everything can be made.
        arrays = any(isinstance(v, list) for v in carried)
        if trips <= 1 or (arrays and trips <= _WRITTEN_OUT):
            return self.one_by_one(trips, carried, stacks, reverse)
        if not any(isinstance(s, list) for s in stacks):
            undo = self.run.attempt()
            try:
                return self.scanned(trips, carried, stacks, reverse)
            except XlaUnavailable:
                if trips > _WRITTEN_OUT:
                    raise
                undo()
        return self.one_by_one(trips, carried, stacks, reverse)


def _elements(stack: Stack, trips: int) -> Any:
    """Those of so many iterations."""
    if stack.size == trips:
        return stack.elements
    arrays, rebuilt = split(stack.elements)
    return rebuilt([a[:trips] for a in arrays])


@block_operator("while")
def while_(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    body, n = body_of(operator), operator.attrs["carried"]
    pushes = [k for k in asked if k > n]
    pushed = [body.results[k - 1] for k in pushes]
    kept = carried_for(operator, {k for k in asked if k < n}, pushed)
    loop = _Loop(run, operator, kept, pushed, operands[n:])
    carried = [operands[k] for k in kept]
    trips: Any = _count(run, operator, operands)
    if trips is None:
        after, made, trips = loop.unforeseen(None, carried, (), False)
    else:
        after, made = loop.foreseen(trips, carried, (), False)
        trips = np.asarray(trips)
    found = dict(zip([*kept, *pushes], [*after, *made], strict=True))
    return {k: v for k, v in (found | {n: trips}).items() if k in asked}


@block_operator("scan")
def scan(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    body, n = body_of(operator), operator.attrs["carried"]
    pushes = [k for k in asked if k >= n]
    pushed = [body.results[k] for k in pushes]
    kept = carried_for(operator, {k for k in asked if k < n}, pushed)
    carried, captured, stacks = _split_values(operator, operands)
    loop = _Loop(run, operator, kept, pushed, captured)
    read = arguments_read(body, [*(body.results[k] for k in kept), *pushed])
    first = n + len(captured)
    # Of a stack that nobody reads there may be as many elements as it likes.
    stacks = [
        s if first + k in read else Stack(Every(ABSENT), 0) for k, s in enumerate(stacks)
    ]
    begin = [carried[k] for k in kept]
    trips, reverse = operands[0], bool(operator.attrs["reverse"])
    if is_traced(trips):
        after, made, _ = loop.unforeseen(trips, begin, stacks, reverse)
        after = [_without_sign(v) for v in after]
    elif int(trips):
        after, made = loop.foreseen(int(trips), begin, stacks, reverse)
    else:
        after, made = [_without_sign(v) for v in begin], [[] for _ in pushes]
    return dict(zip([*kept, *pushes], [*after, *made], strict=True))


def _split_values(
    operator: Operator, operands: list[Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    carried, captured, _ = split_operands(operator)
    n, m = 1 + len(carried), 1 + len(carried) + len(captured)
    return operands[1:n], operands[n:m], operands[m:]


def _without_sign(value: Any) -> Any:
    """Sums start at -0.0, which is not to be seen where nothing is added."""
    if not isinstance(value, MaybeHollow) or value.hollow is False:
        return value
    zero = np.zeros((), value.array.dtype)
    if value.hollow is True:
        return MaybeHollow(np.abs(value.array), True) if not is_traced(value.array) else value
    return value._replace(array=jnp.where(value.hollow, zero, value.array))


def _count(run: Run, operator: Operator, operands: list[Any]) -> int | None:
    """How often a loop runs, where that follows from what is known."""
    cond_block, body = operator.attrs["cond_block"], body_of(operator)
    kept = carried_for(operator, set(), ())
    after = [body.results[k] for k in kept]
    read = arguments_read(cond_block, cond_block.results) | arguments_read(body, after)
    given = {k: plain(operands[k]) for k in {*kept, *read}}
    if not all(isinstance(v, np.ndarray) for v in given.values()):
        return None
    within = operators_within(
        [
            *live_operators(cond_block.ops, cond_block.results),
            *live_operators(body.ops, after),
        ]
    )
    if any(isinstance(o.op, BlockOp) or getattr(o.op, "runs_always", False) for o in within):
        return None
    arguments: list[Any] = [ABSENT] * len(body.arguments)
    for k, value in given.items():
        arguments[k] = value
    undo = run.attempt()
    try:
        for trips in range(_FORESEEN):
            (more,) = run_block(run, cond_block, arguments, cond_block.results)
            if not condition(more):
                return trips
            found = run_block(run, body, arguments, after)
            if is_traced(found):
                break
            for k, value in zip(kept, found, strict=True):
                arguments[k] = value
    except Exception:  # the loop itself comes to it, or does not
        pass
    undo()
    return None
