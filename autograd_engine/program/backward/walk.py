"""The reverse walk over the operators of a block: reverse mode, as a program.

It is the walk of the tape (`eager.tape.run_backward`). Operators are met from the last to the
first; where cotangents have arrived at the results of one, its rule says what arrives at its
operands, and each value sums what arrives at it. Here the rules are planned as operators, in full
before anything is appended: a failure leaves the program as it was.

Each value has a sum of cotangents, folded when the last is there. How many will arrive is known
before the walk begins, so a part of a sum is named as one from the start, and the sum has the name
of the gradient.

While they are planned, operators stand in a draft: nothing of it is in the program yet. What exists
is not made again: every value is remembered under what it computes. Asking again for one that the
program holds, or that is planned already, returns it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from autograd_engine.core.dims import Dim
from autograd_engine.core.locations import Location
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.program.backward.block_gradient import Incoming
from autograd_engine.program.backward.control_flow_gradient import pull_blocks
from autograd_engine.program.backward.dataflow import Reach, reach
from autograd_engine.program.backward.operation_gradient import pull_operation
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Block, OperandRef, Operator, Ref, Variable

__all__ = ["Arrival", "BackwardPlan", "plan_backward"]


class Draft:
    """What is going to be appended to the block `into`.

    Attributes
    ----------
    seeds : list of Operator
        What makes the first cotangents; they come before `operators`.
    operators : list of Operator
    variables : dict of str to Variable
    emitted : dict of Hashable to Variable
        Planned values, by what they compute.
    """

    def __init__(self, into: Block, location: Location) -> None:
        self.into = into
        self.location = location
        self.seeds: list[Operator] = []
        self.operators: list[Operator] = []
        self.variables: dict[str, Variable] = {}
        self.emitted: dict[Hashable, Variable] = {}
        self._taken: set[str] = set()

    def existing(self, key: Hashable) -> Variable | None:
        """What is known to compute `key`, planned or in the block."""
        found = self.emitted.get(key)
        return self.into.emitted.get(key) if found is None else found

    def number(self, key: Hashable) -> int:
        """A number that the block keeps for `key`, where that is long and asked for often."""
        emitted = self.into.emitted
        found: int = emitted.setdefault(key, len(emitted))
        return found

    def unused(self, candidates: Iterable[str]) -> str:
        """The first of these names that nothing has; it is taken from now on."""
        name = next(n for n in candidates if n not in self.into.vars and n not in self._taken)
        self._taken.add(name)
        return name

    def variable(self, name: str, like: Ref) -> Variable:
        """A variable of the block, of the shape and dtype of `like`."""
        var = Variable(self.into, name, like.var.spec)
        var.is_stack = like.var.is_stack
        self.variables[name] = var
        return var

    def append(
        self,
        op: OpDef | BlockOp,
        operands: tuple[OperandRef, ...],
        result: Variable,
        attrs: dict[str, Any],
        *,
        seed: bool = False,
    ) -> None:
        """Plan an operator that the walk itself needs, at the line of the call that walks."""
        operator = Operator(
            self.into, op, operands, (Ref(result, 0),), attrs, self.location, "backward"
        )
        (self.seeds if seed else self.operators).append(operator)


Key: TypeAlias = tuple[str, int]
_ADD_N = REGISTRY["add_n"]
_FULL = REGISTRY["full"]
_FULL_LIKE = REGISTRY["full_like"]
_SAME_SHAPE = REGISTRY["same_shape"]


class Cotangents:
    """The sums of one walk.

    Parameters
    ----------
    draft : Draft
        Where the operators go that add up.
    block_idx : int
        Of the block that is differentiated; parts of sums bear it in their names.
    expected : Counter
        How many cotangents arrive at each value.

    Attributes
    ----------
    gradient : dict of (str, int) to Variable
        The sums that are complete.
    """

    def __init__(self, draft: Draft, block_idx: int, expected: Counter[Key]) -> None:
        self.draft = draft
        self.gradient: dict[Key, Variable] = {}
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
        key = ("add_n", tuple(o.key for o in operands))
        found = self.draft.existing(key)
        if found is None:
            name = self._gradient_name(ref.key)
            found = self.draft.variable(name, ref) if whole else self.contribution(ref)
            op = BlockOp.of("add_stacks") if ref.var.is_stack else _ADD_N
            self.draft.append(op, operands, found, {})
            self.draft.emitted[key] = found
        return found

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
        found = self.draft.existing(key)
        if found is None:
            found = self.draft.emitted[key] = self.spare(like)
            kind = "fill_stack" if like.var.is_stack else "hollow"
            self.draft.append(BlockOp.of(kind), (like,), found, {"value": value})
        return found

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
        key = ("seed", ref.key, by_shape)
        found = self.draft.existing(key)
        if found is not None:
            return found
        spec = ref.var.spec
        found = self.draft.emitted[key] = self.contribution(ref)
        if by_shape and not any(isinstance(d, Dim) for d in spec.shape):
            attrs = {"shape": spec.shape, "value": 1.0, "dtype": spec.dtype.name}
            self.draft.append(_FULL, (), found, attrs, seed=True)
        else:
            self.draft.append(_FULL_LIKE, (ref,), found, {"value": 1.0, "dtype": None}, seed=True)
        return found

    def given(self, ref: Ref, cotangent: Variable) -> Variable:
        """A cotangent of the target's shape: a run checks what cannot be proved."""
        if cotangent.spec.shape == ref.var.spec.shape:
            return cotangent
        operand = Ref(cotangent, cotangent.version)
        key = ("same_shape", operand.key, ref.key)
        found = self.draft.existing(key)
        if found is None:
            found = self.draft.emitted[key] = self.contribution(ref)
            attrs = {"names": (cotangent.name, ref.var.name)}
            self.draft.append(_SAME_SHAPE, (operand, ref), found, attrs, seed=True)
        return found


