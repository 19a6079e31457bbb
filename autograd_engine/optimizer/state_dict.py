"""Saving what an optimizer keeps, and going on from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.program.scope import global_scope

if TYPE_CHECKING:
    from autograd_engine.optimizer.optimizer import Optimizer
    from autograd_engine.program.ir.program import Variable

__all__ = ["schedule", "schedule_problems", "set_state_dict", "state_dict"]

_SCHEDULER = "LR_Scheduler"
_MASTERS = "master_weights"
_MOST = 10


def state_dict(optimizer: Optimizer) -> dict[str, Any]:
    """See `Optimizer.state_dict`."""
    kept = _of_programs(optimizer) if _in_programs(optimizer) else _of_tensors(optimizer)
    found: dict[str, Any] = {}
    masters: dict[str, Any] = {}
    for name, parameter, value in kept:
        if name == _master_name(parameter):
            masters[parameter] = value
        else:
            found[name] = value
    if masters:
        found[_MASTERS] = masters
    return found | schedule(optimizer)


def _master_name(parameter: str) -> str:
    """What the float32 copy of a parameter is called in messages."""
    return f"{_MASTERS}[{parameter!r}]"


def schedule(optimizer: Optimizer) -> dict[str, Any]:
    """What its scheduler keeps, where it has one."""
    if optimizer._learning_rate.__class__ is float:
        return {}
    return {_SCHEDULER: optimizer._learning_rate.state_dict()}


def set_state_dict(optimizer: Optimizer, given: Any) -> None:
    """See `Optimizer.set_state_dict`."""
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"set_state_dict takes what state_dict returned, a dict; got {type(given).__name__}"
        )
    rest = dict(given)
    scheduler = rest.pop(_SCHEDULER, None)
    masters = rest.pop(_MASTERS, None) or {}
    problems = schedule_problems(optimizer, scheduler)
    named = rest | {_master_name(name): v for name, v in masters.items()}
    if _in_programs(optimizer):
        write = _into_programs(optimizer, named, problems)
    else:
        write = _into_tensors(optimizer, named, problems)
    if problems:
        shown = problems[:_MOST]
        if len(problems) > _MOST:
            shown.append(f"... and {len(problems) - _MOST} more")
        lines = "\n  ".join(shown)
        raise ArgumentError(
            f"set_state_dict: this is not the state of this {type(optimizer).__name__}, nothing "
            f"was changed:\n  {lines}\n"
            "Build it with the same parameters, under the same names, and the same settings. Names "
            "go on counting in one process: a model that is built twice gets the same names twice "
            "if it is built inside `with paddle.utils.unique_name.guard():`"
        )
    if scheduler is not None:
        optimizer._learning_rate.set_state_dict(scheduler)
    write()


def schedule_problems(optimizer: Optimizer, schedule: Any) -> list[str]:
    """What is wrong with what a state says of the scheduler, None where that is nothing."""
    scheduled = optimizer._learning_rate.__class__ is not float
    if scheduled and schedule is None:
        return [f"{_SCHEDULER} is missing: the learning rate is that of a scheduler"]
    if schedule is not None and not scheduled:
        return [f"{_SCHEDULER} is there: the learning rate is a number"]
    return []


def _in_programs(optimizer: Optimizer) -> bool:
    return bool(_blocks(optimizer)) and not any(
        isinstance(p, Tensor) for p in optimizer._parameters or ()
    )


def _blocks(optimizer: Optimizer) -> list[Any]:
    return [program.global_block() for program in optimizer._programs]


# --- eager mode


def _names(optimizer: Optimizer, p: Any) -> list[str]:
    """Of the state of `p`, in order; that of its float32 copy comes last."""
    names = [f"{p.name}_{s.suffix or name}_0" for name, s in optimizer.state.items()]
    if optimizer._has_master(p._data.dtype):
        names.append(_master_name(p.name))
    return names


def _of_tensors(optimizer: Optimizer) -> Iterator[tuple[str, str, Tensor]]:
    """(name of the state, that of its parameter, value)"""
    for p in optimizer._parameters or ():
        state = optimizer._known_state(p)
        if state is not None:
            for name, array in zip(_names(optimizer, p), state, strict=True):
                # Copies: rows of the arrays may be written in place.
                yield name, p.name, Tensor._wrap(array.copy("K"))


def _into_tensors(optimizer: Optimizer, given: dict[str, Any], problems: list[str]) -> Any:
    rest = dict(given)
    new: dict[int, list[Array]] = {}
    for p in optimizer._eager_parameters():
        names = _names(optimizer, p)
        missing = [name for name in names if name not in rest]
        if len(missing) == len(names):
            continue
        problems += [f"{name} is missing" for name in missing]
        fresh = optimizer._initial_state(p)
        arrays = [
            _fitting(name, rest.pop(name), array, problems)
            for name, array in zip(names, fresh, strict=True)
            if name in rest
        ]
        new[id(p)] = arrays
    if rest:
        expected = [n for p in optimizer._eager_parameters() for n in _names(optimizer, p)]
        problems += _unknown(rest, [n for n in expected if n not in given])

    def write() -> None:
        optimizer._eager_state = new

    return write


# --- programs


def _variables(optimizer: Optimizer) -> Iterator[tuple[str, Variable, str]]:
    """(name of the state, its variable, name of its parameter)"""
    from autograd_engine.optimizer.minimize import kept_variables

    for block in _blocks(optimizer):
        for (parameter, name), var in kept_variables(optimizer, block).items():
            yield _master_name(parameter) if name == "master" else var.name, var, parameter


def _of_programs(optimizer: Optimizer) -> Iterator[tuple[str, str, Array]]:
    """(name of the state, that of its parameter, value)"""
    for label, var, parameter in _variables(optimizer):
        held = global_scope().find_var(var.name)
        if held is not None and held.value is not None:
            yield label, parameter, np.array(held.value)


def _into_programs(optimizer: Optimizer, given: dict[str, Any], problems: list[str]) -> Any:
    rest = dict(given)
    new: dict[str, Array] = {}
    for label, var, _ in _variables(optimizer):
        if label in rest:
            like = np.empty(tuple(int(d) for d in var.spec.shape), var.spec.dtype)
            new[var.name] = _fitting(label, rest.pop(label), like, problems)
        elif given:
            problems.append(f"{label} is missing")
    problems += _unknown(rest, [])

    def write() -> None:
        for name, array in new.items():
            global_scope().var(name).value = array

    return write


# --- checks


def _fitting(name: str, value: Any, like: Array, problems: list[str]) -> Array:
    """A copy of `value`, which must have shape and dtype of `like`; one number has many shapes."""
    array = np.array(value._data if isinstance(value, Tensor) else value)
    if array.size == like.size == 1:
        array = array.reshape(like.shape)
    if array.shape != like.shape:
        problems.append(f"{name} has shape {list(array.shape)}, not {list(like.shape)}")
    elif array.dtype != like.dtype:
        problems.append(f"{name} is {array.dtype.name}, not {like.dtype.name}")
    return array


def _unknown(rest: dict[str, Any], missing: list[str]) -> list[str]:
    problems = [f"{name} is nothing that this optimizer keeps" for name in rest]
    if missing:
        problems[0] += f"; it keeps {', '.join(missing[:6])}{', ...' * (len(missing) > 6)}"
    return problems
