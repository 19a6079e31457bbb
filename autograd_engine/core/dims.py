"""Symbolic dimensions: the unknown sizes of a static program.

Each ``None`` of ``static.data(shape=...)`` is a symbol of its own. Sizes computed from it are
polynomials in the symbols with integer coefficients, kept in a normal form, so that two sizes
which are provably equal are equal objects: ``(B + 1) * 3 == 3 * B + 3``. A quotient that does
not divide out becomes a symbol named by its text.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

__all__ = [
    "Dim",
    "Size",
    "SymbolicNumber",
    "UndecidedSize",
    "exceeds",
    "fresh_dim",
    "monomial",
    "product",
    "slice_length",
    "smaller",
    "term_order",
]

Monomial: TypeAlias = tuple[str, ...]
_counter = itertools.count()


@functools.lru_cache(maxsize=4096)
def _age(symbol: str) -> list[Any]:
    """Symbols in the order in which they were made: ``?9`` before ``?10``."""
    return [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", symbol)]


def monomial(symbols: Iterable[str]) -> Monomial:
    """A product of symbols in normal form."""
    return tuple(sorted(symbols, key=_age))


def term_order(term: tuple[Monomial, int]) -> tuple[int, list[list[Any]]]:
    """What terms of a size are sorted by: the highest powers come first."""
    return -len(term[0]), [_age(symbol) for symbol in term[0]]


class SymbolicNumber:
    """A Python number that is known when a program runs: a size, or what is computed of sizes.

    See `program.symbolic_number`, which has them.

    Attributes
    ----------
    dim : int, Dim or None
        What is known of it, of an integer.
    """

    __slots__ = ("dim",)

    dim: Size | None

    def refuse(self, what: str) -> NoReturn:
        """Say that `what` needs to know the number."""
        raise TypeError(f"{what}: the number {self.dim} is not known")

    def refuse_axis(self, op: str, ndim: int, axes: Sequence[int] | None = None) -> NoReturn:
        """Say that `op` needs to know which of `ndim` axes it is: of all, or of `axes`."""
        self.refuse(f"{op}: an axis")

    def within(self, what: str, wanted: str, least: float, most: float = math.inf) -> Any:
        """The number, which the run looks at: an error says that `what` must be `wanted`."""
        raise NotImplementedError

    def variable(self) -> Any:
        """The variable of the program that holds it, of no axes."""
        raise NotImplementedError


class Dim:
    """A size that is not known when the program is built; compares equal only when provable."""

    __slots__ = ("_hash", "terms")

    terms: dict[Monomial, int]

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms
        self._hash = hash(frozenset(terms.items()))

    @staticmethod
    def symbol(name: str) -> Dim:
        return Dim({(name,): 1})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        def term(mono: Monomial, c: int) -> str:
            factors = ([str(c)] if c != 1 or not mono else []) + list(mono)
            return "*".join(factors)

        ordered = sorted(self.terms.items(), key=term_order)
        return " + ".join(term(m, c) for m, c in ordered).replace("+ -", "- ")

    def __add__(self, other: Size) -> Size:
        terms = dict(self.terms)
        for mono, c in _terms(other).items():
            terms[mono] = terms.get(mono, 0) + c
        return _simplify(terms)

    def __mul__(self, other: Size) -> Size:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in _terms(other).items():
                mono = monomial(m1 + m2) if m1 and m2 else m1 or m2
                terms[mono] = terms.get(mono, 0) + c1 * c2
        return _simplify(terms)

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: Size) -> Size:
        return self + (-other)

    def __rsub__(self, other: int) -> Size:
        return (-self) + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Size:
        return _floordiv(self, other)

    def __rfloordiv__(self, other: int) -> Size:
        return _floordiv(other, self)

    def __mod__(self, other: Size) -> Size:
        return self - (self // other) * other

    def __rmod__(self, other: int) -> Size:
        return other - (other // self) * self

    # Sizes are not negative: that decides some comparisons, and the others are refused.

    def __lt__(self, other: Size) -> bool:
        return not self >= other

    def __le__(self, other: Size) -> bool:
        return not self > other

    def __gt__(self, other: Size) -> bool:
        return self >= other + 1

    def __ge__(self, other: Size) -> bool:
        least, most = bounds(self - other)
        if least is not None and least >= 0:
            return True
        if most is not None and most < 0:
            return False
        raise UndecidedSize(f"whether the size {self} is {other} at least is not known yet")

    def __index__(self) -> int:
        raise TypeError(
            f"the size {self} is not known while a program is built; use -1 for it, or an "
            "operation that takes its shape from another variable"
        )


Size: TypeAlias = int | Dim


class UndecidedSize(TypeError):
    """Which of two sizes is larger depends on the run."""


def exceeds(a: Size, b: Size) -> bool:
    """Whether one size is larger than another in all runs."""
    try:
        return a > b
    except UndecidedSize:
        return False


def bounds(size: Size) -> tuple[int | None, int | None]:
    """The least and the most that a size can be, None where there is no end: symbols are 0 or more.

    A quotient counts as a symbol, of whose operands nothing is known.
    """
    terms = dict(_terms(size))
    constant = terms.pop((), 0)
    signs = {c > 0 for c in terms.values()}
    return constant if False not in signs else None, constant if True not in signs else None


def smaller(a: Size, b: Size) -> Size:
    """The smaller of two sizes, a symbol where that is not known."""
    try:
        return a if a <= b else b
    except UndecidedSize:
        return Dim.symbol(f"min({','.join(sorted(map(str, (a, b))))})")


def slice_length(size: Size, start: Any, stop: Any, step: Any) -> Size:
    """The length of ``range(size)[start:stop:step]``: a symbol where that is not known."""
    if not any(isinstance(d, Dim) for d in (size, start, stop, step)):
        return len(range(size)[start:stop:step])
    try:
        if step in (None, 1):
            return _run_length(size, start, stop)
    except UndecidedSize:
        pass
    return Dim.symbol(f"len({size}[{start}:{stop}:{step}])")


def _run_length(size: Size, start: Any, stop: Any) -> Size:
    first = 0 if start is None else start
    if stop is None and isinstance(first, int) and first < 0:
        return smaller(-first, size)
    last = size if stop is None else smaller(stop, size)
    if not (first >= 0 and last >= 0):
        raise UndecidedSize("a bound may be counted from the back")
    return last - first if last >= first else 0


def _terms(size: Size) -> dict[Monomial, int]:
    if isinstance(size, Dim):
        return size.terms
    return {(): size} if size else {}


def _simplify(terms: dict[Monomial, int]) -> Size:
    terms = {mono: c for mono, c in terms.items() if c}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Dim(terms)


def _floordiv(a: Size, b: Size) -> Size:
    """``a // b``: exact by one monomial where every term divides, else a new symbol."""
    divisor = _terms(b)
    if not divisor:
        raise ZeroDivisionError(f"{a} // 0")
    if len(divisor) == 1:
        ((mono_b, c_b),) = divisor.items()
        quotient: dict[Monomial, int] = {}
        for mono, c in _terms(a).items():
            rest = list(mono)
            for factor in mono_b:
                if factor not in rest:
                    break
                rest.remove(factor)
            else:
                if c % c_b == 0:
                    quotient[tuple(rest)] = c // c_b
                    continue
            break
        else:
            return _simplify(quotient)
    return Dim.symbol(f"(({a})//({b}))")


def fresh_dim() -> Dim:
    """A new symbol, equal to nothing but itself."""
    return Dim.symbol(f"?{next(_counter)}")


def product(sizes: Iterable[Size]) -> Size:
    """Product of sizes, 1 for none."""
    return math.prod(sizes)
