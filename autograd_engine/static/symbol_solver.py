"""Shapes of a program's values in terms of the sizes of what is fed.

A program knows two sizes to be equal where that is provable. Whoever foresees a run takes what a
run would check for granted, so that fewer sizes are unknown: shapes are inferred once more, from
those of the operands, and what that says of symbols of the program is remembered.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from autograd_engine.core.dims import Dim, Size, product
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.program import Operator, Ref
from autograd_engine.static.symbolic_size import Symbols, atoms

__all__ = ["Resolver"]


class Resolver:
    """Shapes of results; what is found out about sizes is noted in `symbols`."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols

    def results(self, operator: Operator, operands: Sequence[Any] | None) -> list[Spec]:
        """Specs of the results, in terms of the sizes of what is fed.

        Parameters
        ----------
        operator : Operator
        operands : sequence or None
            What has the shapes and dtypes of its operands; None where a result has the shape that
            its variable declares, as gradients have.
        """
        declared = [
            Spec(tuple(map(self.symbols.resolved, r.var.spec.shape)), r.var.spec.dtype)
            for r in operator.results
        ]
        op = operator.op
        if operands is None or not isinstance(op, OpDef):
            return declared
        self._meet(op, operands)
        specs = [Spec(tuple(map(self.symbols.resolved, o.shape)), o.dtype) for o in operands]
        for operand, spec in zip(operator.operands, specs, strict=False):
            if isinstance(operand, Ref):
                self._learn(operand.var.spec, spec)
        try:
            inferred = list(op.infer_tuple(specs, operator.attrs))
        except Exception:
            return declared
        inputs = {a for spec in specs for d in spec.shape for a in atoms(d)}
        for k, (ref, spec) in enumerate(zip(operator.results, inferred, strict=False)):
            inferred[k] = self._named(ref.var.spec, spec, inputs, specs)
        return inferred

    def _named(
        self, declared: Spec, inferred: Spec, inputs: set[str], operands: Sequence[Spec]
    ) -> Spec:
        """`inferred`, its new symbols called as those of the program are."""
        if len(declared.shape) != len(inferred.shape):
            return inferred
        shape: list[Size] = []
        for old, new in zip(declared.shape, inferred.shape, strict=True):
            if isinstance(old, Dim) and any(a not in inputs for a in atoms(new)):
                new = self.symbols.resolved(old)
                counts = (product(s.shape) for s in operands)
                largest = max(counts, key=self.symbols.magnitude, default=0)
                for a in atoms(new):
                    if a not in inputs and a not in self.symbols.names:
                        self.symbols.names[a] = f"n{a.lstrip('?')}"
                        self.symbols.most[a] = largest
            shape.append(new)
        spec = Spec(tuple(shape), inferred.dtype)
        self._learn(declared, spec)
        return spec

    def _meet(self, op: OpDef, operands: Sequence[Any]) -> None:
        """Sizes that are the same number are one, where an operation needs that or a 1."""
        if op.broadcasts != 0:
            return
        number = self.symbols.magnitude
        for sizes in zip_longest(*(reversed(o.shape) for o in operands)):
            dims = dict.fromkeys(self.symbols.resolved(d) for d in sizes if isinstance(d, Dim))
            for one, other in itertools.combinations(dims, 2):
                if number(one) == number(other) and not self._is_one(one, other):
                    self._is_one(other, one)

    def _is_one(self, size: Size, other: Size) -> bool:
        """Put `other` in the place of a size that is a symbol; whether it is."""
        symbols, name = self.symbols, repr(size)
        if atoms(size) != [name] or name in atoms(other) or name in symbols.equal:
            return False
        symbols.taken_equal.append((symbols.text(size), symbols.text(other)))
        symbols.equal[name] = other
        symbols.equal = {a: symbols.resolved(s) for a, s in symbols.equal.items()}
        return True

    def _learn(self, declared: Spec, found: Spec) -> None:
        """Sizes that the program does not know to be equal, and a run does."""
        if len(declared.shape) != len(found.shape):
            return
        for old, new in zip(declared.shape, found.shape, strict=True):
            if not isinstance(old, Dim) or old == new or len(old.terms) != 1:
                continue
            ((mono, c),) = old.terms.items()
            if c != 1 or len(mono) != 1 or mono[0] in self.symbols.equal:
                continue
            if mono[0] not in atoms(new):
                self.symbols.equal[mono[0]] = new
