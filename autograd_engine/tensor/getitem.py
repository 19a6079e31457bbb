"""Reading at a key, ``x[1:, [0, 2], mask]``, which is taken apart for the operations."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from autograd_engine.core.checks import as_int, as_number, is_int
from autograd_engine.core.dtypes import BOOLS, EXACT, FLOATS, INTEGERS
from autograd_engine.core.spec import Spec
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentTypeError, DTypeError, IndexRangeError
from autograd_engine.ops.getitem import parts_of
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import spec_of

__all__ = ["along", "array_spec", "getitem", "rows_of", "split_key"]


# --- x[key]


def getitem(x: Any, key: Any) -> Any:
    """``x[key]`` as NumPy has it: ints, slices, None, ..., integer arrays, bool masks.

    Arrays may be Tensors, Variables, ndarrays or lists, and broadcast; negative positions count
    from the back. In a program the number of elements that a mask takes is an unknown size.

    Raises
    ------
    IndexError
        For a position out of range, too many of them, or a mask of another shape.
    TypeError
        For a key of another kind, or an array of floats.
    """
    kind = type(key)
    if kind is int or kind is builtins.slice:
        return ops.getitem(x, key=(key if kind is int else _plain_slice(key),))
    plain, arrays = split_key(key)
    if not arrays:
        return ops.getitem(x, key=plain)
    if x.__class__ is Tensor:  # on Tensors alone operations take a shorter way
        arrays = [Tensor._wrap(a.copy()) if isinstance(a, np.ndarray) else a for a in arrays]
    axis = rows_of(spec_of(x), plain, arrays)
    if axis is not None:
        return ops.gather(x, arrays[0], axis=axis, wraps=True)
    return ops.index(x, *arrays, key=plain)


_WHOLE = builtins.slice(None)


_TAKES = "a tensor is indexed by ints, slices, None, ..., integer arrays and bool masks"


def split_key(key: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """`key` with ``"index"`` or ``"mask"`` in the place of each array, and the arrays.

    These are Tensors, Variables or ndarrays; operations take each of them.

    Raises
    ------
    IndexError
        For a second Ellipsis, or a slice whose step is 0.
    TypeError
        For an entry that is no index, DTypeError for an array of floats.
    """
    if type(key) is int:
        return (key,), []
    entries = key if isinstance(key, tuple) else (key,)
    plain: list[Any] = []
    dots = 0
    arrays: list[Any] = []
    for entry in entries:
        if type(entry) is int or entry is None:
            plain.append(entry)
        elif entry is Ellipsis:
            plain.append(entry)
            dots += 1
        elif isinstance(entry, builtins.slice):
            plain.append(_plain_slice(entry))
        elif _is_int(entry):
            plain.append(as_int(entry))
        else:
            array = _array(entry)
            plain.append("mask" if array_spec(array).dtype in BOOLS else "index")
            arrays.append(array)
    if dots > 1:
        raise IndexRangeError("an index can have one ... only; write : for each further axis")
    return tuple(plain), arrays


def array_spec(array: Any) -> Spec:
    """Shape and dtype of a Tensor, a Variable or an ndarray."""
    return Spec(array.shape, array.dtype) if isinstance(array, np.ndarray) else spec_of(array)


def _is_int(entry: Any) -> bool:
    if isinstance(entry, Tensor):
        return entry._data.ndim == 0 and entry._data.dtype in INTEGERS
    if isinstance(entry, np.ndarray):
        return entry.ndim == 0 and entry.dtype in INTEGERS
    return is_int(entry)


def _array(entry: Any) -> Any:
    """An index array or a mask as an operand."""
    array: Any
    if isinstance(entry, (Tensor, Variable)):
        array = entry
    elif isinstance(entry, (bool, np.bool_, np.ndarray)):
        array = np.asarray(entry)
    elif isinstance(entry, (list, tuple)):
        array = _from_list(entry)
    else:
        raise ArgumentTypeError(
            f"{_TAKES}; got {entry!r} ({type(entry).__name__})"
            + ("; use int(...)" if np.asarray(entry).dtype in FLOATS else "")
        )
    dtype = array_spec(array).dtype
    if dtype not in EXACT:
        raise DTypeError(
            f"{_TAKES}; got an array of dtype {dtype.name}: use .astype('int64') for positions, or "
            ".astype('bool') for a mask"
        )
    return array


def _from_list(entry: Any) -> Any:
    values = np.asarray(_listed(entry))
    if values.dtype == np.object_:
        raise ArgumentTypeError(
            f"{_TAKES}; got a list of {entry!r}: use paddle.stack for a list of these"
        )
    return values.astype(np.int64) if not values.size and values.dtype in FLOATS else values


def _listed(entry: Any) -> Any:
    """Nested lists with numbers for the Tensors in them."""
    if isinstance(entry, (list, tuple)):
        return [_listed(v) for v in entry]
    if isinstance(entry, Variable):
        raise ArgumentTypeError(
            f"{_TAKES}; got a list that holds the Variable {entry.name}: use paddle.stack"
        )
    return entry.tolist() if isinstance(entry, Tensor) else entry


def _plain_slice(part: builtins.slice) -> builtins.slice:
    if (
        part.step is None
        and (part.start is None or type(part.start) is int)
        and (part.stop is None or type(part.stop) is int)
    ):
        return part

    def plain(v: Any) -> int | None:
        if v is None or type(v) is int:
            return v
        number = as_number(v)
        if is_int(number):
            return as_int(number)
        raise ArgumentTypeError(
            f"the bounds of a slice must be ints or None, got {type(v).__name__}"
        )

    step = plain(part.step)
    if step == 0:
        raise IndexRangeError(
            "the step of a slice cannot be 0; leave it out, or use -1 to go backwards"
        )
    return builtins.slice(plain(part.start), plain(part.stop), step)


def rows_of(spec: Spec, plain: tuple[Any, ...], arrays: list[Any]) -> int | None:
    """The axis that a key indexes by one integer array, if that is all it does."""
    if len(arrays) != 1 or "index" not in plain:
        return None
    if plain == ("index",) and spec.shape:
        return 0
    axis = None
    for part in parts_of(spec.shape, [array_spec(a) for a in arrays], plain):
        if part.entry == "index":
            axis = part.axis
        elif part.entry is not Ellipsis and part.entry != _WHOLE:
            return None
    return axis


def along(axis: int) -> tuple[Any, ...]:
    """The key of an index array on one axis."""
    return (*[_WHOLE] * axis, "index")
