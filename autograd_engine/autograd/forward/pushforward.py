"""Pushforwards: the tangent of an operation's outputs, derived from its rules.

The table holds no second set of derivatives. What it says of an operation (`OpDef.tangent`) decides
how the tangent comes from what there is:

- "linear": the operation applied to the tangents, zeros for operands that have none;
- "multilinear": the operation with a tangent in the place of one operand, added up;
- "elementwise", and what is linear and broadcasts: a diagonal Jacobian is its own transpose, so
  each rule applied to its tangent, added up;
- otherwise the transpose of the transpose. A rule is linear in the cotangent u, ``J'u``; the
  gradient of ``<J'u, t>`` with respect to u is ``J t``, and does not depend on u.

`xp` decides what a tangent is: an array, a Tensor or Variable (then tangents can be differentiated
again), or a stack of either (see `batched`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import Like, Spec
from autograd_engine.ops.conjugates import is_complex, real_part
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.program.operands import spec_of

__all__ = ["push"]

Transpose = Callable[[Sequence[Any]], Sequence[Any]]


def push(
    pullback: Pullback,
    saved: tuple[Any, ...],
    attrs: dict[str, Any] | None,
    operands: Sequence[Any],
    outputs: Sequence[Like],
    tangents: Sequence[Any],
    transpose: Transpose,
    xp: Any = ops,
) -> Sequence[Any]:
    """Tangents of the outputs of one call.

    Parameters
    ----------
    pullback : Pullback
        Of the inputs that have a tangent, or of more.
    saved : tuple
        What it asked for, as values of the base of `xp`.
    attrs : dict or None
    operands : sequence
        One for each operand: its value where it has no rule, else its Spec (or value).
    outputs : sequence of Spec
        One for each output (a Variable will do).
    tangents : sequence
        One for each input that the pullback is for; None where there is none.
    transpose : callable
        ``transpose(tangents)``: the gradient of ``<pull(u), tangents>`` with respect to u, in the
        mode at hand; one entry for each output.
    xp : Namespace
        In which to compute.

    Returns
    -------
    sequence
        One tangent for each output, None where it is zero.
    """
    op = pullback.op
    given = {k: t for k, t in zip(pullback.wanted, tangents, strict=True) if t is not None}
    if not given:
        return [None] * len(outputs)
    attrs = attrs or {}
    if op.tangent == "elementwise" or (op.tangent == "linear" and op.broadcasts == 0):
        parts = [pullback.bare(k).pull(xp, t, saved, attrs)[0] for k, t in given.items()]
        along = reduce(add, parts)
        if not is_complex(outputs[0]):  # Re(dz f)
            along = real_part(xp, along)
        return [_expanded(xp, along, outputs[0])]
    if op.tangent == "linear":
        applied = [
            operand
            if op.rule_at(k) is None
            else given[k]
            if k in given
            else 0.0
            if isinstance(operand, (int, float))
            else xp.zeros_like(operand)
            for k, operand in enumerate(operands)
        ]
        result = xp[op](*applied, **attrs)
        return result if op.multiple else [result]
    if op.tangent == "multilinear":
        values = dict(zip(pullback.saved, saved, strict=True))
        call = xp[op]
        parts = [
            call(
                *[
                    t if j == k else values.get(name, operands[j])
                    for j, name in enumerate(op.inputs)
                ],
                **attrs,
            )
            for k, t in given.items()
        ]
        return [reduce(add, parts)]
    return transpose(list(tangents))


def _expanded(xp: Any, t: Any, like: Like) -> Any:
    """`t` in the shape of the output, where what did not move had stretched it."""
    return t if _shape(t) == spec_of(like).shape else xp.expand_like(t, like)


def _shape(x: Any) -> Any:
    return spec_of(x).shape if isinstance(x, (Operand, Spec)) else x.shape
