"""Tensors of one dtype by its name, ``paddle.FloatTensor([1, 2])``, as older programs make them."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.checks import is_int
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.tensor.creation import to_tensor, zeros

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]


def __dir__() -> list[str]:
    return __all__


class _OfDType(type):
    """Names for tensors of a dtype: what they make is a Tensor, and what has the dtype is one."""

    dtype: str

    def __call__(cls, *given: Any, device: Any = None) -> Any:
        if str(device or "cpu").lower() not in ("cpu", "place(cpu)"):
            raise ArgumentError(f"{cls.__name__}: this engine runs on 'cpu' only, got {device!r}")
        if all(is_int(v) for v in given):
            return zeros(list(given) or [0], cls.dtype)
        if len(given) > 1:
            raise ArgumentTypeError(
                f"{cls.__name__}: takes data, or sizes as ints; got {len(given)} arguments"
            )
        return to_tensor(given[0], cls.dtype)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype.name == cls.dtype


class FloatTensor(metaclass=_OfDType):
    """Tensors of float32: of the data given, or zeros of the sizes given.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.FloatTensor([1, 2]).tolist(), paddle.FloatTensor(2, 3).shape
    ([1.0, 2.0], paddle.Size([2, 3]))
    >>> isinstance(paddle.ones([1]), paddle.FloatTensor)
    True
    """

    dtype = "float32"


class DoubleTensor(metaclass=_OfDType):
    """Tensors of float64; see `FloatTensor`."""

    dtype = "float64"


class HalfTensor(metaclass=_OfDType):
    """Tensors of float16; see `FloatTensor`."""

    dtype = "float16"


class LongTensor(metaclass=_OfDType):
    """Tensors of int64; see `FloatTensor`."""

    dtype = "int64"


class IntTensor(metaclass=_OfDType):
    """Tensors of int32; see `FloatTensor`."""

    dtype = "int32"


class ShortTensor(metaclass=_OfDType):
    """Tensors of int16; see `FloatTensor`."""

    dtype = "int16"


class CharTensor(metaclass=_OfDType):
    """Tensors of int8; see `FloatTensor`."""

    dtype = "int8"


class ByteTensor(metaclass=_OfDType):
    """Tensors of uint8; see `FloatTensor`."""

    dtype = "uint8"


class BoolTensor(metaclass=_OfDType):
    """Tensors of bool; see `FloatTensor`."""

    dtype = "bool"
