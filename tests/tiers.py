"""What is run by default, what with ``--thorough`` only, and what is `quick`.

Thorough is what takes long while another test holds the same property more cheaply: a longer
training, a deeper graph, a second dtype, further sizes. The marker `thorough` says so of a test,
`by_default` of some of its parameters; `over` does of the samples of an operation.

Quick is what says of every room whether it works, for ``-m quick``: neither compilers nor processes
of their own, nor the files that go through many programs.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["by_default", "is_quick"]

ROOT = Path(__file__).parent
ROOMS = {
    "autograd", "core", "eager", "functions", "interop", "jit", "kernels", "metric", "nn",
    "optimizer", "program", "registry", "static", "surface", "testing",
}  # fmt: skip
LONG = {
    "eager": ("deep_graphs", "interrupts", "together"),
    "functions": ("bad_operands", "numerics_sweep"),
    "interop": ("protocols_order",),
    "jit": ("to_static_gradients",),
    "program": ("atomic_saves", "files", "hostile_files", "recomputing"),
    "registry": ("bits", "shapes"),
    "static": ("features_together", "forks", "memory_report", "optimizers", "scale"),
}


def is_quick(path: Path) -> bool:
    """Whether the tests of a file are among the quick ones."""
    room = path.relative_to(ROOT).parts[0]
    return room in ROOMS and path.stem.removeprefix("test_") not in LONG.get(room, ())


def by_default(entries: Iterable[Any], chosen: int | Container[Any]) -> list[Any]:
    """Parameters, of which the `chosen` ones, or as many from the start, are run by default."""
    made = []
    for number, entry in enumerate(entries):
        if number < chosen if isinstance(chosen, int) else entry in chosen:
            made.append(entry)
        elif hasattr(entry, "values") and hasattr(entry, "marks"):
            made.append(entry._replace(marks=(*entry.marks, pytest.mark.thorough)))
        else:
            values = entry if type(entry) is tuple else (entry,)
            made.append(pytest.param(*values, marks=pytest.mark.thorough))
    return made
