"""NumPy's functions on Tensors and Variables: ``np.sum(t, axis=0)``, ``np.concatenate([t, u])``.

A table from NumPy's function to one of ours with NumPy's arguments. Functions whose results have no
gradient by nature (positions, text, files) are NumPy's own, on values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from autograd_engine.core.operand import Operand
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.operands import (
    carries_gradient,
    deliver,
    no_counterpart,
    of_values,
    operands_in,
    plain,
    refuse_writing,
)

__all__ = ["FUNCTIONS", "GRADIENT_FREE", "array_function", "covers", "name_of"]

F = TypeVar("F", bound=Callable[..., Any])
_NEVER: Final = 1 << 30  # the position of what has a name only

FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {}
_OUT: Final[dict[Any, int]] = {}  # where among the arguments ``out`` is

# Positions, truths, texts, files: NumPy computes them on values, as nothing flows back from them.
_NAMES: Final = """
allclose argpartition argwhere array2string array_equal array_equiv array_repr array_str can_cast
common_type diag_indices_from digitize einsum_path histogram histogram2d histogram_bin_edges
histogramdd iscomplex iscomplexobj isrealobj ix_ lexsort linalg.matrix_rank may_share_memory
min_scalar_type nanargmax nanargmin packbits ravel_multi_index result_type save savetxt savez
savez_compressed shares_memory tril_indices_from triu_indices_from unpackbits unravel_index
"""


def _numpy(name: str) -> Any:
    place: Any = np
    for part in name.split("."):
        place = getattr(place, part, None)
    return place


GRADIENT_FREE: Final = frozenset(f for f in map(_numpy, _NAMES.split()) if f is not None)


def covers(*names: str) -> Callable[[F], F]:
    """Declare that a function is NumPy's of these names, ``linalg.det`` say."""

    def declare(function: F) -> F:
        function.__name__ = function.__qualname__ = f"np.{names[0]}"  # for errors about arguments
        code = inspect.unwrap(function).__code__
        if "out" in code.co_varnames[: code.co_argcount]:
            _OUT[function] = code.co_varnames.index("out")
        elif "out" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            _OUT[function] = _NEVER
        for name in names:
            numpys = _numpy(name)
            if numpys is not None:  # None: a NumPy that has no such function yet
                FUNCTIONS[numpys] = function
        return function

    return declare


def name_of(function: Any) -> str:
    """``np.linalg.det`` as users write it."""
    module = str(getattr(function, "__module__", "numpy")).replace("numpy", "np", 1)
    return f"{module}.{function.__name__}"


def array_function(
    self: Any, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What NumPy's ``function(*args, **kwargs)`` is, where an argument is one of ours."""
    if not all(issubclass(t, (Operand, np.ndarray)) for t in types):
        return NotImplemented
    ours = FUNCTIONS.get(function)
    if ours is None:
        return _uncovered(function, name_of(function), args, kwargs)
    place = _OUT.get(ours)
    out = None
    if place is not None:
        if len(args) > place:
            out, args = args[place], (*args[:place], None, *args[place + 1 :])
        elif "out" in kwargs:
            out = kwargs["out"]
            kwargs = {key: value for key, value in kwargs.items() if key != "out"}
    if out is None:
        return ours(*args, **kwargs)
    name = name_of(function)
    if not operands_in(out) and carries_gradient((args, kwargs)):
        refuse_writing(name, args, kwargs)
    return deliver(name, ours(*args, **kwargs), out)


def _uncovered(function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    reads = function in GRADIENT_FREE and not carries_gradient(kwargs.get("weights"))
    if reads or not carries_gradient((args, kwargs)):
        out = kwargs.get("out")
        if operands_in(out):
            raise ArgumentError(f"{name}: out= cannot be a tensor here; use what {name} returns")
        if out is not None:
            return function(*plain(name, args), **plain(name, kwargs))
        return of_values(name, function, args, kwargs)
    no_counterpart(name)
