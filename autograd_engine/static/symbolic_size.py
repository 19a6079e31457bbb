"""Formulas in sizes that are not known yet: what programs will need, before they run.

A formula is the largest of some polynomials with integer coefficients (`dims.Dim`), whose symbols
are the unknown sizes of a program. A quotient that does not divide out is a symbol whose name is
its text, ``((?3)//(2))``; it is worked out when the formula is evaluated.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from autograd_engine.core.dims import Dim, Size
from autograd_engine.core.locks import parse_source
from autograd_engine.errors import ArgumentError

__all__ = ["Formula", "Symbols", "atoms", "evaluate", "format_bytes", "replace"]

_ATOM: Final = re.compile(r"\?\d+|\b(?!min\b|len\b|None\b)[A-Za-z_]\w*")
_LARGE: Final = 1 << 12  # what an unknown size is taken to be, to tell what is larger
Lookup = Callable[[str], Any]


def atoms(size: Size) -> list[str]:
    """Names of the unknown sizes that `size` is made of, those inside of quotients too."""
    if not isinstance(size, Dim):
        return []
    found = (a for mono in size.terms for symbol in mono for a in _ATOM.findall(symbol))
    return list(dict.fromkeys(found))


def replace(size: Size, lookup: Lookup) -> Any:
    """`size` with ``lookup(name)`` in the place of each unknown size: a Dim, an int or a float."""
    if not isinstance(size, Dim):
        return size
    total: Any = 0
    for mono, coefficient in size.terms.items():
        total = total + math.prod((_symbol(s, lookup) for s in mono), start=coefficient)
    return total


def evaluate(size: Size, sizes: Mapping[str, int]) -> int:
    """The number that `size` is where every unknown size is given."""
    return int(replace(size, sizes.__getitem__))


def _symbol(text: str, lookup: Lookup) -> Any:
    if _ATOM.fullmatch(text):
        return lookup(text)
    try:
        return _value(_parsed(text), lookup)
    except _Unknown:
        return Dim.symbol(_ATOM.sub(lambda m: f"({lookup(m[0])})", text))


class _Unknown(Exception):
    """The smaller of two sizes, or the length of a slice, that are not known."""


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    expression: ast.Expression = parse_source(text.replace("?", "unknown_"), mode="eval")
    return expression.body


def _value(node: ast.expr, lookup: Lookup) -> Any:
    """What the text of a quotient says."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return lookup(re.sub(r"^unknown_(?=\d)", "?", node.id))
    if isinstance(node, ast.UnaryOp):
        return -1 * _value(node.operand, lookup)
    if isinstance(node, ast.Call):
        return _called(node, lookup)
    assert isinstance(node, ast.BinOp)
    left, right = _value(node.left, lookup), _value(node.right, lookup)
    if isinstance(node.op, ast.FloorDiv):
        return left // right
    if isinstance(node.op, ast.Mult):
        return left * right
    return left + right if isinstance(node.op, ast.Add) else left - right


def _called(node: ast.Call, lookup: Lookup) -> int:
    """``min(a, b)``, and the length of a slice: ``len(n[start:stop:step])``."""
    (*_, argument) = node.args
    if isinstance(argument, ast.Subscript):
        sizes, part = [_value(argument.value, lookup)], argument.slice
        assert isinstance(part, ast.Slice)
        bounds = [None if b is None else _value(b, lookup) for b in (part.lower, part.upper)]
        step = None if part.step is None else _value(part.step, lookup)
    else:
        sizes = [_value(a, lookup) for a in node.args]
    if any(isinstance(s, Dim) for s in sizes):
        raise _Unknown
    if isinstance(argument, ast.Subscript):
        return len(range(int(sizes[0]))[bounds[0] : bounds[1] : step])
    return int(min(sizes))


