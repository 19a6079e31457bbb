"""One step of arithmetic on large arrays, on all cores.

NumPy's loops run on one. What IEEE 754 rounds has the same bits in every loop, so here C may
compute where that is faster, whoever else leaves the same step to NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.dtypes import rounded, widened
from autograd_engine.ops.kernels.compiled import ROW, compiled
from autograd_engine.ops.kernels.elementwise import EXACT
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.stand_ins import PYTHON_UFUNCS

__all__ = ["added", "for_halves", "on_all_cores", "several"]

_WORTH_CASTING: Final = 1024  # elements of 16 bits


@functools.cache
def several() -> bool:
    """Whether this process began with more than one."""
    return bool(above.threads() > 1)


def on_all_cores(op: OpDef) -> Callable[..., Any] | None:
    """The kernel of a row for arrays of `MANY` elements; None of what is no single exact step."""
    kernel = op.direct
    exact = PYTHON_UFUNCS.get(kernel, kernel) in EXACT
    if not exact or op.attrs or op.tangent is None or REGISTRY.get(op.name) is not op:
        return None
    return _unary(op) if len(op.inputs) == 1 else _binary(op)


def _unary(op: OpDef) -> Callable[..., Any]:
    kernel, name = op.direct, f"{ROW}{op.name}.kernel"

    def unary(x: Any) -> Any:
        run = compiled(name, x) if several() else None
        return kernel(x) if run is None else run(x)

    return unary


def _binary(op: OpDef) -> Callable[..., Any]:
    kernel, name = op.direct, f"{ROW}{op.name}.kernel"

    def binary(x: Any, y: Any) -> Any:
        alike = x.dtype is y.dtype and (x.shape == y.shape or not x.ndim or not y.ndim)
        run = compiled(name, x) if alike and several() else None
        return kernel(x, y) if run is None else run(x, y)

    return binary


def for_halves(op: OpDef) -> Callable[..., Any]:
    """The kernel of a row for arrays that are all of the same 16 bits.

    A single exact step has the bits of one in float32 that is rounded, which takes less time.
    """
    kernel = op.kernel
    if PYTHON_UFUNCS.get(kernel, kernel) not in EXACT or op.attrs:
        return kernel

    def step(*arrays: Any) -> Any:
        if max([a.size for a in arrays]) < _WORTH_CASTING:
            return kernel(*arrays)
        with np.errstate(over="ignore"):
            return rounded(np.asarray(kernel(*map(widened, arrays))), arrays[0].dtype)

    return step


def added(total: Any, g: Any, out: Any = None) -> Any:
    """The sum of two large arrays, as ``total + g`` or, with `out`, ``total += g``."""
    alike = total.__class__ is g.__class__ and total.shape == g.shape and total.dtype is g.dtype
    run = compiled(f"{ROW}add.kernel", g) if alike and several() else None
    if run is not None:
        return run(total, g, out)
    if out is None:
        return total + g
    total += g
    return total
