"""Tensors of one dtype by its name, ``paddle.FloatTensor([1, 2])``, as older programs make them.

>>> import autograd_engine as paddle
>>> paddle.FloatTensor([1, 2]).tolist(), paddle.FloatTensor(2, 3).shape
([1.0, 2.0], paddle.Size([2, 3]))
>>> isinstance(paddle.ones([1]), paddle.FloatTensor)
True
"""

from __future__ import annotations

from typing import Any

from autograd_engine.core.checks import is_int
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.tensor.creation import to_tensor, zeros

__all__ = [
    "BFloat16Tensor",
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


def _of(name: str, dtype: str) -> _OfDType:
    text = f"Tensors of {dtype}: of the data given, or zeros of the sizes given."
    return _OfDType(name, (), {"dtype": dtype, "__doc__": text, "__module__": __name__})


BFloat16Tensor = _of("BFloat16Tensor", "bfloat16")
BoolTensor = _of("BoolTensor", "bool")
ByteTensor = _of("ByteTensor", "uint8")
CharTensor = _of("CharTensor", "int8")
DoubleTensor = _of("DoubleTensor", "float64")
FloatTensor = _of("FloatTensor", "float32")
HalfTensor = _of("HalfTensor", "float16")
IntTensor = _of("IntTensor", "int32")
LongTensor = _of("LongTensor", "int64")
ShortTensor = _of("ShortTensor", "int16")
