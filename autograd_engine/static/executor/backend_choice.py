"""Which backend runs a program.

``"numpy"`` has the bits of eager mode. ``"native"`` compiles C, and its results differ in the last
bits. ``"auto"`` takes native code where that can be made, else NumPy. Whatever cannot be compiled
runs as the straight-line Python function that serves all sizes.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from autograd_engine.core.gc_pause import collector_paused
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ArgumentError
from autograd_engine.program.ir.program import Operator, Ref

if TYPE_CHECKING:
    from autograd_engine.compiler.backend import Compiled
    from autograd_engine.compiler.concrete_graph import Graph

__all__ = ["BACKENDS", "VARIABLE", "Attempt", "Work", "chosen_backend", "compiled_by"]

BACKENDS: Final = ("auto", "native", "numpy")
VARIABLE: Final = "AUTOGRAD_ENGINE_BACKEND"
# Where the functions are; neither is imported before a program is compiled.
_COMPILERS: Final = {
    "native": ("autograd_engine.compiler.native", "compile_native"),
    "numpy": ("autograd_engine.compiler.planned", "compile_planned"),
}


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


def chosen_backend(given: str | None) -> str:
    """The backend for an executor that was given this one, or (None, "auto") was left the choice.

    Raises
    ------
    ArgumentError
        When there is none of that name.
    """
    backend, said = given, f"Executor: there is no backend {given!r}"
    if given is None or given == "auto":
        backend = os.environ.get(VARIABLE) or "auto"
        said = f"the environment variable {VARIABLE} names no backend: {backend!r}"
    if backend not in BACKENDS:
        raise ArgumentError(f"{said}; take one of {', '.join(map(repr, BACKENDS))}")
    return str(backend)


# Programs of more operators are left to NumPy, unless native code is asked for.
_MANY: Final = 5000


def compiled_by(
    backend: str, work: Work, specs: Sequence[Spec]
) -> tuple[Compiled | None, list[Attempt]]:
    """The program compiled for inputs of these Specs, if it can be, and what was tried."""
    from autograd_engine.compiler.concrete_graph import NotConcrete

    wanted = ("numpy",) if backend == "numpy" else ("native", "numpy")
    attempts: list[Attempt] = []
    with collector_paused():
        for name in wanted:
            began = time.perf_counter()
            compiled: Compiled | None = None
            problem = ""
            try:
                if backend == "auto" and name == "native" and len(work.operators) > _MANY:
                    raise _Unavailable(
                        f"it has {len(work.operators)} operators, and a compiler would take long; "
                        'ask for it with backend="native"'
                    )
                compiled = _function(name)(work.graph(specs), work.name)
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


class _Unavailable(Exception):
    """Why a backend is passed over."""


def _function(backend: str) -> Callable[[Graph, str], Any]:
    module, name = _COMPILERS[backend]
    function: Callable[[Graph, str], Any] = getattr(importlib.import_module(module), name)
    return function


def _unforeseen(error: Exception) -> bool:
    """Whether it is no word of a backend on what it cannot do."""
    return not type(error).__name__.endswith("Unavailable")
