"""Calling NumPy in the middle of a step.

jax calls back from a thread of its own, where arrays of 64 bits are not there: what is of 64 bits
or complex crosses as uint32. And the function may raise nothing, for by then the state has been
given away: it says whether it has ended well, as a check does.

For each array that it is handed it takes a thread of those that XLA has, one for a processor, and
waits for it in one of these. Two at a time, on two processors, would wait for ever. So in a program
each comes after the last, for it takes what that has said; and of two programs that call back the
one waits for the other's end (`function`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import io_callback

from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.core.spec import Array, Spec

__all__ = ["on_host"]

_WORD: Final = np.dtype(np.uint32)


def on_host(
    function: Callable[..., Sequence[Array]],
    specs: Sequence[Spec],
    arrays: Sequence[Any],
    after: Any = True,
    ordered: bool = False,
) -> tuple[list[Any], Any]:
    """What a function of ndarrays returns, of these Specs, and whether it did; zeros where not.

    It is called when `after` is known. One that is `ordered` is called once for each time that the
    program comes there, in its order.
    """
    expected = [Spec(s.shape, s.dtype) for s in specs]
    given = [Spec(tuple(a.shape), np.dtype(a.dtype)) for a in arrays]

    def call(_: Any, *packed: Any) -> list[Array]:
        try:
            unpacked = [_array(np.asarray(p), s) for p, s in zip(packed, given, strict=True)]
            found = function(*unpacked)
            if [Spec(v.shape, v.dtype) for v in found] == expected:
                return [*map(_words, found), np.asarray(True)]
        except Exception:  # the straight-line function says what is wrong
            pass
        zeros: Any = [np.zeros(*_crossing(s)) for s in specs]
        return [*zeros, np.asarray(False)]

    shapes = [jax.ShapeDtypeStruct(*_crossing(s)) for s in specs]
    flag = jax.ShapeDtypeStruct((), np.dtype(np.bool_))
    packed = [_packed(a) for a in arrays]
    if ordered:
        *made, fine = io_callback(call, [*shapes, flag], after, *packed, ordered=True)
    else:
        *made, fine = jax.pure_callback(call, [*shapes, flag], after, *packed)
    return [_unpacked(p, s) for p, s in zip(made, specs, strict=True)], fine


def _crossing(spec: Spec) -> tuple[tuple[int, ...], np.dtype[Any]]:
    shape: Any = spec.shape
    words = spec.dtype.itemsize // 4
    return (shape, spec.dtype) if words < 2 else ((*shape, words), _WORD)


def _array(packed: Array, spec: Spec) -> Array:
    """On the host."""
    shape: Any = spec.shape
    if packed.dtype == spec.dtype:
        return packed
    return np.ascontiguousarray(packed).reshape(-1).view(spec.dtype).reshape(shape)


def _words(array: Array) -> Array:
    shape, dtype = _crossing(Spec(array.shape, array.dtype))
    if dtype == array.dtype:
        return array
    return np.ascontiguousarray(array).reshape(-1).view(dtype).reshape(shape)


def _packed(x: Any) -> Any:
    """On the device."""
    if np.dtype(x.dtype).itemsize < 8:
        return x
    if np.dtype(x.dtype) in COMPLEX:
        x = jnp.stack([x.real, x.imag], -1)
    return lax.bitcast_convert_type(x, _WORD)


def _unpacked(packed: Any, spec: Spec) -> Any:
    if packed.dtype == spec.dtype:
        return packed
    if spec.dtype not in COMPLEX:
        return lax.bitcast_convert_type(packed, spec.dtype)
    part = np.dtype(np.float32 if spec.dtype.itemsize == 8 else np.float64)
    shape: Any = spec.shape
    pair = packed if part.itemsize == 4 else packed.reshape(*shape, 2, 2)
    parts = lax.bitcast_convert_type(pair, part)
    return lax.complex(parts[..., 0], parts[..., 1])
