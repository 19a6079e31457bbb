"""Orders of indices, cut into batches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import int_at_least, is_int, require_bools
from autograd_engine.core.names.constructors import Given
from autograd_engine.errors import ArgumentError, NoLengthError
from autograd_engine.io.datasets import IterableDataset, length_of
from autograd_engine.io.samplers import RandomSampler, Sampler, SequenceSampler

__all__ = ["BatchSampler", "DistributedBatchSampler"]

_MOST_REPLICAS: Final = 2**20


def batches(indices: Iterator[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Lists of `size` of them; the last one may be shorter, or is left out."""
    while batch := list(islice(indices, size)):
        if len(batch) == size or not drop_last:
            yield batch


class BatchSampler(Sampler):
    """Lists of indices, one for each batch.

    Parameters
    ----------
    dataset : Dataset, optional
        Whose indices are taken, in order or at random.
    sampler : Sampler or iterable of int, optional
        Where the indices come from; given in the place of `dataset`.
    shuffle : bool
        Whether the indices of `dataset` are taken at random.
    batch_size : int
    drop_last : bool
        Whether a last batch that is not full is left out.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> from autograd_engine.io import BatchSampler
    >>> list(BatchSampler("abcde", batch_size=2))
    [[0, 1], [2, 3], [4]]
    >>> list(BatchSampler(sampler=[4, 0, 2], batch_size=2, drop_last=True))
    [[4, 0]]
    """

    @staticmethod
    def _reorder(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        if args and isinstance(args[0], Sampler):
            names = ("sampler", "batch_size", "drop_last")
            return (), {**dict(zip(names, args, strict=False)), **kwargs}
        return args, kwargs

    def __init__(
        self,
        dataset: Any = None,
        sampler: Any = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        name = "BatchSampler"
        require_bools(name, shuffle=shuffle, drop_last=drop_last)
        if (dataset is None) == (sampler is None):
            raise ArgumentError(
                f"{name}: give either dataset= or sampler=, got "
                + ("neither" if dataset is None else "both")
            )
        if sampler is not None:
            if not isinstance(sampler, Iterable):
                raise ArgumentError(
                    f"{name}: sampler must be a Sampler or another iterable of ints, got "
                    f"{type(sampler).__name__}"
                )
            if shuffle:
                raise ArgumentError(
                    f"{name}: shuffle=True goes with dataset=; the order is that of the sampler, "
                    "such as RandomSampler(dataset)"
                )
        elif isinstance(dataset, IterableDataset):
            raise ArgumentError(
                f"{name}: {type(dataset).__name__} is an IterableDataset, which has no index; pass "
                "batch_size to DataLoader"
            )
        super().__init__(dataset)
        self.batch_size = int_at_least(name, "batch_size", batch_size)
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.sampler: Any = sampler
        if sampler is None:
            self.sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)

    def __iter__(self) -> Iterator[list[Any]]:
        return batches(iter(self.sampler), self.batch_size, self.drop_last)

    def __len__(self) -> int:
        try:
            samples = len(self.sampler)
        except TypeError:
            raise NoLengthError(
                f"BatchSampler: the sampler, {type(self.sampler).__name__}, does not tell its "
                "length; define __len__"
            ) from None
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)


class DistributedBatchSampler(BatchSampler):
    """The batches of one of several processes that train on the same data.

    All of them get as many samples: where they do not share out evenly, the first samples come
    twice. The samples are dealt batch by batch.

    Parameters
    ----------
    dataset : Dataset
    batch_size : int
        Of each process.
    num_replicas : int, optional
        How many processes there are; 1 if left out.
    rank : int, optional
        Which of them this is, from 0; 0 if left out.
    shuffle : bool
        Whether the order is random: the same in all processes, and another one in each epoch.
    drop_last : bool
        Whether a last batch that is not full is left out.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> from autograd_engine.io import DistributedBatchSampler
    >>> for rank in range(2):
    ...     print(list(DistributedBatchSampler(range(10), 3, num_replicas=2, rank=rank)))
    [[0, 1, 2], [6, 7]]
    [[3, 4, 5], [8, 9]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        name = "DistributedBatchSampler"
        replicas = 1 if num_replicas is None else num_replicas
        self.nranks = int_at_least(name, "num_replicas", replicas, 1, _MOST_REPLICAS)
        place = 0 if rank is None else rank
        if not is_int(place):
            raise ArgumentError(f"{name}: rank must be an int, got {rank!r}")
        if not 0 <= place < self.nranks:
            raise ArgumentError(
                f"{name}: rank must be from 0 to {self.nranks - 1}, as num_replicas is "
                f"{self.nranks}; got {rank!r}"
            )
        super().__init__(dataset, None, shuffle, batch_size, drop_last)
        self.dataset = dataset
        self.local_rank = int(place)
        self.epoch = 0

    @property
    def num_samples(self) -> int:
        """How many samples each process gets."""
        return math.ceil(length_of(self.dataset, "DistributedBatchSampler") / self.nranks)

    @property
    def total_size(self) -> int:
        """How many samples all of them get."""
        return self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        order = np.resize(np.arange(len(self.dataset)), self.total_size)
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        return batches(iter(self._share(order).tolist()), self.batch_size, self.drop_last)

    def _share(self, order: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Of rounds of one batch for each process its own; the last round is dealt evenly."""
        full = order.size // (self.batch_size * self.nranks) * self.batch_size * self.nranks
        rounds = order[:full].reshape(-1, self.nranks, self.batch_size)[:, self.local_rank]
        rest = order[full:].reshape(self.nranks, -1)[self.local_rank]
        return np.concatenate([rounds.ravel(), rest])

    def __len__(self) -> int:
        samples = self.num_samples
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the next iteration is: its number seeds the order."""
        if not is_int(epoch) or epoch < 0:
            raise ArgumentError(
                f"DistributedBatchSampler.set_epoch takes a non-negative int, got {epoch!r}"
            )
        self.epoch = int(epoch)
