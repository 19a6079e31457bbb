"""Data by index, and data as a stream."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NoReturn

import numpy as np

from autograd_engine.core.described import Described
from autograd_engine.core.names.constructors import Given, Respelled
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    NoLengthError,
    NotATensorError,
    ShapeError,
)

__all__ = [
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
]


class Dataset(Respelled, Described):
    """Samples by index: a subclass defines ``__getitem__`` and ``__len__``.

    A sample is an array, a Tensor, a number, a string, or a tuple, list or dict of such.

    Raises
    ------
    NotImplementedError
        When a method is called that the subclass does not define.

    Examples
    --------
    >>> import numpy as np
    >>> from autograd_engine.io import DataLoader, Dataset
    >>> class Squares(Dataset):
    ...     def __getitem__(self, index):
    ...         return np.float32(index), np.float32(index**2)
    ...
    ...     def __len__(self):
    ...         return 4
    >>> for x, y in DataLoader(Squares(), batch_size=2):
    ...     print(x.tolist(), y.tolist())
    [0.0, 1.0] [0.0, 1.0]
    [2.0, 3.0] [4.0, 9.0]
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no __getitem__: define `def __getitem__(self, index)`, "
            "which returns the sample of that index"
        )

    def __len__(self) -> int:
        raise NotImplementedError(
            f"{type(self).__name__} has no __len__: define `def __len__(self)`, which returns how "
            "many samples there are"
        )


