"""Operations that read or write at indices."""

from __future__ import annotations

from autograd_engine.codegen.native.lowering import lowers
from autograd_engine.codegen.native.tracing import Loops, NotLowered, Traced
from autograd_engine.spec import Like

__all__: list[str] = []

# Up to this size of an axis, comparing all of it with an index is cheaper than a loop of its own.
_SHORT = 128


@lowers("checked_label")
def _checked_label(
    np: Loops, label: Traced, like: Like, *, axis: int, ignore: int | None, op: str
) -> Traced:
    if label.dtype.char not in "lqi":
        raise NotLowered("labels of this dtype are checked by NumPy")
    counted = label if ignore is None else np.where(label == ignore, 0, label)
    counted = np.cast(counted, label.dtype)
    kind = "int32_t" if label.dtype.char == "i" else "int64_t"
    np.check(
        f"static int64_t NAME(const {kind} *label) {{\n"
        f"  for (int64_t i = 0; i < {label.size}; i++)\n"
        f"    if (label[i] < 0 || label[i] >= {max(like.shape[axis], 1)}) return 1;\n"
        "  return 0;\n}\n",
        [counted],
    )
    return counted


@lowers("take_along_axis")
def _take_along_axis(
    np: Loops, x: Traced, index: Traced, *, axis: int, wraps: bool = True
) -> Traced:
    if wraps:
        raise NotLowered("indices that may be negative are NumPy's to check")
    axis %= x.ndim
    if index.shape[axis] == 1 and x.shape[axis] <= _SHORT:
        here = np.map("equal", np.position(x.shape, axis, index.dtype), index)
        return np.reduce("sum", np.where(here, x, 0.0), axis, True)
    shape = tuple(d if k == axis else max(d, x.shape[k]) for k, d in enumerate(index.shape))
    return np.gathered(x, index, axis, shape)


@lowers("put_along_axis_like")
def _put_along_axis_like(np: Loops, x: Traced, index: Traced, like: Like, *, axis: int) -> Traced:
    axis %= x.ndim
    if index.shape[axis] != 1:
        raise NotLowered("several values are put along one axis")
    here = np.map("equal", np.position(like.shape, axis, index.dtype), index)
    return np.where(here, x, 0.0)