def _gradient_names(name: str) -> Iterator[str]:
    yield f"{name}@GRAD"
    for repeats in itertools.count(2):
        yield "grad/" * repeats + f"{name}@GRAD"


Seeds: TypeAlias = Sequence[tuple[Ref, Variable | Incoming | None]]
# A cotangent of a value; whether it is more than a zero for a branch that did not run.
Arrival: TypeAlias = tuple[Ref, Variable, bool]


def plan_backward(
    block: Block,
    seeds: Seeds,
    wanted: set[Key],
    no_grad: set[str],
    location: Location,
    *,
    seed_by_shape: bool,
    into: Block | None = None,
) -> BackwardPlan:
    """Plan the gradients of a block.

    Parameters
    ----------
    block : Block
    seeds : list of (Ref, Variable or None)
        Targets with the cotangents that start there; None stands for ones.
    wanted : set of (str, int)
        Which versions of which variables gradients are asked for.
    no_grad : set of str
        Names at which gradients stop.
    into : Block, optional
        Where the operators go, if not into `block`: the gradient of a branch or of the body of a
        loop is a block of its own. The targets then come with `Incoming` cotangents.
    """
    flow = reach(block, [ref.key for ref, _ in seeds], wanted, no_grad)
    plan = BackwardPlan(block, flow, Draft(block if into is None else into, location))
    cotangents = plan.cotangents
    for ref, given in seeds:
        if ref.key in flow.needed:
            _start(cotangents, ref, given, seed_by_shape)
    for operator in reversed(block.ops):
        arrived = [cotangents.gradient.get(ref.key) for ref in operator.results]
        reached = {k for k, cotangent in enumerate(arrived) if cotangent is not None}
        if not reached:
            continue
        asked = flow.wanted(operator, reached)
        sure = cotangents.surely([operator.results[k] for k in reached])
        pull = pull_blocks if isinstance(operator.op, BlockOp) else pull_operation
        for ref, contribution, certain in pull(plan, operator, asked, arrived, sure):
            cotangents.arrive(ref, contribution, certain)
    return plan


def _start(
    cotangents: Cotangents, ref: Ref, given: Variable | Incoming | None, by_shape: bool
) -> None:
    if isinstance(given, Incoming):
        given.var = cotangents.contribution(ref)
        cotangents.arrive(ref, given.var, given.sure)
    elif given is None:
        cotangents.arrive(ref, cotangents.ones(ref, by_shape=by_shape))
    else:
        cotangents.arrive(ref, cotangents.given(ref, given))


class BackwardPlan:
    """The gradients of a block, made but not yet appended.

    Attributes
    ----------
    block, into : Block
        What is differentiated, and where the operators go.
    draft : Draft
        The operators.
    cotangents : Cotangents
        Among them the gradients, when the walk is over.
    gradient_operations : dict
        The gradient operations that were made, by what they are made of.
    contexts : dict of Block to dict
        What callbacks are told of the blocks inside the operators.
    """

    def __init__(self, block: Block, flow: Reach, draft: Draft) -> None:
        self.block = block
        self.into = draft.into
        self.no_grad = flow.no_grad
        self.draft = draft
        self.cotangents = Cotangents(draft, block.idx, flow.expected)
        self.gradient_operations: dict[Hashable, tuple[Pullback, GradOp]] = {}
        self.contexts: dict[Block, dict[str, Any]] = {}

    def inside(
        self, block: Block, seeds: Sequence[tuple[Ref, Incoming]], wanted: set[Key], into: Block
    ) -> BackwardPlan:
        """The gradients of a block inside an operator of this one, in a block of their own."""
        inner = plan_backward(
            block,
            seeds,
            wanted,
            self.no_grad,
            self.draft.location,
            seed_by_shape=False,
            into=into,
        )
        self.contexts |= inner.contexts
        return inner

    def context(self) -> dict[str, Any]:
        """Names of gradients, and of what they are gradients of."""
        return {v.name: name for (name, _), v in self.cotangents.gradient.items()}
