"""The standard's functions that make arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import INEXACT, as_dtype, get_default_dtype
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.array_api.dtypes import at_cpu
from autograd_engine.interop.numpy_protocol.joining import _full_like, _linspace
from autograd_engine.interop.numpy_protocol.operands import as_tensor, operands_in
from autograd_engine.interop.numpy_protocol.shape import _meshgrid
from autograd_engine.tensor import public as paddle

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """A tensor of numbers, nested lists or arrays; a tensor as it is, unless told to copy."""
    at_cpu("asarray", device)
    x = _made(obj, dtype)
    same = dtype is None or x.dtype == dtype
    if copy is False and not (x is obj and same):
        raise ArgumentError(
            f"asarray: {type(obj).__name__} cannot become a tensor without a copy; leave "
            "copy=False away"
        )
    if not same:
        return x.astype(dtype)
    return paddle.clone(x) if copy and x is obj else x


def _made(obj: Any, dtype: Any) -> Any:
    """`obj` as a tensor; what holds Python's numbers alone goes to `dtype` at once.

    By way of the default dtype 0.1 would be rounded twice, and 1e300 infinite.
    """
    if dtype is None or isinstance(obj, (np.ndarray, np.generic)) or operands_in(obj):
        return as_tensor(obj)
    return Tensor(obj, dtype)


def _floating(value: Any, dtype: Any) -> Any:
    """`value` for an array of `dtype`, which is that of numbers if it is a floating one."""
    return _made(value, dtype if dtype is not None and as_dtype(dtype) in INEXACT else None)


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
    """A tensor of an array of another library."""
    from autograd_engine.interop.numpy_protocol.dlpack import imported

    return imported("from_dlpack", x, device, copy)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """Numbers from `start` to below `stop`."""
    at_cpu("arange", device)
    if stop is None:
        start, stop = 0, start
    if math.ceil((stop - start) / step) <= 0:
        floating = any(isinstance(v, float) for v in (start, stop, step))
        kind = dtype or (get_default_dtype() if floating else "int64")
        return paddle.zeros([0], kind)
    return paddle.arange(start, stop, step, dtype)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array whose values mean nothing (zeros)."""
    return zeros(shape, dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of zeros."""
    at_cpu("zeros", device)
    return paddle.zeros(shape, dtype)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of ones."""
    at_cpu("ones", device)
    return paddle.ones(shape, dtype)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of one value; its dtype is that of the value."""
    at_cpu("full", device)
    if dtype is None:
        dtype = Tensor(fill_value).dtype
    return paddle.full(shape, fill_value, dtype)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """An array like `x` whose values mean nothing (zeros)."""
    return zeros_like(x, dtype=dtype, device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of zeros like `x`."""
    at_cpu("zeros_like", device)
    return paddle.zeros_like(x, dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of ones like `x`."""
    at_cpu("ones_like", device)
    return paddle.ones_like(x, dtype)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of one value like `x`."""
    at_cpu("full_like", device)
    return _full_like(x, _floating(fill_value, dtype or x.dtype), dtype)


def eye(
    n_rows: int, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Any:
    """Ones on the diagonal `k`, zeros elsewhere."""
    at_cpu("eye", device)
    return paddle.to_tensor(np.eye(n_rows, n_cols, k), dtype or get_default_dtype())


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None,
    endpoint: Any = True,
) -> Any:  # fmt: skip
    """`num` numbers at equal distances; differentiable in both ends."""
    at_cpu("linspace", device)
    ends = _floating(start, dtype), _floating(stop, dtype)
    return _linspace(*ends, num, endpoint, dtype=dtype)


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """Coordinates of a grid, from those of its axes."""
    return list(_meshgrid(*arrays, indexing=indexing))


def tril(x: Any, /, *, k: int = 0) -> Any:
    """The elements on and below the diagonal `k`, zeros above."""
    return paddle.tril(x, k)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """The elements on and above the diagonal `k`, zeros below."""
    return paddle.triu(x, k)
