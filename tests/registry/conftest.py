"""The registry suite for the operations of one rule: what a mutant of that rule is tried with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from autograd_engine.ops.registry.opdef import REGISTRY, OpDef, Rule

from .samples import LEFT_OUT, SAMPLES

OPTION = "--rules-at"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        metavar="FILE:LINE",
        help="only samples of operations with a gradient rule that runs this line",
    )


def pytest_configure(config: pytest.Config) -> None:
    place = config.getoption(OPTION, None)
    if place is None:
        return
    name, _, line = place.rpartition(":")
    path = Path(name).resolve()
    wanted = {op.name for op in REGISTRY.values() if runs(op, path, int(line))}
    if not wanted:
        print(f"{OPTION}: no rule runs {place}; the samples of all operations are kept")
        return
    LEFT_OUT.update(SAMPLES.keys() - wanted)


def runs(op: OpDef, path: Path, line: int) -> bool:
    seen: set[CodeType] = set()
    rules = [rule.fn for rule in op.rules.values() if isinstance(rule, Rule)]
    for code in (code for rule in rules for code in reached(rule, seen)):
        ends = [end for _, end, _, _ in code.co_positions() if end is not None]
        if Path(code.co_filename) == path and code.co_firstlineno <= line <= max(ends):
            return True
    return False


def reached(function: Callable[..., Any], seen: set[CodeType]) -> Iterator[CodeType]:
    """The code of a function and of what it calls among operations, as far as names tell."""
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType) or function.__code__ in seen:
        return
    seen.add(function.__code__)
    yield function.__code__
    names = set(function.__code__.co_names)
    for inner in function.__code__.co_consts:
        if isinstance(inner, CodeType):
            names |= set(inner.co_names)
    called = [function.__globals__.get(name) for name in names]
    called += [cell.cell_contents for cell in function.__closure__ or ()]
    for other in called:
        if (getattr(other, "__module__", None) or "").startswith("autograd_engine.ops"):
            yield from reached(other, seen)
