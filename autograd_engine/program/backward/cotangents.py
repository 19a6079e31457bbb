"""Cotangents as they arrive: each value has a sum of them, folded when the last is there.

How many will arrive is known before the walk begins, so a part of a sum is named as one from the
start, and the sum has the name of the gradient.

A sum of float16 is rounded when it is complete (see `half_sum`). What is not, because a branch or a
loop adds to it or has made a part of it, is a variable of float32.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import COMPLEX, HALVES
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.backward.draft import Draft
from autograd_engine.program.backward.gradient_hooks import hooked
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Key, Ref, Variable

__all__ = ["Arrived", "Cotangents", "gradient_names", "is_half"]

_ADD_N = REGISTRY["add_n"]
_ADD_STACKS = BlockOp.of("add_stacks")
_ALIAS = REGISTRY["alias"]
_CAST = REGISTRY["cast"]
_FULL = REGISTRY["full"]
_FULL_LIKE = REGISTRY["full_like"]
_SAME_SHAPE = REGISTRY["same_shape"]


class Arrived(NamedTuple):
    """A cotangent that the walk through a block inside has found, and may be more than zeros."""

    var: Variable
    sure: bool


class Cotangents:
    """The sums of one walk.

    Operators that add up go into `draft`. Parts of sums bear the number of the block that is
    differentiated in their names; `expected` says how many cotangents arrive at each value. To the
    sums for `unrounded` values somebody else goes on adding.
    """

    def __init__(
        self, draft: Draft, block_idx: int, expected: Counter[Key], unrounded: Iterable[Ref]
    ) -> None:
        self.draft = draft
        self.gradient: dict[Key, Variable] = {}  # the sums that are complete
        self._block_idx = block_idx
        self._expected = expected
        self._parts: dict[Key, list[Variable]] = {}
        self._numbered: Counter[Key] = Counter()
        self._names: dict[Key, str] = {}
        # What has a cotangent that is more than a zero for a branch that did not run.
        self._sure: set[Key] = set()
        self._unrounded = {ref.key for ref in unrounded if is_half(ref)}

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
        total = self._sum(ref, parts)
        self.gradient[key] = total if ref.var.hooks is None else hooked(self.draft, ref, total)

    def surely(self, refs: list[Ref]) -> bool:
        """Whether a cotangent of one of them is more than a zero for a branch that did not run."""
        return not self._sure.isdisjoint([ref.key for ref in refs])

    def fold(self, ref: Ref) -> Variable | None:
        """The sum of what has arrived so far, which something else is going to be added to."""
        parts = self._parts.pop(ref.key, [])
        self._expected[ref.key] -= len(parts)
        if not parts:
            return None
        self._expected[ref.key] += 1  # it is a part again, by name
        total = self._sum(ref, parts, whole=False)
        self._expected[ref.key] -= 1
        return total

    def awaits(self, ref: Ref) -> int:
        """How many cotangents of `ref` there will be, those not counted that were folded."""
        return self._expected[ref.key]

    def _sum(self, ref: Ref, parts: list[Variable], *, whole: bool = True) -> Variable:
        stays = is_half(ref) and (not whole or ref.key in self._unrounded)
        wide = is_half(ref) and (stays or any(not _rounded(p) for p in parts))
        if wide:
            parts = [self.unrounded(ref, parts[0]), *parts[1:]]
        if len(parts) == 1:
            (found,) = parts
        else:
            operands = tuple(Ref(p, p.version) for p in parts)

            def total() -> Variable:
                if whole and (stays or not wide):
                    return self.draft.variable(self._gradient_name(ref), ref, wide=wide)
                return self.contribution(ref, wide=wide)

            op = _ADD_STACKS if ref.var.is_stack else _ADD_N
            key = ("add_n", tuple(o.key for o in operands))
            found = self.draft.once(key, total, op, operands, {})
        if wide and not stays:
            name = self._gradient_name(ref)
            return self._cast(
                found, ref.var.spec.dtype.name, lambda: self.draft.variable(name, ref)
            )
        return found

    def _cast(self, part: Variable, dtype: str, made: Callable[[], Variable]) -> Variable:
        operand = Ref(part, part.version)
        return self.draft.once(("cast", operand.key), made, _CAST, (operand,), {"dtype": dtype})

    def stays_unrounded(self, ref: Ref) -> bool:
        """Whether the sum for `ref` is one of float16 that is not rounded here."""
        return ref.key in self._unrounded

    def unrounded(self, ref: Ref, part: Variable) -> Variable:
        """A cotangent of `ref` as what can be added to: one of float16 in float32."""
        if not is_half(ref) or not _rounded(part):
            return part
        return self._cast(part, "float32", lambda: self.spare(ref, wide=True))

    # --- variables for them

    def contribution(self, ref: Ref, *, wide: bool = False) -> Variable:
        """A variable for one cotangent of `ref`: its gradient, or one part of a sum.

        With `wide`, a part of a sum of float16 that is not rounded.
        """
        key = ref.key
        name = self._gradient_name(ref)
        wide = wide and is_half(ref)
        if self._expected[key] > 1 or (wide and key not in self._unrounded):
            name = f"{name}@RENAME@block{self._block_idx}@{self._numbered[key]}"
            self._numbered[key] += 1
        return self.draft.variable(name, ref, wide=wide)

    def spare(self, like: Ref, *, wide: bool = False) -> Variable:
        """A variable for a cotangent of `like` that is not, or not yet, its gradient."""
        stem = f"{like.var.name}@GRAD@START"
        names = itertools.chain([stem], (f"{stem}_{n}" for n in itertools.count(1)))
        return self.draft.variable(self.draft.unused(names), like, wide=wide)

    def filled(self, like: Ref, value: float) -> Variable:
        """A cotangent of `like` that stands for none."""
        key = ("filled", like.key, repr(value))
        op = BlockOp.of("fill_stack" if like.var.is_stack else "hollow")
        return self.draft.once(key, lambda: self.spare(like), op, (like,), {"value": value})

    def _gradient_name(self, ref: Ref) -> str:
        """``<name>@GRAD``, or with ``grad/`` before it as often as it takes to be unused.

        That of a complex value is what users see, its conjugate (see `ops.conjugates`).
        """
        key = ref.key
        known = self._names.get(key)
        if known is None:
            # A variable of several versions has as many gradients in one plan.
            suffix = "GRAD@CONJ" if ref.var.spec.dtype in COMPLEX else "GRAD"
            known = self._names[key] = self.draft.unused(gradient_names(key[0], suffix))
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
        operand = Ref(cotangent, cotangent.version)
        made = functools.partial(self.contribution, ref)
        if cotangent.spec.shape == ref.var.spec.shape or ref.var.is_stack:
            key = ("alias", operand.key, ref.key)
            op = _ADD_STACKS if ref.var.is_stack else _ALIAS  # a sum of one
            return self.draft.once(key, made, op, (operand,), {}, seed=True)
        key = ("same_shape", operand.key, ref.key)
        attrs = {"names": (cotangent.name, ref.var.name)}
        return self.draft.once(key, made, _SAME_SHAPE, (operand, ref), attrs, seed=True)


def is_half(ref: Ref) -> bool:
    """Whether it is a value of 16 bits, of which sums are kept in float32 while they grow."""
    return not ref.var.is_stack and ref.var.spec.dtype in HALVES


def _rounded(part: Variable) -> bool:
    return part.spec.dtype in HALVES


def gradient_names(name: str, suffix: str = "GRAD") -> Iterator[str]:
    """Names for a gradient of what is called `name`, the first of which is the usual one."""
    numbered = ("grad/" * repeats + f"{name}@{suffix}" for repeats in itertools.count(2))
    return itertools.chain([f"{name}@{suffix}"], numbered)
