"""How parameters start out: each initializer names a creation operation and its attributes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.errors import ShapeError
from autograd_engine.tensor.conversion import to_array

__all__ = [
    "Assign",
    "Constant",
    "Initializer",
    "KaimingNormal",
    "Normal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
]


class Initializer:
    """Gives (operation, attributes) for a shape and dtype; the same operation in both modes."""

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight [in, out], or of a filter [out, in / groups, *window]."""
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


class Constant(Initializer):
    """Every element the same.

    Examples
    --------
    >>> Constant(0.5).operation((2,), "float32")
    ('full', {'shape': (2,), 'value': 0.5, 'dtype': 'float32'})
    """

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        return "full", {"shape": shape, "value": self.value, "dtype": dtype}


class Uniform(Initializer):
    """Uniform on [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0) -> None:
        self.low, self.high = low, high

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        return "uniform", {"shape": shape, "low": self.low, "high": self.high, "dtype": dtype}


class Normal(Initializer):
    """Normal with this mean and standard deviation."""

    def __init__(self, mean: float = 0.0, std: float = 1.0) -> None:
        self.mean, self.std = mean, std

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        return "gaussian", {"shape": shape, "mean": self.mean, "std": self.std, "dtype": dtype}


class XavierUniform(Initializer):
    """Uniform on +-sqrt(6 / (fan_in + fan_out)): Glorot and Bengio 2010, equation 16."""

    def __init__(self, fan_in: float | None = None, fan_out: float | None = None) -> None:
        self.fan_in, self.fan_out = fan_in, fan_out

    def _fans(self, shape: tuple[int, ...]) -> tuple[float, float]:
        fan_in, fan_out = fans(shape)
        return (
            fan_in if self.fan_in is None else self.fan_in,
            fan_out if self.fan_out is None else self.fan_out,
        )

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        limit = math.sqrt(6.0 / sum(self._fans(shape)))
        return Uniform(-limit, limit).operation(shape, dtype)


class XavierNormal(XavierUniform):
    """Normal with variance 2 / (fan_in + fan_out): Glorot and Bengio 2010, equation 12."""

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        return Normal(0.0, math.sqrt(2.0 / sum(self._fans(shape)))).operation(shape, dtype)


class KaimingNormal(Initializer):
    """Normal with variance 2 / fan_in: He et al. 2015, equation 10."""

    def __init__(self, fan_in: float | None = None) -> None:
        self.fan_in = fan_in

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        fan_in = fans(shape)[0] if self.fan_in is None else self.fan_in
        return Normal(0.0, math.sqrt(2.0 / fan_in)).operation(shape, dtype)


class Assign(Initializer):
    """The values given."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        array = to_array(self.value, dtype)
        if array.shape != shape:
            raise ShapeError(
                f"Assign: the parameter has shape {list(shape)}, the value {list(array.shape)}"
            )
        return "constant", {"value": np.ascontiguousarray(array).reshape(shape)}
