"""Writing at a key into a copy, as NumPy's ``x[key] = value``; see `ops.getitem` for keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import BOOL, COMPLEX
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    format_shape,
)
from autograd_engine.errors import DTypeError, ShapeError
from autograd_engine.ops.conjugates import cast_back
from autograd_engine.ops.getitem import (
    Key,
    check_values,
    full_key,
    indexed_shape,
    positions_of,
    read,
)
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import nothing


def _setitem(x: Array, value: Array, *indices: Array, key: Key) -> Array:
    """A copy of `x` with `value` at `key`; of several values for one element the last stays."""
    value = np.asarray(value)
    _check_value(x.dtype, value.dtype)
    out = np.array(x, order="C")
    try:
        if "index" in key and value.ndim:
            # Element by element: along several axes NumPy takes an order of its own.
            positions = positions_of(x.shape, indices, key)
            every = np.broadcast_to(value, positions.shape).reshape(-1)
            out.reshape(-1)[positions.reshape(-1)] = every
        else:
            out[full_key(key, indices)] = value
    except (IndexError, ValueError):
        _check_fit(value.shape, read(x, indices, key).shape)  # says the same better
        raise
    return out


def _check_value(dtype: np.dtype[Any], value: np.dtype[Any]) -> None:
    if value in COMPLEX and dtype not in COMPLEX:
        raise DTypeError(
            f"x[...] = value: {value.name} values do not fit in {dtype.name}; write "
            "paddle.real(value), or into x.astype(the dtype of value)"
        )


def _check_fit(value: Shape, there: Shape) -> None:
    fits = len(value) <= len(there) and all(
        m in (1, n) or isinstance(m, Dim) or isinstance(n, Dim)
        for m, n in zip(value[::-1], there[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"x[...] = value: a value of shape {format_shape(value)} does not broadcast to the "
            f"{format_shape(there)} elements that are written; reshape or expand it"
        )


def _infer_setitem(x: Spec, value: Spec, *indices: Spec, key: Key) -> Spec:
    _check_value(x.dtype, value.dtype)
    _check_fit(value.shape, indexed_shape(x.shape, indices, key))
    return Spec(x.shape, x.dtype)


def _index_last(like: Like, *indices: Array, key: Key) -> Array:
    """Which of the elements that `key` takes is the last to name its place."""
    positions = positions_of(like.shape, indices, key)
    order = np.arange(positions.size)
    last = np.zeros(np.prod(like.shape, dtype=np.intp), np.intp)
    last[positions.reshape(-1)] = order
    stays: Array = last[positions.reshape(-1)] == order
    return stays.reshape(positions.shape)


def _setitem_value(xp: Any, g: Any, x_like: Any, value_like: Any, indices: Any, *, key: Key) -> Any:
    """What was written at `key`, without the values that later ones replaced."""
    part = xp.index(g, *indices, key=key)
    if "index" in key:
        part = xp.where(xp.index_last(x_like, *indices, key=key), part, 0.0)
    return cast_back(xp, xp.sum_like(part, value_like), value_like)


defop(
    "index_last",
    _index_last,
    inputs="like *indices",
    infer=lambda like, *indices, key: Spec(indexed_shape(like.shape, indices, key), BOOL),
    checks_values=True,
    work=nothing,
).nondiff()
defop(
    "setitem",
    _setitem,
    inputs="x value *indices",
    infer=_infer_setitem,
    untyped="indices",
    tangent="linear",
    checks_values=True,
    work=nothing,
).vjp(
    x=lambda xp, g, indices, *, key: xp.setitem(g, 0.0, *indices, key=key),
    value=_setitem_value,
    indices=NONDIFF,
)


# --- extrema of what is there and what is written


def _index_extremum(name: str, ufunc: np.ufunc) -> None:
    def kernel(x: Array, values: Array, *indices: Array, key: Key) -> Array:
        _check_value(x.dtype, values.dtype)
        out = np.array(x, order="C")
        positions = positions_of(x.shape, indices, key)
        check_values(values.shape, positions.shape)
        ufunc.at(out.reshape(-1), positions.reshape(-1), values.reshape(-1))
        return out

    def infer(x: Spec, values: Spec, *indices: Spec, key: Key) -> Spec:
        check_values(values.shape, indexed_shape(x.shape, indices, key))
        return Spec(x.shape, x.dtype)

    def shares(xp: Any, g: Any, x: Any, values: Any, indices: Any, out: Any, key: Key) -> Any:
        """What ties for the extremum, and the equal share of each in its cotangent."""
        here = _ties(xp, x, out)
        there = _ties(xp, values, xp.index(out, *indices, key=key))
        # float64 holds any count; 65504 is the last that float16 does.
        count = xp.cast(here, dtype="float64") + xp.index_add_like(
            xp.cast(there, dtype="float64"), out, *indices, key=key
        )
        return here, there, xp.cast_like(g / count, out)

    def to_x(xp: Any, g: Any, x: Any, values: Any, indices: Any, out: Any, *, key: Key) -> Any:
        here, _, share = shares(xp, g, x, values, indices, out, key)
        return xp.where(here, share, 0.0)

    def to_values(xp: Any, g: Any, x: Any, values: Any, indices: Any, out: Any, *, key: Key) -> Any:
        _, there, share = shares(xp, g, x, values, indices, out, key)
        return xp.where(there, xp.index(share, *indices, key=key), 0.0)

    defop(
        name,
        kernel,
        inputs="x values *indices",
        infer=infer,
        dtypes="common",
        untyped="indices",
        takes="bif",
        checks_values=True,
        work=nothing,
    ).vjp(x=to_x, values=to_values, indices=NONDIFF)


def _ties(xp: Any, values: Any, extremum: Any) -> Any:
    """NaN is the extremum where there is one, though it equals nothing."""
    return xp.logical_or(xp.equal(values, extremum), xp.not_equal(values, values))


_index_extremum("index_maximum", np.maximum)
_index_extremum("index_minimum", np.minimum)
