"""Weights with a structure: orthogonal, identity, interpolation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.checks import plain_number
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.initializer.base import Initializer, floating

__all__ = ["Bilinear", "Dirac", "Orthogonal"]


class Orthogonal(Initializer):
    """Orthonormal rows, or columns where there are fewer of these: Saxe, McClelland, Ganguli 2014.

    Drawn from the uniform (Haar) distribution. A parameter of more than two dimensions counts as
    the matrix with a row for each index of its first axis.

    Parameters
    ----------
    gain : float
        Factor of the matrix; see `calculate_gain`.
    name : str, optional
        Not used.

    Raises
    ------
    ShapeError
        For a parameter of fewer than two dimensions.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([2, 5], default_initializer=Orthogonal())
    >>> (paddle.matmul(w, w.T) - paddle.eye(2)).abs().max().item() < 1e-6
    True
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain = plain_number("Orthogonal", "gain", gain)

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        if len(shape) < 2:
            raise ShapeError(
                f"Orthogonal: the parameter must have two dimensions or more, got {list(shape)}; "
                "use Normal for a vector"
            )
        dtype = floating("Orthogonal", dtype)
        return "orthogonal", {"shape": shape, "gain": self.gain, "dtype": dtype}


class Dirac(Initializer):
    """Filters of a convolution that hand their channel on, as far as there are channels.

    Output channel k of a group has 1 in the middle of its window for input channel k, and zeros
    elsewhere.

    Parameters
    ----------
    groups : int
        Of the convolution.
    name : str, optional
        Not used.

    Raises
    ------
    ArgumentError
        Unless `groups` is a positive int.
    ShapeError
        Unless the parameter is [out, in, *window] with 1 to 3 axes of windows, and `groups`
        divides `out`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([2, 1, 3], default_initializer=Dirac(groups=2))
    >>> w.tolist()
    [[[0.0, 1.0, 0.0]], [[0.0, 1.0, 0.0]]]
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if isinstance(groups, bool) or not isinstance(groups, (int, np.integer)) or groups < 1:
            raise ArgumentError(f"Dirac: groups must be a positive int, got {groups!r}")
        self.groups = int(groups)

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        if len(shape) not in (3, 4, 5):
            raise ShapeError(
                f"Dirac: the parameter must be [out, in, *window] of 3 to 5 dimensions, got "
                f"{list(shape)}"
            )
        if shape[0] % self.groups:
            raise ShapeError(
                f"Dirac: {shape[0]} output channels cannot be split into {self.groups} groups; "
                "give the groups of the convolution"
            )
        value = np.zeros(shape, dtype)
        middle = tuple(d // 2 for d in shape[2:])
        of_group = shape[0] // self.groups
        for k in range(shape[0]):
            if math.prod(shape) and k % of_group < shape[1]:
                value[(k, k % of_group, *middle)] = 1
        return "constant", {"value": value}


class Bilinear(Initializer):
    """The filter with which a transposed convolution interpolates bilinearly.

    With ``stride=s``, ``padding=ceil((s - 1) / 2)``, ``kernel_size=2 * s - s % 2`` and a group for
    each channel the convolution makes an image `s` times as large.

    Raises
    ------
    ShapeError
        Unless the parameter is [channels, channels / groups, k, k].

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([1, 1, 3, 3], default_initializer=Bilinear())
    >>> w.tolist()
    [[[[0.25, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 0.25]]]]
    """

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ShapeError(
                "Bilinear: the parameter must be [channels, channels / groups, k, k], got "
                f"{list(shape)}"
            )
        tent = _tent(shape[3])
        value = np.array(np.broadcast_to(np.outer(tent, tent), shape), floating("Bilinear", dtype))
        return "constant", {"value": value}


def _tent(size: int) -> NDArray[Any]:
    """What each of `size` neighbours counts for a value between them."""
    factor = (size + 1) // 2
    middle = factor - 1 if size % 2 else factor - 0.5
    tent: NDArray[Any] = 1.0 - np.abs(np.arange(size) - middle) / max(factor, 1)
    return tent
