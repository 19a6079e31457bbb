"""One call of a public function, and what it is to be compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """A call of a public function on given operands.

    Operands lie inside the domain of the function and away from kinks and ties, so that
    differences may be taken around them. Those of float64 are differentiated (and cast to other
    floating dtypes); operands of any other dtype are data.

    Attributes
    ----------
    label : str
        Tells the cases of one function apart.
    call : callable
        ``call(*operands)`` on Tensors or Variables; returns one, or a list or tuple of them.
    operands : tuple of ndarray
    numpy : callable or None
        The expected value from the ndarrays, computed in another way; None only where `torch`
        says it.
    torch : callable or None
        The same call on torch tensors, for the differential suite; None where torch has no such
        function.
    differentiable : bool
        False where no output carries a gradient.
    smooth : bool
        False where differences say nothing: the function rounds, or draws.
    static : bool
        False where the function reads values, so that it cannot be part of a program.
    known : bool
        True where a program must know all sizes.
    orders : int
        The highest order that is compared with differences, 3 unless they lose too many digits.
    """

    label: str
    call: Callable[..., Any]
    operands: tuple[np.ndarray, ...] = ()
    numpy: Callable[..., Any] | None = None
    torch: Callable[..., Any] | None = None
    differentiable: bool = True
    smooth: bool = True
    static: bool = True
    known: bool = False
    orders: int = 3
