"""What many functions and blocks check alike."""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any, Final, TypeVar

import numpy as np

from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import FLOATS, instead
from autograd_engine.core.operand import HoldsNumber
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ModeError

__all__ = [
    "MOST",
    "as_bool",
    "as_int",
    "as_number",
    "check_callback",
    "decided",
    "in_memory",
    "int_at_least",
    "is_int",
    "left_unentered",
    "plain_number",
    "positive_int",
    "require_bools",
    "require_cpu",
    "require_floats",
    "require_possible",
    "require_type",
]

T = TypeVar("T")

MOST: Final = sys.maxsize // 16  # elements of an array, whatever its dtype


def require_bools(function: str, **values: Any) -> None:
    """Raise ArgumentError unless each of `values` is True or False.

    What merely counts as true is refused: most often it was meant for another parameter.
    """
    for name, value in values.items():
        if not isinstance(value, bool):
            raise ArgumentError(_no_bool(function, name, value))


def require_type(
    value: Any,
    kinds: Any,
    text: str,
    error: Callable[[str], Exception] = ArgumentTypeError,
    hint: str = "",
) -> None:
    """Raise `error` unless `value` is of one of the types: `text`, what came, and what to do."""
    if not isinstance(value, kinds):
        raise error(f"{text}, got {type(value).__name__}{hint}")


def _no_bool(function: str, argument: str, value: Any) -> str:
    shown = repr(value) if isinstance(value, (str, int, float)) else type(value).__name__
    return (
        f"{function}: {argument} must be True or False, got "
        f"{'None' if value is None else shown:.60}"
    )


def as_bool(function: str, argument: str, value: Any, *, or_none: bool = False) -> bool | None:
    """`value`, of an argument that is True or False, as one of these.

    One of NumPy's is taken, a bool tensor of one element, and the ints 0 and 1. None is False, as
    in Paddle, unless it is a value of its own.
    """
    if value is None:
        return None if or_none else False
    found = as_number(value)
    if isinstance(found, bool) or (is_int(found) and found in (0, 1)):
        return bool(found)
    raise ArgumentTypeError(_no_bool(function, argument, value))


def as_number(value: Any) -> Any:
    """What holds one number, a Tensor, an array, a NumPy scalar, as a Python number; else `value`.

    The one conversion of what stands where a number is asked for. Of a tensor it goes through
    ``item``, so that a traced function depends on the value; a variable of a program gives a
    symbolic number. Left as it is what carries a gradient, which would be lost.
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return value.item() if value.size == 1 else value
    if isinstance(value, HoldsNumber):
        return value._number()
    return value


def check_callback(
    function: str, argument: str, callback: Any, *given: str, by_name: bool = False
) -> None:
    """Raise TypeError unless `callback` can be called with what it will be given.

    Parameters
    ----------
    function, argument : str
        Who calls it, and what it is there.
    callback : callable
    *given : str
        What the arguments are, for the message.
    by_name : bool
        Whether these are their names, too.
    """
    if type(callback) is FunctionType and not by_name:  # the usual ones, at little cost
        code = callback.__code__
        least = code.co_argcount - len(callback.__defaults__ or ())
        if least <= len(given) <= code.co_argcount and not code.co_kwonlyargcount:
            return
    call = f"{argument}({', '.join(given)})"
    if not callable(callback):
        raise ArgumentTypeError(
            f"{function}: {argument} must be a function, which is called as {call}; got "
            f"{type(callback).__name__}"
        )
    try:
        signature = _signature(callback)
    except (TypeError, ValueError):  # not known of some that are compiled
        return
    try:
        if by_name:
            signature.bind(**dict.fromkeys(given))
        else:
            signature.bind(*given)
    except TypeError as problem:
        name = getattr(callback, "__qualname__", None) or type(callback).__name__
        raise ArgumentTypeError(
            f"{function}: {argument} is called as {call}, and {name} takes {signature}: {problem}"
        ) from None


def _signature(callback: Any) -> inspect.Signature:
    """`inspect.signature`, which parses that of a function in C, as ``seen.append``, each time.

    What it leaves then, among it a copy of `sys.modules`, stays until the garbage collector comes.
    """
    if type(callback) is BuiltinFunctionType:
        if isinstance(callback.__self__, ModuleType):
            return _in_c(callback)
        method = getattr(type(callback.__self__), callback.__name__, None)
        if type(method) is MethodDescriptorType:
            unbound = _in_c(method)
            return unbound.replace(parameters=list(unbound.parameters.values())[1:])
    return inspect.signature(callback)


_in_c = functools.lru_cache(maxsize=64)(inspect.signature)


def require_cpu(function: str, argument: str, place: Any) -> None:
    """Raise ArgumentError for any place but the CPU; None leaves it open."""
    if place is not None and str(place).lower() not in ("cpu", "cpu:0", "place(cpu)"):
        raise ArgumentError(
            f"{function}: {argument} must be 'cpu' or paddle.CPUPlace(), or be left out: all "
            f"arrays are on the CPU; got {place!r}"
        )


def require_floats(function: str, argument: str, dtype: np.dtype[Any]) -> None:
    """Raise DTypeError unless an operand of this dtype holds floats."""
    if dtype not in FLOATS:
        raise DTypeError(
            f"{function}: {argument} must hold floating-point numbers, got {dtype.name}"
            f"{instead(dtype, argument)}"
        )


def as_int(value: Any) -> Any:
    """`value`, for which `is_int` holds, as an int; what the run knows stays as it is."""
    return value if isinstance(value, SymbolicNumber) else int(value)


def is_int(value: Any) -> bool:
    """Whether that is an int, of Python or of NumPy, and no bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def require_possible(function: str, sizes: Sequence[Any], of: str = "") -> None:
    """Raise ArgumentError where the known sizes make more elements than an array can have."""
    known = [d for d in sizes if is_int(d) and not isinstance(d, SymbolicNumber)]
    known = [int(d) for d in known if d >= 0]
    if math.prod(known) > MOST or any(d > MOST for d in known):
        raise ArgumentError(
            f"{function}: shape {list(sizes)}{of} has more elements than an array can have"
        )


