"""What Python and other libraries ask of an array: its values, copies of it, its rows.

The methods are here, what they do beyond a few lines is in `interop.numpy_protocol`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.dtypes import EXACT, FLOATS, HALVES, bfloat16
from autograd_engine.core.spec import Array, normalize_axis
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.graph_cuts import note_cut
from autograd_engine.errors import ArgumentError, ShapeError

if TYPE_CHECKING:
    from autograd_engine.eager.declared import TensorMethods
    from autograd_engine.eager.tensor import Tensor
else:  # what is bound to Tensor is declared in a stub
    from autograd_engine.core.operand import Operand as TensorMethods

__all__ = ["Values"]


def read_only(array: Array) -> Array:
    """A view that cannot be made writeable: NumPy asks its base, a buffer that is read-only."""
    if array.dtype in HALVES and bfloat16.loaded((array,)):  # which no buffer holds
        return read_only(array.view(np.uint16)).view(array.dtype)
    return np.asarray(memoryview(array).toreadonly())  # type: ignore[arg-type]


class Values(TensorMethods):
    """The part of `Tensor` that hands out values."""

    __slots__ = ()

    _copied: ClassVar[Any] = None  # the class of copies, where it is another one

    if TYPE_CHECKING:
        _data: Array
        _stop: bool

        @property
        def ndim(self) -> int: ...

    # --- as an ndarray

    def numpy(self) -> Array:
        """The values as a read-only view: a copy is one ``.copy()`` away.

        Read-only, because a graph may need these values unchanged; its ``flags.writeable`` cannot
        be set.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> values = paddle.to_tensor([1.0, 2.0]).numpy()
        >>> values.flags.writeable
        False
        """
        view = read_only(self._data)
        if not self._stop:
            note_cut("numpy()", self, view)
        return view

    def to_numpy(self) -> Array:
        """`numpy` under the name that data frames have and plotting libraries look for."""
        return self.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        values = self.numpy()
        if not self._stop and grad_mode.enabled:
            values = above.array_wanted(self, values, sys._getframe(1))
        if dtype is not None and np.dtype(dtype) != values.dtype:
            if copy is False:
                raise ValueError(
                    f"the values are {values.dtype.name}, and as {np.dtype(dtype).name} they must "
                    "be copied; leave copy=False away"
                )
            return values.astype(dtype)
        return values.copy() if copy else values

    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        setattr(Values, "__array_ufunc__", above.array_ufunc)  # noqa: B010 - the next call goes there
        return above.array_ufunc(self, ufunc, method, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        setattr(Values, "__array_function__", above.array_function)  # noqa: B010 - as above
        return above.array_function(self, function, types, args, kwargs)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        return above.of_version(api_version)

    @property
    def device(self) -> str:
        """Where the values are: always ``"cpu"``."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        """The tensor itself, which is on the only device there is."""
        if str(device).lower() not in ("cpu", "place(cpu)") or stream is not None:
            raise ArgumentError(f"to_device: {device!r} is not there; every tensor is on 'cpu'")
        return self

    @property
    def mT(self) -> Tensor:  # noqa: N802 - the standard's name
        """The last two axes exchanged."""
        transposed: Tensor = self.matrix_transpose()
        return transposed

    # --- its memory

    def value(self) -> Self:
        """The tensor itself: what a tensor holds is not another object here."""
        return self

    @property
    def strides(self) -> list[int]:
        """How many elements apart in memory neighbours along each axis are.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> paddle.zeros([2, 3]).strides
        [3, 1]
        """
        data = self._data
        return [step // data.itemsize for step in data.strides]

    def get_strides(self) -> list[int]:
        """`strides` as a method."""
        return self.strides

    def stride(self, dim: int | None = None) -> list[int] | int:
        """`strides`, or that of one axis."""
        steps = self.strides
        return steps if dim is None else steps[normalize_axis("stride", dim, len(steps))]

    def data_ptr(self) -> int:
        """The address of the first element, for reading: what is written there goes unnoticed."""
        return int(self._data.ctypes.data)

    # --- shared with other libraries

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return above.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU

    # --- as Python numbers

    def item(self, *args: int) -> float:
        """The one element (or that at the given position) as a Python scalar."""
        data = self._data
        if not args and data.size != 1:
            raise ShapeError(
                f"item() takes a tensor with one element; this one has shape {list(data.shape)}: "
                "give a position, or reduce it first"
            )
        number: float = data.item(*args)
        return number

    def _number(self) -> Any:
        data = self._data
        if data.size != 1 or (data.dtype in FLOATS and not self._stop and grad_mode.enabled):
            return self
        return self.item()

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers; of no dimension, the number."""
        return self._data.tolist()

    def __bool__(self) -> bool:
        data = self._data
        if data.size != 1:
            raise ArgumentError(
                f"the truth of a tensor with shape {list(data.shape)} is ambiguous; "
                "use .any() or .all()"
            )
        return bool(data.item())

    def __float__(self) -> float:
        if not self._stop and grad_mode.enabled:
            above.number_wanted(sys._getframe(1))
        return float(self._real("float"))

    def __int__(self) -> int:
        return int(self._real("int"))

    def __trunc__(self) -> int:
        whole: int = math.trunc(self._real("trunc"))
        return whole

    def _real(self, call: str) -> Any:
        value = self.item()
        if isinstance(value, complex):
            raise TypeError(
                f"{call}() of a complex tensor: use complex(x), or take x.real() or x.abs() first"
            )
        return value

    def __complex__(self) -> complex:
        if not self._stop and grad_mode.enabled:
            above.number_wanted(sys._getframe(1))
        return complex(self.item())

    def __index__(self) -> int:
        kind = self._data.dtype
        if kind not in EXACT:
            raise TypeError(f"a {kind.name} tensor cannot be an index; use .astype('int64')")
        return int(self.item())

    def __round__(self, ndigits: int | None = None) -> Any:
        return above.round(self, ndigits or 0)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __format__(self, spec: str) -> str:
        """Of one element as of a number; of several as a list in which each is formatted."""
        if not self.ndim:
            return format(self.item(), spec)
        if not spec:
            return str(self)
        return np.array2string(
            self.numpy(), separator=", ", formatter={"all": lambda value: format(value, spec)}
        )

    # --- as a collection

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor: it has no axis")
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        found: Iterator[Tensor] = above.rows(self, 1)
        return found

    def __reversed__(self) -> Iterator[Tensor]:
        found: Iterator[Tensor] = above.rows(self, -1)
        return found

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    # --- copies

    def __copy__(self) -> Tensor:
        copied: Tensor = above.shallow(self)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        copied: Tensor = above.deep(self, memo)
        return copied

    def __reduce__(self) -> Any:
        return above.reduced(self)
