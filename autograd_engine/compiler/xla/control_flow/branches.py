"""`cond` and `call`, and what stands for the gradient of a branch that did not run.

A gradient that only one branch has is zeros in the other, with a flag beside them that says so: see
`MaybeHollow`. NumPy tells such zeros by the memory that they lie in. What is computed of nothing
but such zeros is masked by their flags, and stays nothing: 0 * inf is NaN, and no gradient times
inf is none.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
from jax import lax

from autograd_engine.compiler.xla.control_flow.parts import Part
from autograd_engine.compiler.xla.memory import is_traced
from autograd_engine.compiler.xla.operators import block_operator, run_block
from autograd_engine.compiler.xla.run import Run, XlaUnavailable
from autograd_engine.compiler.xla.values import (
    ABSENT,
    common,
    conform,
    nothing_like,
    plain,
    split,
)
from autograd_engine.program.ir.control_flow_op import body_of, branches_of
from autograd_engine.program.ir.program import Operator

__all__ = ["condition"]


def condition(value: Any) -> Any:
    """A condition as a bool of no dimensions."""
    value = plain(value)
    if value.size != 1:
        raise XlaUnavailable(f"the condition has {value.size} elements, and must have one")
    return value.reshape(()) != 0


@block_operator("call")
def call(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    body = body_of(operator)
    return dict(
        zip(asked, run_block(run, body, operands, [body.results[k] for k in asked]), strict=True)
    )


@block_operator("cond")
def cond(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    blocks, first = branches_of(operator)
    given = operands[first:]
    functions = [
        partial(run_block, run, block, given, [block.results[k] for k in asked]) for block in blocks
    ]
    which = condition(operands[0])
    if not is_traced(which):
        return dict(zip(asked, functions[0 if which else 1](), strict=True))
    # What has failed before stops the loops in it, too.
    so_far = run.fine
    parts = [Part(partial(run.aside, function, so_far)) for function in functions]
    outlines = [part.outline for part in parts]
    looped = sorted({key for _, _, trips in outlines for key in trips})
    forms = [_with_all(outline, looped) for outline in outlines]
    form = common(*forms)
    _, rebuilt = split(form)

    def branch(part: Part) -> list[Any]:
        return split(conform(_with_all(part(), looped), form))[0]

    made = lax.cond(which, *(partial(branch, part) for part in parts))
    values, fine, trips = rebuilt(made)
    run.note(fine, dict(zip(looped, trips, strict=True)))
    return dict(zip(asked, values, strict=True))


def _with_all(returned: Any, looped: list[int]) -> Any:
    """What a part returns, with an entry for each loop that is in either branch."""
    values, fine, trips = returned
    return [list(values), fine, [trips.get(key, np.int64(0)) for key in looped]]


@block_operator("absent")
def absent(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    return {0: ABSENT}


@block_operator("hollow")
def hollow(
    run: Run, operator: Operator, operands: list[Any], asked: Collection[int]
) -> dict[int, Any]:
    (like,) = operands
    if like is ABSENT:
        return {0: ABSENT}
    return {0: nothing_like(like, operator.attrs.get("value", 0.0))}