def in_memory(function: str, sizes: Sequence[int], make: Callable[[], T]) -> T:
    """What `make` makes, which has arrays of these sizes: they may be far too large."""
    try:
        return make()
    except MemoryError:
        raise ArgumentError(
            f"{function}: shape {list(sizes)} takes more memory than there is"
        ) from None


def int_at_least(function: str, argument: str, value: Any, least: int = 1, most: int = MOST) -> int:
    """`value` as an int, which is no bool, from `least` to `most`: by default any size."""
    found = as_number(value)
    if isinstance(found, SymbolicNumber) and is_int(found):
        checked: int = found.within(
            f"{function}: {argument}", f"an int, {least} at least", least, most
        )
        return checked
    if not is_int(found) or not least <= found <= most:
        above = f", {most} at most" if is_int(found) and found > most else ""
        raise ArgumentError(
            f"{function}: {argument} must be an int, {least} at least{above}; got {value!r}"
        )
    number: int = as_int(found)
    return number


def decided(function: str, argument: str, value: Any) -> Any:
    """`value`, on which the operators of a program depend: a number that the run knows is none."""
    if isinstance(value, SymbolicNumber):
        value.refuse(f"{function}: {argument}")
    return value


def positive_int(function: str, argument: str, value: Any, most: int = MOST) -> int:
    """`value` as an int, which is no bool, above 0, and not above `most`."""
    found = as_number(value)
    if isinstance(found, SymbolicNumber) and is_int(found):
        checked: int = found.within(f"{function}: {argument}", "a positive int", 1, most)
        return checked
    if not is_int(found) or not 0 < found <= most:
        above = f", {most} at most" if is_int(found) and found > most else ""
        raise ArgumentError(f"{function}: {argument} must be a positive int{above}, got {value!r}")
    number: int = as_int(found)
    return number


def plain_number(function: str, argument: str, value: Any, *, infinite: bool = False) -> float:
    """A real number as a float: no bool, and a finite one unless it may be infinite."""
    value = as_number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(
            f"{function}: {argument} must be a number, got {type(value).__name__}"
        )
    if math.isnan(value) or (math.isinf(value) and not infinite):
        wanted = "a number" if infinite else "finite"
        raise ArgumentError(f"{function}: {argument} must be {wanted}, got {value}")
    return float(value)


def left_unentered(manager: object) -> ModeError:
    """What to raise where a context manager is left more often than entered."""
    name = type(manager).__name__
    return ModeError(f"{name} was left without being entered: write `with {name}(...):`")
