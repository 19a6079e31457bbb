"""Labels that are checked, and a maximum that cotangents pass by."""

from __future__ import annotations

from autograd_engine.compiler.native.c_code.c_text import (
    indices_in_range,
)
from autograd_engine.compiler.native.lowering.reduction import first_extremum
from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.spec import Like

__all__: list[str] = []


@lowers("checked_label")
def _checked_label(
    np: Loops, label: Traced, like: Like, *, axis: int, ignore: int | None, op: str
) -> Traced:
    if label.dtype.kind not in "iu" or label.dtype.char in "LQ":
        raise NotLowered(f"labels of {label.dtype.name} are checked by NumPy")
    counted = label if ignore is None else np.where(label == ignore, 0, label)
    wide = np.cast(counted, np.dtype("int64"))
    if not wide.size:
        return np.cast(counted, label.dtype)
    seen = np.check(indices_in_range(wide.size, 0, max(like.shape[axis], 1)), wide)
    np.in_range(seen, 0, max(like.shape[axis], 1))
    return np.cast(seen, label.dtype)


@lowers("straight_through")
def _straight_through(np: Loops, x: Traced, *, axis: int) -> Traced:
    where = first_extremum(np, x, axis % x.ndim, "argmax")
    here = np.map("equal", np.position(x.shape, axis), where)
    return np.cast(here, x.dtype)
