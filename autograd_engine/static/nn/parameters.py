"""What the functions of `static.nn` share: parameters by the reference's names, and arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.initializer import Constant, Initializer
from autograd_engine.nn.initializer.base import initializer_for
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.nn.parameters import static_parameter
from autograd_engine.program.builder import layer_scope
from autograd_engine.program.data import require_variable
from autograd_engine.program.ir.program import Variable

__all__ = [
    "LayerParameters",
    "activated",
    "channels_of",
    "floating",
    "layer",
    "one_of",
]

_ACTIVATIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "relu": F.relu,
    "sigmoid": F.sigmoid,
    "tanh": F.tanh,
    "softmax": F.softmax,
    "gelu": F.gelu,
}


class LayerParameters:
    """Makes the parameters of one layer, ``<name>.w_0``, ``<name>.b_0``, in the default program."""

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        self.name, self.dtype = name, dtype

    def weight(
        self,
        shape: Sequence[int],
        attr: Any,
        default: Initializer,
        dtype: np.dtype[Any] | None = None,
    ) -> Variable:
        return self._made("w", shape, attr, default, dtype or self.dtype)

    def scale(self, attr: Any, size: int) -> Variable | None:
        """Ones to begin with; None where `attr` is False."""
        return None if attr is False else self.weight([size], attr, Constant(1.0))

    def untrained(self, size: int, start: Initializer, name: str | None = None) -> Variable:
        """A vector that no optimizer changes."""
        return self.weight([size], ParamAttr(name, start, trainable=False), start)

    def bias(self, attr: Any, *shape: int) -> Variable | None:
        """Zeros to begin with; None where `attr` is False."""
        return None if attr is False else self._made("b", shape, attr, Constant(0.0), self.dtype)

    def _made(
        self,
        suffix: str,
        shape: Sequence[int],
        attr: Any,
        default: Initializer,
        dtype: np.dtype[Any],
    ) -> Variable:
        chosen = ParamAttr.of(attr)
        name = chosen.name or unique_name.generate(f"{self.name}.{suffix}")
        initializer = initializer_for(chosen.initializer, default, suffix == "b")
        return static_parameter(name, tuple(shape), dtype, initializer, chosen)


@contextmanager
def layer(function: str, name: str | None, dtype: np.dtype[Any]) -> Iterator[LayerParameters]:
    """The layer that a call of `function` makes; temporaries inside are named after it."""
    full = name or unique_name.generate(function)
    with layer_scope(full):
        yield LayerParameters(full, dtype)


def activated(function: str, x: Any, activation: str | None) -> Variable:
    if activation is None:
        return cast(Variable, x)
    if activation not in _ACTIVATIONS:
        raise ArgumentError(
            f"{function}: activation must be one of {', '.join(_ACTIVATIONS)} or None, got "
            f"{activation!r}"
        )
    return cast(Variable, _ACTIVATIONS[activation](x))


# --- arguments


def one_of(function: str, argument: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ArgumentError(
            f"{function}: {argument} must be one of {', '.join(map(repr, known))}; got {value!r}"
        )


def floating(function: str, argument: str, x: Any) -> None:
    """See to it that `x` is a variable of floating-point numbers."""
    require_variable(function, argument, x)
    if x.spec.dtype not in FLOATS:
        raise DTypeError(
            f"{function}: {argument} must be floating, got {x.dtype.name}: cast it first"
        )


def channels_of(
    function: str, x: Any, data_format: str, ndim: int | None = None, argument: str = "input"
) -> int:
    """The number of channels of `x`, of so many axes or of any number."""
    shape = x.spec.shape
    axis = 1 if data_format[1:2] == "C" else len(shape) - 1
    fits = len(shape) >= 2 if ndim is None else len(shape) == ndim
    if not fits or isinstance(shape[axis], Dim):
        raise ShapeError(
            f"{function}: {argument} must be [{', '.join(data_format)}] with a known C, got "
            f"{format_shape(shape)}"
        )
    return int(shape[axis])
