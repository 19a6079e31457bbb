"""Where two Jacobians disagree, how that is shown, and what the pattern of the errors suggests.

Each guess is computed: it is made only where it accounts for every entry, within the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.testing.numeric import Sides

__all__ = ["Mismatch", "Tolerance", "causes_of"]

Array: TypeAlias = NDArray[Any]
SHOWN = 5


@dataclass(frozen=True)
class Tolerance:
    """How far two numbers may be apart: ``absolute + relative * |expected|``."""

    absolute: float
    relative: float

    def __call__(self, expected: Array) -> Array:
        return np.asarray(self.absolute + self.relative * np.abs(expected))

    def wrong(self, actual: Array, expected: Array) -> Array:
        """Where they are further apart, or one is no number."""
        with np.errstate(all="ignore"):
            fine = np.abs(actual - expected) <= self(expected)
        return np.asarray(~(fine | (actual == expected)))

    def equal(self, actual: Array, expected: Array) -> bool:
        return not self.wrong(actual, expected).any()


@dataclass
class Mismatch:
    """The Jacobian of one output with respect to one input, where it is not what it should be.

    Attributes
    ----------
    analytic, numeric, uncertainty : ndarray
        Of shape (elements of the output, and the shape of the input).
    wrong : ndarray
        Where they disagree.
    x : ndarray
        The input.
    sides : dict
        One-sided derivatives of the elements of the input that disagree, by flat position.
    """

    label: str
    output: int
    output_shape: tuple[int, ...]
    x: Array
    analytic: Array
    numeric: Array
    uncertainty: Array
    wrong: Array
    sides: dict[int, Sides]

    @property
    def worst(self) -> float:
        return float(np.max(self._errors()[self.wrong], initial=0.0))

    def _errors(self) -> Array:
        with np.errstate(all="ignore"):
            errors = np.abs(self.analytic - self.numeric)
        return np.where(np.isnan(errors), np.inf, errors)

    def kink(self, entry: tuple[int, ...]) -> tuple[float, float] | None:
        """Left and right derivative of one entry of the Jacobian, where they differ."""
        out, *place = entry
        sides = self.sides.get(
            int(np.ravel_multi_index(tuple(place), self.x.shape)) if place else 0
        )
        if sides is None or not sides.kink[out]:
            return None
        return float(sides.left[out]), float(sides.right[out])

    def unsettled(self) -> Array:
        """How far differences are from settling, for each entry that disagrees."""
        found = self.uncertainty.copy()
        columns = found.reshape(len(found), -1)
        for place, sides in self.sides.items():
            columns[:, place] = np.maximum(columns[:, place], sides.unsettled)
        return found[self.wrong]

    def entries(self) -> list[tuple[int, ...]]:
        """Entries that disagree, worst first."""
        where = np.argwhere(self.wrong)
        errors = self._errors()[self.wrong]
        return [tuple(map(int, where[i])) for i in np.argsort(-errors, kind="stable")]

    def place(self, entry: tuple[int, ...]) -> tuple[str, str]:
        """Element of the input and element of the output, as one would index them."""
        out, *inside = entry
        outside = np.unravel_index(out, self.output_shape) if self.output_shape else ()
        return str([int(i) for i in inside]), str([int(i) for i in outside])

    def table(self) -> str:
        """The worst entries."""
        rows = [("input at", "output at", "analytic", "numeric", "abs error", "rel error")]
        for entry in self.entries()[:SHOWN]:
            a, n = float(self.analytic[entry]), float(self.numeric[entry])
            off = abs(a - n)
            relative = f"{off / abs(n):.1e}" if n else "-"
            rows.append((*self.place(entry), f"{a:.9g}", f"{n:.9g}", f"{off:.1e}", relative))
        widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
        return "\n".join(
            "    " + "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip()
            for r in rows
        )

    def text(self, *, several: bool) -> str:
        """How many entries disagree, and the worst of them."""
        output = f"output {self.output}" if several else "the output"
        count, total = int(self.wrong.sum()), self.wrong.size
        more = f" (the worst {SHOWN})" if count > SHOWN else ""
        return (
            f"  d {output} / d {self.label}: {count} of {total} derivatives disagree{more}:\n"
            + self.table()
        )


def causes_of(
    mismatch: Mismatch, others: Sequence[tuple[str, Array]], tolerance: Tolerance
) -> list[str]:
    """What may be wrong with the gradient of one input, likeliest first.

    Parameters
    ----------
    mismatch : Mismatch
    others : sequence of (label, ndarray)
        What differences give for the other inputs, for the same output.
    tolerance : Tolerance
    """
    found = next(_of_numbers(mismatch), None) or next(_of_kinks(mismatch), None)
    if found is None:
        # Where some entries are right and others wrong, the pattern says more than a factor.
        found = next(_of_everything(mismatch, others, tolerance), None)
    region = _region(mismatch)
    if found is not None:
        return [found] if region is None else [found, region]
    partly = next(_of_wrong_entries(mismatch, tolerance), None)
    return [c for c in (partly, region) if c is not None]


def _of_numbers(m: Mismatch) -> Iterator[str]:
    """Something is no number, or too rough to be judged."""
    analytic, numeric = m.analytic[m.wrong], m.numeric[m.wrong]
    unsettled = m.unsettled()
    if not np.isfinite(numeric).all():
        yield (
            f"differences give no finite number: func is not defined on both sides of {m.label} "
            "there, or has a pole; check it at points inside its domain"
        )
    elif not np.isfinite(analytic).any():
        yield (
            "the gradient is NaN or infinite where the derivative is finite: often 0 * inf, of a "
            "branch that is masked out; give the masked branch a harmless input, or try "
            "paddle.strong_zeros()"
        )
    elif (np.abs(analytic - numeric) <= 4.0 * unsettled).all():
        yield (
            f"numerical noise: the differences themselves are uncertain by {np.max(unsettled):.0e};"
            " func is too rough for steps of this size, so pass a larger eps, or larger atol and "
            "rtol"
        )


def _of_kinks(m: Mismatch) -> Iterator[str]:
    entries = [(e, m.kink(e)) for e in m.entries()]
    if not entries or any(sides is None for _, sides in entries):
        return
    entry, sides = entries[0]
    assert sides is not None
    yield (
        f"a kink at {m.label} {m.place(entry)[0]}: left derivative {sides[0]:.6g}, right "
        f"derivative {sides[1]:.6g}, and the analytic {m.analytic[entry]:.6g} is not between "
        "them, so it is no subgradient"
    )


def _of_everything(
    m: Mismatch, others: Sequence[tuple[str, Array]], tolerance: Tolerance
) -> Iterator[str]:
    """One relation that turns the right Jacobian into the wrong one."""
    a, n = m.analytic, m.numeric
    if not a.any():
        yield (
            f"the gradient is zero everywhere: {m.label} is cut off from the output, by detach(), "
            "no_grad(), numpy() or a rule that is missing"
        )
    factor = float(np.vdot(n, a) / np.vdot(n, n)) if n.any() else 0.0
    if factor and tolerance.equal(a, factor * n):
        yield _factor(factor, m)
    axes = range(1, a.ndim)
    for i, j in combinations(axes, 2):
        if a.shape[i] == a.shape[j] and tolerance.equal(a, np.swapaxes(n, i, j)):
            yield (
                f"transposed: the gradient has axes {i - 1} and {j - 1} of {m.label} exchanged "
                "(analytic[i, j] == numeric[j, i]); transpose it"
            )
    if _has_transposed_factor(m, tolerance):
        yield (
            "a factor that is not transposed: the gradient would be right with the transpose of "
            "the matrix that the cotangent is multiplied by (g @ y in place of g @ y.T)"
        )
    for i in axes:
        if a.shape[i] > 1:
            yield from _along(a, n, i, m.label, tolerance)
    for label, other in others:
        if other.shape == a.shape and tolerance.equal(a, other):
            yield f"exchanged: this is the gradient of {label}; the two rules are swapped"


def _has_transposed_factor(m: Mismatch, tolerance: Tolerance) -> bool:
    """An axis of the output and one of the input are exchanged in the Jacobian."""
    a = m.analytic.reshape(*m.output_shape, *m.x.shape)
    n = m.numeric.reshape(a.shape)
    split = len(m.output_shape)
    return any(
        a.shape[p] == a.shape[q] and tolerance.equal(a, np.swapaxes(n, p, q))
        for p in range(split)
        for q in range(split, a.ndim)
    )


def _along(a: Array, n: Array, axis: int, label: str, tolerance: Tolerance) -> Iterator[str]:
    """What may have happened along one axis."""
    at = f"axis {axis - 1} of {label}"
    if tolerance.equal(a, np.flip(n, axis)):
        yield f"reversed along {at}: flip the gradient there"
    total = np.sum(n, axis=axis, keepdims=True)
    if tolerance.equal(a, np.broadcast_to(total, a.shape)):
        yield f"summed over {at}, which was not broadcast: the sum does not belong there"
    if tolerance.equal(a, np.broadcast_to(total / n.shape[axis], a.shape)):
        yield f"averaged over {at}: each element has a derivative of its own there"


def _named(factor: float) -> tuple[str, int]:
    """What to call it, and the whole number in it: "1/3" and 3 for a third (0: there is none)."""
    for value, pattern in ((factor, "{}"), (1.0 / factor, "1/{}")):
        whole = round(value)
        if abs(whole) > 1 and abs(value - whole) < 1e-3 * abs(value):
            return pattern.format(whole), whole
    return f"{factor:.6g}", 0


def _factor(factor: float, m: Mismatch) -> str:
    if abs(factor + 1.0) < 1e-3:
        return "the sign is flipped: analytic is -1 times numeric everywhere"
    what, whole = _named(factor)
    sizes = [f"axis {k} of {m.label}" for k, d in enumerate(m.x.shape) if d == whole]
    sizes += [f"axis {k} of the output" for k, d in enumerate(m.output_shape) if d == whole]
    sizes += [f"{m.label} as a whole"] * (m.x.ndim > 1 and m.x.size == whole)
    text = f"a factor {what}: analytic is {what} times numeric everywhere"
    if sizes:
        text += (
            f"; {whole} is the size of {sizes[0]}, so perhaps a mean was taken for a sum, or a "
            "sum over an axis is missing or too much"
        )
    return text


def _of_wrong_entries(m: Mismatch, tolerance: Tolerance) -> Iterator[str]:
    """One relation among those entries that are wrong."""
    a, n = m.analytic[m.wrong], m.numeric[m.wrong]
    if not a.any():
        yield "the gradient is zero where the derivative is not: part of it is cut off or masked"
    elif not n.any():
        yield "the gradient is not zero where the derivative is: a mask is missing"
    else:
        factor = float(np.vdot(n, a) / np.vdot(n, n))
        if a.size > 1 and factor and tolerance.equal(a, factor * n):
            what = _named(factor)[0]
            yield f"a factor {what}: analytic is {what} times numeric wherever it is wrong"
        elif a.size > 1 and tolerance.equal(a - n, np.full(n.shape, np.mean(a - n))):
            yield f"analytic is numeric {np.mean(a - n):+.6g} wherever it is wrong"


def _region(m: Mismatch) -> str | None:
    """Which elements of the input are wrong, where others are right."""
    wrong = m.wrong.any(axis=0)
    # An element on which nothing depends is right whatever the rule says: it tells nothing.
    telling = wrong | (m.numeric != 0.0).any(axis=0) | (m.analytic != 0.0).any(axis=0)
    right = telling & ~wrong
    if not right.any():
        return None
    with np.errstate(all="ignore"):
        tests = {
            "below 0": m.x < 0.0,
            "above 0": m.x > 0.0,
            "that are 0": m.x == 0.0,
            "of a size above 1": np.abs(m.x) > 1.0,
            "of a size below 1": np.abs(m.x) < 1.0,
            "above 1": m.x > 1.0,
            "below -1": m.x < -1.0,
        }
    if m.x.ndim >= 2 and m.x.shape[-1] == m.x.shape[-2]:
        diagonal = np.broadcast_to(np.eye(m.x.shape[-1], dtype=bool), m.x.shape)
        tests["on the diagonal"] = diagonal
        tests["off the diagonal"] = ~diagonal
    for axis, size in enumerate(m.x.shape):
        for index in sorted({0, size - 1}):
            place = np.zeros(m.x.shape, bool)
            np.moveaxis(place, axis, 0)[index] = True
            tests[f"at index {index} of axis {axis}"] = place
    for what, holds in tests.items():
        if holds[wrong].all() and not holds[right].any():
            return (
                f"only elements {what} are wrong in the gradient of {m.label}; all others are right"
            )
    return None
