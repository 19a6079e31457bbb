"""What gradients flow through: which values others influence, and where cotangents arrive.

Both questions are asked of a block, and of the blocks inside its operators in turn. A loop is asked
until its answer stays: what is carried from one iteration influences the next. What a loop inside
answers is therefore remembered, or each level of loops would multiply how often it is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from autograd_engine.core.dtypes import INEXACT
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.control_flow_op import (
    BlockOp,
    body_of,
    branches_of,
    kind_of,
)
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Operator,
    Ref,
    Variable,
)

if TYPE_CHECKING:
    from autograd_engine.program.ir.grad_op import GradOp

__all__ = [
    "Flow",
    "LoopFlow",
    "Reach",
    "keys_of",
    "needed_keys",
    "reach",
    "stopped_before",
]


def keys_of(variables: Iterable[Variable], no_grad: set[str]) -> set[Key]:
    """Every version of the variables at which no gradient is cut."""
    return {
        (v.name, version)
        for v in variables
        if v.name not in no_grad
        for version in range(v.version + 1)
    }


class Reach(NamedTuple):
    """What a backward walk through a block is going to meet."""

    needed: set[Key]  # values that something wanted influences
    expected: Counter[Key]  # how many cotangents arrive at each of them
    # By the number of an operation on the way, its operands that cotangents arrive at.
    crossed: dict[int, list[tuple[int, Ref]]]
    no_grad: set[str]

    def wanted(self, operator: Operator, reached: set[int]) -> list[tuple[int, Ref]]:
        """The operands that get a cotangent, the results at `reached` having one."""
        known = self.crossed.pop(operator.number, None)
        if known is None:
            return Flow(self.no_grad).wanted_operands(operator, reached, self.needed)
        return known


def reach(block: Block, seeds: Iterable[Key], wanted: Collection[Key], no_grad: set[str]) -> Reach:
    """Where cotangents that start at `seeds` go on their way to what is wanted."""
    flow = Flow(no_grad)
    needed = flow.needed(block, wanted)
    crossed: dict[int, list[tuple[int, Ref]]] = {}
    starts = [key for key in seeds if key in needed]
    return Reach(needed, flow.arrivals(block, starts, needed, crossed), crossed, no_grad)


def needed_keys(block: Block, wanted: Collection[Key], no_grad: set[str]) -> set[Key]:
    """Everything that a wanted variable influences along rules, as far as nothing cuts it."""
    return Flow(no_grad).needed(block, wanted)


def _reads_along_a_rule(operator: Operator, op: OpDef | GradOp, needed: set[Key]) -> bool:
    reads = op.rule_at if isinstance(op, OpDef) else op.reads_value
    for k, ref in enumerate(operator.operands):
        if ref.__class__ is Ref and ref.key in needed and reads(k):
            return True
    return False


def stopped_before(operator: Operator) -> bool:
    """Whether all that a gradient would go to from here stops it already.

    Then the results stop it because that has spread, and not because somebody cut here.
    """
    op = operator.op
    read = [
        r.var
        for k, r in enumerate(operator.operands)
        if isinstance(r, Ref) and (not isinstance(op, OpDef) or op.rule_at(k) is not None)
    ]
    return bool(read) and all(v.stop_gradient for v in read)


class Flow:
    """What gradients flow through, where they are cut at `no_grad`.

    It lives as long as no block is changed: answers of operators that have blocks are remembered,
    by what they were asked.
    """

    def __init__(self, no_grad: set[str]) -> None:
        self.no_grad = no_grad
        self._known: dict[tuple[int, frozenset[int] | None, frozenset[int]], set[int]] = {}

    def needed(self, block: Block, wanted: Collection[Key]) -> set[Key]:
        """Everything that a wanted variable influences along rules."""
        needed = set(wanted)
        for operator in block.ops:
            op = operator.op
            if isinstance(op, BlockOp):
                operands = enumerate(operator.operands)
                reading = {k for k, r in operands if isinstance(r, Ref) and r.key in needed}
                open_results: Iterable[int] = self._influenced(operator, reading) if reading else ()
            elif not _reads_along_a_rule(operator, op, needed):
                continue
            elif isinstance(op, OpDef) and op.nondiff_outputs:
                results = range(len(operator.results))
                open_results = {k for k in results if op.output_at(k) not in op.nondiff_outputs}
            else:
                open_results = range(len(operator.results))
            for k in open_results:
                var = operator.results[k].var
                if not var.stop_gradient and var.name not in self.no_grad:
                    needed.add(operator.results[k].key)
        return needed

    def arrivals(
        self,
        block: Block,
        seeds: Iterable[Key],
        needed: set[Key],
        crossed: dict[int, list[tuple[int, Ref]]] | None = None,
    ) -> Counter[Key]:
        """How many cotangents arrive at each variable that is needed, when they start at `seeds`.

        Into `crossed` goes what `wanted_operands` says of each operation on the way, by its number.
        """
        expected: Counter[Key] = Counter(seeds)
        for operator in reversed(block.ops):
            reached = {k for k, r in enumerate(operator.results) if r.key in expected}
            if reached:
                wanted = self.wanted_operands(operator, reached, needed)
                for _, ref in wanted:
                    expected[ref.key] += 1
                if crossed is not None and isinstance(operator.op, OpDef):
                    crossed[operator.number] = wanted
        return expected

    def wanted_operands(
        self, operator: Operator, reached: set[int], needed: set[Key]
    ) -> list[tuple[int, Ref]]:
        """The operands that get a cotangent when the results at `reached` have one, by position."""
        op = operator.op
        candidates = [
            (k, ref)
            for k, ref in enumerate(operator.operands)
            if ref.__class__ is Ref and ref.key in needed
        ]
        if isinstance(op, OpDef):
            return [pair for pair in candidates if op.rule_at(pair[0]) is not None]
        if not isinstance(op, BlockOp) or not candidates:
            return []
        found = self._reached(operator, reached, {k for k, _ in candidates})
        return [(k, ref) for k, ref in candidates if k in found]

    def _influenced(self, operator: Operator, operands: set[int]) -> set[int]:
        """Positions of the results that the operands at these positions influence."""
        key = operator.number, None, frozenset(operands)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._influenced_anew(operator, operands)
        return found

    def _influenced_anew(self, operator: Operator, operands: set[int]) -> set[int]:
        kind = kind_of(operator)
        if operator.attrs.get("backward_block") is not None:
            read = any(k < operator.attrs["inputs"] for k in operands)
            return set(range(len(operator.results))) if read else set()
        if kind in ("cond", "call"):
            found: set[int] = set()
            blocks, first = branches_of(operator)
            for block in blocks:
                keys = {(block.arguments[k - first].name, 0) for k in operands if k >= first}
                needed = self.needed(block, keys)
                found |= {k for k, r in enumerate(block.results) if r.key in needed}
            return found
        if kind in ("while", "scan"):
            return LoopFlow(self, operator, operands).influenced
        return {0} if any(map(operator.op.passes_on, operands)) else set()  # type: ignore[union-attr]

    def _reached(self, operator: Operator, results: set[int], wanted: set[int]) -> set[int]:
        """Positions of the wanted operands that get cotangents from the results at these."""
        key = operator.number, frozenset(results), frozenset(wanted)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._reached_anew(operator, results, wanted)
        return found

    def _reached_anew(self, operator: Operator, results: set[int], wanted: set[int]) -> set[int]:
        kind = kind_of(operator)
        if operator.attrs.get("backward_block") is not None:
            return {k for k in wanted if k < operator.attrs["inputs"]} if results else set()
        if kind in ("cond", "call"):
            blocks, first = branches_of(operator)
            found = (self.branch_reached(block, first, results, wanted) for block in blocks)
            return set().union(*found)
        if kind in ("while", "scan"):
            loop = LoopFlow(self, operator, wanted)
            loop.follow(results)
            return loop.reached
        passes_on = operator.op.passes_on  # type: ignore[union-attr]
        return {k for k in wanted if passes_on(k)} if results else set()

    def branch_reached(
        self, block: Block, first: int, results: set[int], wanted: set[int]
    ) -> set[int]:
        """Positions of the operands, the `first` of which is an argument, that get cotangents."""
        keys = {(block.arguments[k - first].name, 0): k for k in wanted if k >= first}
        needed = self.needed(block, keys)
        seeds = [block.results[k].key for k in results if block.results[k].key in needed]
        found = self.arrivals(block, seeds, needed)
        return {k for key, k in keys.items() if key in found}


class LoopFlow:
    """What flows through a loop when the operands at `wanted` are differentiated.

    Attributes
    ----------
    needed : set of Key
        Values of the body that the wanted operands influence, in any iteration.
    carried : set of int
        Which of what is carried they influence.
    influenced : set of int
        Positions of the results that they influence.
    cotangents : set of int
        After `follow`: of which of what is carried there is a cotangent, in any iteration.
    arrived : Counter of Key
        After `follow`: how many cotangents arrive at the values of the body.
    reached : set of int
        After `follow`: positions of the wanted operands that cotangents arrive at.
    """

    def __init__(self, flow: Flow, operator: Operator, wanted: set[int]) -> None:
        self.flow = flow
        self.wanted = wanted
        self.body = body_of(operator)
        is_while = kind_of(operator) == "while"
        self.first = 0 if is_while else 1  # operands before what is carried
        self.n: int = operator.attrs["carried"]
        self.first_push = self.n + 1 if is_while else self.n
        arguments = [(a.name, 0) for a in self.body.arguments]
        keys = {arguments[k - self.first] for k in wanted if k >= self.first}
        while True:
            self.needed = flow.needed(self.body, keys)
            self.carried = {
                k
                for k in range(self.n)
                if arguments[k] in keys or self.body.results[k].key in self.needed
            }
            more = {
                arguments[k] for k in self.carried if self.body.arguments[k].spec.dtype in INEXACT
            }
            if more <= keys:
                break
            keys |= more
        self.keys = keys
        pushes = self.body.results[self.n :]
        self.influenced = self.carried | {
            self.first_push + k for k, r in enumerate(pushes) if r.key in self.needed
        }

    def follow(self, results: set[int]) -> None:
        """Follow cotangents of the results at these positions back through all iterations."""
        body = self.body
        self.pushed = {k - self.first_push for k in results if k >= self.first_push}
        self.pushed = {k for k in self.pushed if body.results[self.n + k].key in self.needed}
        self.cotangents = {k for k in results if k in self.carried}
        while True:
            refs = [body.results[k] for k in sorted(self.cotangents)]
            refs += [body.results[self.n + k] for k in sorted(self.pushed)]
            seeds = [r.key for r in refs if r.key in self.needed]
            found = self.flow.arrivals(body, seeds, self.needed)
            more = {k for k in self.carried if (body.arguments[k].name, 0) in found}
            if more <= self.cotangents:
                break
            self.cotangents |= more
        self.arrived = found
        reached = {
            k
            for k in self.wanted
            if k >= self.first and (body.arguments[k - self.first].name, 0) in found
        }
        # Without an iteration, what is carried in comes out.
        self.reached = {k for k in reached if k - self.first >= self.n} | {
            k for k in self.wanted if k - self.first in self.cotangents
        }
