"""Making tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.array_conversion import in_dtype
from autograd_engine.core.checks import MOST, as_int, as_number, is_int, require_cpu, require_type
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import (
    FLOATS,
    INEXACT,
    INTEGERS,
    DTypeLike,
    get_default_numpy_dtype,
    name_of,
    to_numpy,
)
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import overwrite
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, NotATensorError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.number_inputs import holds_symbolic
from autograd_engine.program import mode
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.builder import assigned
from autograd_engine.program.conversion import (
    as_factor,
    carries_gradient,
    count,
    detached,
    held,
    number,
    real,
    shape_of,
)
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, constant, spec_of

__all__ = [
    "arange",
    "asarray",
    "assign",
    "clone",
    "empty",
    "empty_like",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "range",
    "to_tensor",
    "tril_indices",
    "triu_indices",
    "zeros",
    "zeros_like",
]


def to_tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    place: object = None,
    stop_gradient: bool = True,
) -> Tensor:
    """A tensor with a copy of `data`; while a program is built, a constant of that program.

    Parameters
    ----------
    data : array_like
        A number, nested lists of numbers, an ndarray or a Tensor.
    dtype : dtype, optional
        By default: Python floats become the default dtype, ints int64; ndarrays keep theirs.
    place : CPUPlace or "cpu", optional
        Everything is on the CPU.
    stop_gradient : bool
        False to have gradients with respect to it.

    Returns
    -------
    Tensor

    Raises
    ------
    DTypeError
        For data that is not numeric, or an integer tensor with ``stop_gradient=False``.
    ArgumentError
        For numbers that an integer dtype cannot hold.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.to_tensor([[1, 2], [3, 4]], dtype="float32")
    Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
           [[1., 2.],
            [3., 4.]])
    """
    if place is not None:
        require_cpu("to_tensor", "place", place)
    if isinstance(data, (Variable, SymbolicNumber)) or _holds_variable(data):
        made = _stacked(data)
        return ops.assign(made) if dtype is None else ops.cast(made, dtype=to_numpy(dtype).name)
    tensor = Tensor(data, dtype, stop_gradient)
    if not mode.building():
        return tensor
    variable = constant(tensor)
    variable.stop_gradient = stop_gradient
    return variable


def _holds_variable(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(map(_holds_variable, data))
    return isinstance(data, (Variable, SymbolicNumber))


def _stacked(data: Any) -> Any:
    """Nested lists of variables and numbers as one variable."""
    if isinstance(data, SymbolicNumber):
        return data.variable()
    if isinstance(data, (list, tuple)):
        return ops.stack(*map(_stacked, data), axis=0)
    return as_operand("to_tensor", data, "data")


def tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    device: object = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with a copy of `data`: `to_tensor`, with the names of torch.

    Parameters
    ----------
    data : array_like
        A number, nested lists of numbers, an ndarray or a Tensor.
    dtype : dtype, optional
        As in `to_tensor`.
    device : object, optional
        Everything is on the CPU.
    requires_grad : bool
        True to have gradients with respect to it.
    pin_memory : bool
        Accepted; there is one kind of memory.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.tensor([1.0, 2.0], requires_grad=True).stop_gradient
    False
    >>> paddle.as_tensor([1, 2]).tolist()
    [1, 2]
    """
    return to_tensor(data, dtype, device, not requires_grad)


def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A Tensor as it is where it has the dtype; a copy of anything else as a tensor.

    Parameters
    ----------
    obj : array_like
    dtype, device, requires_grad
        As in `tensor`.
    copy : bool, optional
        True for a copy in any case. Memory of others is never shared: False is refused where a
        copy would have to be made.

    Raises
    ------
    ArgumentError
        For ``copy=False`` where that takes a copy.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.ones([2])
    >>> paddle.asarray(x) is x, paddle.asarray([1, 2]).tolist()
    (True, [1, 2])
    """
    kept = isinstance(obj, (Tensor, Variable))
    if kept and copy is not True and (dtype is None or spec_of(obj).dtype == to_numpy(dtype)):
        return obj
    if copy is False:
        raise ArgumentError(
            "asarray: copy=False, and a tensor never shares memory with "
            f"{type(obj).__name__}; leave copy out"
        )
    return tensor(obj, dtype, device, requires_grad)


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor with a copy of an ndarray, in its dtype.

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from_numpy(np.ones(2)).dtype
    paddle.float64
    """
    if not isinstance(ndarray, np.ndarray):
        raise ArgumentTypeError(
            f"from_numpy: ndarray must be an ndarray, got {type(ndarray).__name__}; use to_tensor"
        )
    return to_tensor(ndarray)


