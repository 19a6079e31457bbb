"""What code of the table computes, said by itself: kernels and rules run on stand-ins.

A kernel is a NumPy expression and a rule one in a namespace, so whoever wants to know what they do
runs them once more, with objects of his own in the place of arrays and of NumPy. What these write
down is each reader's: ufuncs (`inplace_rules`), calls with their dtypes (`compiler.planned`), loops
over memory (`compiler.native`). How code gets to work on them is here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType
from typing import Any, Final

import numpy as np

from autograd_engine.core.operand import OPERATORS, REFLECTED
from autograd_engine.ops.kernels.compiled import in_numpy
from autograd_engine.ops.kernels.elementwise import ufunc_of

__all__ = ["OPERATOR_UFUNCS", "PYTHON_UFUNCS", "bind_operators", "rebound", "run_on"]

_NUMPY: Final = {
    "greater_than": "greater",
    "less_than": "less",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
}
OPERATOR_UFUNCS: Final[dict[str, np.ufunc]] = {
    name: getattr(np, _NUMPY.get(name, name)) for name in OPERATORS.values()
}
"""What NumPy calls for an operator between arrays, by the operation of that name."""

PYTHON_UFUNCS: Final = {
    getattr(operator, python): OPERATOR_UFUNCS[name] for python, name in OPERATORS.items()
}
"""Of kernels that are Python's operators: ufuncs reached by a shorter way."""


def bind_operators(cls: type, apply: Callable[[Any, str, tuple[Any, ...]], Any]) -> None:
    """Give a class the operators: ``apply(self, operation, operands)`` is what they return.

    Those that the class defines itself stay.
    """
    for python, name in (*OPERATORS.items(), *REFLECTED.items()):
        if python not in vars(cls):
            setattr(cls, python, _operator(name, python in REFLECTED, apply))


def _operator(name: str, reflected: bool, apply: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        return apply(self, name, (*others, self) if reflected else (self, *others))

    return method


def run_on(kernel: FunctionType, numpy: Any, ufunc: Callable[[Any], Any]) -> Any:
    """`kernel` with `numpy` in the place of NumPy, and the functions that it calls likewise.

    Parameters
    ----------
    kernel : function
    numpy : object
    ufunc : callable
        ``ufunc(value)`` is what stands for a ufunc, or for a kernel that calls one and does nothing
        else; with a method `reduce`.
    """

    def stand_in(value: Any) -> Any:
        if value is np:
            return numpy
        if ufunc_of(value) is not None:
            return ufunc(value)
        if isinstance(value, BuiltinFunctionType) and value.__name__ == "reduce":
            return ufunc(value.__self__).reduce if isinstance(value.__self__, np.ufunc) else value
        return value

    original: Any = in_numpy(kernel)
    return rebound(original, stand_in)


def rebound(function: Any, stand_in: Callable[[Any], Any]) -> Any:
    """A copy of a function of the table that finds other things by the names that it looks up.

    So do the functions of the table that it calls. What it finds is what `stand_in` gives for what
    stands there, in globals and in cells; where that is the value itself, a function of the table
    is copied likewise. Functions of others are left as they are.
    """
    return _copied(function, stand_in, {})


def _copied(
    function: FunctionType, stand_in: Callable[[Any], Any], made: dict[FunctionType, Any]
) -> Any:
    if function in made:
        return made[function]
    if not function.__module__.startswith("autograd_engine.ops"):
        return function

    def found(value: Any) -> Any:
        other = stand_in(value)
        if other is value and isinstance(value, FunctionType):
            return _copied(value, stand_in, made)
        return other

    scope = dict(function.__globals__)
    cells = tuple(CellType() for _ in function.__closure__ or ())
    copy = made[function] = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, cells or None
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    for name in _names(function.__code__) & scope.keys():
        scope[name] = found(scope[name])
    for new, old in zip(cells, function.__closure__ or (), strict=True):
        new.cell_contents = found(old.cell_contents)
    return copy


def _names(code: CodeType) -> set[str]:
    """What a function and those inside of it look up."""
    inner = [_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)
