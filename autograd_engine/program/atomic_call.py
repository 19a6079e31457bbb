"""Public functions that fail as a whole: nothing is left behind, and the message is about the call.

Both cost nothing until a call fails.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

from autograd_engine import errors
from autograd_engine.core.above import above
from autograd_engine.core.dtypes import INTEGERS
from autograd_engine.core.locations import PACKAGE_DIR
from autograd_engine.core.operand import Operand
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Variable,
    default_main_program,
)
from autograd_engine.program.number_arguments import with_plain_numbers
from autograd_engine.program.symbolic_number import NeedsAxis

__all__ = ["atomic", "checked", "failed"]

P = ParamSpec("P")
T = TypeVar("T")

_RAW: Final = (
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    TypeError,
    ValueError,
    ZeroDivisionError,
)
_OURS: Final = tuple(getattr(errors, name) for name in errors.__all__)
_NUMPY_DIR: Final = os.path.join(os.path.dirname(np.__file__), "")
_TOO_LARGE: Final = re.compile(r"too (big|large)|[Mm]aximum (allowed|supported)|negative dim")
_NUMBERS: Final = (bool, int, float, complex, np.generic)


def atomic(function: Callable[P, T]) -> Callable[P, T]:
    """`function` such that a call that fails leaves the programs of its operands as they were.

    Operators are numbered as they are made, so those of the call are known by their numbers. What
    Python or NumPy say of an argument becomes an exception that names function and argument. Where
    tensors stand for numbers, and the function does not take them, it is called again with these.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        before = Operator.made
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            again = failed(function, before, args, kwargs, error)
            if again is not None:
                result: T = again[0]
                return result
            raise

    call.atomic = function  # type: ignore[attr-defined]  # what a wrapper may call as this does
    return call


def failed(
    function: Callable[..., Any], before: int, args: Any, kwargs: Any, error: BaseException
) -> tuple[Any] | None:
    """Undo what a call has appended since `before` operators, and raise what says more.

    If tensors stood for numbers, the result of a call with these; if an axis is not known while a
    program is built, that of the call for the axis that it is. None where the error stays.
    """
    _undo(before, args, kwargs)
    if isinstance(error, Exception):
        again = with_plain_numbers(function, args, kwargs)
        if again is not None:
            return (atomic(function)(*again[0], **again[1]),)
        if isinstance(error, NeedsAxis):
            try:
                found: tuple[Any] | None = above.at_each_axis(atomic(function), args, kwargs, error)
            except BaseException:
                _undo(before, args, kwargs)
                raise
            return found
    if isinstance(error, _RAW) and not isinstance(error, _OURS):
        better = _explained(function, args, kwargs, error)
        if better is not None:
            raise better from error
    return None


def _undo(before: int, args: Any, kwargs: Any) -> None:
    """Drop what was appended after so many operators."""
    if Operator.made != before:
        for block in {default_main_program().current_block(), *_blocks((args, kwargs))}:
            block.undo(before)


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """`atomic`, of a function that is given names and switches; these are checked beforehand.

    They are the parameters that are annotated as `str` or `bool`, or as such or None. What merely
    counts as true would be taken, and what is no name be found out elsewhere.
    """
    guarded = atomic(function)
    wanted: list[tuple[inspect.Parameter, int]] = []

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if not wanted:
            parameters = inspect.signature(function).parameters.values()
            wanted.extend((p, k) for k, p in enumerate(parameters) if p.annotation in _PLAIN)
        for parameter, position in wanted:
            name = parameter.name
            value = args[position] if position < len(args) else kwargs.get(name, parameter.default)
            if value is inspect.Parameter.empty:
                continue
            if text := _mismatch(str(parameter.annotation), value, _NONE):
                raise ArgumentTypeError(
                    f"{function.__name__}: {name} must be {text}, got {_shown(value)}"
                )
        return guarded(*args, **kwargs)

    return call


def _shown(value: Any) -> str:
    if isinstance(value, Variable):
        return f"the variable {value.name}"
    plain = value is None or isinstance(value, (str, bool, int, float))
    return repr(value)[:80] if plain else type(value).__name__


_PLAIN: Final = ("str", "str | None", "bool", "bool | None")
_NONE: Final = object()  # no value is this default


