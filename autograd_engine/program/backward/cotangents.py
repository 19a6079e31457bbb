"""Cotangents as they arrive: each value has a sum of them, folded when the last is there.

How many will arrive is known before the walk begins, so a part of a sum is named as one from the
start, and the sum has the name of the gradient.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.backward.draft import Draft
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Key, Ref, Variable

__all__ = ["Cotangents"]

_ADD_N = REGISTRY["add_n"]
_FULL = REGISTRY["full"]
_FULL_LIKE = REGISTRY["full_like"]
_SAME_SHAPE = REGISTRY["same_shape"]


class Cotangents:
    """The sums of one walk.

    Operators that add up go into `draft`. Parts of sums bear the number of the block that is
    differentiated in their names; `expected` says how many cotangents arrive at each value.
    """

    def __init__(self, draft: Draft, block_idx: int, expected: Counter[Key]) -> None:
        self.draft = draft
        self.gradient: dict[Key, Variable] = {}  # the sums that are complete
        self._block_idx = block_idx
        self._expected = expected
        self._parts: dict[Key, list[Variable]] = {}
        self._numbered: Counter[Key] = Counter()
        self._names: dict[Key, str] = {}
        # What has a cotangent that is more than a zero for a branch that did not run.
        self._sure: set[Key] = set()

    # --- the fold

    def arrive(self, ref: Ref, contribution: Variable, sure: bool = True) -> None:
        """Take one cotangent of `ref`; with the last, its gradient is there."""
        key = ref.key
        if sure:
            self._sure.add(key)
        parts = self._parts.setdefault(key, [])
        parts.append(contribution)
        if len(parts) < self._expected[key]:
            return
        self.gradient[key] = parts[0] if len(parts) == 1 else self._sum(ref, parts)

    def surely(self, refs: list[Ref]) -> bool:
        """Whether a cotangent of one of them is more than a zero for a branch that did not run."""
        return not self._sure.isdisjoint([ref.key for ref in refs])

    def fold(self, ref: Ref) -> Variable | None:
        """The sum of what has arrived so far, which something else is going to be added to."""
        parts = self._parts.pop(ref.key, [])
        self._expected[ref.key] -= len(parts)
        if len(parts) < 2:
            return parts[0] if parts else None
        self._expected[ref.key] += 1  # it is a part again, by name
        total = self._sum(ref, parts, whole=False)
        self._expected[ref.key] -= 1
        return total

    def awaits(self, ref: Ref) -> int:
        """How many cotangents of `ref` there will be, those not counted that were folded."""
        return self._expected[ref.key]

    def _sum(self, ref: Ref, parts: list[Variable], *, whole: bool = True) -> Variable:
        operands = tuple(Ref(p, p.version) for p in parts)

        def total() -> Variable:
            if whole:
                return self.draft.variable(self._gradient_name(ref.key), ref)
            return self.contribution(ref)

        op = BlockOp.of("add_stacks") if ref.var.is_stack else _ADD_N
        return self.draft.once(("add_n", tuple(o.key for o in operands)), total, op, operands, {})

    # --- variables for them

    def contribution(self, ref: Ref) -> Variable:
        """A variable for one cotangent of `ref`: its gradient, or one part of a sum."""
        key = ref.key
        name = self._gradient_name(key)
        if self._expected[key] > 1:
            name = f"{name}@RENAME@block{self._block_idx}@{self._numbered[key]}"
            self._numbered[key] += 1
        return self.draft.variable(name, ref)

    def spare(self, like: Ref) -> Variable:
        """A variable for a cotangent of `like` that is not, or not yet, its gradient."""
        stem = f"{like.var.name}@GRAD@START"
        names = itertools.chain([stem], (f"{stem}_{n}" for n in itertools.count(1)))
        return self.draft.variable(self.draft.unused(names), like)

    def filled(self, like: Ref, value: float) -> Variable:
        """A cotangent of `like` that stands for none."""
        key = ("filled", like.key, repr(value))
        op = BlockOp.of("fill_stack" if like.var.is_stack else "hollow")
        return self.draft.once(key, lambda: self.spare(like), op, (like,), {"value": value})

    def _gradient_name(self, key: Key) -> str:
        """``<name>@GRAD``, or with ``grad/`` before it as often as it takes to be unused."""
        known = self._names.get(key)
        if known is None:
            # A variable of several versions has as many gradients in one plan.
            known = self._names[key] = self.draft.unused(_gradient_names(key[0]))
        return known

    # --- the first ones

    def ones(self, ref: Ref, *, by_shape: bool) -> Variable:
        """Ones of the target's shape, which are a constant `by_shape` where that is known."""
        op, spec = _FULL_LIKE, ref.spec
        operands: tuple[Ref, ...] = (ref,)
        attrs: dict[str, Any] = {"value": 1.0, "dtype": None}
        if by_shape and not any(isinstance(d, Dim) for d in spec.shape):
            op, operands = _FULL, ()
            attrs = {"shape": spec.shape, "value": 1.0, "dtype": spec.dtype.name}
        key = ("seed", ref.key, by_shape)
        ones = functools.partial(self.contribution, ref)
        return self.draft.once(key, ones, op, operands, attrs, seed=True)

    def given(self, ref: Ref, cotangent: Variable) -> Variable:
        """A cotangent of the target's shape: a run checks what cannot be proved."""
        if cotangent.spec.shape == ref.var.spec.shape:
            return cotangent
        operand = Ref(cotangent, cotangent.version)
        key = ("same_shape", operand.key, ref.key)
        attrs = {"names": (cotangent.name, ref.var.name)}
        checked = functools.partial(self.contribution, ref)
        return self.draft.once(key, checked, _SAME_SHAPE, (operand, ref), attrs, seed=True)


def _gradient_names(name: str) -> Iterator[str]:
    yield f"{name}@GRAD"
    for repeats in itertools.count(2):
        yield "grad/" * repeats + f"{name}@GRAD"
