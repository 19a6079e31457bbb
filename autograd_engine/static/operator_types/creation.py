"""Types that make something: numbers, ranges, random draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dtypes import EXACT
from autograd_engine.errors import ArgumentError
from autograd_engine.static.operator_types.declaring import DType, declare, dtype_name
from autograd_engine.tensor import public as paddle

_FLOAT32 = DType(5)
_INT64 = DType(3)
_ANY = DType(-1)  # that of the operand

_SIZES = "ShapeTensor? ShapeTensorList?*"


def _shape(given: Any, listed: Any, shape: list[int]) -> Any:
    """A shape: of a variable, of one for each size, or of numbers."""
    return given if given is not None else listed or shape


def _fill_constant(
    value_given: Any,
    shape_given: Any,
    listed: Any,
    *,
    shape: list[int],
    value: float,
    str_value: str,
    dtype: int,
    **_: Any,
) -> Any:
    number: Any = value
    if str_value:
        number = float(str_value)
    name = dtype_name(dtype)
    if np.dtype(name) in EXACT and number == int(number):
        number = int(str_value) if str_value.lstrip("-").isdigit() else int(number)
    number = number if value_given is None else value_given
    return paddle.full(_shape(shape_given, listed, shape), number, name)


declare(
    "fill_constant",
    f"ValueTensor? {_SIZES} -> Out",
    _fill_constant,
    dtype=_FLOAT32,
    shape=[],
    value=0.0,
    str_value="",
    force_cpu=False,
    place_type=-1,
)
declare(
    "fill_any_like",
    "X -> Out",
    lambda x, *, value, dtype: paddle.full_like(x, value, dtype_name(dtype)),
    value=0.0,
    dtype=_ANY,
)
declare("fill_zeros_like", "X -> Out", paddle.zeros_like)


def _like_batch(input: Any, shape: list[int], at: int, to: int, make: Any) -> Any:
    """What `make` makes for a shape whose size `to` is the size `at` of the input."""
    size = input.shape[at]
    if size < 0:
        size = paddle.shape(input)[at]
    return make([*shape[:to], size, *shape[to + 1 :]])


def _fill_batch(
    input: Any,
    *,
    shape: list[int],
    input_dim_idx: int,
    output_dim_idx: int,
    dtype: int,
    value: float,
    str_value: str,
    **_: Any,
) -> Any:
    number = float(str_value) if str_value else value
    return _like_batch(
        input,
        shape,
        input_dim_idx,
        output_dim_idx,
        lambda sizes: paddle.full(sizes, number, dtype_name(dtype)),
    )


declare(
    "fill_constant_batch_size_like",
    "Input -> Out",
    _fill_batch,
    shape=list,
    input_dim_idx=0,
    output_dim_idx=0,
    dtype=_FLOAT32,
    value=0.0,
    str_value="",
    force_cpu=False,
)

_VALUES = {
    "bool": "bool_values",
    "float32": "fp32_values",
    "float64": "fp64_values",
    "int32": "int32_values",
    "int64": "int64_values",
    "int8": "int8_values",
}


def _assign_value(*, shape: list[int], dtype: int, **values: list[Any]) -> Any:
    name = dtype_name(dtype)
    attribute = _VALUES.get(str(name))
    listed = values.get(attribute or "") or values["values"]
    if attribute is None:
        raise ArgumentError(f"assign_value: dtype must be one of {list(_VALUES)}, got {name}")
    size = int(np.prod(shape))
    if len(listed) != size:
        raise ArgumentError(
            f"assign_value: {attribute} must have the {size} numbers of shape {shape}, got "
            f"{len(listed)}"
        )
    return paddle.assign(np.array(listed, name).reshape(shape))


declare(
    "assign_value",
    "-> Out",
    _assign_value,
    shape=list,
    dtype=DType,
    values=[],
    bool_values=[],
    fp32_values=[],
    fp64_values=[],
    int32_values=[],
    int64_values=[],
    int8_values=[],
)


# --- ranges


def _range(start: Any, end: Any, step: Any) -> Any:
    return paddle.arange(start, end, step, start.dtype)


declare("range", "Start End Step -> Out", _range)
declare(
    "linspace",
    "Start Stop Num -> Out",
    lambda start, stop, num, *, dtype: paddle.linspace(start, stop, num, dtype_name(dtype)),
    dtype=_FLOAT32,
)
declare(
    "eye",
    "-> Out",
    lambda *, num_rows, num_columns, dtype: paddle.eye(
        num_rows, None if num_columns == -1 else num_columns, dtype_name(dtype)
    ),
    num_rows=int,
    num_columns=-1,
    dtype=_FLOAT32,
)
declare("shape", "Input -> Out", lambda x: paddle.cast(paddle.shape(x), "int32"))
declare("size", "Input -> Out", paddle.numel)
declare("is_empty", "X -> Out", paddle.is_empty)


# --- random draws


def _uniform(
    given: Any, listed: Any, *, shape: list[int], dtype: int, seed: int, **attrs: Any
) -> Any:
    sizes = _shape(given, listed, shape)
    return paddle.uniform(sizes, dtype_name(dtype), attrs["min"], attrs["max"], seed)


declare(
    "uniform_random",
    f"{_SIZES} -> Out",
    _uniform,
    shape=[],
    dtype=_FLOAT32,
    min=-1.0,
    max=1.0,
    seed=0,
    diag_num=0,
    diag_step=0,
    diag_val=1.0,
)


def _uniform_batch(
    input: Any, *, shape: list[int], input_dim_idx: int, output_dim_idx: int, **attrs: Any
) -> Any:
    return _like_batch(
        input,
        shape,
        input_dim_idx,
        output_dim_idx,
        lambda sizes: _uniform(None, None, shape=sizes, **attrs),
    )


declare(
    "uniform_random_batch_size_like",
    "Input -> Out",
    _uniform_batch,
    shape=list,
    input_dim_idx=0,
    output_dim_idx=0,
    dtype=_FLOAT32,
    min=-1.0,
    max=1.0,
    seed=0,
    diag_num=0,
    diag_step=0,
    diag_val=1.0,
)


def _gaussian(
    given: Any, listed: Any, *, shape: list[int], mean: float, std: float, dtype: int, **_: Any
) -> Any:
    drawn = paddle.normal(mean, std, _shape(given, listed, shape))
    return paddle.cast(drawn, dtype_name(dtype)) if drawn.dtype != dtype_name(dtype) else drawn


declare(
    "gaussian_random",
    f"{_SIZES} -> Out",
    _gaussian,
    shape=[],
    mean=0.0,
    std=1.0,
    seed=0,
    dtype=_FLOAT32,
)
declare(
    "randint",
    f"{_SIZES} -> Out",
    lambda given, listed, *, shape, low, high, dtype, seed: paddle.randint(
        low, high, _shape(given, listed, shape), dtype_name(dtype)
    ),
    low=int,
    high=int,
    shape=[],
    dtype=_INT64,
    seed=0,
)
declare(
    "randperm",
    "-> Out",
    lambda *, n, dtype, **_: paddle.randperm(n, dtype_name(dtype)),
    n=int,
    dtype=_INT64,
)
declare("bernoulli", "X -> Out", paddle.bernoulli)
declare(
    "multinomial",
    "X -> Out",
    lambda x, *, num_samples, replacement: paddle.multinomial(x, num_samples, replacement),
    num_samples=1,
    replacement=False,
)
