"""Planning the backward half of a program.

The walk goes through the operators in reverse and makes one gradient operator for each that lies
between a target and something wanted. It is planned in full before anything is appended, and a
failure leaves the program as it was.

What exists is not made again: every gradient is remembered under what it computes, that is the
rule, the operands it reads in their versions, and the attributes. Asking again for a gradient
that the program already holds returns it and appends nothing.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from autograd_engine.core.dims import Dim
from autograd_engine.core.locations import Location
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.ops.registry.strong_zeros import zeros_are_strong
from autograd_engine.program.backward.dataflow import (
    arrivals,
    keys_of,
    needed_keys,
    wanted_operands,
)
from autograd_engine.program.builder import spec_of
from autograd_engine.program.control_flow.block_gradient import Incoming
from autograd_engine.program.control_flow.gradient import gradient_operator, own_values
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.op_desc import OpDesc
from autograd_engine.program.ir.op_role import pass_on
from autograd_engine.program.ir.program import (
    Block,
    Literal,
    OperandRef,
    Operator,
    Ref,
    Variable,
)

__all__ = ["BackwardPlan", "Callback", "keys_of", "needed_keys"]

Callback: TypeAlias = Callable[..., Any]
Key: TypeAlias = tuple[str, int]
_ADD_N = REGISTRY["add_n"]
_FULL = REGISTRY["full"]
_FULL_LIKE = REGISTRY["full_like"]
_SAME_SHAPE = REGISTRY["same_shape"]
_UNLESS_HOLLOW = REGISTRY["unless_hollow"]


class BackwardPlan:
    """Gradient operators for `targets`, made but not yet appended.

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

    Attributes
    ----------
    contexts : dict of Block to dict
        What callbacks are told of the blocks inside the operators.
    """

    def __init__(
        self,
        block: Block,
        seeds: Sequence[tuple[Ref, Variable | Incoming | None]],
        wanted: set[Key],
        no_grad: set[str],
        location: Location,
        *,
        seed_by_shape: bool,
        into: Block | None = None,
    ) -> None:
        self.block = block
        self.into = block if into is None else into
        self.no_grad = no_grad
        self.location = location
        self.seed_by_shape = seed_by_shape
        self.wanted = wanted
        self.seed_operators: list[Operator] = []
        self.operators: list[Operator] = []
        self.emitted: dict[Hashable, Variable] = {}
        self.variables: dict[str, Variable] = {}
        self.gradient: dict[Key, Variable] = {}
        self.names: dict[Key, str] = {}
        self._taken: set[str] = set()
        self._parts: dict[Key, list[Variable]] = {}
        self._numbered: Counter[Key] = Counter()
        # What has a cotangent that is more than a zero for a branch that did not run.
        self._sure: set[Key] = set()
        self.contexts: dict[Block, dict[str, Any]] = {}
        self._needed = needed_keys(block, wanted, no_grad)
        seeds = [(ref, given) for ref, given in seeds if ref.key in self._needed]
        self._crossed: dict[int, list[tuple[int, Ref]]] = {}
        self._made_of: dict[Hashable, tuple[Pullback, GradOp]] = {}
        self._expected = arrivals(
            block, (ref.key for ref, _ in seeds), self._needed, no_grad, self._crossed
        )
        for ref, given in seeds:
            if isinstance(given, Incoming):
                given.var = self.contribution(ref)
                self._arrive(ref, given.var, given.sure)
            else:
                self._arrive(ref, self._seed(ref) if given is None else self._checked(ref, given))
        for operator in reversed(block.ops):
            self._cross(operator)

    def _cross(self, operator: Operator) -> None:
        """Make the gradient operator of one forward operator, where cotangents arrive at it."""
        cotangents = [self.gradient.get(r.key) for r in operator.results]
        reached = {k for k, c in enumerate(cotangents) if c is not None}
        if not reached:
            return
        wanted = self._crossed.pop(operator.number, None)
        if wanted is None:
            wanted = wanted_operands(operator, reached, self._needed, self.no_grad)
        sure = not self._sure.isdisjoint([operator.results[k].key for k in reached])
        if isinstance(operator.op, BlockOp):
            self._cross_blocks(operator, operator.op, wanted, cotangents, sure)
            return
        keys: dict[int, Hashable] = {}
        there: dict[int, Variable] = {}
        missing = []
        project = self.projected(operator)
        computed: dict[tuple[int, int], Hashable] = {}
        grads = tuple([None if c is None else (c.name, c.version) for c in cotangents])
        given = grads, freeze(operator.attrs)
        for k, ref in wanted:
            # The operands of a variadic input have one rule, which reads the same for each.
            kind = min(k, len(operator.op.inputs) - 1), project >> k & 1
            if kind not in computed:
                computed[kind] = self._computed(operator, *kind, given, sure)
            keys[k] = k, computed[kind]
            found = self._existing(keys[k])
            if found is None:
                missing.append((k, ref))
            else:
                there[k] = found
        if missing:
            made = self._gradient_operator(operator, missing, cotangents, sure, project)
            for (k, _), var in zip(missing, made, strict=True):
                self.emitted[keys[k]] = there[k] = var
        sure &= operator.op is not _UNLESS_HOLLOW  # whose cotangent is hollow where its result is
        for k, ref in wanted:
            self._arrive(ref, there[k], sure)

    def _cross_blocks(
        self,
        operator: Operator,
        op: BlockOp,
        wanted: list[tuple[int, Ref]],
        cotangents: Sequence[Variable | None],
        sure: bool,
    ) -> None:
        """Make the gradient of a branch or loop; see `block_gradient`."""
        if op.kind == "add_stacks":
            assert cotangents[0] is not None
            for _, ref in wanted:
                self._arrive(ref, cotangents[0], sure)
            return
        # What goes in as a value of its own has a cotangent that is complete, and comes last. The
        # tape goes through what goes in, and what comes out, from the last to the first.
        last_in = own_values(operator)
        wanted.sort(key=lambda pair: (pair[0] < last_in, -pair[0]))
        priors: dict[int, Variable] = {}
        for k, ref in wanted:
            prior = self._fold(ref) if k >= last_in else None
            if prior is not None:
                priors[k] = prior
        grads = tuple((k, c.name, c.version) for k, c in enumerate(cotangents) if c is not None)
        made_by = "blocks", operator.results[0].key, grads
        keys: dict[int, Hashable] = {
            k: (*made_by, k, priors[k].name if k in priors else None) for k, _ in wanted
        }
        missing = [(k, ref) for k, ref in wanted if self._existing(keys[k]) is None]
        always = {k for k, _ in wanted}
        if missing:
            own = {k: v for k, v in priors.items() if any(k == m for m, _ in missing)}
            made, always = gradient_operator(self, operator, missing, cotangents, own)
            pass_on(operator, self.operators[-1:])
            for (k, _), var in zip(missing, made, strict=True):
                self.emitted[keys[k]] = var
        for k, ref in wanted:
            found = self._existing(keys[k])
            assert found is not None
            self._arrive(ref, found, sure and k in always)

    def _fold(self, ref: Ref) -> Variable | None:
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

    def filled(self, like: Ref, value: float) -> Variable:
        """A cotangent of `like` that stands for none."""
        key = ("filled", like.key, repr(value))
        found = self._existing(key)
        if found is None:
            found = self.emitted[key] = self.spare(like)
            kind = "fill_stack" if like.var.is_stack else "hollow"
            self._append(self.operators, BlockOp.of(kind), (like,), found, {"value": value})
        return found

    def spare(self, like: Ref) -> Variable:
        """A variable for a cotangent of `like` that is not, or not yet, its gradient."""
        name, n = f"{like.var.name}@GRAD@START", 0
        while name in self.into.vars or name in self._taken:
            n += 1
            name = f"{like.var.name}@GRAD@START_{n}"
        self._taken.add(name)
        return self._variable(name, like)

    def _computed(
        self,
        operator: Operator,
        position: int,
        projected: int,
        given: Hashable,
        sure: bool,
    ) -> int:
        """What the gradient at an operand computes, as a number that the block keeps for it."""
        op = operator.op
        assert isinstance(op, OpDef)
        pullback = self._strong(op.pullback(1 << position, projected << position), sure)
        saved = self.saved_operands(operator, pullback.saved)
        reads = tuple([r.key if isinstance(r, Ref) else freeze(r) for r in saved])
        key = op, pullback.strong, position, reads, given
        # Of an operation with many operands the key is as long as they are, and each asks for it.
        emitted = self.into.emitted
        number: int = emitted.setdefault(key, len(emitted))
        return number

    def _strong(self, pullback: Pullback, sure: bool) -> Pullback:
        if zeros_are_strong():
            return pullback.strengthened()
        # Behind a branch that did not run, all cotangents are zeros, and have to stay so.
        return pullback if sure else pullback.guarded()

    def _existing(self, key: Hashable) -> Variable | None:
        found = self.emitted.get(key)
        return self.into.emitted.get(key) if found is None else found

    @staticmethod
    def projected(operator: Operator) -> int:
        """Bits of the operands whose cotangents are to be summed over broadcast axes."""
        op = operator.op
        assert isinstance(op, OpDef)
        shapes = [spec_of(r).shape for r in operator.operands if r is not None]
        return op.projected(shapes, operator.results[0].var.spec.shape)

    @staticmethod
    def counts(operator: Operator) -> dict[str, int]:
        """How many operands (or results) each variadic name stands for."""
        op = operator.op
        assert isinstance(op, OpDef)
        counts = {}
        if op.variadic:
            counts[op.inputs[-1]] = len(operator.operands) - len(op.inputs) + 1
        if op.variadic_output:
            counts[op.outputs[0]] = len(operator.results)
        return counts

    @staticmethod
    def saved_operands(operator: Operator, saved: tuple[str, ...]) -> list[OperandRef]:
        """The operands and results that the names in `saved` stand for, flat."""
        op = operator.op
        assert isinstance(op, OpDef)
        out: list[OperandRef] = []
        if not op.variadic and not op.variadic_output:
            operands, results = operator.operands, operator.results
            return [operands[k] if k >= 0 else results[~k] for k in _places(op, saved)]
        for name in saved:
            base = name if name in (*op.inputs, *op.outputs) else name.removesuffix("_like")
            if base in op.inputs:
                out += [r for k, r in enumerate(operator.operands) if op.input_at(k) == base]
            else:
                out += [r for k, r in enumerate(operator.results) if op.output_at(k) == base]
        return out

    def _gradient_operator(
        self,
        operator: Operator,
        wanted: Sequence[tuple[int, Ref]],
        cotangents: Sequence[Variable | None],
        sure: bool,
        project: int,
    ) -> list[Variable]:
        op = operator.op
        assert isinstance(op, OpDef)
        positions = tuple([k for k, _ in wanted])
        kind = op, positions, project, sure, len(operator.operands), len(cotangents)
        known = self._made_of.get(kind)
        if known is None:
            pullback = self._strong(op.pullback(sum(1 << k for k in positions), project), sure)
            known = pullback, GradOp.of(pullback, self.counts(operator))
            self._made_of[kind] = known
        pullback, gradop = known
        operands = self.saved_operands(operator, pullback.saved)
        operands += [None if c is None else Ref(c, c.version) for c in cotangents]
        made = [self.contribution(ref) for _, ref in wanted]
        self.operators.append(
            Operator(
                self.into,
                gradop,
                tuple(operands),
                tuple([Ref(v, 0) for v in made]),
                operator.attrs,
                operator.location,
                "backward",
            )
        )
        pass_on(operator, self.operators[-1:])
        return made

    def contribution(self, ref: Ref) -> Variable:
        """A variable for one cotangent of `ref`: its gradient, or one part of a sum."""
        key = ref.key
        name = self._gradient_name(key)
        if self._expected[key] > 1:
            name = f"{name}@RENAME@block{self.block.idx}@{self._numbered[key]}"
            self._numbered[key] += 1
        return self._variable(name, ref)

    def _gradient_name(self, key: Key) -> str:
        """``<name>@GRAD``, or with ``grad/`` before it as often as it takes to be unused."""
        known = self.names.get(key)
        if known is not None:
            return known
        candidate, repeats = f"{key[0]}@GRAD", 1
        # A variable of several versions has as many gradients in one plan.
        while candidate in self.into.vars or candidate in self._taken:
            repeats += 1
            candidate = "grad/" * repeats + f"{key[0]}@GRAD"
        self.names[key] = candidate
        self._taken.add(candidate)
        return candidate

    def _variable(self, name: str, like: Ref) -> Variable:
        var = Variable(self.into, name, like.var.spec)
        var.is_stack = like.var.is_stack
        self.variables[name] = var
        return var

    def _arrive(self, ref: Ref, contribution: Variable, sure: bool = True) -> None:
        """Take one cotangent of `ref`; with the last, its gradient is there."""
        key = ref.key
        if sure:
            self._sure.add(key)
        parts = self._parts.setdefault(key, [])
        parts.append(contribution)
        if len(parts) < self._expected[key]:
            return
        self.gradient[key] = parts[0] if len(parts) == 1 else self._sum(ref, parts)

    def _sum(self, ref: Ref, parts: list[Variable], *, whole: bool = True) -> Variable:
        operands = tuple(Ref(p, p.version) for p in parts)
        key = ("add_n", tuple(o.key for o in operands))
        found = self._existing(key)
        if found is None:
            name = self._gradient_name(ref.key)
            found = self._variable(name, ref) if whole else self.contribution(ref)
            op = BlockOp.of("add_stacks") if ref.var.is_stack else _ADD_N
            self._append(self.operators, op, operands, found, {})
            self.emitted[key] = found
        return found

    def _seed(self, ref: Ref) -> Variable:
        """Ones of the target's shape."""
        key = ("seed", ref.key, self.seed_by_shape)
        found = self._existing(key)
        if found is not None:
            return found
        spec = ref.var.spec
        found = self.emitted[key] = self.contribution(ref)
        if self.seed_by_shape and not any(isinstance(d, Dim) for d in spec.shape):
            attrs = {"shape": spec.shape, "value": 1.0, "dtype": spec.dtype.name}
            self._append(self.seed_operators, _FULL, (), found, attrs)
        else:
            attrs = {"value": 1.0, "dtype": None}
            self._append(self.seed_operators, _FULL_LIKE, (ref,), found, attrs)
        return found

    def _checked(self, ref: Ref, given: Variable) -> Variable:
        """A cotangent of the target's shape: a run checks what cannot be proved."""
        if given.spec.shape == ref.var.spec.shape:
            return given
        operand = Ref(given, given.version)
        key = ("same_shape", operand.key, ref.key)
        found = self._existing(key)
        if found is None:
            found = self.emitted[key] = self.contribution(ref)
            attrs = {"names": (given.name, ref.var.name)}
            self._append(self.seed_operators, _SAME_SHAPE, (operand, ref), found, attrs)
        return found

    def _append(
        self,
        operators: list[Operator],
        op: OpDef | BlockOp,
        operands: tuple[OperandRef, ...],
        result: Variable,
        attrs: dict[str, Any],
    ) -> None:
        operators.append(
            Operator(self.into, op, operands, (Ref(result, 0),), attrs, self.location, "backward")
        )

    def context(self) -> dict[str, Any]:
        """Names of gradients, and of what they are gradients of."""
        return {v.name: name for (name, _), v in self.gradient.items()}

    def commit(self, callbacks: Sequence[Callback] = ()) -> None:
        """Append what was planned; `callbacks` run after each gradient operator."""
        block = self.block
        context = self.context()
        block.emitted.update(self.emitted)
        for operator in self.seed_operators:
            self._commit(operator)
        for operator in self.operators:
            self._commit(operator)
            if callbacks:
                self._call_inside(operator, callbacks)
                _call(callbacks, block, context, operator)

    def _call_inside(self, operator: Operator, callbacks: Sequence[Callback]) -> None:
        for block in inner_blocks(operator):
            for inner in block.ops:
                self._call_inside(inner, callbacks)
                _call(callbacks, block, self.contexts.get(block, {}), inner)

    def _commit(self, operator: Operator) -> None:
        for ref in operator.results:
            if ref.var.name not in self.block.vars:
                self.block.add_var(ref.var)
        self.block.append(operator)


def _call(
    callbacks: Sequence[Callback], block: Block, context: dict[str, Any], operator: Operator
) -> None:
    context["__current_op_desc__"] = OpDesc(operator)
    for callback in callbacks:
        callback(block=block, context=context)


@functools.cache
def _places(op: OpDef, saved: tuple[str, ...]) -> tuple[int, ...]:
    """Where the names in `saved` stand among the operands; among the results, counted from -1."""
    known = {name: k for k, name in enumerate(op.inputs)}
    known |= {name: ~k for k, name in enumerate(op.outputs) if name not in known}
    return tuple(known[n] if n in known else known[n.removesuffix("_like")] for n in saved)


def freeze(value: Any) -> Hashable:
    """An attribute as something that can be hashed."""
    if isinstance(value, dict):
        return tuple((k, freeze(v)) for k, v in sorted(value.items())) if value else ()
    if isinstance(value, Literal):
        return freeze(value.value), value.dtype
    if isinstance(value, (list, tuple)):
        return tuple(map(freeze, value))
    if isinstance(value, slice):
        return "slice", value.start, value.stop, value.step
    if isinstance(value, float):
        return "float", repr(value)  # 0.0 and -0.0 differ, NaN equals itself
    return value if isinstance(value, Hashable) else id(value)
