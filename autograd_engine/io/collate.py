"""Samples put together to a batch, and a batch as Tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import DTYPES, holds_numbers, is_own
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError

__all__ = ["default_collate_fn", "default_convert_fn"]


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Stack the samples of a batch, field by field.

    Parameters
    ----------
    batch : list
        Samples of one structure: arrays and Tensors of one shape, numbers, strings, and lists,
        tuples and dicts of them.

    Returns
    -------
    object
        The same structure, in which arrays and numbers are an array with one axis more, Tensors a
        Tensor, strings a list of them; for tuples there are lists.

    Raises
    ------
    ShapeError
        When the shapes of the samples differ.
    ArgumentError
        When their fields differ, or `batch` is empty.
    TypeError
        When a sample is something else, such as None.

    Examples
    --------
    >>> from autograd_engine.io import default_collate_fn
    >>> default_collate_fn([(1, {"name": "a"}), (2, {"name": "b"})])
    [array([1, 2]), {'name': ['a', 'b']}]
    """
    if not isinstance(batch, Sequence) or not batch:
        raise ArgumentError(
            "default_collate_fn takes a list of one sample at least, got "
            + ("none" if isinstance(batch, Sequence) else type(batch).__name__)
        )
    try:
        return _collated(batch, "")
    except RecursionError:
        raise ArgumentError(
            "default_collate_fn: a sample is nested too deep: no more than some hundred lists, "
            "tuples or dicts may lie in each other"
        ) from None


def _collated(batch: Sequence[Any], path: str) -> Any:
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return _stacked(batch, path)
    if isinstance(sample, Tensor):
        return _stacked_tensors(batch, path)
    if isinstance(sample, (bool, int, float, complex, np.generic)):
        return _numbers(batch, path)
    if isinstance(sample, (str, bytes)):
        if not all(isinstance(s, (str, bytes)) for s in batch):
            raise _uneven(batch, path)
        return list(batch)
    if isinstance(sample, Mapping):
        _same_keys(batch, path)
        return {key: _collated([s[key] for s in batch], f"{path}[{key!r}]") for key in sample}
    if isinstance(sample, Sequence):
        _same_length(batch, path)
        fields = [
            _collated(field, f"{path}[{place}]")
            for place, field in enumerate(zip(*batch, strict=True))
        ]
        return _rebuilt(sample, fields)
    raise ArgumentTypeError(
        f"{_where(path)} is {_kind(sample)}, which is not stacked: a sample has arrays, Tensors, "
        "numbers, strings, and lists, tuples and dicts of them; give the DataLoader a collate_fn "
        "for anything else"
    )


