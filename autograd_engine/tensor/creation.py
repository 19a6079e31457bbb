"""Making tensors."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.dtypes import DTypeLike, get_default_numpy_dtype, to_numpy
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError
from autograd_engine.namespace import ops
from autograd_engine.tensor.operand import as_operand, constant, spec_of

__all__ = [
    "arange",
    "assign",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "to_tensor",
    "zeros",
    "zeros_like",
]

Array = NDArray[Any]
_MOST = sys.maxsize // 16  # elements of an array, whatever its dtype


def to_array(data: Any, dtype: DTypeLike | None, function: str = "to_tensor") -> Array:
    """A fresh ndarray of `data`: Python floats get the default dtype, ndarrays keep theirs."""
    if isinstance(data, Tensor):
        array = np.array(data._data)
    else:
        if isinstance(data, (list, tuple)):
            data = _unwrapped(data)
        try:
            array = np.array(data)
        except ValueError as error:
            raise ArgumentError(f"{function}: the lists are not rectangular: {error}") from None
        if dtype is None and not isinstance(data, (np.ndarray, np.generic)):
            if array.dtype == np.float64 and not _holds_numpy(data):
                array = array.astype(get_default_numpy_dtype())
            elif array.dtype == np.complex128 and not _holds_numpy(data):
                array = array.astype(np.complex64)
    if array.dtype.kind not in "biufc":
        raise DTypeError(
            f"{function}: cannot make a tensor of {type(data).__name__} (NumPy makes it "
            f"{array.dtype}); pass numbers, nested lists of numbers, or an ndarray"
        )
    return array if dtype is None else array.astype(to_numpy(dtype), copy=False)


def _unwrapped(data: Any) -> Any:
    """Tensors in nested lists as arrays."""
    if isinstance(data, (list, tuple)):
        return [_unwrapped(d) for d in data]
    return data._data if isinstance(data, Tensor) else data


def _holds_numpy(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


def to_tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    place: object = None,
    stop_gradient: bool = True,
) -> Tensor:
    """A tensor with a copy of `data`.

    Parameters
    ----------
    data : array_like
        A number, nested lists of numbers, an ndarray or a Tensor.
    dtype : dtype, optional
        By default: Python floats become the default dtype, ints int64; ndarrays keep theirs.
    place : object, optional
        Accepted for the reference's sake; everything is on the CPU.
    stop_gradient : bool
        False to have gradients with respect to it.

    Returns
    -------
    Tensor

    Raises
    ------
    DTypeError
        For data that is not numeric, or an integer tensor with ``stop_gradient=False``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.to_tensor([[1, 2], [3, 4]], dtype="float32")
    Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
           [[1., 2.],
            [3., 4.]])
    """
    return Tensor(data, dtype, stop_gradient)


def _shape(shape: Any, function: str) -> tuple[int, ...]:
    sizes = (shape,) if not isinstance(shape, (list, tuple, np.ndarray)) else tuple(shape)
    for d in sizes:
        if not isinstance(d, (int, np.integer)) or isinstance(d, bool) or d < 0:
            raise ArgumentError(f"{function}: shape {shape!r} must hold non-negative ints")
    if math.prod(map(int, sizes)) > _MOST:
        raise ArgumentError(
            f"{function}: shape {list(sizes)} has more elements than an array can have"
        )
    return tuple(int(d) for d in sizes)


def _number(function: str, argument: str, value: Any) -> Any:
    """A Python number; arrays of one element count as one."""
    if isinstance(value, (np.generic, np.ndarray, Tensor)) and value.size == 1:
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"{function}: {argument} must be a number, got {type(value).__name__}")
    return value


def _held(function: str, argument: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """`value`, which an array of this dtype can hold (rounded)."""
    try:
        if dtype.kind == "c" or not isinstance(value, complex):
            with np.errstate(over="ignore"):
                np.asarray(value, dtype)
            return value
    except (OverflowError, ValueError):
        pass
    raise ArgumentError(
        f"{function}: {argument} {value!r} does not fit {dtype.name}; choose another dtype"
    )


def full(
    shape: int | Sequence[int],
    fill_value: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """An array of one value; in the default dtype unless told otherwise.

    Examples
    --------
    >>> full([2], 7.0).tolist()
    [7.0, 7.0]
    """
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    value = _held("full", "fill_value", _number("full", "fill_value", fill_value), chosen)
    return ops.full(shape=_shape(shape, "full"), value=value, dtype=chosen.name)


def zeros(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """An array of zeros.

    Examples
    --------
    >>> zeros([2, 1]).tolist()
    [[0.0], [0.0]]
    """
    return full(shape, 0, dtype)


def ones(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """An array of ones.

    Examples
    --------
    >>> ones([2], dtype="int64").tolist()
    [1, 1]
    """
    return full(shape, 1, dtype)


def full_like(
    x: Any, fill_value: float, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """An array of one value with the shape, and unless told otherwise the dtype, of `x`.

    Examples
    --------
    >>> full_like(zeros([2]), 3).tolist()
    [3.0, 3.0]
    """
    x = as_operand("full_like", x)
    chosen = None if dtype is None else to_numpy(dtype)
    value = _number("full_like", "fill_value", fill_value)
    value = _held("full_like", "fill_value", value, chosen or spec_of(x).dtype)
    return ops.full_like(x, value=value, dtype=chosen and chosen.name)


def zeros_like(x: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Zeros in the shape of `x`.

    Examples
    --------
    >>> zeros_like(ones([2])).tolist()
    [0.0, 0.0]
    """
    return full_like(x, 0, dtype)


