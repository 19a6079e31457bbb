"""What a run of a program does: which operators, what they read, what is left in the scope."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from autograd_engine.compiler.backend import BACKENDS
from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.compiler.python.function import CompiledFunction, compile_operators
from autograd_engine.core.dims import Dim
from autograd_engine.core.gc_pause import collector_paused
from autograd_engine.errors import ExecutionError, FeedError
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.ir.block import leading_to, operators_within
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Operator,
    Program,
    Ref,
    Variable,
)
from autograd_engine.static.executor.backend_choice import Work
from autograd_engine.static.executor.specializations import Specialization, Specializations

if TYPE_CHECKING:
    from autograd_engine.static.executor.prepared_run import Step

__all__ = ["Plan", "Plans", "Steps", "Wanted", "steps_of", "why_in_place"]

_KEPT: Final = 32


class Wanted(NamedTuple):
    """What a run is asked for."""

    fetches: list[Ref]
    prune: bool = False  # whether to run only what these and `operators` need, not all updates
    operators: Sequence[Operator] = ()  # updates that a pruned run makes
    cut: frozenset[str] = frozenset()  # variables that a pruned run is fed, and does not compute

    @property
    def key(self) -> Hashable:
        fetched = tuple(r.key for r in self.fetches)
        if not self.prune:
            return fetched
        return fetched, tuple(o.number for o in self.operators), self.cut


@dataclass(slots=True, eq=False)
class Plan:
    """A program compiled for what it is asked for; serves all sizes that the program declares."""

    key: Hashable
    compiled: CompiledFunction  # takes `feeds`, then `reads`; returns the fetches, then `writes`
    feeds: list[Variable]
    reads: list[Variable]
    writes: list[str]  # names in the scope
    names: set[str]  # the same
    fetches: int
    draws: bool  # whether random numbers are drawn
    specializations: Specializations  # what backends have made of it, for certain sizes
    plain: str  # why no backend is asked; empty where one is
    alone: bool  # whether no Python code of the user's runs in the middle of it

    def specialization(self, fed: Sequence[Any]) -> Specialization:
        """The plan for arrays (or Specs) of these sizes, where it is not `plain`."""
        return self.specializations.at(fed, [v.spec for v in self.reads])


class Plans:
    """Plans of one program for one executor, those used last, all of its latest version."""

    __slots__ = ("_kept", "backend", "closed", "steps", "version")

    def __init__(self, backend: str = "numpy") -> None:
        self.version = -1
        self.backend = backend
        self.closed = False  # whether the executor was
        # Runs that were asked for, those asked for last.
        self.steps: OrderedDict[Hashable, Step] = OrderedDict()
        self._kept: OrderedDict[Hashable, Plan] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def values(self) -> Iterable[Plan]:
        return self._kept.values()

    def known(self, key: Hashable) -> Step | None:
        """What ran in this way before."""
        step = self.steps.get(key)
        if step is not None:
            with contextlib.suppress(KeyError):  # another thread has dropped it meanwhile
                self.steps.move_to_end(key)
                self._kept.move_to_end(step.plan_key)
        return step

    def close(self) -> None:
        """Nothing that was made of it runs again."""
        self.closed = True
        self.version = -1
        for plan in self._kept.values():
            plan.specializations.close()
        self._kept.clear()
        self.steps.clear()

    def keep(self, key: Hashable, step: Step) -> None:
        """Keep a run that was asked for; of many the one that was not for longest goes."""
        self.steps[key] = step
        if len(self.steps) > _KEPT:
            self.steps.popitem(last=False)

    def find(self, program: Program, wanted: Wanted) -> Plan:
        """The plan for `wanted`, made if there is none."""
        if self.version != program.version:
            self._kept.clear()
            self.steps.clear()
            self.version = program.version
        key = wanted.key
        plan = self._kept.get(key)
        if plan is None:
            with collector_paused():
                plan = self._kept[key] = _plan(program, wanted, self.backend)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return plan


class Steps(NamedTuple):
    """What a run does, before it is compiled."""

    operators: list[Operator]
    feeds: list[Ref]  # what they take of the feeds,
    reads: list[Ref]  # and of the scope
    writes: dict[str, Ref]  # what the scope holds afterwards


def steps_of(program: Program, wanted: Wanted) -> Steps:
    """The operators for what is `wanted`, with what they read and write."""
    block = program.global_block()
    operators, writes = (_pruned if wanted.prune else _whole)(block, wanted)
    made = {r.key for operator in operators for r in operator.results}
    inputs: dict[Key, Ref] = {}
    asked = [o for operator in operators for o in operator.operands if isinstance(o, Ref)]
    for ref in [*asked, *wanted.fetches]:
        if ref.key not in made:
            inputs[ref.key] = ref
    feeds = [r for r in inputs.values() if not r.var.persistable]
    reads = [r for r in inputs.values() if r.var.persistable]
    for ref in feeds:
        if not ref.var.is_data and not ref.var.declared and ref.var.name not in wanted.cut:
            raise ExecutionError(
                f"nothing in this program computes {ref.var.name!r}; was it made in another one?"
            )
    return Steps(operators, feeds, reads, writes)


def _plan(program: Program, wanted: Wanted, backend: str) -> Plan:
    steps = steps_of(program, wanted)
    inputs, outputs = [*steps.feeds, *steps.reads], [*wanted.fetches, *steps.writes.values()]
    compiled = compile_operators(steps.operators, inputs, outputs, "program")
    first, fetches = len(steps.feeds), len(wanted.fetches)
    places = {r.var.name: first + k for k, r in enumerate(steps.reads)}
    updates = {fetches + j: places[name] for j, name in enumerate(steps.writes) if name in places}
    work = Work("program", steps.operators, inputs, outputs, updates)
    within = list(operators_within(steps.operators))
    return Plan(
        key=wanted.key,
        compiled=compiled,
        feeds=[r.var for r in steps.feeds],
        reads=[r.var for r in steps.reads],
        writes=list(steps.writes),
        names=set(steps.writes),
        fetches=fetches,
        draws=any(getattr(operator.op, "random", False) for operator in within),
        specializations=Specializations(work, backend, by_value=True),
        plain=_why_plain(steps, backend),
        alone=all(map(_is_ours, within)),
    )


def _why_plain(steps: Steps, backend: str) -> str:
    """Why a program runs as straight-line Python; empty where a backend may do better."""
    if not steps.operators:
        return "it computes nothing"
    late = backend in BACKENDS and BACKENDS[backend].late
    effect = why_in_place(steps.operators, late)
    if effect:
        return effect
    for ref in steps.reads:
        if any(isinstance(d, Dim) for d in ref.var.spec.shape):
            return f"the program does not declare the size of {ref.var.name!r}, which a scope keeps"
    for ref in (*steps.feeds, *steps.reads, *steps.writes.values()):
        if ref.var.is_stack:
            return f"{ref.var.name!r} is what a loop kept of its iterations"
    return ""


def why_in_place(operators: Iterable[Operator], late: bool = False) -> str:
    """Which operator does something besides computing, in its place; empty where none does.

    Parameters
    ----------
    operators : iterable of Operator
    late : bool
        Whether those may be left out of which a backend can say it later.
    """
    for operator in operators_within(operators):
        op = operator.op.pullback.op if isinstance(operator.op, GradOp) else operator.op
        if getattr(op, "effect", False) and not (late and getattr(op, "late", None)):
            return f"{operator.type} at {operator.location} is done for its effect, in its place"
    return ""


def _is_ours(operator: Operator) -> bool:
    """Whether an operator is one of control flow, or of the engine's own table."""
    op = operator.op
    of = op.pullback.op if isinstance(op, GradOp) else op
    return isinstance(of, BlockOp) or (isinstance(of, OpDef) and REGISTRY.get(of.name) is of)


