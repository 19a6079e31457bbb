"""What gradients flow through: which values others influence, and where cotangents arrive.

Both questions are asked of a block, and of the blocks inside its operators in turn. A loop is asked
until its answer stays: what is carried from one iteration influences the next. What a loop inside
answers is therefore remembered, or each level of loops would multiply how often it is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

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
    "LoopFlow",
    "Reach",
    "arrivals",
    "branch_reached",
    "keys_of",
    "needed_keys",
    "reach",
]

# Answers of operators that have blocks, by what they were asked.
Memo: TypeAlias = dict[tuple[int, frozenset[int] | None, frozenset[int]], set[int]]


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
            return wanted_operands(operator, reached, self.needed, self.no_grad)
        return known


def reach(block: Block, seeds: Iterable[Key], wanted: Collection[Key], no_grad: set[str]) -> Reach:
    """Where cotangents that start at `seeds` go on their way to what is wanted."""
    needed = needed_keys(block, wanted, no_grad)
    crossed: dict[int, list[tuple[int, Ref]]] = {}
    starts = [key for key in seeds if key in needed]
    return Reach(needed, arrivals(block, starts, needed, no_grad, crossed), crossed, no_grad)


def needed_keys(
    block: Block, wanted: Collection[Key], no_grad: set[str], memo: Memo | None = None
) -> set[Key]:
    """Everything that a wanted variable influences along rules, as far as nothing cuts it."""
    needed = set(wanted)
    memo = {} if memo is None else memo
    for operator in block.ops:
        op = operator.op
        if isinstance(op, BlockOp):
            reading = {
                k for k, r in enumerate(operator.operands) if isinstance(r, Ref) and r.key in needed
            }
            open_results: Iterable[int] = ()
            if reading:
                open_results = _influenced(operator, reading, no_grad, memo)
        elif not _reads_along_a_rule(operator, op, needed):
            continue
        elif isinstance(op, OpDef) and op.nondiff_outputs:
            open_results = {
                k for k in range(len(operator.results)) if op.output_at(k) not in op.nondiff_outputs
            }
        else:
            open_results = range(len(operator.results))
        for k in open_results:
            var = operator.results[k].var
            if not var.stop_gradient and var.name not in no_grad:
                needed.add(operator.results[k].key)
    return needed


def _reads_along_a_rule(operator: Operator, op: OpDef | GradOp, needed: set[Key]) -> bool:
    reads = op.rule_at if isinstance(op, OpDef) else op.reads_value
    for k, ref in enumerate(operator.operands):
        if ref.__class__ is Ref and ref.key in needed and reads(k):
            return True
    return False


def arrivals(
    block: Block,
    seeds: Iterable[Key],
    needed: set[Key],
    no_grad: set[str],
    crossed: dict[int, list[tuple[int, Ref]]] | None = None,
    memo: Memo | None = None,
) -> Counter[Key]:
    """How many cotangents arrive at each variable that is needed, when they start at `seeds`.

    Into `crossed` goes what `wanted_operands` says of each operation on the way, by its number.
    """
    expected: Counter[Key] = Counter(seeds)
    memo = {} if memo is None else memo
    for operator in reversed(block.ops):
        reached = {k for k, r in enumerate(operator.results) if r.key in expected}
        if reached:
            wanted = wanted_operands(operator, reached, needed, no_grad, memo)
            for _, ref in wanted:
                expected[ref.key] += 1
            if crossed is not None and isinstance(operator.op, OpDef):
                crossed[operator.number] = wanted
    return expected


def wanted_operands(
    operator: Operator,
    reached: set[int],
    needed: set[Key],
    no_grad: set[str],
    memo: Memo | None = None,
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
    found = _reached(
        operator, reached, {k for k, _ in candidates}, no_grad, {} if memo is None else memo
    )
    return [(k, ref) for k, ref in candidates if k in found]


def _influenced(operator: Operator, operands: set[int], no_grad: set[str], memo: Memo) -> set[int]:
    """Positions of the results that the operands at these positions influence."""
    key = operator.number, None, frozenset(operands)
    found = memo.get(key)
    if found is None:
        found = memo[key] = _influenced_anew(operator, operands, no_grad, memo)
    return found


def _influenced_anew(
    operator: Operator, operands: set[int], no_grad: set[str], memo: Memo
) -> set[int]:
    kind = kind_of(operator)
    if operator.attrs.get("backward_block") is not None:
        read = any(k < operator.attrs["inputs"] for k in operands)
        return set(range(len(operator.results))) if read else set()
    if kind in ("cond", "call"):
        found: set[int] = set()
        blocks, first = branches_of(operator)
        for block in blocks:
            keys = {(block.arguments[k - first].name, 0) for k in operands if k >= first}
            needed = needed_keys(block, keys, no_grad, memo)
            found |= {k for k, r in enumerate(block.results) if r.key in needed}
        return found
    if kind in ("while", "scan"):
        return LoopFlow(operator, operands, no_grad, memo).influenced
    return {0} if kind == "add_stacks" else set()


def _reached(
    operator: Operator, results: set[int], wanted: set[int], no_grad: set[str], memo: Memo
) -> set[int]:
    """Positions of the wanted operands that get cotangents from the results at these positions."""
    key = operator.number, frozenset(results), frozenset(wanted)
    found = memo.get(key)
    if found is None:
        found = memo[key] = _reached_anew(operator, results, wanted, no_grad, memo)
    return found


def _reached_anew(
    operator: Operator, results: set[int], wanted: set[int], no_grad: set[str], memo: Memo
) -> set[int]:
    kind = kind_of(operator)
    if operator.attrs.get("backward_block") is not None:
        return {k for k in wanted if k < operator.attrs["inputs"]} if results else set()
    if kind in ("cond", "call"):
        blocks, first = branches_of(operator)
        found = (branch_reached(block, first, results, wanted, no_grad, memo) for block in blocks)
        return set().union(*found)
    if kind in ("while", "scan"):
        flow = LoopFlow(operator, wanted, no_grad, memo)
        flow.follow(results)
        return flow.reached
    return wanted if kind == "add_stacks" and results else set()


def branch_reached(
    block: Block,
    first: int,
    results: set[int],
    wanted: set[int],
    no_grad: set[str],
    memo: Memo | None = None,
) -> set[int]:
    """Positions of the operands, the `first` of which is an argument, that get cotangents."""
    keys = {(block.arguments[k - first].name, 0): k for k in wanted if k >= first}
    memo = {} if memo is None else memo
    needed = needed_keys(block, keys, no_grad, memo)
    seeds = [block.results[k].key for k in results if block.results[k].key in needed]
    found = arrivals(block, seeds, needed, no_grad, memo=memo)
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

    def __init__(
        self,
        operator: Operator,
        wanted: set[int],
        no_grad: set[str],
        memo: Memo | None = None,
    ) -> None:
        self.memo: Memo = {} if memo is None else memo
        self.operator = operator
        self.no_grad = no_grad
        self.wanted = wanted
        self.body = body_of(operator)
        is_while = kind_of(operator) == "while"
        self.first = 0 if is_while else 1  # operands before what is carried
        self.n: int = operator.attrs["carried"]
        self.first_push = self.n + 1 if is_while else self.n
        arguments = [(a.name, 0) for a in self.body.arguments]
        keys = {arguments[k - self.first] for k in wanted if k >= self.first}
        while True:
            self.needed = needed_keys(self.body, keys, no_grad, self.memo)
            self.carried = {
                k
                for k in range(self.n)
                if arguments[k] in keys or self.body.results[k].key in self.needed
            }
            more = {
                arguments[k] for k in self.carried if self.body.arguments[k].spec.dtype.kind in "fc"
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
            found = arrivals(body, seeds, self.needed, self.no_grad, memo=self.memo)
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
