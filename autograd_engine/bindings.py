"""Fills the namespace `ops`, and binds operators to Tensor and Variable, from the table.

What an operation does is decided by its operands: a Variable among them appends an operator to
its program, else it runs on Tensors and is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.core.operand import OPERATORS, REFLECTED, Operand
from autograd_engine.eager.generated_calls import generate_call, generates
from autograd_engine.eager.record import apply
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotATensorError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.program import mode
from autograd_engine.program.builder import emit
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import NUMBERS, spec_of

__all__: list[str] = []


def _general(op: OpDef) -> Callable[..., Any]:
    """Any operands, any attributes."""
    defaults = op.attrs
    nullary = not op.inputs
    # Behind other inputs a variadic one may be empty: a key without arrays.
    fewest = max(len(op.inputs) - op.variadic, min(len(op.inputs), 1))

    def call(*operands: Any, **attrs: Any) -> Any:
        full = attrs if attrs.keys() == defaults.keys() else op.complete_attrs(attrs)
        if nullary:
            return emit(op, operands, full) if mode.building() else apply(op, operands, full)
        if len(operands) < fewest or (len(operands) > len(op.inputs) and not op.variadic):
            raise TypeError(
                f"{op.name} takes {len(op.inputs)} operands ({', '.join(op.inputs)}); "
                f"got {len(operands)}"
            )
        for operand in operands:
            if isinstance(operand, Variable):
                return emit(op, operands, full)
        if (
            operands[0].__class__ is not Tensor
            and mode.building()
            and all(isinstance(v, NUMBERS) for v in operands)
        ):
            return emit(op, operands, full)
        return apply(op, operands, full)

    return call


def _bind(op: OpDef) -> Callable[..., Any]:
    """The function that `ops` holds for `op`."""
    general = _general(op)
    general.__name__ = general.__qualname__ = op.name
    return generate_call(op, general) if op.complete and generates(op) else general


def _project(g: Any, like: Any) -> Any:
    if g is None or spec_of(g).shape == spec_of(like).shape:
        return g
    return ops.sum_like(g, like)


def _scatter(name: str, *operands: Any, **attrs: Any) -> Any:
    """In a program an operator; what becomes of its result is known when the program runs."""
    if any(isinstance(v, Variable) for v in operands):
        return getattr(ops, name)(*operands, **attrs)
    return Scattered.of(REGISTRY[name], ops, operands, attrs)


def _reflected(call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: call(other, self)


def _or_not(call: Callable[..., Any]) -> Callable[..., Any]:
    """`call` as an operator: what it cannot take is left to the other operand, Python's way."""

    def attempt(*operands: Any) -> Any:
        try:
            return call(*operands)
        except NotATensorError:
            if all(isinstance(v, Operand) for v in operands):
                raise  # a Tensor beside a Variable: ours to explain
            return NotImplemented

    return attempt


def _operator(dunder: str, name: str) -> Callable[..., Any]:
    """The method behind one of Python's operators, generated when it is first used.

    Generating all of them would take a quarter of the time that the engine takes to import.
    """

    def first(*operands: Any) -> Any:
        op = REGISTRY[name]
        call = generate_call(op, _or_not(_general(op)))
        method = _reflected(call) if dunder in REFLECTED else call
        for cls in (Tensor, Variable):
            setattr(cls, dunder, method)
        return method(*operands)

    first.__name__ = first.__qualname__ = dunder
    return first


ops.project = _project
ops.scatter = _scatter
ops.bind = _bind
for _dunder, _name in (*OPERATORS.items(), *REFLECTED.items()):
    _method = _operator(_dunder, _name)
    setattr(Tensor, _dunder, _method)
    setattr(Variable, _dunder, _method)
