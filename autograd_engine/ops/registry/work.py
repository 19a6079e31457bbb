"""Arithmetic that one call of an operation takes, as a formula in the sizes of its operands.

Products (of matrices, convolutions) count a multiplication and an addition each. What goes element
by element counts one for each element of the result, whatever the function; a reduction one for
each element that it reads; a kernel of several such steps as many as its steps. What only moves
elements, or converts them, counts nothing.

A row says ``work=`` with one of these, or with a function of its own: it is called as
``work(operands, results, attrs)``, with Specs whose sizes may be unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from autograd_engine.core.dims import Dim, Size, product
from autograd_engine.core.spec import Spec

__all__ = [
    "Specs",
    "Work",
    "WorkRule",
    "cubes",
    "each_element",
    "each_read",
    "each_result",
    "multiply_adds",
    "nothing",
    "of_matrices",
]


class Work(NamedTuple):
    """Operations of products, and those that go element by element."""

    products: Size = 0
    elementwise: Size = 0

    def plus(self, other: Work) -> Work:
        return Work(self.products + other.products, self.elementwise + other.elementwise)

    def times(self, count: Size) -> Work:
        return Work(self.products * count, self.elementwise * count)

    @property
    def total(self) -> Size:
        return self.products + self.elementwise


Specs: TypeAlias = Sequence[Spec]
WorkRule: TypeAlias = Callable[[Specs, Specs, dict[str, Any]], Work]


def nothing(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    """Elements are moved, converted, or made of nothing."""
    return Work()


def each_result(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    """One for each element of the result."""
    return Work(0, results[0].size if results else 0)


def each_read(steps: int = 1, operand: int = 0) -> WorkRule:
    """As many steps for each element of an operand: a reduction, or what adds elements up."""

    def rule(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
        return Work(0, operands[operand].size * steps)

    return rule


def each_element(steps: int = 1) -> WorkRule:
    """As many steps for each element of the result, or of the operand where fewer come out."""

    def rule(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
        out = results[0].size if results else 0
        read = operands[0].size if operands else 0
        return Work(0, (read if _reduces(read, out) else out) * steps)

    return rule


def _reduces(read: Size, out: Size) -> bool:
    """Whether fewer elements come out than go in."""
    if isinstance(read, Dim) or isinstance(out, Dim):
        difference = read - out
        terms = difference.terms.values() if isinstance(difference, Dim) else [difference]
        return all(c > 0 for c in terms)
    return out < read


def multiply_adds(count: Callable[[Specs, Specs, dict[str, Any]], Size]) -> WorkRule:
    """Products: a multiplication and an addition for each of `count`."""

    def rule(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
        return Work(2 * count(operands, results, attrs), 0)

    return rule


def of_matrices(numerator: int, denominator: int = 1) -> WorkRule:
    """A multiple of m n k, n the smaller and m the larger size of a matrix, k the smaller again.

    The leading terms of Golub and Van Loan, Matrix Computations.
    """

    def rule(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
        return Work(cubes(operands[0], numerator, denominator), 0)

    return rule


def cubes(matrices: Spec, numerator: int, denominator: int = 1) -> Size:
    *batch, m, n = matrices.shape
    small = n if isinstance(m, Dim) or (not isinstance(n, Dim) and n <= m) else m
    return (product(batch) * m * n * small * numerator) // denominator
