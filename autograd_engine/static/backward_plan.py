"""Planning the backward half of a program.

The walk goes through the operators in reverse and makes one gradient operator for each that lies
between a target and something wanted. It is planned in full before anything is appended, and a
failure leaves the program as it was.

What exists is not made again: every gradient is remembered under what it computes, that is the
rule, the operands it reads in their versions, and the attributes. Asking again for a gradient
that the program already holds returns it and appends nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeAlias

from autograd_engine.dims import Dim
from autograd_engine.pullback import Pullback
from autograd_engine.registry import REGISTRY, OpDef
from autograd_engine.source import Location
from autograd_engine.static.builder import spec_of
from autograd_engine.static.gradop import GradOp
from autograd_engine.static.opdesc import OpDesc
from autograd_engine.static.program import (
    Block,
    Literal,
    OperandRef,
    Operator,
    Ref,
    Variable,
)
from autograd_engine.strong_zeros import zeros_are_strong

__all__ = ["BackwardPlan", "Callback", "keys_of", "needed_keys"]

Callback: TypeAlias = Callable[..., Any]
Key: TypeAlias = tuple[str, int]
_ADD_N = REGISTRY["add_n"]
_FULL = REGISTRY["full"]
_FULL_LIKE = REGISTRY["full_like"]
_SAME_SHAPE = REGISTRY["same_shape"]


class BackwardPlan:
    """Gradient operators for `targets`, made but not yet appended.

    Parameters
    ----------
    block : Block
    seeds : list of (Ref, Variable or None)
        Targets with the cotangents that start there; None stands for ones.
    wanted : iterable of Variable
        What gradients are asked for.
    no_grad : set of str
        Names at which gradients stop.
    """

    def __init__(
        self,
        block: Block,
        seeds: Sequence[tuple[Ref, Variable | None]],
        wanted: Iterable[Variable],
        no_grad: set[str],
        location: Location,
        *,
        seed_by_shape: bool,
    ) -> None:
        self.block = block
        self.no_grad = no_grad
        self.location = location
        self.seed_by_shape = seed_by_shape
        self.wanted = keys_of(wanted, no_grad)
        self.seed_operators: list[Operator] = []
        self.operators: list[Operator] = []
        self.emitted: dict[Hashable, Variable] = {}
        self.variables: dict[str, Variable] = {}
        self.gradient: dict[Key, Variable] = {}
        self.names: dict[Key, str] = {}
        self._taken: set[str] = set()
        self._parts: dict[Key, list[Variable]] = {}
        self._numbered: Counter[Key] = Counter()
        self._needed = needed_keys(block, self.wanted, no_grad)
        seeds = [(ref, given) for ref, given in seeds if ref.key in self._needed]
        self._expected = self._count_contributions(seeds)
        for ref, given in seeds:
            self._arrive(ref, self._seed(ref) if given is None else self._checked(ref, given))
        for operator in reversed(block.ops):
            self._cross(operator)

    def _count_contributions(self, seeds: Sequence[tuple[Ref, Any]]) -> Counter[Key]:
        """How many cotangents will arrive at each variable: a sum is due when all have."""
        expected: Counter[Key] = Counter(ref.key for ref, _ in seeds)
        for operator in reversed(self.block.ops):
            if any(r.key in expected for r in operator.results):
                for _, ref in self._wanted_operands(operator):
                    expected[ref.key] += 1
        return expected

    def _wanted_operands(self, operator: Operator) -> list[tuple[int, Ref]]:
        op = operator.op
        if not isinstance(op, OpDef):
            return []
        return [
            (k, ref)
            for k, ref in enumerate(operator.operands)
            if isinstance(ref, Ref) and ref.key in self._needed and op.rule_at(k) is not None
        ]

    def _cross(self, operator: Operator) -> None:
        """Make the gradient operator of one forward operator, where cotangents arrive at it."""
        cotangents = [self.gradient.get(r.key) for r in operator.results]
        if all(c is None for c in cotangents):
            return
        keys: dict[int, Hashable] = {}
        missing = []
        wanted = self._wanted_operands(operator)
        project = self.projected(operator)
        computed: dict[tuple[int, int], Hashable] = {}
        for k, ref in wanted:
            # The operands of a variadic input have one rule, which reads the same for each.
            kind = min(k, len(operator.op.inputs) - 1), project >> k & 1
            if kind not in computed:
                computed[kind] = self._computed(operator, *kind, cotangents)
            keys[k] = k, computed[kind]
            if self._existing(keys[k]) is None:
                missing.append((k, ref))
        if missing:
            made = self._gradient_operator(operator, missing, cotangents)
            for (k, _), var in zip(missing, made, strict=True):
                self.emitted[keys[k]] = var
        for k, ref in wanted:
            found = self._existing(keys[k])
            assert found is not None
            self._arrive(ref, found)

    def _computed(
        self,
        operator: Operator,
        position: int,
        projected: int,
        cotangents: Sequence[Variable | None],
    ) -> int:
        """What the gradient at an operand computes, as a number that the block keeps for it."""
        op = operator.op
        assert isinstance(op, OpDef)
        pullback = self._strong(op.pullback(1 << position, projected << position))
        reads = tuple(
            r.key if isinstance(r, Ref) else freeze(r)
            for r in self.saved_operands(operator, pullback.saved)
        )
        grads = tuple(None if c is None else (c.name, c.version) for c in cotangents)
        key = op, pullback.strong, position, reads, grads, freeze(operator.attrs)
        # Of an operation with many operands the key is as long as they are, and each asks for it.
        emitted = self.block.emitted
        number: int = emitted.setdefault(key, len(emitted))
        return number

    def _strong(self, pullback: Pullback) -> Pullback:
        return pullback.strengthened() if zeros_are_strong() else pullback

    def _existing(self, key: Hashable) -> Variable | None:
        found = self.emitted.get(key)
        return self.block.emitted.get(key) if found is None else found

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
        out: list[OperandRef] = []
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
    ) -> list[Variable]:
        op = operator.op
        assert isinstance(op, OpDef)
        mask = sum(1 << k for k, _ in wanted)
        pullback = self._strong(op.pullback(mask, self.projected(operator)))
        counts = self.counts(operator)
        operands = self.saved_operands(operator, pullback.saved)
        operands += [None if c is None else Ref(c, c.version) for c in cotangents]
        made = [self._contribution(ref) for _, ref in wanted]
        self.operators.append(
            Operator(
                self.block,
                GradOp.of(pullback, counts),
                tuple(operands),
                tuple(Ref(v, 0) for v in made),
                operator.attrs,
                operator.location,
                "backward",
            )
        )
        return made

    def _contribution(self, ref: Ref) -> Variable:
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
        while candidate in self.block.vars or candidate in self._taken:
            repeats += 1
            candidate = "grad/" * repeats + f"{key[0]}@GRAD"
        self.names[key] = candidate
        self._taken.add(candidate)
        return candidate

    def _variable(self, name: str, like: Ref) -> Variable:
        var = Variable(self.block, name, like.var.spec)
        self.variables[name] = var
        return var

    def _arrive(self, ref: Ref, contribution: Variable) -> None:
        """Take one cotangent of `ref`; with the last, its gradient is there."""
        key = ref.key
        parts = self._parts.setdefault(key, [])
        parts.append(contribution)
        if len(parts) < self._expected[key]:
            return
        self.gradient[key] = parts[0] if len(parts) == 1 else self._sum(ref, parts)

    def _sum(self, ref: Ref, parts: list[Variable]) -> Variable:
        operands = tuple(Ref(p, p.version) for p in parts)
        key = ("add_n", tuple(o.key for o in operands))
        found = self._existing(key)
        if found is None:
            found = self._variable(self._gradient_name(ref.key), ref)
            self._append(self.operators, _ADD_N, operands, found, {})
            self.emitted[key] = found
        return found

    def _seed(self, ref: Ref) -> Variable:
        """Ones of the target's shape."""
        key = ("seed", ref.key, self.seed_by_shape)
        found = self._existing(key)
        if found is not None:
            return found
        spec = ref.var.spec
        found = self.emitted[key] = self._contribution(ref)
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
            found = self.emitted[key] = self._contribution(ref)
            attrs = {"names": (given.name, ref.var.name)}
            self._append(self.seed_operators, _SAME_SHAPE, (operand, ref), found, attrs)
        return found

    def _append(
        self,
        operators: list[Operator],
        op: OpDef,
        operands: tuple[OperandRef, ...],
        result: Variable,
        attrs: dict[str, Any],
    ) -> None:
        operators.append(
            Operator(self.block, op, operands, (Ref(result, 0),), attrs, self.location, "backward")
        )

    def commit(self, callbacks: Sequence[Callback] = ()) -> None:
        """Append what was planned; `callbacks` run after each gradient operator."""
        block = self.block
        context: dict[str, Any] = {
            v.name: name for (name, _), v in self.gradient.items() if v.name in self.variables
        }
        block.emitted.update(self.emitted)
        for operator in self.seed_operators:
            self._commit(operator)
        for operator in self.operators:
            self._commit(operator)
            context["__current_op_desc__"] = OpDesc(operator)
            for callback in callbacks:
                callback(block=block, context=context)

    def _commit(self, operator: Operator) -> None:
        for ref in operator.results:
            if ref.var.name not in self.block.vars:
                self.block.add_var(ref.var)
        self.block.append(operator)


