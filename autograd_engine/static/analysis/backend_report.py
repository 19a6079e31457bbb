"""Which backend runs a program, and why: `Executor.explain`."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from autograd_engine.compiler.backend import BACKENDS, Placement
from autograd_engine.core.report import Report, Table
from autograd_engine.core.spec import Spec
from autograd_engine.static.executor.plan import Plan
from autograd_engine.static.symbolic_size import format_bytes

if TYPE_CHECKING:
    from autograd_engine.compiler.backend import Compiled
    from autograd_engine.static.executor.specializations import Specialization

__all__ = ["BackendReport", "backend_report"]

_HEAD: Final = ("operation", "count", "where", "why", "line")


@dataclasses.dataclass(frozen=True, repr=False)
class BackendReport(Report):
    """What runs a program for certain sizes.

    Attributes
    ----------
    backend : {"native", "numpy", "jax", "python"}
        ``"python"`` is the straight-line function that serves all sizes.
    reasons : tuple of str
        Why it is not what was asked for; empty where it is.
    feeds : dict of str to str
        What it was compiled for.
    facts : dict of str to object
        Numbers of the backend: seconds that compiling took, bytes of memory that it works in, ...
    placements : tuple of Placement
        Where each operation runs: ``operation``, ``where``, ``why``, ``line``.
    source : str
        The text that was generated: C, Python, StableHLO.
    asked : str
        The backend of the executor.
    """

    backend: str
    reasons: tuple[str, ...]
    feeds: dict[str, str]
    facts: dict[str, Any]
    placements: tuple[Placement, ...]
    source: str
    asked: str

    def called_back(self) -> tuple[Placement, ...]:
        """Operations for which compiled code goes back to NumPy, each with the reason."""
        if self.backend in ("numpy", "python"):
            return ()
        return tuple(p for p in self.placements if p.where == "NumPy")

    def _label(self) -> str:
        return BACKENDS[self.backend].label if self.backend in BACKENDS else _PYTHON

    def _parts(self) -> list[str | Table]:
        fed = ", ".join(f"{name}: {spec}" for name, spec in self.feeds.items())
        parts: list[str | Table] = [
            f"runs by: {self._label()}" + (f", for {fed}" if fed else "")
        ]
        parts += [f"because: {reason}" for reason in self.reasons]
        parts += [f"{name}: {_shown(name, value)}" for name, value in self.facts.items()]
        counts = Counter(p.where for p in self.placements)
        if counts:
            parts.append(
                "in all: " + ", ".join(f"{n} {where}" for where, n in counts.most_common())
            )
        # Equal ones in one row, in the order of the program.
        equal = Counter(self.placements)
        rows = [(p.operation, str(n), p.where, p.why, p.line) for p, n in equal.items()]
        return [*parts, "operations:", Table(_HEAD, rows)] if rows else parts


_PYTHON: Final = "straight-line Python, which serves all sizes"


def _shown(name: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if "bytes" in name and isinstance(value, int):
        return f"{value} ({format_bytes(value)})"
    return str(value)


def backend_report(
    plan: Plan, specialization: Specialization | None, fed: Sequence[Any]
) -> BackendReport:
    """The report on a plan, and the specialization of it for these feeds, that was compiled."""
    pairs = zip(plan.feeds, fed, strict=True)
    feeds = {v.name: repr(Spec(a.shape, a.dtype)) for v, a in pairs}
    asked = plan.specializations.backend
    if specialization is None or specialization.compiled is None:
        reasons = [plan.plain] if plan.plain else []
        if specialization is not None:
            reasons += [specialization.refused] if specialization.refused else []
            reasons += _problems(specialization)
        placements = [
            Placement(o.type, "Python", "", str(o.location))
            for o in plan.specializations.work.operators
        ]
        source = plan.compiled.source
        return BackendReport("python", tuple(reasons), feeds, {}, tuple(placements), source, asked)
    compiled = specialization.compiled
    return BackendReport(
        compiled.backend,
        tuple(_problems(specialization)),
        feeds,
        _facts(compiled, specialization),
        tuple(compiled.placements()),
        compiled.source,
        asked,
    )


def _problems(specialization: Specialization) -> list[str]:
    return [f"{a.backend}: {a.problem}" for a in specialization.attempts or () if a.problem]


def _facts(compiled: Compiled, specialization: Specialization) -> dict[str, Any]:
    facts: dict[str, Any] = {"runs so far": specialization.runs}
    made = [a for a in specialization.attempts or () if not a.problem]
    if made:
        facts["seconds to compile"] = made[-1].seconds
    arena = getattr(compiled, "arena", None)
    if arena is not None:
        facts["bytes to work in"] = arena
    facts.update(getattr(compiled, "facts", {}))
    facts["updated in place"] = len(compiled.updates)
    return facts
