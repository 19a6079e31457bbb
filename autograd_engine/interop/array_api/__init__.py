"""The array API standard, 2024.12, on Tensors and Variables: what ``x.__array_namespace__()`` is.

Code written against the standard (``xp = x.__array_namespace__()``) computes on tensors, records
gradients, and builds programs where `x` is a variable of one. Functions are those of
`autograd_engine` under the standard's names and arguments.

Left out, because tensors have no such dtypes: ``uint16``, ``uint32`` and ``uint64``. Beyond the
standard, an integer array beside a floating one takes its dtype.

Examples
--------
>>> import autograd_engine as paddle
>>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
>>> xp = x.__array_namespace__()
>>> xp.sum(xp.exp(x) / 2.0).backward()
>>> xp.all(x.grad == xp.exp(x) / 2.0).item()
True
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from autograd_engine.errors import ArgumentError
from autograd_engine.interop.array_api import fft, linalg, special
from autograd_engine.interop.array_api.creation import *  # noqa: F403 - the standard's names
from autograd_engine.interop.array_api.dtypes import *  # noqa: F403
from autograd_engine.interop.array_api.elementwise import *  # noqa: F403
from autograd_engine.interop.array_api.reductions import *  # noqa: F403
from autograd_engine.interop.array_api.shaping import *  # noqa: F403

__array_api_version__: Final = "2024.12"
_VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12")

e: Final = 2.718281828459045
inf: Final = float("inf")
nan: Final = float("nan")
newaxis: Final = None
pi: Final = 3.141592653589793

matmul = linalg.matmul
matrix_transpose = linalg.matrix_transpose
tensordot = linalg.tensordot
vecdot = linalg.vecdot


def of_version(version: str | None) -> ModuleType:
    """The module itself, if it has the version of the standard that is asked for."""
    if version is not None and version not in _VERSIONS:
        raise ArgumentError(
            f"__array_namespace__: version {version!r} of the standard is not there; use one of "
            f"{', '.join(_VERSIONS)}"
        )
    return sys.modules[__name__]


def __dir__() -> list[Any]:
    return sorted(name for name in globals() if not name.startswith("_"))


__all__ = ["e", "fft", "inf", "linalg", "matmul", "matrix_transpose", "nan", "newaxis"]
__all__ += ["of_version", "pi", "special", "tensordot", "vecdot"]