@atomic
def full(
    shape: int | Sequence[int],
    fill_value: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """An array of one value; unless told otherwise bool for a bool, else in the default dtype.

    Parameters
    ----------
    shape : int or sequence of int
    fill_value : float
        A number, or a tensor with one element, to which a gradient flows.
    dtype : dtype, optional

    Examples
    --------
    >>> full([2], 7.0).tolist()
    [7.0, 7.0]
    >>> full([2], True).tolist()
    [True, True]
    """
    value = number("full", "fill_value", detached(fill_value))
    if dtype is None and isinstance(value, bool):
        dtype = "bool"
    return _with_history(fill_value, _filled("full", shape, value, dtype))


def _with_history(value: Any, filled: Any) -> Any:
    """An array that is filled with `value`, and has its history."""
    dtype = spec_of(filled).dtype
    if dtype not in FLOATS or not carries_gradient(value):
        return filled
    return ops.expand_like(as_factor(value, dtype), filled)


def _filled(function: str, shape: Any, value: Any, dtype: DTypeLike | None) -> Any:
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    value = held(function, "fill_value", value, chosen)
    return ops.full(shape=shape_of(shape, function), value=value, dtype=name_of(chosen))


@atomic
def zeros(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """An array of zeros.

    Examples
    --------
    >>> zeros([2, 1]).tolist()
    [[0.0], [0.0]]
    """
    return _filled("zeros", shape, 0.0, dtype)


@atomic
def ones(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """An array of ones.

    Examples
    --------
    >>> ones([2], dtype="int64").tolist()
    [1, 1]
    """
    return _filled("ones", shape, 1.0, dtype)


@atomic
def empty(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """An array whose values do not matter: zeros, for memory is never left to chance.

    Examples
    --------
    >>> empty([2, 3]).shape
    paddle.Size([2, 3])
    """
    return _filled("empty", shape, 0.0, dtype)


def full_like(
    x: Any, fill_value: float, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """An array of one value with the shape, and unless told otherwise the dtype, of `x`.

    Examples
    --------
    >>> full_like(zeros([2]), 3).tolist()
    [3.0, 3.0]
    """
    x = as_operand("full_like", x)
    chosen = None if dtype is None else to_numpy(dtype)
    value = number("full_like", "fill_value", detached(fill_value))
    value = held("full_like", "fill_value", value, chosen or spec_of(x).dtype)
    filled = ops.full_like(x, value=value, dtype=chosen and chosen.name)
    return _with_history(fill_value, filled)


def zeros_like(x: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Zeros in the shape of `x`.

    Examples
    --------
    >>> zeros_like(ones([2])).tolist()
    [0.0, 0.0]
    """
    return _number_like("zeros_like", x, 0, dtype)


def ones_like(x: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Ones in the shape of `x`.

    Examples
    --------
    >>> ones_like(zeros([2])).tolist()
    [1.0, 1.0]
    """
    return _number_like("ones_like", x, 1, dtype)


def empty_like(x: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """An array in the shape of `x` whose values do not matter: zeros.

    Examples
    --------
    >>> empty_like(ones([2, 3])).shape
    paddle.Size([2, 3])
    """
    return _number_like("empty_like", x, 0, dtype)


def _number_like(function: str, x: Any, value: int, dtype: DTypeLike | None) -> Any:
    """`full_like` of a number that every dtype holds."""
    chosen = None if dtype is None else to_numpy(dtype).name
    return ops.full_like(as_operand(function, x), value=value, dtype=chosen)


@atomic
def arange(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Evenly spaced values in [start, end); int64 for ints, else the default dtype.

    Examples
    --------
    >>> arange(1, 7, 2).tolist()
    [1, 3, 5]
    """
    if end is None:
        start, end = 0, start
    given = start, step
    start, end, step = (
        _bound(name, number("arange", name, detached(value)))
        for name, value in (("start", start), ("end", end), ("step", step))
    )
    symbolic = holds_symbolic((start, end, step))
    if not isinstance(step, SymbolicNumber) and step == 0:
        raise ArgumentError("arange: step must not be 0")
    if not symbolic and (end - start) / step > MOST:
        raise ArgumentError(f"arange: {start} to {end} has more elements than an array can have")
    if dtype is None:
        whole = all(isinstance(v, (int, np.integer)) for v in (start, end, step))
        chosen = np.dtype(np.int64) if whole else get_default_numpy_dtype()
    else:
        chosen = to_numpy(dtype)
    values = ops.range(start=start, end=end, step=step, dtype=name_of(chosen))
    if chosen not in FLOATS or not carries_gradient(*given):
        return values
    first, apart = (as_factor(v, chosen) for v in given)
    return _moved(values, first + constant(np.arange(values.size, dtype=chosen)) * apart)


def range(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Evenly spaced values in [start, end], as floats: `arange` with `end` among them.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.range(1, 3).tolist()
    [1.0, 2.0, 3.0]
    """
    if end is None:
        start, end = 0, start
    first, last, apart = (
        real("range", argument, value)
        for argument, value in (("start", start), ("end", end), ("step", step))
    )
    if not isinstance(apart, SymbolicNumber) and apart == 0:
        raise ArgumentError("range: step must not be 0")
    # Half a step behind the last value: `arange` leaves its end out.
    count = (last - first) // apart
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    return arange(start, first + (count + 0.5) * apart, step, chosen)


def _moved(values: Any, by: Any) -> Any:
    """`values` with the history of `by`, which is the same but for rounding."""
    return values + (by - by.detach())


def _bound(argument: str, value: Any) -> Any:
    """A finite number, an int within 64 bits."""
    if isinstance(value, SymbolicNumber):
        return value
    value = held("arange", argument, value, np.dtype(type(value)))
    if isinstance(value, complex) or not math.isfinite(value):
        raise ArgumentError(f"arange: {argument} must be a finite number, got {value}")
    return value


@atomic
def linspace(
    start: float,
    stop: float,
    num: int,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`num` evenly spaced values from `start` to `stop`, both included.

    Parameters
    ----------
    start, stop : float
        Numbers, or tensors with one element.
    num : int
    dtype : dtype, optional
        The default dtype by default. Integers are truncated towards 0.

    Examples
    --------
    >>> linspace(0, 10, 5).tolist()
    [0.0, 2.5, 5.0, 7.5, 10.0]
    """
    return _spaced("linspace", start, stop, num, None, dtype)


@atomic
def logspace(
    start: float,
    stop: float,
    num: int,
    base: float = 10.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`base` to the power of `num` evenly spaced values from `start` to `stop`.

    Examples
    --------
    >>> logspace(0, 3, 4, base=2.0).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    return _spaced("logspace", start, stop, num, base, dtype)


def _spaced(
    function: str, start: Any, stop: Any, num: Any, base: Any, dtype: DTypeLike | None
) -> Any:
    ends = [number(function, n, detached(v)) for n, v in (("start", start), ("stop", stop))]
    for argument, value in zip(("start", "stop"), ends, strict=True):
        if isinstance(value, SymbolicNumber):
            continue
        if isinstance(value, complex) or not math.isfinite(value):
            raise ArgumentError(f"{function}: {argument} must be a finite number, got {value}")
    steps = count(function, "num", num)
    values = ops.linspace(start=ends[0], stop=ends[1], num=steps)
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    if chosen in FLOATS and carries_gradient(start, stop, base):
        wide = np.dtype(np.float64)
        first, last, power = (as_factor(v, wide) for v in (start, stop, base))
        shares = ops.linspace(start=0.0, stop=1.0, num=steps)
        line = _moved(values, first * (1.0 - shares) + last * shares)
        return ops.cast(line if base is None else power**line, dtype=name_of(chosen))
    if base is not None:
        base = number(function, "base", detached(base))
        values = ops.pow(base, values)
    if not holds_symbolic((*ends, base)):  # all values lie between
        outermost = np.asarray(ends, np.float64)
        in_dtype(function, outermost if base is None else np.power(float(base), outermost), chosen)
    return ops.cast(values, dtype=name_of(chosen))


@atomic
def eye(
    num_rows: int,
    num_columns: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere; square unless told otherwise.

    Examples
    --------
    >>> eye(2, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    rows = count("eye", "num_rows", num_rows)
    columns = rows if num_columns is None else count("eye", "num_columns", num_columns)
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    rows, columns = shape_of((rows, columns), "eye")
    return ops.eye(rows=rows, columns=columns, dtype=name_of(chosen))


def _indices(function: str, upper: bool, row: Any, col: Any, offset: Any, dtype: DTypeLike) -> Any:
    rows = count(function, "row", row)
    columns = rows if col is None else count(function, "col", col)
    behind = as_number(offset)
    if not is_int(behind):
        raise ArgumentTypeError(f"{function}: offset must be an int, got {offset!r}")
    chosen = to_numpy(dtype)
    if chosen not in INTEGERS:
        raise DTypeError(f"{function}: dtype must be one of integers, got {chosen.name}")
    positions = ops.triangle_indices(rows=rows, columns=columns, offset=as_int(behind), upper=upper)
    return ops.cast(positions, dtype=name_of(chosen))


@atomic
def tril_indices(row: int, col: int, offset: int = 0, dtype: DTypeLike = "int64") -> Tensor:
    """Positions of the lower triangle of a matrix: a row of row numbers, a row of column numbers.

    Parameters
    ----------
    row, col : int
        The shape of the matrix.
    offset : int
        The diagonal up to which elements belong: 0 the main one, positive ones above it.
    dtype : dtype

    Examples
    --------
    >>> tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return _indices("tril_indices", False, row, col, offset, dtype)


@atomic
def triu_indices(
    row: int, col: int | None = None, offset: int = 0, dtype: DTypeLike = "int64"
) -> Tensor:
    """Positions of the upper triangle of a matrix, as `tril_indices` gives those of the lower.

    Examples
    --------
    >>> triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    return _indices("triu_indices", True, row, col, offset, dtype)


def clone(x: Any, name: str | None = None) -> Tensor:
    """A copy of `x` through which gradients flow.

    Examples
    --------
    >>> clone(ones([2])).tolist()
    [1.0, 1.0]
    """
    return ops.assign(x)


@atomic
def assign(x: Any, output: Tensor | Variable | None = None) -> Tensor:
    """A copy of `x` through which gradients flow; ndarrays and lists become tensors.

    Parameters
    ----------
    x : Tensor, Variable, array_like or number
        A number becomes an array of one element, of shape [1].
    output : Tensor or Variable, optional
        Is given the values. In a program, what is built later reads them; a persistable variable
        keeps them for the next run.

    Returns
    -------
    Tensor or Variable
        `output` where there is one.

    Raises
    ------
    NotATensorError
    DTypeError, ShapeError
        When a Variable cannot take the values.

    Examples
    --------
    >>> assign([1, 2]).tolist(), assign(42).tolist()
    ([1, 2], [42])
    """
    if isinstance(x, (int, float, complex, np.generic)) and (
        output is None or spec_of(as_operand("assign", output, "output")).ndim
    ):
        x = x.reshape(1) if isinstance(x, np.generic) else [x]
    numbers = isinstance(x, (list, tuple, int, float, complex, np.generic, np.ndarray))
    if isinstance(output, Variable):
        written: Any = assigned(np.asarray(x) if numbers else x, output)
        return written
    out = constant(x) if numbers else ops.assign(x)
    if output is None:
        return out
    require_type(output, Tensor, "assign: output must be a Tensor or a Variable", NotATensorError)
    if isinstance(out, Variable):
        raise NotATensorError(
            f"assign: output {output.name} is an eager Tensor, and the value a Variable of a "
            "program; make output with paddle.static.create_global_var"
        )
    if out._node is not None and output._node is None and not output._stop:
        raise ArgumentError(
            f"assign: output {output.name} is a leaf that requires a gradient, and the value has a "
            "history that it would lose: use paddle.no_grad(), or the result of assign(x)"
        )
    wanted = output._data.dtype
    if out._node is not None and wanted != out._data.dtype and wanted in INEXACT:
        out = ops.cast(out, dtype=wanted.name)  # which the gradient goes through
    output.set_value(out)
    if getattr(output, "_group", None) is None:
        output._node, output._stop = out._node, out._stop and output._stop
    elif not out._stop:
        overwrite(output, out, "assign", counts=False)
    return output
