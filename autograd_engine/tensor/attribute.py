"""What dtypes can hold, and what tensors tell of themselves: kind, size, place.

Places and devices are names that programs of the reference use: everything runs on the CPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.devices import find
from autograd_engine.core.above import above
from autograd_engine.core.dtypes import (
    DTYPES,
    INEXACT,
    INTEGERS,
    DTypeLike,
    as_dtype,
    finfo as _finfo,
    iinfo as _iinfo,
    to_numpy,
)
from autograd_engine.core.place import (
    CPU,
    CPUPlace,
    Place,
    current_place,
    place_of,
    set_current_place,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    NotATensorError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, constant, spec_of
from autograd_engine.tensor.creation import full

__all__ = [
    "CPUPlace",
    "cpu_places",
    "finfo",
    "get_device",
    "iinfo",
    "is_empty",
    "is_tensor",
    "numel",
    "rank",
    "set_device",
    "shape",
    "tolist",
]

_MOST_PLACES: Final = 2**16


@dataclass(frozen=True)
class FloatInfo:
    """Limits of a floating dtype."""

    dtype: str
    bits: int
    min: float
    max: float
    eps: float
    resolution: float
    tiny: float
    smallest_normal: float


@dataclass(frozen=True)
class IntInfo:
    """Limits of a dtype of integers."""

    dtype: str
    bits: int
    min: int
    max: int


def finfo(dtype: DTypeLike) -> FloatInfo:
    """Limits of a floating dtype; of a complex one, those of its parts.

    Examples
    --------
    >>> finfo("float16").max, finfo("float32").bits
    (65504.0, 32)
    """
    chosen = to_numpy(dtype)
    if chosen not in INEXACT:
        raise DTypeError(f"finfo: takes a floating dtype, got {chosen.name}; use iinfo")
    info: Any = _finfo(chosen)
    return FloatInfo(
        dtype=info.dtype.name,
        bits=info.bits,
        min=float(info.min),
        max=float(info.max),
        eps=float(info.eps),
        resolution=float(info.resolution),
        tiny=float(info.tiny),
        smallest_normal=float(info.smallest_normal),
    )


def iinfo(dtype: DTypeLike) -> IntInfo:
    """Limits of a dtype of integers.

    Examples
    --------
    >>> iinfo("int8")
    IntInfo(dtype='int8', bits=8, min=-128, max=127)
    """
    chosen = to_numpy(dtype)
    if chosen not in INTEGERS:
        raise DTypeError(f"iinfo: takes a dtype of integers, got {chosen.name}; use finfo")
    info = _iinfo(chosen)
    return IntInfo(chosen.name, info.bits, int(info.min), int(info.max))


# --- methods


def _dim(self: Any) -> int:
    """How many axes there are."""
    return spec_of(self).ndim


def _element_size(self: Any) -> int:
    """Bytes of one element."""
    return spec_of(self).dtype.itemsize


def _is_contiguous(self: Any) -> bool:
    """Whether the elements lie in memory in order; in a program this is not said before it runs."""
    return not isinstance(self, Tensor) or bool(self._data.flags.c_contiguous)


def _is_dense(self: Any) -> bool:
    """True: there are no sparse tensors."""
    return True


def _is_sparse(self: Any) -> bool:
    """False: there are no sparse tensors, nor any that are spread over processes."""
    return False


def _sparse_dim(self: Any) -> int:
    """0: there are no sparse tensors."""
    return 0


def _is_same_shape(self: Any, y: Any) -> bool:
    """Whether `y` has the same sizes; in a program, whether it certainly has.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.ones([2, 3]).is_same_shape(paddle.zeros([2, 3]))
    True
    """
    return spec_of(self).shape == spec_of(as_operand("is_same_shape", y, "y")).shape


def _place(self: Any) -> CPUPlace:
    """Where the values are: always ``paddle.CPUPlace()``."""
    return CPU


def _get_device(self: Any) -> int:
    """-1, which stands for the CPU."""
    return -1


def apply(self: Any, func: Callable[[Any], Any]) -> Tensor:
    """What `func` makes of the tensor: a Tensor, with the gradients of what `func` does.

    Raises
    ------
    NotATensorError
        Where `func` returns something else.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.to_tensor([1.0, 2.0]).apply(lambda v: 3 * v + 2).tolist()
    [5.0, 8.0]
    """
    if not callable(func):
        raise ArgumentTypeError(
            f"apply: func must be a function of the tensor, got {type(func).__name__}"
        )
    made = func(self)
    if not isinstance(made, (Tensor, Variable)):
        raise NotATensorError(
            f"apply: func must return a Tensor, got {type(made).__name__} from "
            f"{getattr(func, '__name__', func)!r}"
        )
    result: Any = made
    return result


def _contiguous(self: Any) -> Tensor:
    """The same values in memory in order: the tensor itself, if they are."""
    if _is_contiguous(self):
        return self
    return ops.reshape(ops.reshape(self, shape=(-1,)), shape=self._data.shape)


def _cpu(self: Any) -> Tensor:
    """The tensor itself: everything is on the CPU."""
    return self


def _cuda(self: Any, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """Refused: this engine runs on the CPU."""
    raise ArgumentError("cuda: this engine runs on the CPU only; leave the call out, or use cpu()")


def _to(self: Any, *args: Any, **kwargs: Any) -> Tensor:
    """In another dtype: ``to(dtype)``, ``to(other)``, ``to("cpu")``, ``to("cpu", dtype)``.

    Raises
    ------
    ArgumentError
        For a device other than the CPU.
    """
    names = ("device", "dtype", "blocking")
    for name in kwargs:
        if name not in (*names, "other"):
            raise ArgumentTypeError(
                f"to: there is no argument {name!r}; it has {', '.join(names)}, other"
            )
    given = list(args)
    other = kwargs.get("other")
    if given and isinstance(given[0], (Tensor, Variable)):
        other = given.pop(0)
    if other is not None:
        return _as(self, spec_of(other).dtype.name)
    if given and _is_dtype(given[0]):
        given.insert(0, None)
    if len(given) > len(names):
        raise ArgumentTypeError(f"to: takes at most {len(names)} arguments, got {len(args)}")
    found = {**dict(zip(names, given, strict=False)), **kwargs}
    device, dtype = found.get("device"), found.get("dtype")
    if device is not None and str(device).lower() not in ("cpu", "place(cpu)"):
        raise ArgumentError(f"to: this engine runs on 'cpu' only, got {device!r}")
    return self if dtype is None else _as(self, to_numpy(dtype).name)


def _is_dtype(value: Any) -> bool:
    if value is None:
        return False
    try:
        as_dtype(value)
    except DTypeError:
        return False
    return True


def _as(x: Any, dtype: str) -> Tensor:
    chosen = to_numpy(dtype)
    return x if spec_of(x).dtype == chosen else ops.cast(x, dtype=chosen.name)


def _type_as(self: Any, other: Any) -> Tensor:
    """In the dtype of `other`."""
    return _as(self, spec_of(other).dtype.name)


def _cast_to(dtype: str) -> Callable[[Any], Tensor]:
    def cast(self: Any) -> Tensor:
        return _as(self, dtype)

    cast.__doc__ = f"In {dtype}: the tensor itself if it is."
    return cast


def _new(name: str, value: float) -> Callable[..., Tensor]:
    def new(self: Any, size: Any, *sizes: Any, dtype: DTypeLike | None = None) -> Tensor:
        return new_full(self, (size, *sizes) if sizes else size, value, dtype=dtype)

    new.__name__ = name
    new.__doc__ = f"""{value:g} everywhere, in the dtype of this array unless told otherwise.

    The sizes are one list, or an argument each.
    """
    return new


def new_full(self: Any, size: Any, fill_value: Any, *, dtype: DTypeLike | None = None) -> Tensor:
    """An array of one value, in the dtype of this one unless told otherwise."""
    return full(size, fill_value, spec_of(self).dtype if dtype is None else dtype)


def _is_cuda(self: Any) -> bool:
    """False: everything is on the CPU."""
    return False


def _nelement(self: Any) -> int:
    """How many elements there are."""
    return int(spec_of(self).size or 0)


def _data(self: Any) -> Tensor:
    """The same values, outside the graph: `detach`. It may be set, as by `set_value`."""
    return self.detach()


def _set_data(self: Any, value: Any) -> None:
    self.set_value(value)


def _of_networks(name: str, along: bool = False) -> Callable[..., Tensor]:
    """A method of the functions of networks, which are further up."""

    def plain(x: Any, name: str | None = None) -> Tensor:
        return getattr(above.functional, shown)(x)

    def softmax(x: Any, axis: int = -1, dtype: DTypeLike | None = None) -> Tensor:
        return getattr(above.functional, shown)(x, axis, dtype)

    shown, method = name, softmax if along else plain
    method.__name__ = name
    method.__doc__ = f"`nn.functional.{name}` of this array."
    return method


_SHORT: Final = {
    "bool": "bool",
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}

ATTRIBUTES: Final[dict[str, Any]] = {
    "apply": apply,
    "dense_dim": _dim,
    "dim": _dim,
    "get_device": _get_device,
    "is_dense": _is_dense,
    "is_dist": _is_sparse,
    "is_same_shape": _is_same_shape,
    "is_sparse": _is_sparse,
    "is_sparse_coo": _is_sparse,
    "is_sparse_csr": _is_sparse,
    "ndimension": _dim,
    "place": property(_place),
    "sparse_dim": _sparse_dim,
    "element_size": _element_size,
    "itemsize": property(_element_size),
    "is_contiguous": _is_contiguous,
    "contiguous": _contiguous,
    "cpu": _cpu,
    "cuda": _cuda,
    "to": _to,
    "type_as": _type_as,
    "new_zeros": _new("new_zeros", 0.0),
    "new_ones": _new("new_ones", 1.0),
    "new_empty": _new("new_empty", 0.0),
    "new_full": new_full,
    "is_cuda": property(_is_cuda),
    "nelement": _nelement,
    "data": property(_data, _set_data),
    **{name: _of_networks(name) for name in ("relu", "sigmoid")},
    **{name: _of_networks(name, along=True) for name in ("log_softmax", "softmax")},
    **{name: _cast_to(dtype) for name, dtype in _SHORT.items()},
    **{name: _cast_to(name) for name in DTYPES if name != "bool"},
}
"""The methods of this module by name, for Tensor and Variable."""


def numel(x: Any, name: str | None = None) -> Tensor:
    """The number of elements, as an int64 tensor.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.numel(paddle.zeros([2, 3])).item()
    6
    """
    return ops.numel(as_operand("numel", x))


def shape(input: Any) -> Tensor:
    """The sizes, as an int64 tensor; in a program those that it runs with.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.shape(paddle.zeros([2, 3])).tolist()
    [2, 3]
    """
    return ops.shape_of(as_operand("shape", input, "input"))


def rank(input: Any) -> Tensor:
    """The number of axes, as an int32 tensor.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.rank(paddle.zeros([2, 3])).item()
    2
    """
    return constant(np.asarray(spec_of(as_operand("rank", input, "input")).ndim, np.int32))


def is_empty(x: Any, name: str | None = None) -> Tensor:
    """Whether there are no elements, as a bool tensor.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.is_empty(paddle.zeros([0, 3])).item()
    True
    """
    return ops.equal(ops.numel(as_operand("is_empty", x)), 0)


def tolist(x: Any) -> Any:
    """The elements as Python numbers in nested lists.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.tolist(paddle.to_tensor([[1, 2]]))
    [[1, 2]]
    """
    return as_operand("tolist", x).tolist()


def get_device() -> str:
    """What `set_device` has chosen; ``"cpu"`` before it is called.

    Examples
    --------
    >>> get_device()
    'cpu'
    """
    return str(current_place())


def set_device(device: str | CPUPlace | Place) -> CPUPlace | Place:
    """Choose where programs run that are compiled from now on.

    Parameters
    ----------
    device : str or Place
        ``"cpu"``, or a device that jax has: ``"gpu"``, ``"gpu:1"``, ``"tpu:0"``; ``"cpu:1"`` where
        jax was told to make several of the CPU. Programs of `Executor` and `to_static` then run
        there by way of XLA, also with ``backend="auto"``.

    Returns
    -------
    CPUPlace or Place

    Raises
    ------
    ArgumentError
        When there is no such device, or jax is not installed, which reaches it.

    Notes
    -----
    Tensors, and what runs eagerly, are on the CPU in any case. What was compiled before stays where
    it was compiled for.

    Examples
    --------
    >>> set_device("cpu")
    Place(cpu)
    """
    place = Place("cpu") if isinstance(device, CPUPlace) else device
    if isinstance(place, str):
        place = place_of(place)  # type: ignore[assignment]
    if not isinstance(place, Place):
        raise ArgumentError(
            f"set_device: there is no device {device!r}; write 'cpu', or 'gpu:0' or 'tpu:0' where "
            "jax has such a device"
        )
    if not place.is_plain_cpu:
        try:
            find(place)
        except LookupError as error:
            raise ArgumentError(f"set_device: there is no device {str(place)!r}: {error}") from None
    set_current_place(place)
    return CPU if place.is_plain_cpu else place


def is_tensor(x: Any) -> bool:
    """Whether `x` is an eager Tensor."""
    return isinstance(x, Tensor)


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """So many places; by default as many as the environment variable ``CPU_NUM`` says, or one.

    Examples
    --------
    >>> cpu_places(2)
    [Place(cpu), Place(cpu)]
    """
    count = device_count
    if count is None:
        given = os.environ.get("CPU_NUM", "1")
        count = int(given) if given.isdecimal() else 0
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST_PLACES:
        raise ArgumentError(
            f"cpu_places: device_count must be a positive int, {_MOST_PLACES} at most, got "
            f"{os.environ.get('CPU_NUM') if device_count is None else device_count!r}"
        )
    return [CPUPlace()] * count
