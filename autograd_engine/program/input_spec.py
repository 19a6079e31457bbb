"""What an argument of a traced function looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import require_possible, require_type
from autograd_engine.core.dtypes import (
    DType,
    DTypeLike,
    as_dtype,
    to_numpy,
)
from autograd_engine.core.names.constructors import respelled
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, NotATensorError
from autograd_engine.program.ir.program import Variable

__all__ = ["InputSpec"]


@respelled
class InputSpec:
    """Shape and dtype of an argument, sizes that differ from call to call left open.

    Parameters
    ----------
    shape : sequence of int
        None or -1 for a size that is not known.
    dtype : dtype
    name : str, optional
        Of the variable in the program; by default that of the argument.
    stop_gradient : bool
        Of the variable, in a program that is made without a call. A call brings its own.

    Raises
    ------
    TypeError, ArgumentError

    Examples
    --------
    >>> InputSpec([None, 4], "float32", "x")
    InputSpec(shape=(-1, 4), dtype=float32, name=x, stop_gradient=False)
    """

    __slots__ = ("_dtype", "name", "shape", "stop_gradient")

    shape: tuple[int, ...]

    def __init__(
        self,
        shape: Sequence[int | None],
        dtype: DTypeLike = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ) -> None:
        if not isinstance(shape, (list, tuple)):
            raise ArgumentTypeError(
                f"InputSpec: shape must be a list of sizes, got {type(shape).__name__}: write "
                f"InputSpec([{shape!r}])"
            )
        self.shape = tuple(_size(shape, d) for d in shape)
        require_possible("InputSpec", self.shape)
        self._dtype = to_numpy(dtype)
        require_type(name, str | None, "InputSpec: name must be a str or None")
        self.name = name
        if not isinstance(stop_gradient, bool):
            raise ArgumentTypeError(
                f"InputSpec: stop_gradient must be a bool, got {stop_gradient!r}"
            )
        self.stop_gradient = stop_gradient

    @property
    def dtype(self) -> DType:
        return as_dtype(self._dtype)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype as NumPy's."""
        return self._dtype

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> InputSpec:
        """The spec of a Tensor or a Variable, with all of its sizes.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> InputSpec.from_tensor(paddle.ones([2, 3]), name="x")
        InputSpec(shape=(2, 3), dtype=float32, name=x, stop_gradient=True)
        """
        if not isinstance(tensor, (Tensor, Variable)):
            raise NotATensorError(
                f"InputSpec.from_tensor takes a Tensor, got {type(tensor).__name__}; for an "
                "ndarray there is InputSpec.from_numpy"
            )
        return cls(tuple(tensor.shape), tensor.dtype, name or tensor.name, tensor.stop_gradient)

    @classmethod
    def from_numpy(cls, ndarray: Any, name: str | None = None) -> InputSpec:
        """The spec of an ndarray, with all of its sizes.

        Examples
        --------
        >>> InputSpec.from_numpy(np.ones([2, 3]))
        InputSpec(shape=(2, 3), dtype=float64, name=None, stop_gradient=False)
        """
        if not isinstance(ndarray, (np.ndarray, np.generic)):
            raise ArgumentTypeError(
                f"InputSpec.from_numpy takes an ndarray, got {type(ndarray).__name__}; for a "
                "Tensor there is InputSpec.from_tensor"
            )
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: int | None) -> InputSpec:
        """Put a size in front, in place; returns the spec.

        Examples
        --------
        >>> InputSpec([4], "float32").batch(None).shape
        (-1, 4)
        """
        if isinstance(batch_size, (list, tuple)):
            if len(batch_size) != 1:
                raise ArgumentError(f"InputSpec.batch: batch_size is one size, got {batch_size}")
            batch_size = batch_size[0]
        self.shape = (_size([batch_size], batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Drop the size in front, in place; returns the spec.

        Examples
        --------
        >>> InputSpec([None, 4], "float32").unbatch().shape
        (4,)
        """
        if not self.shape:
            raise ArgumentError("InputSpec.unbatch: the shape is [], and has no size to drop")
        self.shape = self.shape[1:]
        return self

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self._dtype, self.name, self.stop_gradient

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"InputSpec(shape={self.shape}, dtype={self._dtype.name}, name={self.name}, "
            f"stop_gradient={self.stop_gradient})"
        )


def _size(shape: Sequence[Any], d: Any) -> int:
    if d is None or (isinstance(d, (int, np.integer)) and not isinstance(d, bool) and d == -1):
        return -1
    if isinstance(d, (int, np.integer)) and not isinstance(d, bool) and d >= 0:
        return int(d)
    raise ArgumentError(
        f"InputSpec: shape {list(shape)} must hold sizes, and None or -1 for unknown ones"
    )