@dataclass(eq=False)
class Symbols:
    """The unknown sizes of a program: what they are called, and what is known of them."""

    names: dict[str, str] = field(default_factory=dict)  # what a person reads, ``x.shape[0]``
    equal: dict[str, Size] = field(default_factory=dict)  # what stands in the place of a symbol
    most: dict[str, Size] = field(default_factory=dict)  # how large one can be, if values say it
    # Names of sizes of which nothing but their place says that they are equal.
    taken_equal: list[tuple[str, str]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)  # those that are given
    growing: set[str] = field(default_factory=set)  # arrays written in places that are not known

    def assumptions(self) -> list[str]:
        """What was taken to hold of sizes, in words."""
        notes = [f"{a} = {b}" for a, b in self.taken_equal]
        notes += [f"each write to {name} adds an element" for name in sorted(self.growing)]
        notes += [f"{self.names[s]} at most {self.text(m)}" for s, m in self.most.items()]
        return notes

    def resolved(self, size: Size) -> Size:
        """`size` in terms of the symbols that are left."""
        if not isinstance(size, Dim) or not self.equal:
            return size
        found: Size = replace(size, lambda a: self.equal.get(a, Dim.symbol(a)))
        return found

    def text(self, size: Size) -> str:
        """`size` as a person reads it."""
        size = self.resolved(size)
        if not isinstance(size, Dim):
            return str(size)
        text = re.sub(r"\((\?\d+|\d+|\w+)\)", r"\1", repr(size))
        return _ATOM.sub(lambda m: self.names.get(m[0], m[0]), text)

    def value(self, size: Size, sizes: Mapping[str, int]) -> int:
        """`size` as a number; a size that depends on values counts as the most that it can be."""

        def lookup(name: str) -> int:
            if name in sizes:
                return sizes[name]
            if name in self.most:
                return int(replace(self.most[name], lookup))
            raise ArgumentError(
                f"the size {self.names.get(name, name)} is not known; give it: "
                f".at({{{self.names.get(name, name)!r}: 64}})"
            )

        return int(replace(size, lookup))

    def magnitude(self, size: Size) -> float:
        """A number for `size`, to tell the larger of two; what is not given is taken as large."""
        return float(int(replace(size, lambda name: self.sizes.get(name, _LARGE))))

    def trips(self, number: int) -> Size:
        """How often the loop of that number runs, counted from 1."""
        name = "trips" if number == 1 else f"trips_{number}"
        self.names[name] = name
        return Dim.symbol(name)

    def given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, int]:
        """Sizes by symbol, from how a person gives them; see `Formula.at`."""
        wanted: dict[str, Any] = {}
        if args and isinstance(args[0], Mapping):
            wanted.update(args[0])
        elif args:
            roots = [s for s in self.names if s not in self.equal]
            if len(roots) != 1:
                known = ", ".join(repr(self.names[s]) for s in roots) or "none"
                raise ArgumentError(
                    f"at({args[0]!r}): one number stands for the only unknown size, and here these "
                    f"are unknown: {known}; give each by name, .at({{name: size}})"
                )
            wanted[self.names[roots[0]]] = args[0]
        wanted.update(kwargs)
        sizes: dict[str, int] = {}
        by_name = {name: symbol for symbol, name in self.names.items()}
        for name, value in wanted.items():
            entries = {name: value}
            if isinstance(value, (tuple, list)):
                entries = {f"{name}.shape[{k}]": d for k, d in enumerate(value)}
            there = [key for key in entries if key in by_name]
            if not there:
                raise ArgumentError(self._unknown(name))
            for key in there:
                self._take(sizes, by_name[key], key, entries[key])
        return sizes

    def _take(self, sizes: dict[str, int], symbol: str, name: str, size: Any) -> None:
        if isinstance(size, bool) or not hasattr(size, "__index__") or size.__index__() < 0:
            raise ArgumentError(f"at: {name} must be a size, a non-negative int; got {size!r}")
        root = self.equal.get(symbol, Dim.symbol(symbol))
        for atom in atoms(root):
            if sizes.setdefault(atom, size.__index__()) != size.__index__():
                raise ArgumentError(
                    f"at: {self.names.get(atom, atom)} is given as {sizes[atom]} and, as {name}, "
                    f"as {size}; they are taken to be equal: pass feed_specs with both shapes"
                )

    def _unknown(self, name: str) -> str:
        known = ", ".join(repr(n) for n in self.names.values()) or "none: every size is known"
        return f"at: there is no unknown size {name!r}; the unknown sizes are {known}"


