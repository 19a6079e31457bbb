"""What an operator type of the reference is here: its slots, its attributes, a public function.

A type is declared by one line, in the notation of the reference's own documents::

    declare("softmax", "X -> Out", F.softmax, axis=-1)
    declare("concat", "X* AxisTensor? -> Out", _concat, axis=0)

``*`` marks a slot of any number of variables, ``?`` an input that may be left out, ``~`` an output
that the reference makes for its own gradients, and that nothing computes here. The function takes
the inputs in the order of the slots, and the attributes by their names; it returns the other
outputs. It is made of public functions and of operations, so there is no gradient in here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import to_numpy
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.program.ir.program import Block, Variable
from autograd_engine.static.executor.feeds import similar

__all__ = ["TYPES", "DType", "Given", "OneOf", "OperatorType", "Slot", "declare", "dtype_name"]


Given = dict[str, list[Variable]]
"""Variables by slot."""


class DType(int):
    """An attribute that is a dtype, as the number that the reference has for it."""


class OneOf(str):
    """An attribute that is one of several words, the first of which is the default."""

    __slots__ = ("words",)

    words: tuple[str, ...]

    def __new__(cls, *words: str) -> OneOf:
        made = super().__new__(cls, words[0])
        made.words = words
        return made


class Slot(NamedTuple):
    name: str
    many: bool
    optional: bool
    computed: bool

    @classmethod
    def of(cls, text: str) -> Slot:
        name = text.rstrip("*?~")
        marks = text[len(name) :]
        return cls(name, "*" in marks, "?" in marks, "~" not in marks)


class OperatorType(NamedTuple):
    """One type.

    Attributes
    ----------
    name : str
    inputs, outputs : tuple of Slot
    function : callable
    attrs : dict
        Defaults; of an attribute that has to be given its class.
    role : str
        The role of the operator.
    of_block : bool
        Its function takes the block and variables by slot, and returns the operator.
    """

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    function: Callable[..., Any]
    attrs: dict[str, Any]
    role: str
    of_block: bool

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All attributes, of the classes that they have in the reference.

        Raises
        ------
        ArgumentError, ArgumentTypeError
        """
        full = {k: _fresh(v) for k, v in self.attrs.items()}
        for name, value in given.items():
            if name not in full:
                if name in _HINTS:
                    continue
                raise ArgumentError(self._unknown("attribute", name, full))
            full[name] = self._converted(name, self.attrs[name], value)
        missing = [name for name, value in full.items() if isinstance(value, type)]
        if missing:
            raise ArgumentError(
                f"append_op: {self.name} needs the attribute{'s' * (len(missing) > 1)} "
                f"{', '.join(map(repr, missing))}: attrs={{{missing[0]!r}: ...}}"
            )
        return full

    def slots(self, what: str, given: Mapping[str, Any]) -> None:
        """Raise ArgumentError for slots that there are not, and for inputs that are missing."""
        slots = self.inputs if what == "input" else self.outputs
        names = [slot.name for slot in slots]
        for name in given:
            if name not in names:
                raise ArgumentError(self._unknown(what, name, names))
        if what == "input":
            for slot in slots:
                value = given.get(slot.name)
                # By kind: == on Variables would append an operator.
                empty = value is None or (isinstance(value, (list, tuple)) and not value)
                if empty and not slot.optional:
                    raise ArgumentError(
                        f"append_op: {self.name} needs the input {slot.name!r}; its inputs are "
                        f"{', '.join(names)}"
                    )

    def _unknown(self, what: str, name: Any, known: Any) -> str:
        close = similar(name, known) if isinstance(name, str) else None
        listed = ", ".join(known) or "none"
        hint = f"did you mean {close!r}? " if close else ""
        return f"append_op: {self.name} has no {what} {name!r}; {hint}It has {listed}"

    def _converted(self, name: str, default: Any, value: Any) -> Any:
        kind = default if isinstance(default, type) else type(default)
        where = f"append_op: the attribute {name!r} of {self.name}"
        if kind is DType:
            return _dtype_number(where, value)
        if kind is Block and isinstance(value, Block):
            return value
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and kind is not list):
            value = value.item() if value.size == 1 else value
        if kind is list:
            return _as_list(where, value)
        if kind is bool and isinstance(value, (bool, int)):
            return bool(value)
        if kind is int and isinstance(value, (bool, int)):
            return int(value)
        if kind is float and isinstance(value, (bool, int, float)):
            return float(value)
        if kind is OneOf and value not in default.words:
            words = ", ".join(map(repr, default.words))
            raise ArgumentError(f"{where} must be one of {words}, got {value!r:.60}")
        if kind in (str, OneOf) and isinstance(value, str):
            return str(value)
        raise ArgumentTypeError(f"{where} must be {_CALLED[kind]}, got {value!r:.60}")


_CALLED: Final[dict[Any, str]] = {
    bool: "True or False",
    int: "an int",
    float: "a number",
    str: "a str",
    Block: "a block, which program.create_block() makes",
}

# Attributes of all types: what they are for the engine is known, or has no meaning here.
_HINT_NAMES: Final = (
    "op_role op_role_var op_namescope op_callstack op_device with_quant_attr use_mkldnn use_cudnn "
    "use_onednn mkldnn_data_type use_quantizer is_test exhaustive_search workspace_size_MB "
    "fuse_relu_before_depthwise_conv use_addto force_cpu name"
)
_HINTS: Final = frozenset(_HINT_NAMES.split())


def _fresh(default: Any) -> Any:
    """A default as an operator has it: a list of its own."""
    kind = default.__class__
    if kind is OneOf:
        return str(default)
    return list(default) if kind is list else int(default) if kind is DType else default


def _as_list(where: str, value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        value = [value]
    found = [v.item() if isinstance(v, np.generic) else v for v in value]
    for v in found:
        if not isinstance(v, (bool, int, float, complex, str)):
            raise ArgumentTypeError(
                f"{where} must be a list of numbers, and holds a {type(v).__name__}"
            )
    return found


# --- dtypes: the reference writes their numbers into its programs

_NUMBERS: Final = {
    0: "bool",
    1: "int16",
    2: "int32",
    3: "int64",
    4: "float16",
    5: "float32",
    6: "float64",
    20: "uint8",
    21: "int8",
    22: "bfloat16",
    23: "complex64",
    24: "complex128",
}
_BY_NAME: Final = {name: number for number, name in _NUMBERS.items()}


def _dtype_number(where: str, value: Any) -> int:
    number = getattr(value, "value", value)  # a member of an enumeration
    if isinstance(number, (int, np.integer)) and not isinstance(number, bool):
        if number != -1 and number not in _NUMBERS:
            raise ArgumentError(
                f"{where}: {number} is the number of no dtype here; they are "
                f"{', '.join(f'{k} {v}' for k, v in _NUMBERS.items())}"
            )
        return int(number)
    return _BY_NAME[to_numpy(value).name]


def dtype_name(number: int) -> Any:
    """The name of the dtype of that number; None of -1, which is no dtype."""
    return _NUMBERS.get(number)


# --- the table

TYPES: Final[dict[str, OperatorType]] = {}


def declare(
    name: str,
    slots: str,
    function: Callable[..., Any],
    *,
    role: str = "forward",
    of_block: bool = False,
    **attrs: Any,
) -> None:
    """Enter a type into the table."""
    inputs, outputs = (tuple(map(Slot.of, part.split())) for part in slots.split("->"))
    assert name not in TYPES, name
    TYPES[name] = OperatorType(name, inputs, outputs, function, attrs, role, of_block)
