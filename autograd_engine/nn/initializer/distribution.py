"""Constants, and draws from distributions that do not depend on the shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.array_conversion import to_array
from autograd_engine.core.checks import plain_number
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ShapeError
from autograd_engine.nn.initializer.base import Initializer, deviation, floating
from autograd_engine.program.conversion import held, number

__all__ = ["Assign", "Constant", "Normal", "TruncatedNormal", "Uniform"]


class Constant(Initializer):
    """Every element the same.

    Parameters
    ----------
    value : float

    Examples
    --------
    >>> Constant(0.5).operation((2,), "float32")
    ('full', {'shape': (2,), 'value': 0.5, 'dtype': 'float32'})
    """

    def __init__(self, value: float = 0.0) -> None:
        self.value = number("Constant", "value", value)

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        value = held("Constant", "value", self.value, np.dtype(dtype))
        return "full", {"shape": shape, "value": value, "dtype": dtype}


class Assign(Initializer):
    """The values given.

    Parameters
    ----------
    value : Tensor, ndarray or list
        Of the parameter's shape; cast to its dtype. What is done to it later changes nothing.
    name : str, optional
        Not used.

    Raises
    ------
    TypeError
        When `value` is no array.
    ShapeError
        When a parameter has another shape.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> Assign([1, 2])(w := paddle.zeros([2]))
    >>> w.tolist()
    [1.0, 2.0]
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        if value is None or isinstance(value, (str, bytes)):
            raise ArgumentTypeError(
                f"Assign: value must be a Tensor, an array or a list, got {type(value).__name__}"
            )
        # A list is rounded once, to the dtype of the parameter; arrays have theirs.
        listed = isinstance(value, (list, tuple))
        array = to_array(value, None, "Assign")
        if listed and array.dtype in FLOATS:
            array = to_array(value, "float64", "Assign")
        self.value = np.array(array)

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        if self.value.shape != shape:
            raise ShapeError(
                f"Assign: the parameter has shape {list(shape)}, the value {list(self.value.shape)}"
            )
        return "constant", {"value": np.array(to_array(self.value, dtype, "Assign"))}


class Uniform(Initializer):
    """Uniform on [low, high).

    Parameters
    ----------
    low, high : float
    name : str, optional
        Not used.

    Raises
    ------
    ArgumentError
        When `low` is above `high`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([100], default_initializer=Uniform(0.0, 0.1))
    >>> bool((w >= 0.0).all() and (w < 0.1).all())
    True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        self.low = plain_number("Uniform", "low", low)
        self.high = plain_number("Uniform", "high", high)
        if self.low > self.high:
            raise ArgumentError(f"Uniform: low {low} is above high {high}; exchange them")

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        dtype = floating("Uniform", dtype)
        return "uniform", {"shape": shape, "low": self.low, "high": self.high, "dtype": dtype}


class Normal(Initializer):
    """Normal with this mean and standard deviation.

    Parameters
    ----------
    mean, std : float
    name : str, optional
        Not used.

    Raises
    ------
    ArgumentError
        When `std` is negative.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.create_parameter([3], default_initializer=Normal(2.0, 0.0)).tolist()
    [2.0, 2.0, 2.0]
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean, self.std = plain_number("Normal", "mean", mean), deviation("Normal", std)

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        dtype = floating("Normal", dtype)
        return "gaussian", {"shape": shape, "mean": self.mean, "std": self.std, "dtype": dtype}


class TruncatedNormal(Initializer):
    """Normal with this mean and standard deviation, given that it is in [a, b].

    Parameters
    ----------
    mean, std : float
        Of the normal distribution that is truncated.
    a, b : float
        The bounds of the values.
    name : str, optional
        Not used.

    Raises
    ------
    ArgumentError
        When `std` is not above 0, or `a` not below `b`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([100], default_initializer=TruncatedNormal(std=5.0))
    >>> float(w.abs().max()) <= 2.0
    True
    """

    def __init__(
        self,
        mean: float = 0.0,
        std: float = 1.0,
        a: float = -2.0,
        b: float = 2.0,
        name: str | None = None,
    ) -> None:
        own = "TruncatedNormal"
        self.mean, self.std = plain_number(own, "mean", mean), deviation(own, std)
        self.a, self.b = plain_number(own, "a", a), plain_number(own, "b", b)
        if not self.std:
            raise ArgumentError(f"{own}: std must be above 0; Constant({mean}) is one value")
        if self.a >= self.b:
            raise ArgumentError(f"{own}: a must be below b, got a={a} and b={b}")

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        return "truncated_gaussian", {
            "shape": shape,
            "mean": self.mean,
            "std": self.std,
            "low": self.a,
            "high": self.b,
            "dtype": floating("TruncatedNormal", dtype),
        }
