"""DLPack: memory that tensors and other libraries have in common.

Other libraries write in place, and the values of a tensor must not change under a graph. So a
tensor whose memory something else can write is a `SharedTensor`: whatever computes with it gets a
private copy of the values of that moment, which is kept for as long as they stay the same; only
``numpy()`` and another export see the memory itself.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import HALVES, DType, as_dtype, bfloat16
from autograd_engine.core.size import Size
from autograd_engine.core.spec import Array
from autograd_engine.eager.array_methods import read_only
from autograd_engine.eager.row_sparse import held_by_one
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ExportError, NotATensorError

__all__ = ["SharedTensor", "export", "imported"]

_CPU = (1, 0)


class _Memory:
    """What stands in the place of a shared tensor's array: the memory, and a copy of it."""

    __slots__ = ("live", "snapshot")

    def __init__(self, live: Array) -> None:
        self.live = live
        self.snapshot: Array | None = None

    def values(self) -> Array:
        """The values of now, in memory of our own that is never written."""
        if self.snapshot is None or not _same_bits(self.snapshot, self.live):
            self.snapshot = np.array(self.live)
            self.snapshot.flags.writeable = False  # nobody takes it for the tensor's own
        return self.snapshot


def _same_bits(a: Array, b: Array) -> bool:
    """Whether the bits agree; False where finding out would cost more than a copy."""
    if not (a.flags.c_contiguous and b.flags.c_contiguous):
        return False
    size = min(a.dtype.itemsize, 8)
    word = np.dtype(f"u{size}")
    return np.array_equal(a.reshape(-1).view(word), b.reshape(-1).view(word))


_slot: Any = Tensor.__dict__["_data"]


class SharedTensor(Tensor):
    """A Tensor whose memory another library can write.

    It is a Tensor like any other. Each operation uses the values of the moment in which it runs,
    and its gradient is that of these values, whatever is written afterwards. `numpy` shows the
    memory as it is. Giving it another value (`set_value`, ``x += 1``) ends the sharing: no tensor
    writes into memory that something else can see.
    """

    __slots__ = ()

    _copied = Tensor

    @property
    def _data(self) -> Array:
        memory: _Memory = _slot.__get__(self)
        return memory.values()

    @_data.setter
    def _data(self, value: Array) -> None:
        _slot.__set__(self, value)
        self.__class__ = Tensor  # type: ignore[assignment]

    @property
    def live(self) -> Array:
        """The memory itself."""
        memory: _Memory = _slot.__get__(self)
        return memory.live

    def numpy(self) -> Array:
        return read_only(self.live)

    # What is known without the values.

    @property
    def shape(self) -> Size:
        return Size(self.live.shape)

    @property
    def dtype(self) -> DType:
        return as_dtype(self.live.dtype)

    @property
    def ndim(self) -> int:
        return self.live.ndim


def share(tensor: Tensor, live: Array) -> None:
    """Make a tensor one whose memory, `live`, others can write."""
    _slot.__set__(tensor, _Memory(live))
    tensor.__class__ = SharedTensor