def _whole(block: Block, wanted: Wanted) -> tuple[list[Operator], dict[str, Ref]]:
    """What the fetches and all updates need."""
    latest: dict[str, Ref] = {}
    for operator in block.ops:
        for ref in operator.results:
            if ref.var.persistable:
                latest[ref.var.name] = ref
    return live_operators(block.ops, [*wanted.fetches, *latest.values()]), latest


def _pruned(block: Block, wanted: Wanted) -> tuple[list[Operator], dict[str, Ref]]:
    """What the fetches and the given updates need.

    Running statistics move on where that needs nothing more to be fed, and no other update.
    """
    operators = [o for o in block.ops if not _is_cut(o, wanted.cut)]
    asked = {o.number for o in wanted.operators}
    targets = [r.key for r in wanted.fetches]
    targets += [r.key for o in operators if o.number in asked for r in o.results]
    needed = set(leading_to(operators, set(targets)))
    feeds = _unmade(needed, targets)
    for operator in operators:
        written = [r.key for r in operator.results if r.var.persistable]
        if written and operator.role == "forward" and operator not in needed:
            more = set(leading_to(operators, set(written)))
            updates = any(o.role == "optimize" and o not in needed for o in more)
            if not updates and _unmade(more, written) <= feeds:
                needed |= more
    kept = [o for o in operators if o in needed]
    return kept, {r.var.name: r for o in kept for r in o.results if r.var.persistable}


def _is_cut(operator: Operator, cut: frozenset[str]) -> bool:
    names = [r.var.name for r in operator.results]
    fed = [name for name in names if name in cut]
    if fed and len(fed) < len(names):
        others = ", ".join(repr(name) for name in names if name not in cut)
        raise FeedError(
            f"feed {fed[0]!r} is one of several results of {operator.type} at "
            f"{operator.location}; feed the others too: {others}"
        )
    return bool(fed)


def _unmade(operators: Iterable[Operator], targets: Iterable[Key]) -> set[Key]:
    """What must be fed."""
    made = {r.key for o in operators for r in o.results}
    reads = {
        r.key for o in operators for r in o.operands if isinstance(r, Ref) and not r.var.persistable
    }
    return (reads | set(targets)) - made
