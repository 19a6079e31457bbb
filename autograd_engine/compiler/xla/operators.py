"""A listing as a function of jax arrays: its operators, one after the other.

Operators of control flow have a function each, by their kind, in `BLOCKS`; the modules of
`control_flow` register them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, MutableMapping, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

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
    lu,
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
    sorting,
    special,
    update,
)
from autograd_engine.compiler.xla.memory import is_traced
from autograd_engine.compiler.xla.run import LARGE, Run, XlaUnavailable
from autograd_engine.compiler.xla.values import Row, element_of, guarded, is_hollow, plain
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Block, Literal, Operator, Ref

__all__ = [
    "BLOCKS",
    "block_operator",
    "keys_read",
    "run_block",
    "run_operators",
    "sum_of",
    "value_of",
]

Key = tuple[str, int]
Values = MutableMapping[Key, Any]
BlockFunction = Callable[[Run, Operator, list[Any], Collection[int]], dict[int, Any]]

BLOCKS: Final[dict[str, BlockFunction]] = {}
"""For each kind of `BlockOp` what computes its results: those by position that are asked for."""


def block_operator(*kinds: str) -> Callable[[BlockFunction], BlockFunction]:
    """Let a function compute operators of these kinds."""

    def declare(function: BlockFunction) -> BlockFunction:
        BLOCKS.update(dict.fromkeys(kinds, function))
        return function

    return declare


def keys_read(operators: Iterable[Operator], outputs: Iterable[Ref]) -> set[Key]:
    read = {o.key for operator in operators for o in operator.operands if isinstance(o, Ref)}
    read.update(ref.key for ref in outputs)
    return read


def run_operators(
    run: Run, operators: Iterable[Operator], values: Values, read: Collection[Key]
) -> None:
    """Compute the results of operators into `values`, which has what they read.

    Of what is not `read` by anybody, nothing may come.
    """
    for operator in operators:
        outer, run.origin = run.origin, operator
        operands = [value_of(o, values) for o in operator.operands]
        try:
            with jax.named_scope(operator.type):
                results = _results(run, operator, operands, read)
        except XlaUnavailable as reason:
            if reason.located:
                raise
            named = XlaUnavailable(f"{operator.type} at {operator.location}: {reason}")
            named.located = True
            raise named from reason
        finally:
            run.origin = outer
        values.update((operator.results[k].key, v) for k, v in results.items())


def _results(
    run: Run, operator: Operator, operands: list[Any], read: Collection[Key]
) -> dict[int, Any]:
    op = operator.op
    if isinstance(op, BlockOp):
        function = BLOCKS.get(op.kind)
        if function is None:
            raise XlaUnavailable(f"control flow of the kind {op.kind!r} runs as Python")
        asked = [k for k, ref in enumerate(operator.results) if ref.key in read]
        return function(run, operator, operands, asked)
    given = [plain(o) for o in operands]
    if isinstance(op, GradOp):
        return dict(enumerate(_gradients(run, operator, op, operands, given)))
    if op.name in _HANDS_ON:
        return {0: _HANDS_ON[op.name](run, operands)}
    return dict(enumerate(run.call(op, given, operator.attrs)))


def _gradients(
    run: Run, operator: Operator, op: GradOp, operands: list[Any], given: list[Any]
) -> Sequence[Any]:
    if op.pullback.op.name == "unless_hollow":
        g, (gs, *_) = op.arrange(operands)
        return [_unless_hollow(run, [g, *gs])]
    of = op.pullback.op
    ours = REGISTRY.get(of.name) is of  # a user's rule may not return an ndarray, nor what is one
    g, saved = op.arrange([_large(v) if ours else _of_xla(v) for v in given])
    made = op.pullback.pull(run, g, saved, operator.attrs)
    results = [np.asarray(v) if isinstance(v, np.generic) else v for v in made]
    for ref, value in zip(operator.results, results, strict=True):
        if not (is_traced(value) or isinstance(value, np.ndarray)):
            raise XlaUnavailable(f"the gradient {ref.var.name} is no array")
    if op.pullback.strong != "whole":
        return results
    arrived, _ = op.arrange(operands)
    if not op.pullback.op.multiple:
        arrived = [arrived]
    absent = _all(is_hollow(c) for c in arrived if c is not None)
    return [guarded(r, absent) for r in results]


def _all(absent: Iterable[Any]) -> Any:
    """Whether all of several are hollow."""
    found = list(absent)
    if any(a is False for a in found):
        return False
    traced = [a for a in found if a is not True]
    return functools.reduce(jnp.logical_and, traced) if traced else True


def _unless_hollow(run: Run, operands: list[Any]) -> Any:
    x, *gs = operands
    absent = _all(map(is_hollow, gs))
    if absent is False:
        return x
    found = guarded(plain(x), absent)
    own = is_hollow(x)
    if absent is True or own is False:
        return found
    return found._replace(hollow=True if own is True else absent | own)


def sum_of(run: Run, operands: Sequence[Any]) -> Any:
    """What is hollow is zeros, and is added as such; a sum of nothing else is hollow."""
    computed = [o for o in operands if is_hollow(o) is not True] or operands[:1]
    total = run.add_n(*map(plain, computed)) if len(computed) > 1 else plain(computed[0])
    return guarded(total, _all(map(is_hollow, operands)))


# Operations that ask whether what they are given is hollow.
_HANDS_ON: Final[dict[str, Callable[[Run, list[Any]], Any]]] = {
    "add_n": sum_of,
    "unless_hollow": _unless_hollow,
}


def run_block(
    run: Run, block: Block, arguments: Sequence[Any], results: Sequence[Ref]
) -> list[Any]:
    """Results of a block for these arguments."""
    values: Values = {(a.name, 0): v for a, v in zip(block.arguments, arguments, strict=True)}
    operators = live_operators(block.ops, results)
    run_operators(run, operators, values, keys_read(operators, results))
    return [values[r.key] for r in results]


def _of_xla(value: Any) -> Any:
    return jnp.asarray(value) if isinstance(value, np.ndarray) else value


def _large(value: Any) -> Any:
    """Of many known elements an array of XLA's: rules have ways of their own for large ndarrays."""
    if not isinstance(value, np.ndarray) or value.size < LARGE:
        return value
    first = value.flat[0]
    return jnp.full(value.shape, first) if np.all(value == first) else jnp.asarray(value)


def value_of(operand: Ref | Literal | None, values: Values) -> Any:
    """What an operand is."""
    if operand is None:
        return None
    if isinstance(operand, Literal):
        return np.asarray(operand.value, operand.dtype)
    value = values[operand.key]
    if isinstance(value, Row):
        value = values[operand.key] = element_of(value.stack, value.place)
    return value