def export(
    tensor: Any,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """The capsule of ``tensor.__dlpack__(...)``.

    Memory that only this tensor holds is handed out as it is, and the tensor becomes a
    `SharedTensor`. What graphs, views or other tensors hold too is copied, for who imports it may
    write, whatever its flags say: not every library reads them.

    Raises
    ------
    ExportError
        For a tensor that requires a gradient; with ``copy=False`` where a copy is needed; for
        another device than the CPU.
    """
    if not tensor._stop:
        raise ExportError(
            f"{tensor.name} requires a gradient, which other libraries cannot follow: export "
            "x.detach()"
        )
    if stream is not None:
        raise ExportError(f"__dlpack__: stream must be None for memory of the CPU, got {stream!r}")
    if dl_device is not None and tuple(dl_device) != _CPU:
        raise ExportError(f"__dlpack__: no device {tuple(dl_device)}; tensors are on (1, 0)")
    versioned = max_version is not None and max_version[0] >= 1
    if isinstance(tensor, SharedTensor):
        live = tensor.live
        if copy or (not live.flags.writeable and not versioned):
            _check_copy(copy, "its memory is read-only, which only DLPack 1.0 and later can say")
            return _capsule(np.array(live), max_version, copied=True)
        return _capsule(live, max_version)
    if not copy and type(tensor) is Tensor and held_by_one(tensor):
        live = tensor._data
        share(tensor, live)
        return _capsule(live, max_version)
    _check_copy(copy, "graphs, views or other tensors hold its values, which must not be written")
    return _capsule(np.array(tensor._data), max_version, copied=True)


def _check_copy(copy: bool | None, why: str) -> None:
    if copy is False:
        raise ExportError(f"__dlpack__: copy=False, but {why}: leave copy=False away, or clone it")


# What NumPy has no dtype for it neither exports nor imports: it is shown integers of 16 bits.
_UINT, _BFLOAT = 1, 4  # the codes of kinds of numbers in `DLDataType`


def _relabelled(capsule: Any, old: int, new: int) -> bool:
    """Change the kind of the numbers in a capsule, if it is the `old` one and they have 16 bits."""
    versioned = b"dltensor_versioned"
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    named = ctypes.pythonapi.PyCapsule_IsValid
    named.restype, named.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
    name = versioned if named(capsule, versioned) else b"dltensor"
    # Before the DLTensor: the version, the context, the deleter and the flags. In it, before the
    # dtype: the data, the device and the number of axes.
    start = pointer(capsule, name) + (32 if name == versioned else 0) + 20
    code, bits = (ctypes.c_uint8 * 2).from_address(start)
    if (code, bits) != (old, 16):
        return False
    ctypes.c_uint8.from_address(start).value = new
    return True


class _Shown:
    """What supports DLPack, its bfloat16 as integers: `bits` says whether it was that."""

    def __init__(self, x: Any) -> None:
        self._x = x
        self.bits = False

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self._x.__dlpack__(**options)
        self.bits = _relabelled(capsule, _BFLOAT, _UINT)
        return capsule

    def __dlpack_device__(self) -> Any:
        return self._x.__dlpack_device__()


def _capsule(array: Array, max_version: Any, copied: bool = False) -> Any:
    if array.dtype in HALVES and bfloat16.loaded((array,)):
        capsule = _capsule(array.view(np.uint16), max_version, copied)
        _relabelled(capsule, _UINT, _BFLOAT)
        return capsule
    if max_version is None:
        return array.__dlpack__()
    # NumPy marks what it copies itself, and only that.
    return array.__dlpack__(max_version=max_version, copy=True if copied else None)


class _Capsule:
    """A capsule with the methods of what it came from."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU  # NumPy reads the device in the capsule and refuses another one


def imported(function: str, x: Any, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of what supports DLPack, or of a capsule: without a copy where that is possible."""
    if device is not None and str(device).lower() not in ("cpu", "place(cpu)", "(1, 0)"):
        raise ArgumentError(f"{function}: device {device!r} is not there; use 'cpu'")
    if isinstance(x, Tensor) and copy is None:
        copy = not isinstance(x, SharedTensor)
    if type(x).__name__ == "PyCapsule":
        if "used_" in repr(x):
            raise ArgumentError(
                f"{function}: this capsule has been used, and can be once; make another with "
                "to_dlpack, or pass the array itself"
            )
        x = _Capsule(x)
    elif not hasattr(x, "__dlpack__"):
        raise NotATensorError(
            f"{function}: {type(x).__name__} does not support DLPack; use paddle.to_tensor"
        )
    if copy is not None:
        require_bools(function, copy=copy)
    kwargs: dict[str, Any] = {} if copy is None or isinstance(x, _Capsule) else {"copy": copy}
    shown = _Shown(x)
    try:
        array = np.from_dlpack(shown, **kwargs)
    except (RuntimeError, BufferError, TypeError, ValueError) as error:
        raise ExportError(f"{function}: {error}") from error
    if shown.bits:
        array = array.view(bfloat16())
    try:
        as_dtype(array.dtype)
    except DTypeError as error:
        raise DTypeError(f"{function}: {error}") from None
    if isinstance(x, _Capsule) and copy:
        array = np.array(array)
    tensor = Tensor._wrap(array)
    if copy:
        tensor._data = np.array(array) if array.base is None else array
        return tensor
    share(tensor, array)
    return tensor
