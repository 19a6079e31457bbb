"""How a row of the table is lowered.

A function of `lowering`, where there is one: it is given the `Run`, then what the kernel takes. It
is there where a kernel looks at values, takes a step for each element of an axis or calls what
jax.numpy does not have.

Else the kernel, traced: its twin. Where that cannot be, and the row is linear, its own rule, which
is its adjoint, transposed: of <A x, g> = <x, A* g> the rule is A*, and jax makes A of it. So of a
row and its adjoint one can be traced, or is written, and the other follows.

What is left NumPy computes, called back by the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import jax
import numpy as np

from autograd_engine.compiler.xla.memory import NumpyOnly, refusing
from autograd_engine.compiler.xla.twins import twin
from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

if TYPE_CHECKING:
    from autograd_engine.compiler.xla.run import Run

__all__ = ["PLACES", "ROWS", "by_twin", "row", "ways"]

Row: TypeAlias = Callable[..., Any]

ROWS: Final[dict[str, Row]] = {}
"""Those that are written, by the name of the operation."""


PLACES: Final[set[str]] = set()
"""Of these the ones whose attributes may hold `EachRound`, and so those of their adjoints."""


def row(*names: str, at_places: bool = False) -> Callable[[Row], Row]:
    """Let a function stand for the kernels of these operations.

    Parameters
    ----------
    *names : str
    at_places : bool
        Integers among its attributes may be other ones in each round of a loop: it asks `Run.place`
        for them.
    """

    def declare(function: Row) -> Row:
        for name in names:
            assert name not in ROWS, name
            ROWS[name] = function
        if at_places:
            PLACES.update(names)
        return function

    return declare


def ways(run: Run, op: OpDef) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Ways to compute it on traced arrays, best first: "written", "twin", "transposed"."""
    mine = REGISTRY.get(op.name) is op
    if mine and op.name in ROWS:
        function = ROWS[op.name]
        yield "written", lambda *operands, **attrs: function(run, *operands, **attrs)
        return
    if not mine:  # one of the user's, which may do anything
        return
    yield "twin", lambda *operands, **attrs: by_twin(run, op, operands, attrs)
    position = _moved(op)
    if position is not None and op.name not in run.transposing:
        yield "transposed", _transposed(run, op, position)


def by_twin(run: Run, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """What its kernel, traced, makes of them."""
    with refusing(run.require, op.checks_values):
        return twin(op.direct)(*operands, **attrs)


def _moved(op: OpDef) -> int | None:
    """The operand that a row is linear in, where its rule for it is all of its adjoint."""
    if op.tangent not in ("linear", "multilinear") or op.multiple or op.variadic:
        return None
    moved = [k for k in range(len(op.inputs)) if op.rule_at(k) is not None]
    return moved[0] if len(moved) == 1 or (moved and op.tangent == "multilinear") else None


def _transposed(run: Run, op: OpDef, position: int) -> Callable[..., Any]:
    rule = op.rule_at(position)
    assert rule is not None

    def function(*operands: Any, **attrs: Any) -> Any:
        by_name = dict(zip(op.inputs, operands, strict=True))
        by_name |= {f"{name}_like": value for name, value in by_name.items()}
        saved = [by_name[name] for name in rule.saves]
        moved = operands[position]
        given = [Spec(tuple(v.shape), np.dtype(v.dtype)) for v in operands]
        (out,) = op.infer_tuple(given, attrs)
        if rule.group or {moved.dtype, out.dtype} & COMPLEX:
            raise NumpyOnly("its rule is not its transpose")

        def adjoint(g: Any) -> Any:
            inner = run.within_row(op)
            return rule.fn(inner, g, *saved, **{name: attrs[name] for name in rule.attrs})

        target = jax.ShapeDtypeStruct(tuple(out.shape), out.dtype)
        made = jax.eval_shape(adjoint, target)
        (result,) = jax.linear_transpose(adjoint, target)(moved.astype(made.dtype))
        return result

    return function
