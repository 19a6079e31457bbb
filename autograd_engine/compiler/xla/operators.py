"""A listing as a function of jax arrays: its operators, one after the other.

Operators of control flow have a function each, by their kind, in `BLOCKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.concrete_graph import BY_HISTORY
from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.compiler.xla.lowering import (  # noqa: F401 - each registers its rows
    activation,
    conv,
    counting,
    getitem,
    indexing,
    joining,
    like,
    loss,
    movement,
    normalization,
    pool,
    products,
    recurrent,
    regions,
    run_time_numbers,
    scan,
    sequence,
    setitem,
    special,
    update,
)
from autograd_engine.compiler.xla.memory import is_traced
from autograd_engine.compiler.xla.run import LARGE, Run, XlaUnavailable
from autograd_engine.program.ir.control_flow_op import BlockOp, body_of
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Block, Literal, Operator, Ref

__all__ = ["BLOCKS", "run_block", "run_operators"]

Key = tuple[str, int]
Values = dict[Key, Any]


def run_operators(run: Run, operators: Sequence[Operator], values: Values) -> None:
    """Compute the results of operators into `values`, which has what they read."""
    for operator in operators:
        outer, run.origin = run.origin, operator
        operands = [_operand(o, values) for o in operator.operands]
        try:
            with jax.named_scope(operator.type):
                results = _results(run, operator, operands)
        except XlaUnavailable as reason:
            if outer is not None or getattr(reason, "named", False):
                raise
            named = XlaUnavailable(f"{operator.type} at {operator.location}: {reason}")
            raise named from reason
        finally:
            run.origin = outer
        values.update((r.key, v) for r, v in zip(operator.results, results, strict=True))


def _results(run: Run, operator: Operator, operands: list[Any]) -> Sequence[Any]:
    op = operator.op
    if isinstance(op, BlockOp):
        function = BLOCKS.get(op.kind)
        if function is None:
            raise XlaUnavailable(f"control flow of the kind {op.kind!r} runs as Python")
        return function(run, operator, operands)
    if not isinstance(op, GradOp):
        if op.name in BY_HISTORY:
            raise XlaUnavailable("it depends on how its operands were computed")
        return run.call(op, operands, operator.attrs)
    if op.pullback.strong == "whole":
        raise XlaUnavailable("gradients of branches know at run time only whether they are zero")
    g, saved = op.arrange([_large(v) for v in operands])
    made = op.pullback.pull(run, g, saved, operator.attrs)
    results = [np.asarray(v) if isinstance(v, np.generic) else v for v in made]
    for ref, value in zip(operator.results, results, strict=True):
        if not (is_traced(value) or isinstance(value, np.ndarray)):
            raise XlaUnavailable(f"the gradient {ref.var.name} is no array")
    return results


def run_block(run: Run, block: Block, arguments: Sequence[Any]) -> list[Any]:
    """The results of a block for these arguments."""
    values: Values = {(a.name, 0): v for a, v in zip(block.arguments, arguments, strict=True)}
    run_operators(run, live_operators(block.ops, block.results), values)
    return [values[r.key] for r in block.results]


def _call(run: Run, operator: Operator, operands: list[Any]) -> list[Any]:
    return run_block(run, body_of(operator), operands)


BLOCKS: Final[dict[str, Callable[[Run, Operator, list[Any]], Sequence[Any]]]] = {"call": _call}
"""For each kind of `BlockOp` what computes its results from its operands."""


def _large(value: Any) -> Any:
    """Of many known elements an array of XLA's: rules have ways of their own for large ndarrays."""
    if not isinstance(value, np.ndarray) or value.size < LARGE:
        return value
    first = value.flat[0]
    return jnp.full(value.shape, first) if np.all(value == first) else jnp.asarray(value)


def _operand(operand: Ref | Literal | None, values: Mapping[Key, Any]) -> Any:
    if operand is None:
        return None
    if isinstance(operand, Literal):
        return np.asarray(operand.value, operand.dtype)
    return values[operand.key]
