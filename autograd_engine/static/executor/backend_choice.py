"""Which backend runs a program.

Which there are, `compiler.backend` lists; ``"auto"`` takes native code where that can be made, else
NumPy; for another device than the CPU it first asks what reaches that. Whatever cannot be compiled
runs as the straight-line Python function that serves all sizes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from autograd_engine.compiler.backend import (
    AUTO,
    AUTO_ON_DEVICE,
    BACKENDS,
    VARIABLE,
    Backend,
    Listing,
)
from autograd_engine.core.gc_pause import collector_paused
from autograd_engine.core.place import current_place
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ArgumentError, MissingLibraryError
from autograd_engine.program.ir.block import operators_within
from autograd_engine.program.ir.program import Operator, Ref
from autograd_engine.static.flags import flags

if TYPE_CHECKING:
    from autograd_engine.compiler.backend import Compiled
    from autograd_engine.compiler.concrete_graph import Graph

__all__ = ["Attempt", "Work", "chosen_backend", "compiled_by", "may_keep", "names"]

class Attempt(NamedTuple):
    """What came of asking one backend."""

    backend: str
    problem: str  # why it cannot be used; empty where it can
    seconds: float


@dataclass(eq=False)
class Work:
    """What is to be compiled."""

    name: str
    operators: Sequence[Operator]
    inputs: Sequence[Ref]
    outputs: Sequence[Ref]
    updates: dict[int, int]  # position of an output to that of the input whose new value it is

    def graph(self, specs: Sequence[Spec]) -> Graph:
        """The graph for inputs of these Specs; NotConcrete where there is none."""
        from autograd_engine.compiler.concrete_graph import concrete_graph

        inputs = list(zip(self.inputs, specs, strict=True))
        return concrete_graph(self.operators, inputs, self.outputs, self.updates)

    def listing(self, specs: Sequence[Spec]) -> Listing:
        """The operators for inputs of these Specs, of a backend that takes these."""
        return Listing(
            self.name, self.operators, self.inputs, specs, self.outputs, dict(self.updates)
        )


def names() -> tuple[str, ...]:
    """What users may write for a backend."""
    return "auto", *BACKENDS


def chosen_backend(given: str | None, function: str = "Executor") -> str:
    """The backend for an executor that was given this one, or (None, "auto") was left the choice.

    Raises
    ------
    ArgumentError
        When there is none of that name.
    MissingLibraryError
        When it needs a library that is not installed.
    """
    backend, said = given, f"{function}: there is no backend {given!r}"
    if given is None or given == "auto":
        backend = flags.backend or os.environ.get(VARIABLE) or "auto"
        said = f"the environment variable {VARIABLE} names no backend: {backend!r}"
    if backend not in names():
        raise ArgumentError(f"{said}; take one of {', '.join(map(repr, names()))}")
    missing = BACKENDS[backend].missing if backend in BACKENDS else ""
    if missing:
        raise MissingLibraryError(f"the backend {backend!r} needs a library: {missing}")
    return str(backend)


# Programs of more operators are left to NumPy, unless native code is asked for.
_MANY: Final = 5000


def compiled_by(
    backend: str, work: Work, specs: Sequence[Spec]
) -> tuple[Compiled | None, list[Attempt]]:
    """The program compiled for inputs of these Specs, if it can be, and what was tried."""
    from autograd_engine.compiler.concrete_graph import NotConcrete

    wanted = _asked(backend)
    if any(getattr(o.op, "effect", False) for o in operators_within(work.operators)):
        wanted = tuple([name for name in wanted if BACKENDS[name].late])
    attempts: list[Attempt] = []
    with collector_paused():
        for name in wanted:
            began = time.perf_counter()
            compiled: Compiled | None = None
            problem = ""
            try:
                last = name == wanted[-1]
                mine = backend == "auto" and name == "native"
                if mine and not last and len(work.operators) > _MANY:
                    raise _Unavailable(
                        f"it has {len(work.operators)} operators, and a compiler would take long; "
                        f'ask for it with backend="{name}"'
                    )
                compiled = _compiled(BACKENDS[name], work, specs)
            except NotConcrete as error:
                problem = str(error)
            except Exception as error:  # of a compiler: the program runs all the same
                problem = str(error)
                if _unforeseen(error) or not problem:
                    problem = f"{type(error).__name__}: {error}"
            attempts.append(Attempt(name, problem, time.perf_counter() - began))
            if compiled is not None:
                return compiled, attempts
    return None, attempts


def may_keep(backend: str) -> bool:
    """Whether arrays may stay where a program runs that this backend is asked for now."""
    return BACKENDS[_asked(backend)[0]].keeps


def _asked(backend: str) -> tuple[str, ...]:
    """The backends that are asked, in order."""
    if backend == "auto":
        return AUTO if current_place().is_plain_cpu else AUTO_ON_DEVICE
    return (backend, *BACKENDS[backend].otherwise)


class _Unavailable(Exception):
    """Why a backend is passed over."""


def _compiled(backend: Backend, work: Work, specs: Sequence[Spec]) -> Compiled:
    compiler = backend.load()
    if backend.takes == "listing":
        return compiler(work.listing(specs))
    return compiler(work.graph(specs), work.name)


def _unforeseen(error: Exception) -> bool:
    """Whether it is no word of a backend on what it cannot do."""
    return not type(error).__name__.endswith("Unavailable")
