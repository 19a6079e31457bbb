"""One step of arithmetic on large arrays, on all cores.

NumPy's loops run on one, and begin anew with each row of what is broadcast. What IEEE 754 rounds
has the same bits in every loop, so here C may compute where that is faster, whoever else leaves the
same step to NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import ge
from typing import Any, Final

import numpy as np
from numpy import ndarray

from autograd_engine.core.above import above
from autograd_engine.core.dtypes import COMPLEX, rounded, widened
from autograd_engine.ops.kernels.compiled import LARGE, MANY, ROW, compiled
from autograd_engine.ops.kernels.elementwise import EXACT
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.stand_ins import PYTHON_UFUNCS

__all__ = ["added", "apart", "both_spread", "on_all_cores", "repeated", "several"]

_WORTH_CASTING: Final = 1024  # elements of 16 bits
# C takes half of NumPy's time for these, or less, on one core, too.
_FASTER: Final = frozenset([np.sign, np.sqrt])


@functools.cache
def several() -> bool:
    """Whether this process began with more than one."""
    return bool(above.threads() > 1)


def on_all_cores(op: OpDef) -> Callable[..., Any] | None:
    """The kernel of a row for arrays of `MANY` elements; None of what is no single exact step."""
    kernel = op.direct
    exact = PYTHON_UFUNCS.get(kernel, kernel) in EXACT
    if not exact or op.attrs or REGISTRY.get(op.name) is not op:
        return None
    return _unary(op) if len(op.inputs) == 1 else _binary(op)


def _unary(op: OpDef) -> Callable[..., Any]:
    kernel, name = op.direct, f"{ROW}{op.name}.kernel"
    faster = kernel in _FASTER

    def unary(x: Any) -> Any:
        run = compiled(name, x) if faster or several() else None
        return kernel(x) if run is None else run(x)

    return unary


def _binary(op: OpDef) -> Callable[..., Any]:
    kernel, row = op.direct, f"{ROW}{op.name}"
    name, spread = f"{row}.kernel", f"{row}.spread"

    def binary(x: Any, y: Any) -> Any:
        if x.dtype is not y.dtype:
            return kernel(x, y)
        if x.shape == y.shape or not x.ndim or not y.ndim:
            if x.size >= MANY and (0 in x.strides or 0 in y.strides):
                found = _broadcast(spread, _once(x), _once(y), x.shape)
                return kernel(x, y) if found is None else found
            run = compiled(name, x) if (x.size >= MANY or y.size >= MANY) and several() else None
            return kernel(x, y) if run is None else run(x, y)
        found = _broadcast(spread, x, y, None)
        return kernel(x, y) if found is None else found

    return binary


def apart(op: OpDef) -> Callable[..., Any]:
    """The kernel of a row for arrays that are all of one dtype of `APART`.

    Of floats of 16 bits a single exact step has the bits of one in float32 that is rounded, which
    takes less time.
    """
    kernel = op.kernel
    if PYTHON_UFUNCS.get(kernel, kernel) not in EXACT or op.attrs:
        return kernel

    def step(*arrays: Any) -> Any:
        if arrays[0].dtype in COMPLEX or max([a.size for a in arrays]) < _WORTH_CASTING:
            return kernel(*arrays)
        with np.errstate(over="ignore"):
            return rounded(np.asarray(kernel(*map(widened, arrays))), arrays[0].dtype)

    return step


def _once(x: Any) -> Any:
    """What a view repeats, as a view of one element along each axis that it repeats."""
    if 0 not in x.strides:
        return x
    return x[tuple([slice(None) if stride else slice(0, 1) for stride in x.strides])]


def _broadcast(name: str, x: Any, y: Any, shape: tuple[int, ...] | None) -> Any:
    """The function of that name of two arrays of different shapes; None where NumPy computes.

    Parameters
    ----------
    shape : tuple of int or None
        The one that the result is to have, where both may lack an axis of it.
    """
    both = x.__class__ is ndarray is y.__class__
    if not (both and x.flags.c_contiguous and y.flags.c_contiguous):
        return None
    each = np.broadcast(x, y)
    if each.size < MANY or (shape is not None and each.shape != shape):
        return None
    ndim = each.ndim
    of_x, of_y = ((1,) * (ndim - v.ndim) + v.shape for v in (x, y))
    merged = _three_axes(each.shape, [(m == 1, n == 1) for m, n in zip(of_x, of_y, strict=True)])
    if merged is None or (merged[2] >= LARGE and not several()):  # NumPy begins few long rows
        return None
    run = compiled(name, x)
    if run is None:
        return None
    out = np.empty(each.shape, x.dtype)
    run(x, y, out, *merged)
    return out


def both_spread(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    """Whether arrays of these shapes broadcast to more than either of them."""
    if len(x) < len(y):
        x, y = y, x
    rest = x[len(x) - len(y) :]
    return not all(map(ge, rest, y)) and (len(x) > len(y) or not all(map(ge, y, rest)))


def repeated(x: Any) -> Any:
    """A copy in C order of a large view that repeats elements; None of what does something else."""
    strides, expected = x.strides, x.itemsize
    for size, stride in zip(reversed(x.shape), reversed(strides), strict=True):
        if stride and size != 1:
            if stride != expected:
                return None
            expected *= size
    merged = _three_axes(x.shape, [(not stride, False) for stride in strides])
    if merged is None:
        return None
    run = compiled("spread.copy", x)
    if run is None:
        return None
    out = np.empty(x.shape, x.dtype)
    run(x, out, *merged)
    return out


def _three_axes(shape: tuple[int, ...], lacks: list[tuple[bool, bool]]) -> tuple[int, ...] | None:
    """The sizes of three axes, and bits for those that operands lack, as C takes them; or None.

    Neighbouring axes are one where the same operands lack them.
    """
    sizes, missing, axis = [1, 1, 1], 0, 3
    before: tuple[bool, bool] | None = None
    for size, lacking in zip(reversed(shape), reversed(lacks), strict=True):
        if size == 1:
            continue
        if lacking != before:
            axis, before = axis - 1, lacking
            if axis < 0:
                return None
            missing |= lacking[0] << axis | lacking[1] << axis + 3
        sizes[axis] *= size
    return *sizes, missing


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