def keys_of(variables: Iterable[Variable], no_grad: set[str]) -> set[Key]:
    """Every version of the variables at which no gradient is cut."""
    return {
        (v.name, version)
        for v in variables
        if v.name not in no_grad
        for version in range(v.version + 1)
    }


def needed_keys(block: Block, wanted: set[Key], no_grad: set[str]) -> set[Key]:
    """Everything that a wanted variable influences along rules, as far as nothing cuts it."""
    needed = set(wanted)
    for operator in block.ops:
        op = operator.op
        for k, ref in enumerate(operator.operands):
            if (
                isinstance(ref, Ref)
                and ref.key in needed
                and (op.rule_at(k) is not None if isinstance(op, OpDef) else op.reads_value(k))
            ):
                break
        else:
            continue
        for k, result in enumerate(operator.results):
            if (
                not result.var.stop_gradient
                and result.var.name not in no_grad
                and not (isinstance(op, OpDef) and op.output_at(k) in op.nondiff_outputs)
            ):
                needed.add(result.key)
    return needed


def freeze(value: Any) -> Hashable:
    """An attribute as something that can be hashed."""
    if isinstance(value, dict):
        return tuple((k, freeze(v)) for k, v in sorted(value.items()))
    if isinstance(value, Literal):
        return freeze(value.value), value.dtype
    if isinstance(value, (list, tuple)):
        return tuple(map(freeze, value))
    if isinstance(value, slice):
        return "slice", value.start, value.stop, value.step
    if isinstance(value, float):
        return "float", repr(value)  # 0.0 and -0.0 differ, NaN equals itself
    return value if isinstance(value, Hashable) else id(value)
