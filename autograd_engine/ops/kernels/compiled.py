"""C functions that kernels call where it pays, if this machine has a compiler.

A kernel asks for one by its name, gets it or None, and in the second case goes on in NumPy::

    softmax = compiled("rows.softmax", x)
    if softmax is not None:
        return softmax(x)

Most are ufuncs of NumPy's with a loop of ours. The first call compiles, so a kernel asks where
there is something to gain: by the number of elements (`LARGE`), or the width of rows. What comes
back depends on the name and the dtype alone, and does not change while the process lasts. Where
the functions come from is a matter of a room above (`compiler.kernels`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.dtypes import BLAS_REALS
from autograd_engine.core.spec import Array

__all__ = [
    "LARGE",
    "MANY",
    "MANY_STEPS",
    "ROW",
    "SWITCH",
    "compiled",
    "compiled_kernels",
    "in_numpy",
    "use_compiled_kernels",
]

LARGE: Final = 1 << 13  # elements from which on loops of one step each are worth replacing
MANY_STEPS: Final = 1 << 5  # the same of kernels for which NumPy begins ten loops or more
MANY: Final = 1 << 17  # and from which on a second core is worth waking for one step
ROW: Final = "row:"  # the functions of an elementwise row are in the file "row:<name>"
SWITCH: Final = "AUTOGRAD_ENGINE_KERNELS"

Function: TypeAlias = Callable[..., Any]

_found: dict[tuple[str, np.dtype[Any]], Function | None] = {}
_on = [os.environ.get(SWITCH, "").strip().lower() not in ("0", "off", "no", "false")]


def compiled(name: str, like: Array) -> Function | None:
    """The C function of that name for arrays of this dtype; None: NumPy computes.

    Parameters
    ----------
    name : str
        ``"<file>.<function>"``.
    like : ndarray
        Of float32 or float64, else there is none.
    """
    key = name, like.dtype
    try:
        return _found[key]
    except KeyError:
        return _decided(key)


def _decided(key: tuple[str, np.dtype[Any]]) -> Function | None:
    name, dtype = key
    function = above.compiled_function(name, dtype) if _on[0] and dtype in BLAS_REALS else None
    return _found.setdefault(key, function)


def in_numpy(kernel: Function) -> Function:
    """What a kernel that leaves large arrays to C does with the others."""
    found: Function = getattr(kernel, "in_numpy", kernel)
    return found


def compiled_kernels() -> bool:
    """Whether kernels may ask for C functions."""
    return _on[0]


def use_compiled_kernels(on: bool) -> None:
    """Let kernels ask for C functions, or not, from the next call on."""
    _on[0] = on
    _found.clear()
