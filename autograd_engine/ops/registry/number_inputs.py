"""Operations whose attributes are known when they run: sizes, positions, probabilities.

``reshape(x, shape=(n, 4))`` with an `n` that the program computes is an operator of another
operation than ``reshape(x, shape=(2, 4))``: it has one more input, ``number_0``, and in the
attribute stands that it is to be found there. Kernel, inference and rules are those of the
operation itself, which are called with the number in its place.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from autograd_engine.core.checks import as_number
from autograd_engine.core.dims import Dim, SymbolicNumber, fresh_dim
from autograd_engine.core.spec import Spec, format_shape, known_value
from autograd_engine.errors import ShapeError
from autograd_engine.ops.registry.opdef import NONDIFF, OpDef, Rule

__all__ = [
    "NumberInput",
    "NumberInputOp",
    "filled",
    "holds_symbolic",
    "lifted",
    "operation_of",
    "positions",
    "taken_out",
]


@dataclass(frozen=True, slots=True)
class NumberInput:
    """What stands in an attribute: the number is that of the input ``number_<position>``."""

    position: int


def _mapped(value: Any, number: Callable[[Any], Any]) -> Any:
    """An attribute with `number` of each of its parts."""
    if value.__class__ is tuple or value.__class__ is list:
        return value.__class__([_mapped(v, number) for v in value])
    if value.__class__ is builtins.slice:
        parts = (value.start, value.stop, value.step)
        return builtins.slice(*[_mapped(v, number) for v in parts])
    return number(value)


def filled(attrs: dict[str, Any], numbers: Sequence[Any]) -> dict[str, Any]:
    """Attributes with these numbers in the places that say so."""

    def number(value: Any) -> Any:
        return numbers[value.position] if value.__class__ is NumberInput else value

    return {name: _mapped(value, number) for name, value in attrs.items()}


class NumberInputOp(OpDef):
    """An operation with numbers of its attributes as inputs.

    They come behind all other inputs, but for a variadic one.

    Attributes
    ----------
    base : OpDef
    count : int
    """

    def __init__(self, base: OpDef, count: int) -> None:
        self.__dict__.update(base.__dict__)
        self.base, self.count = base, count
        first = self._first = len(base.inputs) - base.variadic
        self._names = tuple([f"number_{k}" for k in range(count)])
        self.inputs = (*base.inputs[:first], *self._names, *base.inputs[first:])
        self.untyped = base.untyped | {*self._names}
        self.kernel = self.direct = self._kernel
        self.infer = self._infer
        self.write = self.place = self.record_places = None
        # The operation that a tangent would be put through has other inputs.
        self.tangent = None
        self.bound, self._pullbacks = {}, {}
        self.rules = {}
        for name, rule in base.rules.items():
            self.rules[name] = self._rule(rule) if isinstance(rule, Rule) else rule
        self.rules.update(dict.fromkeys(self._names, NONDIFF))

    @classmethod
    def of(cls, base: OpDef, count: int) -> NumberInputOp:
        """The one operation of this kind."""
        made: dict[int, NumberInputOp] = vars(base).setdefault("taking_numbers", {})
        found = made.get(count)
        if found is None:
            found = made[count] = cls(base, count)
        return found

    def numbers(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Those of the operands that are numbers."""
        return operands[self._first : self._first + self.count]

    def others(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Those that are not."""
        return (*operands[: self._first], *operands[self._first + self.count :])

    def plain(self, operands: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The operands and attributes that `base` takes for these."""
        numbers = [as_number(v) for v in self.numbers(operands)]
        return self.others(operands), filled(attrs, numbers)

    def _kernel(self, *operands: Any, **attrs: Any) -> Any:
        others, filled_in = self.plain(operands, attrs)
        self._check(others, filled_in)
        return self.base.kernel(*others, **filled_in)

    def _check(self, operands: Sequence[Any], attrs: dict[str, Any]) -> None:
        """What public functions, and inference, see of a number while a program is built."""
        inferred = self.base.infer_tuple([Spec(x.shape, x.dtype) for x in operands], attrs)
        for spec in inferred:
            if any(d < 0 for d in spec.shape if not isinstance(d, Dim)):
                taken = ", ".join(f"{k}={v!r:.60}" for k, v in attrs.items())
                raise ShapeError(
                    f"{self.name}: no array has the shape {format_shape(spec.shape)}, which "
                    f"follows from {taken}; a size is 0 or more"
                )

    def _infer(self, *specs: Spec, **attrs: Any) -> Any:
        return self.base.infer(*self.others(specs), **self.symbolic_attrs(specs, attrs))

    def symbolic_attrs(self, specs: Sequence[Spec], attrs: dict[str, Any]) -> dict[str, Any]:
        """The attributes with sizes for the numbers that these Specs are of."""
        values = [known_value(spec) for spec in self.numbers(specs)]
        return filled(attrs, [fresh_dim() if v is None else v.item() for v in values])

    def _rule(self, rule: Rule) -> Rule:
        """`rule`, which is given the numbers, too, if it looks at attributes."""
        if not rule.attrs:
            return rule
        base, count = rule.fn, self.count

        def fn(xp: Any, *given: Any, **attrs: Any) -> Any:
            numbers = [as_number(v) for v in given[-count:]]
            return base(xp, *given[:-count], **filled(attrs, numbers))

        made = object.__new__(Rule)
        for name in Rule.__slots__:
            setattr(made, name, getattr(rule, name))
        made.fn, made.saves = fn, (*rule.saves, *self._names)
        return made


def positions(attrs: dict[str, Any]) -> set[int]:
    """Which number inputs attributes name."""
    found: set[int] = set()

    def note(value: Any) -> None:
        if value.__class__ is NumberInput:
            found.add(value.position)

    for value in attrs.values():
        _mapped(value, note)
    return found


def operation_of(op: Any) -> Any:
    """The operation of the table that `op` is, whatever numbers it takes as inputs."""
    return op.base if isinstance(op, NumberInputOp) else op


def holds_symbolic(values: Iterable[Any]) -> bool:
    """Whether there is a symbolic number among attributes or operands."""
    for value in values:
        if isinstance(value, SymbolicNumber):
            return True
        if value.__class__ is tuple or value.__class__ is list:
            if holds_symbolic(value):
                return True
        elif value.__class__ is builtins.slice and holds_symbolic(
            (value.start, value.stop, value.step)
        ):
            return True
    return False


def lifted(
    op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> tuple[OpDef, Sequence[Any], dict[str, Any]]:
    """A call with the symbolic numbers of its attributes among the operands."""
    found: list[SymbolicNumber] = []
    changed = taken_out(attrs, found)
    if not found:
        return op, operands, attrs
    made = NumberInputOp.of(op, len(found))
    first = len(op.inputs) - op.variadic
    return made, (*operands[:first], *found, *operands[first:]), changed


def taken_out(attrs: dict[str, Any], found: list[SymbolicNumber]) -> dict[str, Any]:
    """Attributes that say where in `found` their symbolic numbers are, which are added there."""

    def position(number: Any) -> Any:
        if not isinstance(number, SymbolicNumber):
            return number
        for k, known in enumerate(found):
            if known is number or (number.dim is not None and known.dim == number.dim):
                return NumberInput(k)
        found.append(number)
        return NumberInput(len(found) - 1)

    return {name: _mapped(value, position) for name, value in attrs.items()}
