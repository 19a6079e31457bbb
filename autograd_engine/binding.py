"""Fills the namespace `ops`, and binds operators to Tensor and Variable, from the table.

What an operation does is decided by its operands: a Variable among them appends an operator to
its program, else it runs on Tensors and is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.arithmetic import OPERATORS, REFLECTED
from autograd_engine.eager.record import apply, make_binary, make_unary
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotATensorError
from autograd_engine.namespace import ops
from autograd_engine.registry import REGISTRY, OpDef
from autograd_engine.static import mode
from autograd_engine.static.builder import emit
from autograd_engine.static.program import Variable
from autograd_engine.tensor.operand import spec_of

__all__ = ["bind_operators"]


def _general(op: OpDef) -> Callable[..., Any]:
    """Any operands, any attributes."""
    defaults = op.attrs
    count = len(defaults)
    nullary = not op.inputs

    def call(*operands: Any, **attrs: Any) -> Any:
        full = {**defaults, **attrs} if count else attrs
        if len(full) != count or len(attrs) != count:
            full = op.complete_attrs(attrs)
        if nullary:
            return emit(op, operands, full) if mode.building() else apply(op, operands, full)
        if len(operands) < len(op.inputs) or (len(operands) > len(op.inputs) and not op.variadic):
            raise TypeError(
                f"{op.name} takes {len(op.inputs)} operands ({', '.join(op.inputs)}); "
                f"got {len(operands)}"
            )
        for operand in operands:
            if isinstance(operand, Variable):
                return emit(op, operands, full)
        return apply(op, operands, full)

    return call


def _bind(op: OpDef) -> Callable[..., Any]:
    general = _general(op)
    call: Callable[..., Any] = general
    if not op.attrs and not op.multiple and not op.variadic:
        if len(op.inputs) == 1:
            call = make_unary(op, general)
        elif len(op.inputs) == 2 and (op.rule_at(0) is None) == (op.rule_at(1) is None):
            call = make_binary(op, general)
    call.__name__ = call.__qualname__ = op.name
    return call


def _project(g: Any, like: Any) -> Any:
    if g is None or spec_of(g).shape == spec_of(like).shape:
        return g
    return ops.sum_like(g, like)


def _reflected(call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: call(other, self)


def _or_not(call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`call` as an operator: what it cannot take is left to the other operand, Python's way."""

    def attempt(x: Any, y: Any) -> Any:
        try:
            return call(x, y)
        except NotATensorError:
            return NotImplemented

    return attempt


def bind_operators(cls: type) -> None:
    """Give `cls` the operators of `OPERATORS` and `REFLECTED`."""
    for dunder, name in OPERATORS.items():
        op = REGISTRY[name]
        binary = len(op.inputs) == 2
        setattr(cls, dunder, make_binary(op, _or_not(_general(op))) if binary else getattr(ops, name))
    for dunder, name in REFLECTED.items():
        setattr(cls, dunder, _reflected(_or_not(getattr(ops, name))))


ops.project = _project
for _name, _op in REGISTRY.items():
    setattr(ops, _name, _bind(_op))
bind_operators(Tensor)
bind_operators(Variable)
