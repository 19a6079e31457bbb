"""Where two Jacobians disagree, and how that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.testing.numeric import Sides

__all__ = ["Mismatch", "Tolerance"]

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
