"""Tensors that stand where a public function takes plain numbers: axes, sizes, probabilities.

A function is called with what it is given. Where that fails, the tensors of one element among its
numbers become numbers, and it is called again: a call with plain numbers costs nothing for it.
Variables of a program become symbolic numbers, or plain ones where the program knows them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Set as AbstractSet
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import as_number
from autograd_engine.core.dtypes import INTEGERS, REALS
from autograd_engine.eager.tensor import Tensor
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.symbolic_number import numbers_in

__all__ = ["with_plain_numbers"]

Call = tuple[tuple[Any, ...], dict[str, Any]]

# What parameters are annotated as that take integers, and numbers; any of the alternatives counts.
_INTS: Final = {"int", "IntOrInts", "Axis", "Sizes", "Axes", "Sequence[int]", "list[int]"}
_INTS_ALSO: Final = {"tuple[int, ...]", "tuple[int, int]"}
_FLOATS: Final = {"float", "Sequence[float]"}


def with_plain_numbers(function: Callable[..., Any], args: Any, kwargs: Any) -> Call | None:
    """The arguments with numbers for the tensors among them that hold such; None if there are none.

    A tensor that carries a gradient stays, for its gradient would be lost.
    """
    if not any(map(_holds_tensor, (*args, *kwargs.values()))):
        return None
    try:
        given = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return None
    changed = False
    for name, value in given.arguments.items():
        if _holds_tensor(value):
            dtypes = _dtypes(given.signature.parameters[name])
            found = _plain(value, dtypes) if dtypes else value
            changed = changed or found is not value
            given.arguments[name] = found
    return (given.args, given.kwargs) if changed else None


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(v, (Tensor, Variable)) for v in value)
    return isinstance(value, (Tensor, Variable))


def _dtypes(parameter: inspect.Parameter) -> AbstractSet[np.dtype[Any]]:
    """The dtypes that a tensor may have in the place of its number."""
    alternatives = {kind.strip() for kind in str(parameter.annotation).split(" | ")}
    if alternatives & _FLOATS:
        return REALS
    if alternatives & (_INTS | _INTS_ALSO):
        return INTEGERS
    if alternatives == {"Any"} and parameter.kind is not parameter.VAR_POSITIONAL:
        default = parameter.default
        if isinstance(default, (int, float)) and not isinstance(default, bool):
            return INTEGERS if isinstance(default, int) else REALS
    return frozenset()


def _plain(value: Any, dtypes: AbstractSet[np.dtype[Any]]) -> Any:
    if isinstance(value, (list, tuple)):
        found = [_plain(v, dtypes) for v in value]
        same = all(a is b for a, b in zip(found, value, strict=True))
        return value if same else type(value)(found)
    if isinstance(value, Variable):
        if value.spec.dtype not in dtypes:
            return value
        return as_number(value) if value.spec.size == 1 else numbers_in(value)
    if not isinstance(value, Tensor) or np.dtype(value._data.dtype) not in dtypes:
        return value
    if value.size != 1 and value.ndim == 1 and value.stop_gradient:
        return value.tolist()
    return as_number(value)
