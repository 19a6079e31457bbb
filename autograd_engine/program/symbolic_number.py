"""Python numbers that are known when a program runs: sizes of its variables, and their values.

Such a number stands where a Python number does: among the sizes of a shape, as the bound of a
slice, beside an array in arithmetic. It is computed with as one. An integer is known as a formula
in the sizes of what is fed (`core.dims`), so that two which are provably equal are, and what is no
unknown at all is an int again. Where an operation takes a number as an attribute, the variable that
holds it becomes one of its operands (`ops.registry.number_inputs`).
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from autograd_engine.core.checks import as_number
from autograd_engine.core.dims import Dim, Size, SymbolicNumber, fresh_dim
from autograd_engine.core.dtypes import FLOATS, INT64, INTEGERS
from autograd_engine.core.locations import PACKAGE_DIR, caller
from autograd_engine.core.spec import ValueSpec, known_value
from autograd_engine.errors import ModeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Block, Variable

__all__ = ["NeedsAxis", "NeedsValue", "number_of", "numbers_in", "size_of"]


class NeedsValue(ModeError, TypeError):
    """Python asked for the value of what has none while a program is built."""


class NeedsAxis(NeedsValue):
    """An axis that only the run knows: one of those that there are.

    Attributes
    ----------
    number : SymbolicNumber
    op : str
        What asked.
    ndim : int
        How many axes there are.
    axes : sequence of int
        Which of these it may be.
    """

    def __init__(self, message: str, number: Any, op: str, ndim: int, axes: Sequence[int]) -> None:
        super().__init__(message)
        self.number, self.op, self.ndim, self.axes = number, op, ndim, axes


class _Number(SymbolicNumber):
    """A number as the variables of a program that hold it.

    It is no int, for ``range``, ``len`` and lists would take that for the number without asking,
    but says that it is one.

    Attributes
    ----------
    make : callable
        Appends what computes it, and returns the variable.
    kind : type
        int or float.
    what : str
        What it is, in a message.
    """

    __slots__ = ("_var", "kind", "make", "what")

    def __init__(self, kind: type, dim: Size | None, make: Callable[[], Any], what: str) -> None:
        self.kind = kind
        self.dim = dim
        self.make = make
        self.what = what
        self._var: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.kind

    def variable(self) -> Any:
        var = self._var
        if var is None or not _in_sight(var):
            var = self._var = self.make()
        return var

    def within(self, what: str, wanted: str, least: float, most: float = math.inf) -> Any:
        def make() -> Any:
            limits = {"least": float(least), "most": float(most)}
            return ops.within(self.variable(), what=what, wanted=wanted, **limits)

        return _Number(self.kind, self.dim, make, self.what)

    def refuse(self, what: str) -> NoReturn:
        raise NeedsValue(self._needed(what))

    def refuse_axis(self, op: str, ndim: int, axes: Sequence[int] | None = None) -> NoReturn:
        raise NeedsAxis(
            self._needed(f"{op}: an axis"), self, op, ndim, range(ndim) if axes is None else axes
        )

    def _needed(self, what: str) -> str:
        at = caller()
        return (
            f"{what} at {at} ({at.text}) needs {self.what}, while the program is built: operations "
            "compute with it, x * n ** 0.5, and Python cannot; use paddle.static.nn.while_loop for "
            "a loop over it, paddle.static.nn.cond for a branch, or declare the size"
        )

    def _compared(self, name: str, other: Any, asker: FrameType) -> Any:
        """Whether the one is larger, where that is so in all runs.

        A user who asks whether a size is negative asks whether it is known, as it is shown as -1.
        """
        inside = asker.f_code.co_filename.startswith(PACKAGE_DIR)
        if self.dim is not None and self.kind is int:
            if not inside and _asks_whether_known(name, other):
                return getattr(int, name)(-1, other)
            size = other.dim if isinstance(other, SymbolicNumber) else other
            if isinstance(size, (int, Dim)) and not isinstance(size, bool):
                try:
                    return _ORDER[name](self.dim, size)
                except TypeError:
                    pass
        elif not isinstance(other, (int, float)):
            return NotImplemented
        self.refuse("comparing an unknown size")

    def __neg__(self) -> Any:
        return 0 - self  # type: ignore[operator]

    def __pos__(self) -> _Number:
        return self

    def __hash__(self) -> int:
        return hash(self.dim)

    def __repr__(self) -> str:
        return "-1"


def _asks_whether_known(name: str, other: Any) -> bool:
    return type(other) in (int, float) and bool(
        other < 0 or (other == 0 and name in ("__lt__", "__ge__"))
    )


def _equal(a: Any, b: Any) -> bool:
    """Whether two sizes are equal in all runs, or in none; a TypeError where that is not known."""
    if a == b:
        return True
    return not (a >= b and b >= a)


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__eq__": _equal,
    "__ne__": lambda a, b: not _equal(a, b),
}


def _in_sight(var: Variable) -> bool:
    """Whether what is built now can read it: it is still there, and around."""
    if var.block.vars.get(var.name) is not var:
        return False
    block: Block = var.block.program.current_block()
    while block is not var.block and block.parent_idx >= 0:
        block = block.program.blocks[block.parent_idx]
    return block is var.block


def number_of(var: Variable) -> Any:
    """The number that a variable of one element holds: a plain one where that is known."""
    value = known_value(var.spec)
    if var.spec.dtype in FLOATS:
        if value is not None:
            return value.astype(var.spec.dtype).item()
        return _Number(float, None, lambda: _scalar(var), f"the value of {var.name}")
    if value is None:
        # From here on two sizes that are this number are known to be equal.
        value = np.asarray([fresh_dim()], object).reshape(var.spec.shape)
        var.spec = ValueSpec(var.spec.dtype, value)
    dim = value.item()
    return _integer(dim, lambda: _scalar(var), f"the value of {var.name}")


def numbers_in(var: Variable) -> Any:
    """The numbers of a vector whose length is known; of what holds one number, that."""
    shape = var.spec.shape
    if len(shape) != 1 or not isinstance(shape[0], int) or var.spec.dtype not in INTEGERS:
        return as_number(var)
    value = known_value(var.spec)
    if value is None:
        value = np.array([fresh_dim() for _ in range(shape[0])], object)
        var.spec = ValueSpec(var.spec.dtype, value)

    def element(k: int) -> Any:
        return _integer(value[k], lambda: ops.getitem(var, key=(k,)), f"the values of {var.name}")

    return [element(k) for k in range(shape[0])]


def size_of(var: Variable, axis: int) -> Any:
    """The size of an axis."""
    dim = var.spec.shape[axis]

    def make() -> Any:
        return ops.getitem(ops.shape_of(var), key=(axis,))

    return _integer(dim, make, f"the size of axis {axis}, which the InputSpec leaves open")


def _scalar(var: Variable) -> Any:
    return var if not var.spec.shape else ops.reshape(var, shape=())


def _integer(dim: Size | None, make: Callable[[], Any], what: str) -> Any:
    return dim if isinstance(dim, int) else _Number(int, dim, make, what)


# --- arithmetic


def _operation(name: str, order: Callable[[Any, Any], Any], *, reflected: bool) -> Any:
    """A method: another number, of which is known what follows from what is known of these."""

    def method(self: _Number, other: Any) -> Any:
        if not isinstance(other, (SymbolicNumber, int, float)) or isinstance(other, bool):
            return NotImplemented
        a, b = (other, self) if reflected else (self, other)
        whole = all(isinstance(v, int) for v in (a, b)) and name != "divide"
        if name == "pow" and whole and (type(b) is not int or b < 0):
            whole = False
        dim = None
        if whole:
            dims = [v.dim if isinstance(v, SymbolicNumber) else v for v in (a, b)]
            dim = _known(order, dims)

        def make() -> Any:
            x, y = (_operand(v, whole) for v in (a, b))
            return getattr(ops, name)(x, y)

        if whole:
            return _integer(dim, make, self.what)
        return _Number(float, None, make, self.what)

    return method


def _known(order: Callable[[Any, Any], Any], dims: list[Any]) -> Any:
    """The formula of a result; a symbol of its own where there is none."""
    if None in dims:
        return fresh_dim()
    if order is operator.pow:
        found: Any = 1
        for _ in range(dims[1]):
            found = found * dims[0]
        return found
    return order(*dims)


def _operand(value: Any, whole: bool) -> Any:
    """A number as one of the operands of an operation that computes in int64, or in float64."""
    if not isinstance(value, SymbolicNumber):
        return value
    var = value.variable()
    wanted = INT64 if whole else np.dtype(np.float64)
    return var if var.spec.dtype == wanted else ops.cast(var, dtype=wanted.name)


for _name, _order in {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
}.items():
    _row = {
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "floordiv": "floor_divide",
        "mod": "remainder",
    }.get(_name, _name)
    setattr(_Number, f"__{_name}__", _operation(_row, _order, reflected=False))
    setattr(_Number, f"__r{_name}__", _operation(_row, _order, reflected=True))


def _comparing(name: str) -> Any:
    return lambda self, other: self._compared(name, other, sys._getframe(1))


def _refusing(self: _Number, *_: Any) -> Any:
    self.refuse("Python's use of an unknown size as a number")


for _name in _ORDER:
    setattr(_Number, _name, _comparing(_name))
for _name in (
    *("__bool__", "__float__", "__int__", "__index__", "__round__", "__trunc__", "__ceil__"),
    *("__floor__", "__complex__"),
):
    setattr(_Number, _name, _refusing)