class Formula:
    """The largest of some polynomials in unknown sizes; a number where nothing is unknown.

    Parameters
    ----------
    pieces : iterable of Dim or int
    symbols : Symbols
    unit : str
        What it counts, for printing.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [None, 100], "float32")
    ...     y = paddle.tanh(x)
    >>> peak = paddle.static.memory_report(main, fetch_list=[y]).peak
    >>> peak
    800*x.shape[0] bytes
    >>> peak.at(10), peak.at(x=(20, 100)), peak.at({"x.shape[0]": 30})
    (8000, 16000, 24000)
    """

    def __init__(self, pieces: Iterable[Size], symbols: Symbols, unit: str = "bytes") -> None:
        # Resolved once more: a size can turn out to be equal to another later in a program.
        self.pieces = _largest(map(symbols.resolved, pieces))
        self.symbols = symbols
        self.unit = unit

    def at(self, *args: Any, **sizes: Any) -> int:
        """The number where the unknown sizes are given.

        Parameters
        ----------
        *args : int or dict of str to int
            The size, where only one is unknown; or sizes by name, ``{"x.shape[0]": 64}``.
        **sizes : tuple of int
            Shapes of what is fed, by name.

        Returns
        -------
        int

        Raises
        ------
        ArgumentError
            When a size is missing, given twice differently, or not known by that name.
        """
        if len(args) > 1:
            raise ArgumentError(f"at takes one number or one dict, got {len(args)} arguments")
        given = {**self.symbols.sizes, **self.symbols.given(args, sizes)}
        return max(self.symbols.value(p, given) for p in self.pieces)

    def __int__(self) -> int:
        return self.at()

    @property
    def value(self) -> int | None:
        """The number, None where it depends on sizes that are not given."""
        try:
            return self.at()
        except ArgumentError:
            return None

    @property
    def unknown(self) -> list[str]:
        """Names of the sizes that it depends on."""
        found = dict.fromkeys(a for p in self.pieces for a in atoms(p))
        return [self.symbols.names.get(a, a) for a in found]

    def __str__(self) -> str:
        texts = [self.symbols.text(p) for p in self.pieces]
        shown = texts[:3]
        if len(texts) > 3:
            shown.append("...")
        return texts[0] if len(texts) == 1 else f"max({', '.join(shown)})"

    def __repr__(self) -> str:
        return f"{self} {self.unit}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, Dim)):
            return self.pieces == [other]
        return isinstance(other, Formula) and self.pieces == other.pieces

    def __hash__(self) -> int:
        return hash(tuple(self.pieces))


def _largest(pieces: Iterable[Size]) -> list[Size]:
    """Those that can be the largest somewhere; first what grows fastest."""
    distinct = list(dict.fromkeys(pieces)) or [0]
    # Sorted so that whatever is at least as large in every term comes before what it dominates.
    distinct.sort(key=_growth, reverse=True)
    kept: list[Size] = []
    for p in distinct:
        if not any(_dominates(q, p) for q in kept):
            kept.append(p)
    return kept


def _terms(size: Size) -> dict[tuple[str, ...], int]:
    return size.terms if isinstance(size, Dim) else {(): size}


def _growth(size: Size) -> tuple[float, float]:
    """How large it is for large sizes, and then for small ones."""
    large = small = 0.0
    for mono, c in _terms(size).items():
        large += c * 1e6 ** len(mono)
        small += c
    return large, small


def _dominates(a: Size, b: Size) -> bool:
    """Whether a >= b wherever every unknown size is 1 or more."""
    difference = dict(_terms(a))
    for mono, c in _terms(b).items():
        difference[mono] = difference.get(mono, 0) - c
    # A term that lacks is made up for by one of at least its symbols: x*y >= x >= 1.
    debts = sorted(((m, -c) for m, c in difference.items() if c < 0), key=lambda e: -len(e[0]))
    funds = {m: c for m, c in difference.items() if c > 0}
    for mono, debt in debts:
        for rich in sorted(funds, key=len):
            if debt and not _missing(mono, rich):
                paid = min(debt, funds[rich])
                funds[rich] -= paid
                debt -= paid
        if debt:
            return False
    return True


def _missing(mono: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether `other` lacks a factor of `mono`."""
    return any(mono.count(s) > other.count(s) for s in mono)


def format_bytes(count: float) -> str:
    """``12.3 MiB``: in powers of 1024."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
