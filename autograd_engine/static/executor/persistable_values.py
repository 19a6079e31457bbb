"""What a run finds in the place of the variables that a program keeps between runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autograd_engine.core.spec import Array, format_shape, may_equal
from autograd_engine.errors import ExecutionError
from autograd_engine.program.ir.program import Program, Variable
from autograd_engine.program.scope import Scope
from autograd_engine.static.executor.errors import uninitialised
from autograd_engine.static.executor.feeds import checked_feed

__all__ = ["given_values", "read_values"]


def given_values(
    program: Program,
    variables: Iterable[Variable],
    feeds: Mapping[str, Any],
    supplied: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Array]:
    """Those that are fed or supplied: the scope is to hold them after the run.

    What `supplied` has was asked for already.
    """
    found = ((v.name, _given(program, v, feeds, supplied)) for v in variables)
    return {name: value for name, value in found if value is not None}


def _given(
    program: Program, var: Variable, feeds: Mapping[str, Any], supplied: Mapping[str, Any]
) -> Array | None:
    """What a persistable variable is in this run where that is not what the scope has."""
    name = var.name
    if name in feeds:
        return np.array(checked_feed(var, feeds[name]))
    if name in supplied:
        return _supplied(var, supplied[name])
    supply = program.supplies.get(name)
    return None if supply is None else _supplied(var, supply())


def _supplied(var: Variable, given: Any) -> Array | None:
    if given is None:  # what the scope has stands
        return None
    try:
        value = np.array(given, dtype=var.spec.dtype)
    except (TypeError, ValueError) as error:
        raise ExecutionError(
            f"what is supplied for {var.name!r} is no {var.spec.dtype}: {error}"
        ) from error
    if value.shape != var.spec.shape:
        raise ExecutionError(
            f"what is supplied for {var.name!r} has shape {value.shape}; the program declares "
            f"{format_shape(var.spec.shape)}"
        )
    return value


def read_values(
    program: Program, variables: Iterable[Variable], given: Mapping[str, Array], scope: Scope
) -> list[Array]:
    """Values of persistable variables, checked against what the program declares."""
    found: dict[str, Array | None] = dict(given)
    found.update(scope.snapshot(v.name for v in variables if v.name not in given))
    arrays, missing = [], []
    for var in variables:
        value = found[var.name]
        if value is None:
            missing.append(var.name)
            continue
        if value.dtype != var.spec.dtype or not may_equal(value.shape, var.spec.shape):
            raise ExecutionError(
                f"{var.name!r} in the scope is {value.dtype.name}{format_shape(value.shape)}; the "
                f"program declares {var.spec!r}: run its startup program in this scope, or set an "
                "array of that kind"
            )
        arrays.append(value)
    if missing:
        raise uninitialised(program, scope, missing)
    return arrays
