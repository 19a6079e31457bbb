"""Draws whose variance follows from how many inputs and outputs a weight connects."""

from __future__ import annotations

import math
from typing import Any, Final

from autograd_engine.core.checks import plain_number
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.initializer.base import Initializer, fans, floating

__all__ = ["KaimingNormal", "KaimingUniform", "XavierNormal", "XavierUniform", "calculate_gain"]

_GAINS: Final = {
    "sigmoid": 1.0,
    "linear": 1.0,
    **{f"conv{n}d{kind}": 1.0 for kind in ("", "_transpose") for n in (1, 2, 3)},
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor of the standard deviation of weights that suits the function behind them.

    Parameters
    ----------
    nonlinearity : str
        ``"linear"``, a convolution (``"conv2d"``, ``"conv2d_transpose"``, ...), ``"sigmoid"``: 1;
        ``"tanh"``: 5/3; ``"relu"``: sqrt(2); ``"selu"``: 3/4; ``"leaky_relu"``:
        sqrt(2 / (1 + param**2)).
    param : float, optional
        The slope of leaky_relu at negative values, by default 0.01. Others have none.

    Returns
    -------
    float

    Raises
    ------
    ArgumentError
        For another function.

    Examples
    --------
    >>> calculate_gain("leaky_relu", 1.0)
    1.0
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else plain_number("calculate_gain", "param", param)
        return math.sqrt(2.0 / (1.0 + slope * slope))
    gain = _GAINS.get(nonlinearity) if isinstance(nonlinearity, str) else None
    if gain is None:
        raise ArgumentError(
            f"calculate_gain: nonlinearity must be one of {', '.join([*_GAINS, 'leaky_relu'])}; "
            f"got {nonlinearity!r}"
        )
    return gain


def _above(name: str, argument: str, value: Any) -> float | None:
    """A number above 0, or None."""
    if value is None:
        return None
    number = plain_number(name, argument, value)
    if number <= 0:
        raise ArgumentError(f"{name}: {argument} must be above 0, got {value}")
    return number


class _Scaled(Initializer):
    """Values around 0 with the variance that `_variance` says.

    Raises
    ------
    ArgumentError, ShapeError
    """

    def _variance(self, shape: tuple[int, ...]) -> float:
        raise NotImplementedError


class _Normal(_Scaled):
    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        dtype = floating(type(self).__name__, dtype)
        std = math.sqrt(self._variance(shape))
        return "gaussian", {"shape": shape, "mean": 0.0, "std": std, "dtype": dtype}


class _Uniform(_Scaled):
    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        dtype = floating(type(self).__name__, dtype)
        limit = math.sqrt(3.0 * self._variance(shape))
        return "uniform", {"shape": shape, "low": -limit, "high": limit, "dtype": dtype}


class _Xavier(_Scaled):
    """Values whose variance keeps that of what goes forward, and of gradients, on average.

    Parameters
    ----------
    fan_in, fan_out : float, optional
        By default from the shape: the sizes of a weight [in, out]; of a filter
        [out, in, *window], those times the elements of the window.
    gain : float
        See `calculate_gain`.
    name : str, optional
        Not used.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        fan_out: float | None = None,
        gain: float = 1.0,
        name: str | None = None,
    ) -> None:
        own = type(self).__name__
        self.fan_in, self.fan_out = _above(own, "fan_in", fan_in), _above(own, "fan_out", fan_out)
        self.gain = plain_number(own, "gain", gain)
        if self.gain < 0:
            raise ArgumentError(f"{own}: gain must not be negative, got {gain}")

    def _variance(self, shape: tuple[int, ...]) -> float:
        fan_in, fan_out = fans(type(self).__name__, shape)
        total = (self.fan_in or fan_in) + (self.fan_out or fan_out)
        return self.gain * self.gain * 2.0 / total


class XavierUniform(_Xavier, _Uniform):
    """Uniform on +-gain * sqrt(6 / (fan_in + fan_out)): Glorot and Bengio 2010, equation 16.

    Examples
    --------
    >>> XavierUniform().operation((2, 4), "float32")[1]["high"]
    1.0
    """


class XavierNormal(_Xavier, _Normal):
    """Normal with variance gain**2 * 2 / (fan_in + fan_out): Glorot and Bengio 2010, equation 12.

    Examples
    --------
    >>> XavierNormal(gain=3.0).operation((4, 4), "float32")[1]["std"]
    1.5
    """


class _Kaiming(_Scaled):
    """Values whose variance keeps that of what goes forward, or of gradients.

    Parameters
    ----------
    fan_in : float, optional
        In the place of the fan that follows from the shape; see `XavierUniform`. Only with
        ``mode="fan_in"``.
    negative_slope : float
        Of leaky_relu.
    nonlinearity : str
        The function behind the weight, whose gain is `calculate_gain`'s.
    mode : {"fan_in", "fan_out"}
        Keep the variance of what goes forward, or of the gradients that go backward.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        own = type(self).__name__
        if mode not in ("fan_in", "fan_out"):
            raise ArgumentError(f"{own}: mode must be 'fan_in' or 'fan_out', got {mode!r}")
        self.fan_in = _above(own, "fan_in", fan_in)
        if mode == "fan_out" and self.fan_in is not None:
            raise ArgumentError(
                f"{own}: fan_in={fan_in} says nothing with mode='fan_out'; leave one of them away"
            )
        self.negative_slope = plain_number(own, "negative_slope", negative_slope)
        self.nonlinearity, self.mode = nonlinearity, mode
        self._squared_gain = calculate_gain(nonlinearity, self.negative_slope) ** 2
        if nonlinearity == "relu":  # which rounding makes a little more of
            self._squared_gain = 2.0

    def _variance(self, shape: tuple[int, ...]) -> float:
        found = fans(type(self).__name__, shape)[self.mode == "fan_out"]
        return self._squared_gain / (found if self.fan_in is None else self.fan_in)


class KaimingNormal(_Kaiming, _Normal):
    """Normal with variance gain**2 / fan: He, Zhang, Ren and Sun 2015, equation 10.

    Examples
    --------
    >>> KaimingNormal().operation((8, 3), "float32")[1]["std"]
    0.5
    """


class KaimingUniform(_Kaiming, _Uniform):
    """Uniform on +-gain * sqrt(3 / fan).

    Examples
    --------
    >>> KaimingUniform(mode="fan_out").operation((2, 6), "float32")[1]["high"]
    1.0
    """
