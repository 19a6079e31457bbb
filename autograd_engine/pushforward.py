"""Pushforwards: the tangent of an operation's outputs, derived from its rules.

The table holds no second set of derivatives. What it says of an operation (`OpDef.tangent`) decides
how the tangent comes from what there is:

- "linear": the operation applied to the tangents, zeros for operands that have none;
- "elementwise": a diagonal Jacobian is its own transpose, so each rule applied to its tangent,
  added up;
- otherwise the transpose of the transpose. A rule is linear in the cotangent u, ``J'u``; the
  gradient of ``<J'u, t>`` with respect to u is ``J t``, and does not depend on u.

Everything is computed with operations, so tangents can be differentiated again, in either mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_engine.namespace import ops
from autograd_engine.pullback import Pullback
from autograd_engine.spec import Like
from autograd_engine.tensor.operand import spec_of

__all__ = ["push"]

Transpose = Callable[[Callable[[Any], Sequence[Any]], Sequence[Any]], Sequence[Any]]


def push(
    pullback: Pullback,
    saved: tuple[Any, ...],
    attrs: dict[str, Any] | None,
    operands: Sequence[Any],
    outputs: Sequence[Like],
    tangents: Sequence[Any],
    transpose: Transpose,
) -> Sequence[Any]:
    """Tangents of the outputs of one call.

    Parameters
    ----------
    pullback : Pullback
        Of the inputs that have a tangent, or of more.
    saved : tuple
        What it asked for, as Tensors or Variables.
    attrs : dict or None
    operands : sequence
        One for each operand: its value where it has no rule, else its Spec (or value).
    outputs : sequence of Spec
        One for each output (a Variable will do).
    tangents : sequence
        One for each input that the pullback is for; None where there is none.
    transpose : callable
        ``transpose(pull, tangents)``: the gradient of ``<pull(u), tangents>`` with respect to u,
        in the mode at hand; one entry for each output.

    Returns
    -------
    sequence
        One tangent for each output, None where it is zero.
    """
    op = pullback.op
    given = {k: t for k, t in zip(pullback.wanted, tangents, strict=True) if t is not None}
    if not given:
        return [None] * len(outputs)
    if op.tangent == "linear":
        applied = [
            operand
            if op.rule_at(k) is None
            else given[k]
            if k in given
            else ops.zeros_like(operand)
            for k, operand in enumerate(operands)
        ]
        result = getattr(ops, op.name)(*applied, **(attrs or {}))
        return result if op.multiple else [result]
    if op.tangent == "elementwise":
        total = None
        for k, t in given.items():
            (part,) = pullback.bare(k).pull(ops, t, saved, attrs)
            total = part if total is None else total + part
        if spec_of(total).shape != spec_of(outputs[0]).shape:
            total = ops.expand_like(total, outputs[0])
        return [total]
    return transpose(lambda g: pullback.pull(ops, g, saved, attrs), list(tangents))
