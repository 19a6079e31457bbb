"""Operations that files can name, and what their attributes may be.

A program that was built has attributes that its functions have checked. One that was read has not:
here each is held to the type that its kernel declares for it, before anything looks at it.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.above import above
from autograd_engine.core.dtypes import DTYPES
from autograd_engine.ops.registry.number_inputs import (
    NumberInput,
    NumberInputOp,
    operation_of,
    positions,
)
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.files.fields import MAX_NUMBERS, fail, read_int, shown
from autograd_engine.program.ir.program import Block

__all__ = [
    "BLOCK_ATTRIBUTES",
    "check_attributes",
    "complete_attributes",
    "known_operation",
    "named_operation",
    "taking_numbers",
]


def known_operation(op: Any) -> bool:
    """Whether `op` is what a file would get back for its name."""
    return isinstance(op, OpDef) and _find(op.name) is operation_of(op)


def taking_numbers(op: OpDef, attrs: Any, numbers: Any, where: str) -> OpDef:
    """`op` with so many numbers as inputs, which are those that attributes name."""
    count = 0 if numbers is None else read_int(numbers, where, 1, MAX_NUMBERS)
    named = positions(attrs)
    if named != set(range(count)):
        fail(where, f"attributes name the numbers {sorted(named)}, of {count}")
    return NumberInputOp.of(op, count) if count else op


def named_operation(name: Any, where: str) -> OpDef:
    """The operation of that name."""
    op = _find(name) if type(name) is str else None
    if op is None:
        fail(where, f"there is no operation {shown(name)} in this version of autograd_engine")
    return op


def _find(name: str) -> OpDef | None:
    return REGISTRY.get(name) or above.EFFECTS.get(name)


# Operators of control flow have no kernels: what they hold, by kind.
BLOCK_ATTRIBUTES: Final[dict[str, dict[str, Any]]] = {
    "cond": {"true_block": Block, "false_block": Block},
    "call": {"body_block": Block, "backward_block": Block | None, "inputs": int},
    "while": {"cond_block": Block, "body_block": Block, "carried": int},
    "scan": {"body_block": Block, "carried": int, "captured": int, "reverse": bool},
    "add_stacks": {},
    "fill_stack": {"value": float},
    "hollow": {"value": float},
    "absent": {"shape": tuple[int | None, ...], "dtype": str, "stack": bool},
    "array_new": {},
    "array_write": {},
    "array_read": {},
    "array_length": {},
    "array_join": {"axis": int, "stack": bool},
    "array_split": {"axis": int, "stack": bool},
    "array_sizes": {"axis": int},
    "array_like": {},
}


def complete_attributes(op: OpDef, attrs: dict[str, Any], where: str) -> dict[str, Any]:
    """The attributes of `op`, all of them: those left out take their defaults."""
    full = dict(attrs)
    for name in attrs:
        if name not in op.attrs:
            fail(where, f"{op.name} has no attribute {shown(name)}; it has {list(op.attrs)}")
    for name, default in op.attrs.items():
        if full.setdefault(name, default) is inspect.Parameter.empty:
            fail(where, f"{op.name} needs the attribute {name!r}")
    check_attributes(_declared(op), full, where, op.name)
    return full


def check_attributes(
    declared: dict[str, Any], attrs: dict[str, Any], where: str, name: str
) -> None:
    for key, value in attrs.items():
        wanted = declared.get(key, Any)
        if not _fits(value, wanted):
            fail(f"{where}.{key}", f"{name} takes {_text(wanted)} there, got {shown(value)}")
        if key == "dtype" and value is not None and value not in DTYPES:
            fail(f"{where}.{key}", f"{shown(value)} is no dtype; use one of {', '.join(DTYPES)}")


@functools.cache
def _declared(op: OpDef) -> dict[str, Any]:
    kernel = inspect.unwrap(op.kernel)
    try:
        hints = typing.get_type_hints(kernel)
    except (NameError, TypeError):  # a name that is there for type checkers only
        return {}
    return {name: hints[name] for name in op.attrs if name in hints}


def _text(wanted: Any) -> str:
    return getattr(wanted, "__name__", None) if isinstance(wanted, type) else str(wanted)  # type: ignore[return-value]


def _fits(value: Any, wanted: Any) -> bool:
    if type(value) is NumberInput:
        value = 0
    if wanted is Any:
        return not isinstance(value, Block)
    origin = typing.get_origin(wanted)
    arguments = typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, kind) for kind in arguments)
    if origin is typing.Literal:
        return type(value) in (str, int, bool) and value in arguments
    if origin is tuple:
        if type(value) not in (tuple, list):
            return False
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return all(_fits(v, arguments[0]) for v in value)
        return len(value) == len(arguments) and all(map(_fits, value, arguments))
    if origin in (np.ndarray, NDArray) or wanted is np.ndarray:  # NumPy 2.5: NDArray is a name
        return isinstance(value, np.ndarray)
    if isinstance(origin, type):  # a Sequence, a Callable
        return isinstance(value, origin)
    if wanted is None or wanted is types.NoneType:
        return value is None
    if wanted is float:  # numbers, as Python has it; what fills an array may be any of them
        return isinstance(value, (int, float, complex, np.generic))
    if wanted is int:
        return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return isinstance(wanted, type) and isinstance(value, wanted)