def _blocks(value: Any) -> Iterator[Block]:
    """The blocks of all Variables in nested arguments."""
    if isinstance(value, Variable):
        yield value.block
        yield value.block.program.current_block()
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _blocks(part)
    elif isinstance(value, dict):
        yield from _blocks(tuple(value.values()))


# --- what is wrong with a call, from the signature of the function


def _explained(
    function: Callable[..., Any], args: Any, kwargs: Any, error: Exception
) -> Exception | None:
    """An exception about the arguments, None where `error` is about them, or is the user's."""
    name = function.__name__
    if name.startswith("_"):  # what calls it explains
        return None
    try:
        given = inspect.signature(function).bind(*args, **kwargs)
    except TypeError as problem:  # too many, too few, or of another name
        return TypeError(f"{name}: {problem}; it takes {inspect.signature(function)}")
    if not _is_raw(error):
        return None
    named = [
        (given.signature.parameters[argument], value)
        for argument, value in given.arguments.items()
        if given.signature.parameters[argument].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    for parameter, value in sorted(named, key=lambda pair: pair[0].annotation == "Any"):
        if wanted := _mismatch(str(parameter.annotation), value, parameter.default):
            return ArgumentTypeError(
                f"{name}: {parameter.name} must be {wanted}, got {value!r:.80}"
            )
    listed = ", ".join(
        f"{k}={v!r:.40}" for k, v in given.arguments.items() if not isinstance(v, Operand)
    )
    if isinstance(error, (MemoryError, OverflowError)) or _TOO_LARGE.search(str(error)):
        return ArgumentError(f"{name}: {listed}: more than an array, or a size, can hold")
    return ArgumentError(f"{name}: cannot take {listed or 'these operands'}")


def _is_raw(error: BaseException) -> bool:
    """Whether it comes from Python or NumPy: not from a ``raise`` of ours, nor from the user."""
    frames = traceback.extract_tb(error.__traceback__)
    known = (PACKAGE_DIR, _NUMPY_DIR, "numpy")
    if not all(frame.filename.startswith(known) for frame in frames):
        return False  # a function of the user's that was called back
    last = frames[-1]
    return not (last.filename.startswith(PACKAGE_DIR) and str(last.line).startswith("raise "))


def _mismatch(annotation: str, value: Any, default: Any) -> str:
    """What an argument must be where `value` is none of it; empty where it may be."""
    kinds = [k.strip() for k in annotation.split(" | ")]
    if value is default or (value is None and "None" in kinds):
        return ""
    wanted = []
    for kind in kinds:
        if kind in _CHECKS:
            text, fits = _CHECKS[kind]
            if fits(value):
                return ""
            wanted.append(text)
        elif kind != "None":
            return ""
    return " or ".join([*wanted, *(["None"] if "None" in kinds else [])])


def _is_int(value: Any) -> bool:
    if isinstance(value, (Operand, np.ndarray)):
        array: Any = value
        return (
            bool(array.ndim == 0 or array.size == 1)
            and np.dtype(getattr(array.dtype, "name", array.dtype)) in INTEGERS
        )
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_float(value: Any) -> bool:
    if isinstance(value, Operand):
        return True
    return isinstance(value, _NUMBERS) and not isinstance(value, (bool, complex))


def _all(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, (Operand, np.ndarray))
        or (isinstance(value, (list, tuple)) and all(map(fits, value)))
    )


def _is_operand(value: Any) -> bool:
    return isinstance(value, (Operand, np.ndarray, list, tuple, *_NUMBERS))


_INTS: Final = ("a list of ints", _all(_is_int))
_CHECKS: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "Any": ("a Tensor, a Variable, an ndarray or a number", _is_operand),
    "int": ("an int", _is_int),
    "float": ("a number", _is_float),
    "bool": ("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    "str": ("a str", lambda value: isinstance(value, str)),
    "Sequence[int]": _INTS,
    "list[int]": _INTS,
    "tuple[int, ...]": _INTS,
    "tuple[int, int]": _INTS,
    "IntOrInts": ("an int or a list of ints", lambda v: _is_int(v) or _all(_is_int)(v)),
    "Sequence[float]": ("a list of numbers", _all(_is_float)),
    "Sequence[Any]": ("a list of Tensors", lambda value: isinstance(value, (list, tuple))),
}