def _kind(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _where(path: str) -> str:
    return "default_collate_fn: " + (f"field {path} of the samples" if path else "a sample")


def _rebuilt(sample: Any, fields: list[Any]) -> Any:
    """A list; for a named tuple one of its kind."""
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return type(sample)(*fields)
    return fields


def _stacked(batch: Sequence[Any], path: str) -> NDArray[Any]:
    shape = batch[0].shape
    if shape and all(type(s) is np.ndarray and s.shape == shape for s in batch):
        # What np.stack does, in a third of its time: it gives each array an axis of its own first.
        return np.concatenate(batch).reshape(len(batch), *shape)
    try:
        return np.stack(batch)
    except (TypeError, ValueError):
        raise _uneven(batch, path) from None


def _uneven(batch: Sequence[Any], path: str) -> Exception:
    """Why `batch` cannot be stacked."""
    for place, sample in enumerate(batch):
        if type(sample) is not type(batch[0]):
            return TypeError(
                f"{_where(path)} is {_kind(batch[0])} in sample 0 of the batch, and "
                f"{_kind(sample)} in sample {place}; all must be alike"
            )
    shapes = [list(np.shape(sample)) for sample in batch]
    other = next((n for n, shape in enumerate(shapes) if shape != shapes[0]), 0)
    return ShapeError(
        f"{_where(path)} has shape {shapes[0]} in sample 0 of the batch, and {shapes[other]} in "
        f"sample {other}: only equal shapes are stacked; pad them in the dataset, or give the "
        "DataLoader a collate_fn"
    )


def _stacked_tensors(batch: Sequence[Any], path: str) -> Tensor:
    if not all(isinstance(sample, Tensor) for sample in batch):
        raise _uneven(batch, path)
    if not all(sample.stop_gradient for sample in batch):
        from autograd_engine.tensor.joining import stack

        return stack(list(batch))
    return Tensor._wrap(_stacked([sample._data for sample in batch], path))


def _numbers(batch: Sequence[Any], path: str) -> NDArray[Any]:
    try:
        array = np.array(batch)
    except (TypeError, ValueError):
        raise _uneven(batch, path) from None
    if array.dtype == np.object_ and all(isinstance(s, int) for s in batch):
        raise ArgumentError(
            f"{_where(path)} has an integer that no 64 bits hold, such as "
            f"{max(batch, key=abs):#x}: make it a float or a string in the dataset"
        )
    if not holds_numbers(array.dtype, wide=True) and not isinstance(batch[0], np.generic):
        raise _uneven(batch, path)
    return array


def _same_keys(batch: Sequence[Any], path: str) -> None:
    keys = batch[0].keys()
    for place, sample in enumerate(batch):
        if not isinstance(sample, Mapping):
            raise _uneven(batch, path)
        if sample.keys() != keys:
            raise ArgumentError(
                f"{_where(path)} has the keys {sorted(map(str, keys))} in sample 0 of the batch, "
                f"and {sorted(map(str, sample))} in sample {place}; all must have the same"
            )


def _same_length(batch: Sequence[Any], path: str) -> None:
    for place, sample in enumerate(batch):
        if not isinstance(sample, Sequence) or isinstance(sample, (str, bytes)):
            raise _uneven(batch, path)
        if len(sample) != len(batch[0]):
            raise ArgumentError(
                f"{_where(path)} has {len(batch[0])} fields in sample 0 of the batch, and "
                f"{len(sample)} in sample {place}; all must have as many, or the DataLoader needs "
                "a collate_fn"
            )


def default_convert_fn(batch: Any) -> Any:
    """What a DataLoader with ``batch_size=None`` does with a sample: its structure is kept.

    Parameters
    ----------
    batch : object

    Returns
    -------
    object
        With lists in the place of tuples.

    Examples
    --------
    >>> from autograd_engine.io import default_convert_fn
    >>> default_convert_fn((1, {"name": "a"}))
    [1, {'name': 'a'}]
    """
    return _mapped(batch, lambda leaf: leaf)


def _mapped(value: Any, function: Any) -> Any:
    """`function` of every leaf in lists, tuples and dicts."""
    kind = type(value)
    if kind is np.ndarray or kind is Tensor:
        return function(value)
    if kind is list or kind is tuple:
        return [_mapped(v, function) for v in value]
    if isinstance(value, Mapping):
        return {key: _mapped(v, function) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return _rebuilt(value, [_mapped(v, function) for v in value])
    return function(value)


def as_tensors(batch: Any, *, owned: bool) -> Any:
    """`batch` with Tensors for arrays; `owned` says that nobody else has the arrays."""
    return _mapped(batch, _wrapped if owned else _copied)


def _wrapped(leaf: Any) -> Any:
    if type(leaf) is np.ndarray and is_own(leaf.dtype) and leaf.flags.writeable:
        return Tensor._wrap(leaf)
    return _copied(leaf)


def _copied(leaf: Any) -> Any:
    if type(leaf) is np.ndarray and is_own(leaf.dtype):
        return Tensor._wrap(leaf.copy("K"))
    if not isinstance(leaf, np.ndarray) or not holds_numbers(leaf.dtype, wide=True):
        return leaf
    try:
        return Tensor(leaf)
    except DTypeError:
        raise DTypeError(
            f"DataLoader: a batch has an array of dtype {leaf.dtype}, which no Tensor can hold: "
            "convert it in the dataset or in collate_fn, to one of " + ", ".join(DTYPES)
        ) from None


def as_arrays(batch: Any) -> Any:
    """`batch` as it travels between processes: arrays for Tensors, each in one piece.

    One that comes twice is two there, as in `as_tensors`: a program may write to each.
    """
    met: set[int] = set()

    def array(leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            leaf = leaf._data
        if type(leaf) is np.ndarray and not leaf.dtype.hasobject:
            if not leaf.flags.forc or id(leaf) in met:
                return leaf.copy()
            met.add(id(leaf))
        return leaf

    return _mapped(batch, array)