def ones_like(x: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Ones in the shape of `x`.

    Examples
    --------
    >>> ones_like(zeros([2])).tolist()
    [1.0, 1.0]
    """
    return full_like(x, 1, dtype)


def arange(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """Evenly spaced values in [start, end); int64 for ints, else the default dtype.

    Examples
    --------
    >>> arange(1, 7, 2).tolist()
    [1, 3, 5]
    """
    if end is None:
        start, end = 0, start
    start, end, step = (
        _bound(name, _number("arange", name, value))
        for name, value in (("start", start), ("end", end), ("step", step))
    )
    if step == 0:
        raise ArgumentError("arange: step must not be 0")
    if (end - start) / step > _MOST:
        raise ArgumentError(f"arange: {start} to {end} has more elements than an array can have")
    if dtype is None:
        whole = all(isinstance(v, (int, np.integer)) for v in (start, end, step))
        chosen = np.dtype(np.int64) if whole else get_default_numpy_dtype()
    else:
        chosen = to_numpy(dtype)
    return ops.range(start=start, end=end, step=step, dtype=chosen.name)


def _bound(argument: str, value: Any) -> Any:
    """A finite number, an int within 64 bits."""
    value = _held("arange", argument, value, np.dtype(type(value)))
    if isinstance(value, complex) or not math.isfinite(value):
        raise ArgumentError(f"arange: {argument} must be a finite number, got {value}")
    return value


def assign(x: Any, output: Tensor | None = None) -> Any:
    """A copy of `x` through which gradients flow; ndarrays and lists become tensors.

    Examples
    --------
    >>> assign([1, 2]).tolist()
    [1, 2]
    """
    if isinstance(x, (list, tuple, int, float, np.generic, np.ndarray)):
        out = constant(x)
    else:
        out = ops.assign(x)
    if output is None:
        return out
    if not isinstance(output, Tensor):
        raise NotATensorError(f"assign: output must be a Tensor, got {type(output).__name__}")
    if out._node is not None and output._node is None and not output._stop:
        raise ArgumentError(
            f"assign: output {output.name} is a leaf that requires a gradient, and the value has a "
            "history that it would lose: use paddle.no_grad(), or the result of assign(x)"
        )
    output.set_value(out)
    output._node, output._stop = out._node, out._stop and output._stop
    return output
