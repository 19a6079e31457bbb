"""What a run is asked for, and the arrays that it hands over."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from autograd_engine.core.far_array import FarArray
from autograd_engine.core.spec import Array
from autograd_engine.eager.far_tensor import wrapped
from autograd_engine.errors import ArgumentTypeError, ExecutionError
from autograd_engine.program.ir.program import (
    Operator,
    Program,
    Ref,
    Variable,
)
from autograd_engine.static.executor.feeds import similar

__all__ = ["as_arrays", "as_tensors", "fetch_key", "fetched", "independent", "split_fetches"]


def split_fetches(program: Program, fetch_list: Any) -> tuple[list[Ref], list[Operator]]:
    """The variables to return, and the updates that are only to be made.

    Nested lists are flattened. What `minimize` returned stands for its updates.
    """
    refs: list[Ref] = []
    operators: list[Operator] = []
    for entry in _flatten(fetch_list):
        if isinstance(entry, Operator):
            if entry.block.program is not program:
                raise ExecutionError(
                    f"run: the operator {entry.type} in fetch_list belongs to another program"
                )
            operators.append(entry)
        else:
            refs.append(_fetch(program, len(refs) + len(operators), entry))
    return refs, operators


def fetch_key(fetch_list: Any) -> Hashable:
    """Equal for lists of the same entries, as long as they live."""
    return tuple([v if v.__class__ is str else id(v) for v in _flatten(fetch_list)])


def _flatten(fetch_list: Any) -> list[Any]:
    if fetch_list is None:
        return []
    if not isinstance(fetch_list, (list, tuple)):
        return [fetch_list]
    found = []
    for entry in fetch_list:
        if _is_minimized(entry):
            found += entry[0]
        else:
            found += [entry] if entry is None else _flatten(entry)
    return found


def _is_minimized(entry: Any) -> bool:
    """Whether it is ``(operators, params_grads)``, as `minimize` returns it."""
    if not isinstance(entry, tuple) or len(entry) != 2 or not isinstance(entry[0], list):
        return False
    return bool(entry[0]) and all(isinstance(o, Operator) for o in entry[0])


def _fetch(program: Program, position: int, fetch: Any) -> Ref:
    where = f"run: fetch_list[{position}]"
    if fetch is None:
        raise ArgumentTypeError(
            f"{where} is None; gradients() returns None for an input that no target depends on: "
            "leave it out, [g for g in grads if g is not None]"
        )
    if not isinstance(fetch, (Variable, str)):
        raise ArgumentTypeError(f"{where} must be a Variable or a name, got {type(fetch).__name__}")
    name = fetch if isinstance(fetch, str) else fetch.name
    own = program.global_block().vars
    var = own.get(fetch) if isinstance(fetch, str) else program.counterpart(fetch)
    if var is not None:
        return Ref(var, var.version)
    for block in program.blocks[1:]:
        inner = block.vars.get(name)
        if inner is not None and (isinstance(fetch, str) or inner is fetch):
            raise ExecutionError(
                f"{where}, {name!r}, is known inside a branch or loop only (block {block.idx}): "
                "return it from the function that makes it, and fetch what cond or while_loop "
                "returns"
            )
    text = (
        f"{where}: this program has no variable {name!r}; it was built in another one, or the name "
    )
    close = similar(name, own) if isinstance(fetch, str) else None
    raise ExecutionError(text + "is misspelt" + (f": did you mean {close!r}?" if close else ""))


def fetched(values: Sequence[Any], others: Iterable[Any]) -> list[Any]:
    """Values as arrays that the caller may write to, and nothing else reads.

    A rule may hand on what it was given, so two names can stand for one array: what a fetch shares
    with a feed, a parameter, another fetch or a constant is seen when it is there.
    """
    taken = set(map(id, others))
    owned: list[Any] = []
    for value in values:
        if isinstance(value, list):  # what a loop has kept of each iteration
            owned.append([None if part is None else np.array(part) for part in value])
            continue
        array = np.asarray(value)
        free = array.base is None and array.flags.writeable and id(value) not in taken
        taken.add(id(value))
        owned.append(array if free else array.copy())
    return owned


def as_tensors(results: list[Any]) -> list[Any]:
    """Arrays as Tensors; those that are far are read when they are asked for."""
    return [
        list(map(wrapped, value)) if isinstance(value, list) else wrapped(value)
        for value in results
    ]


def as_arrays(results: list[Any]) -> list[Any]:
    """All of them as ndarrays of the caller's own."""
    return [value.copied() if isinstance(value, FarArray) else value for value in results]


def independent(value: Any, feeds: Iterable[Array]) -> Array:
    """A value for the scope, which the caller's writing to what was fed does not reach."""
    array = np.asarray(value)
    if any(array is feed or np.may_share_memory(array, feed) for feed in feeds):
        return array.copy()
    return array
