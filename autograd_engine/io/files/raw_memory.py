"""Tensors of bytes that lie in a file or in memory, as other libraries read them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from autograd_engine.core.checks import int_at_least, is_int
from autograd_engine.core.dtypes import DTypeLike, to_numpy
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError

__all__ = ["MmapStorage", "frombuffer"]


class MmapStorage:
    """The bytes of a file, of which tensors are read when they are asked for.

    Parameters
    ----------
    filename : str or path
    nbytes : int
        How many bytes of the file it has.

    Raises
    ------
    ArgumentError
        For a file that is smaller.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, autograd_engine as paddle
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers")
    >>> np.arange(4.0).tofile(path)
    >>> paddle.MmapStorage(path, 32).get_slice("float64", 1, 3).tolist()
    [1.0, 2.0]
    """

    def __init__(self, filename: str | os.PathLike[str], nbytes: int) -> None:
        size = os.path.getsize(filename)
        if int_at_least("MmapStorage", "nbytes", nbytes, 0) > size:
            raise ArgumentError(f"MmapStorage: {filename} has {size} bytes, and nbytes is {nbytes}")
        self._bytes: Any = (
            np.memmap(filename, np.uint8, "r", shape=(nbytes,)) if nbytes else np.zeros(0, np.uint8)
        )

    def get_slice(
        self, dtype: DTypeLike = "uint8", start: int = 0, stop: int = -1, step: int = 1
    ) -> Tensor:
        """Elements `start` to `stop`, which are of `dtype`, as a tensor of its own memory.

        Parameters
        ----------
        dtype : dtype
        start, stop, step : int
            In elements; -1 for the end of what there is.
        """
        kind = to_numpy(dtype)
        count = len(self._bytes) // kind.itemsize
        stop = count if is_int(stop) and stop == -1 else stop
        if not (is_int(start) and is_int(stop) and 0 <= start <= stop <= count):
            raise ArgumentError(
                f"get_slice: start and stop must lie within {count} elements of {kind.name}, got "
                f"{start!r} and {stop!r}"
            )
        step = int_at_least("get_slice", "step", step, 1)
        held = self._bytes[: count * kind.itemsize].view(kind)
        return Tensor(np.array(held[start:stop:step]))


def frombuffer(buffer: Any, dtype: DTypeLike, count: int = -1, offset: int = 0) -> Tensor:
    """A tensor of what lies in a buffer, with memory of its own.

    Parameters
    ----------
    buffer : bytes, bytearray or other buffer
    dtype : dtype
    count : int
        Elements; -1 for all.
    offset : int
        Bytes that are left out first.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.base.core.frombuffer(bytes([1, 0, 2, 0]), "int16").tolist()
    [1, 2]
    """
    return Tensor(np.array(np.frombuffer(buffer, to_numpy(dtype), count, offset)))