class IterableDataset(Dataset):
    """Samples as a stream: a subclass defines ``__iter__``.

    With worker processes each of them iterates over a copy of the dataset, which would give every
    sample once per worker: `get_worker_info` says which share is to be given.

    Raises
    ------
    NotImplementedError
        When the subclass does not define ``__iter__``.
    NoLengthError
        When it is indexed, or asked for its length.

    Examples
    --------
    >>> from autograd_engine.io import DataLoader, IterableDataset, get_worker_info
    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         worker = get_worker_info()  # None in the process of the program
    ...         first, step = (worker.id, worker.num_workers) if worker else (0, 1)
    ...         return iter(range(first, 6, step))
    >>> [batch.tolist() for batch in DataLoader(Count(), batch_size=4)]
    [[0, 1, 2, 3], [4, 5]]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(
            f"{type(self).__name__} has no __iter__: define `def __iter__(self)`, which yields "
            "the samples"
        )

    def __getitem__(self, index: Any) -> NoReturn:
        raise NoLengthError(
            f"{type(self).__name__} is an IterableDataset, which has no index: iterate over it, or "
            "derive it from Dataset"
        )

    def __len__(self) -> int:
        raise NoLengthError(
            f"{type(self).__name__} is an IterableDataset, which does not tell its length; define "
            "__len__ if it is known"
        )


def length_of(data: Any, function: str) -> int:
    """How many samples `data` has."""
    try:
        return len(data)
    except TypeError:
        raise ArgumentError(
            f"{function}: {type(data).__name__} has no length; a dataset defines __len__ and "
            "__getitem__"
        ) from None


class TensorDataset(Dataset):
    """The rows of tensors: sample `i` is the tuple of row `i` of each.

    Parameters
    ----------
    tensors : sequence of Tensor or ndarray
        All of one length.

    Raises
    ------
    ArgumentError, NotATensorError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> data = paddle.io.TensorDataset([paddle.ones([3, 2]), paddle.arange(3)])
    >>> len(data), [row.tolist() for row in data[2]]
    (3, [[1.0, 1.0], 2])
    """

    @staticmethod
    def _reorder(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        return ((args,) if len(args) > 1 else args), kwargs

    def __init__(self, tensors: Sequence[Any]) -> None:
        if not isinstance(tensors, (list, tuple)) or not tensors:
            raise ArgumentError(
                "TensorDataset takes a list of tensors, got "
                + ("an empty one" if tensors == [] or tensors == () else type(tensors).__name__)
                + ": TensorDataset([x, y])"
            )
        for tensor in tensors:
            if not isinstance(tensor, (Tensor, np.ndarray)):
                raise NotATensorError(
                    f"TensorDataset takes tensors, got {type(tensor).__name__}: use "
                    "paddle.to_tensor"
                )
        shapes = [list(tensor.shape) for tensor in tensors]
        if not all(shapes) or len({shape[0] for shape in shapes}) > 1:
            raise ShapeError(
                "TensorDataset: all tensors must have as many rows, got shapes "
                + ", ".join(map(str, shapes))
            )
        self.tensors = list(tensors)

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


def _datasets(name: str, datasets: Any, streams: bool) -> list[Any]:
    """`datasets` as a list, all of them streams, or none."""
    if isinstance(datasets, Dataset) or not isinstance(datasets, Iterable):
        raise ArgumentError(
            f"{name} takes a list of datasets, got {type(datasets).__name__}: {name}([a, b])"
        )
    given = list(datasets)
    if not given:
        raise ArgumentError(f"{name} takes one dataset at least, got an empty list")
    for dataset in given:
        if isinstance(dataset, IterableDataset) != streams:
            kind = "an IterableDataset" if streams else "a dataset with an index"
            raise ArgumentError(
                f"{name}: each dataset must be {kind}, got {type(dataset).__name__}; "
                f"use {'ConcatDataset' if streams else 'ChainDataset'}"
            )
    return given


class ComposeDataset(Dataset):
    """Datasets side by side: sample `i` has the fields of sample `i` of each.

    Parameters
    ----------
    datasets : list of Dataset
        All of one length.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> from autograd_engine.io import ComposeDataset
    >>> ComposeDataset([[("a", 1), ("b", 2)], ["x", "y"]])[1]
    ('b', 2, 'y')
    """

    def __init__(self, datasets: list[Any]) -> None:
        self.datasets = _datasets("ComposeDataset", datasets, streams=False)
        lengths = [length_of(dataset, "ComposeDataset") for dataset in self.datasets]
        if len(set(lengths)) > 1:
            raise ArgumentError(
                f"ComposeDataset: all datasets must have one length, got {lengths}; "
                "ConcatDataset puts them one after the other"
            )

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[index]
            fields.extend(sample if isinstance(sample, (list, tuple)) else (sample,))
        return tuple(fields)

    def __len__(self) -> int:
        return len(self.datasets[0])


class ConcatDataset(Dataset):
    """Datasets one after the other.

    Parameters
    ----------
    datasets : iterable of Dataset

    Attributes
    ----------
    cumulative_sizes : list of int
        Where each of them ends.

    Raises
    ------
    ArgumentError
    IndexError
        When there is no sample of that index.

    Examples
    --------
    >>> from autograd_engine.io import ConcatDataset
    >>> both = ConcatDataset([range(3), range(10, 12)])
    >>> len(both), both[3], both[-2], both[2]
    (5, 10, 10, 2)
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = _datasets("ConcatDataset", datasets, streams=False)
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Sequence[Any]) -> list[int]:
        """Where each dataset ends when they are put one after the other."""
        return list(accumulate(length_of(dataset, "ConcatDataset") for dataset in sequence))

    def __getitem__(self, index: Any) -> Any:
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"ConcatDataset: index {index} is out of range for {size} samples")
        if index < 0:
            index += size
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset):
    """Streams one after the other.

    Parameters
    ----------
    datasets : list of IterableDataset

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> from autograd_engine.io import ChainDataset, IterableDataset
    >>> class Letters(IterableDataset):
    ...     def __init__(self, text):
    ...         self.text = text
    ...
    ...     def __iter__(self):
    ...         return iter(self.text)
    >>> list(ChainDataset([Letters("ab"), Letters("c")]))
    ['a', 'b', 'c']
    """

    def __init__(self, datasets: list[Any]) -> None:
        self.datasets = _datasets("ChainDataset", datasets, streams=True)

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from dataset


class Subset(Dataset):
    """Those samples of a dataset whose indices are given.

    Parameters
    ----------
    dataset : Dataset
    indices : sequence of int

    Raises
    ------
    ArgumentError
    IndexError
        When there is no sample of that index.

    Examples
    --------
    >>> from autograd_engine.io import Subset
    >>> evens = Subset("abcdef", [0, 2, 4])
    >>> len(evens), evens[1]
    (3, 'c')
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__"):
            raise ArgumentError(
                f"Subset: {type(dataset).__name__} has no index; it takes a dataset that defines "
                "__getitem__"
            )
        if not hasattr(indices, "__getitem__") or not hasattr(indices, "__len__"):
            raise ArgumentError(
                f"Subset: indices must be a sequence of ints, got {type(indices).__name__}"
            )
        self.dataset = dataset
        self.indices = indices

    def place(self, index: Any) -> Any:
        """The index in the whole dataset."""
        try:
            return self.indices[index]
        except IndexError:
            raise IndexError(
                f"Subset: index {index} is out of range for {len(self)} samples"
            ) from None

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[self.place(index)]

    def __len__(self) -> int:
        return len(self.indices)
