"""One program that a function was traced to, compiled in two halves.

The forward half computes what the function returns, what it writes, and what the backward half
reads. The backward half gives each input its cotangents one by one, in the order in which they
arise, not their sum: the tape adds them to those from elsewhere, to the bits that it would get if
it had recorded every operation.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.core.spec import Spec
from autograd_engine.jit.backward_half import Half
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.strong_zeros import strengthened
from autograd_engine.program.backward.append_backward import gradients
from autograd_engine.program.ir.program import (
    Operator,
    Program,
    Ref,
    Variable,
    program_guard,
)

__all__ = ["Backward", "Halves"]

Key = tuple[str, int]
_ADD_N = REGISTRY["add_n"]


class Backward(NamedTuple):
    """The backward half for some of the outputs.

    Attributes
    ----------
    compiled : Half
        Takes the `saved` values, then the cotangents of `outputs`; returns the `parts`.
    saved : list of Ref
    outputs : tuple of int
        Which results have a cotangent.
    counts : list of int
        How many parts each input has.
    """

    compiled: Half
    saved: list[Ref]
    outputs: tuple[int, ...]
    counts: list[int]


class Halves:
    """A program as two functions of arrays.

    Parameters
    ----------
    program : Program
    inputs : list of Variable
        What it is given: arguments, then captured Tensors.
    results : list of Variable
        What it returns and writes.
    wanted : list of int
        Inputs that want a gradient.
    backend : {"auto", "native", "numpy"}
    """

    def __init__(
        self,
        program: Program,
        inputs: list[Variable],
        results: list[Variable],
        wanted: list[int],
        backend: str = "numpy",
    ) -> None:
        self.program = program
        self.backend = backend
        self.inputs = [Ref(v, 0) for v in inputs]
        self.results = [Ref(v, v.version) for v in results]
        self.wanted = wanted
        self._lock = threading.RLock()
        self._backward: dict[tuple[tuple[int, ...], bool], Backward] = {}
        self.open = self._with_gradient()
        self.forward_operators: list[Operator] = []
        self.saved: list[Ref] = []
        self.as_spec: list[bool] = []
        self.forward = self._compile_forward()

    def _with_gradient(self) -> tuple[int, ...]:
        """Results that some input's gradient flows from."""
        reached = {self.inputs[k].key for k in self.wanted}
        for operator in self.program.global_block().ops:
            if any(isinstance(o, Ref) and o.key in reached for o in operator.operands):
                reached.update(r.key for r in operator.results if not r.var.stop_gradient)
        own = {r.key for r in self.inputs}
        return tuple(
            k
            for k, r in enumerate(self.results)
            if r.key in reached and r.key not in own and r.var.spec.dtype.kind == "f"
        )

    def _compile_forward(self) -> Half:
        """With all that a backward pass from every output reads among what it returns."""
        plain: list[Operator] = []
        if self.open:
            targets, found = self._gradients(self.open, strong=False)
            plain = live_operators(self.program.global_block().ops, self.results)
            self.forward_operators = plain
            first = self._half(self.open, targets, found, None)
            self._backward[self.open, False] = first
            self.saved = first.saved
        else:
            self.forward_operators = live_operators(self.program.global_block().ops, self.results)
        outputs = [*self.results, *self.saved]
        bare = [False] * len(self.results) + self.as_spec
        return Half(
            "forward",
            self.forward_operators,
            self.inputs,
            outputs,
            saved=len(self.results),
            bare=bare,
            backend=self.backend,
        )

    # --- the backward half

    def backward(self, outputs: tuple[int, ...], strong: bool) -> Backward:
        """What takes cotangents of these results to the inputs."""
        with self._lock:
            found = self._backward.get((outputs, strong))
            if found is None:
                targets, gradients_found = self._gradients(outputs, strong)
                available = {r.key for r in self.saved}
                found = self._half(outputs, targets, gradients_found, available)
                self._backward[outputs, strong] = found
            return found

    def _gradients(
        self, outputs: tuple[int, ...], strong: bool
    ) -> tuple[list[Variable], list[Variable | None]]:
        """Append them; (cotangents that are given, gradients of the wanted inputs)."""
        block = self.program.global_block()
        seeds = []
        for k in outputs:
            ref = self.results[k]
            name = f"{ref.var.name}@COTANGENT"
            seed = block.vars.get(name)
            if seed is None:
                seed = Variable(block, name, ref.var.spec, stop_gradient=True, is_data=True)
                block.add_var(seed)
            seeds.append(seed)
        targets = [self.results[k].var for k in outputs]
        inputs = [self.inputs[k].var for k in self.wanted]
        with strengthened(strong), program_guard(self.program):
            return seeds, gradients(targets, inputs, seeds)

    def _half(
        self,
        outputs: tuple[int, ...],
        seeds: list[Variable],
        found: Sequence[Variable | None],
        available: set[Key] | None,
    ) -> Backward:
        """Compile what leads from cotangents and saved values to the parts of gradients."""
        block = self.program.global_block()
        makers = {r.key: o for o in block.ops for r in o.results}
        parts: list[Ref] = []
        counts = []
        for gradient in found:
            mine: list[Ref] = []
            if gradient is not None:
                ref = Ref(gradient, gradient.version)
                maker = makers.get(ref.key)
                mine = [ref]
                if maker is not None and maker.op is _ADD_N:
                    mine = [o for o in maker.operands if isinstance(o, Ref)]
            counts.append(len(mine))
            parts += mine
        given = {(v.name, v.version) for v in seeds}
        if available is None:  # everything that the forward half has computed
            available = {r.key for o in self.forward_operators for r in o.results}
            available |= {r.key for r in self.inputs}
        operators = _between(block.ops, parts, available | given)
        made = {r.key for o in operators for r in o.results}
        saved: dict[Key, Ref] = {}
        values: set[Key] = set()
        asked = [
            (o, operator.op.reads_value(k))
            for operator in operators
            for k, o in enumerate(operator.operands)
            if isinstance(o, Ref)
        ]
        for ref, value in [*asked, *((p, True) for p in parts)]:
            if ref.key not in made and ref.key not in given:
                saved[ref.key] = ref
                if value:
                    values.add(ref.key)
        refs = list(saved.values())
        if not self._backward:
            self.as_spec = [r.key not in values for r in refs]
        inputs = [*refs, *(Ref(v, 0) for v in seeds)]
        compiled = Half("backward", operators, inputs, parts, backend=self.backend)
        return Backward(compiled, refs, outputs, counts)

    def keep(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Saved values; of what is asked for its shape only, that."""
        return tuple(
            [
                Spec(v.shape, v.dtype) if bare and v.__class__ is not Spec else v
                for v, bare in zip(values, self.as_spec, strict=True)
            ]
        )


def _between(
    operators: Sequence[Operator], targets: Sequence[Ref], available: set[Key]
) -> list[Operator]:
    """What computes `targets` from what is `available`."""
    wanted = {r.key for r in targets} - available
    found = []
    for operator in reversed(operators):
        if any(r.key in wanted for r in operator.results):
            found.append(operator)
            wanted.update(
                o.key for o in operator.operands if isinstance(o, Ref) and o.key not in available
            )
    return found[::-1]
