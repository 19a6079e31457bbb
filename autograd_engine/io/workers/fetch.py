"""From a task to a batch: the same in the process of the program and in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import SIGNED
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.io.collate import default_collate_fn
from autograd_engine.io.datasets import IterableDataset, Subset, TensorDataset

__all__ = ["NO_MORE", "fetcher"]

NO_MORE: Final = object()  # the stream has no more
Fetch = Callable[[Any], Any]


def fetcher(dataset: Any, collate: Callable[[Any], Any], batch_size: Any, drop_last: bool) -> Fetch:
    """A function from a task to its batch, for one pass over the data.

    The task of data by index is a list of indices, or one index without `batch_size`; that of a
    stream says nothing, and there is NO_MORE where no batch is left.
    """
    if isinstance(dataset, IterableDataset):
        return _from_stream(iter(dataset), collate, batch_size, drop_last)
    if batch_size is None:
        return lambda index: collate(dataset[index])
    if collate is default_collate_fn:
        rows = _rows(dataset)
        if rows is not None:
            return rows

    def fetch(indices: Iterable[Any]) -> Any:
        return collate([dataset[index] for index in _several(indices)])

    return fetch


def _several(indices: Any) -> Iterable[Any]:
    if isinstance(indices, Iterable):
        return indices
    raise ArgumentError(
        f"DataLoader: the batch_sampler must give lists of indices, got {indices!r:.60}: put a "
        "sampler of indices in BatchSampler(sampler=..., batch_size=...)"
    )


def _from_stream(
    samples: Iterator[Any], collate: Callable[[Any], Any], batch_size: Any, drop_last: bool
) -> Fetch:
    def sample(_: Any) -> Any:
        found = next(samples, NO_MORE)
        return NO_MORE if found is NO_MORE else collate(found)

    def batch(_: Any) -> Any:
        found = list(islice(samples, batch_size))
        if not found or (drop_last and len(found) < batch_size):
            return NO_MORE
        return collate(found)

    return sample if batch_size is None else batch


def _rows(dataset: Any) -> Fetch | None:
    """Of tensors all rows of a batch at once, which has the bits of stacked rows.

    None for other data, and where a gradient flows through the rows.
    """
    if type(dataset) is Subset:
        whole = _rows(dataset.dataset)
        return whole and (
            lambda indices: whole([dataset.place(index) for index in _several(indices)])
        )
    if type(dataset) is not TensorDataset or not all(map(_plain, dataset.tensors)):
        return None

    def fetch(indices: Iterable[Any]) -> Any:
        wanted = list(_several(indices))
        rows = np.asarray(wanted)
        size = len(dataset)
        whole = rows.ndim == 1 and rows.dtype in SIGNED
        if whole and bool(((-size <= rows) & (rows < size)).all()):
            return [
                Tensor._wrap(t._data[rows]) if isinstance(t, Tensor) else t[rows]
                for t in dataset.tensors
            ]
        return default_collate_fn([dataset[index] for index in wanted])

    return fetch


def _plain(tensor: Any) -> bool:
    return tensor.stop_gradient if isinstance(tensor, Tensor) else type(tensor) is np.ndarray
