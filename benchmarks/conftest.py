"""One core, one thread, the code for this processor: set before any library starts its pools."""

from __future__ import annotations

import os
from pathlib import Path

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
os.environ.pop("OPENBLAS_CORETYPE", None)
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import pytest  # noqa: E402

TABLES: list[str] = []


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules have no doctests, and some import libraries that may not be installed."""
    module = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if module else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the ratio tables that the tests made."""
    for table in TABLES:
        terminalreporter.write_line("")
        terminalreporter.write_line(table)
