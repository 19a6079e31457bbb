"""Orders of indices.

Everything random in an order is drawn when the iteration begins, so that what a training step draws
in the meantime has no part in it, however far ahead the loader reads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any

import numpy as np

from autograd_engine.core.checks import in_memory, int_at_least, require_bools
from autograd_engine.core.described import Described
from autograd_engine.core.names.constructors import Respelled, respelled
from autograd_engine.core.random_generator import Generator, generator
from autograd_engine.errors import ArgumentError
from autograd_engine.io.datasets import Subset, length_of

__all__ = [
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
    "random_split",
]


@respelled
class Sampler(Respelled, Described):
    """An order of indices: a subclass defines ``__iter__``, and ``__len__`` where it is known.

    Parameters
    ----------
    data_source : Dataset, optional
        Kept as ``data_source``, for the subclass.

    Examples
    --------
    >>> from autograd_engine.io import BatchSampler, Sampler
    >>> class Backwards(Sampler):
    ...     def __iter__(self):
    ...         return iter(reversed(range(len(self.data_source))))
    ...
    ...     def __len__(self):
    ...         return len(self.data_source)
    >>> list(BatchSampler(sampler=Backwards("abcde"), batch_size=2))
    [[4, 3], [2, 1], [0]]
    """

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(
            f"{type(self).__name__} has no __iter__: define `def __iter__(self)`, which yields "
            "indices"
        )


class SequenceSampler(Sampler):
    """Every index in turn.

    Parameters
    ----------
    data_source : Dataset

    Examples
    --------
    >>> list(SequenceSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        length_of(data_source, "SequenceSampler")
        super().__init__(data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Indices in random order.

    Parameters
    ----------
    data_source : Dataset
    replacement : bool
        Whether an index may come more than once.
    num_samples : int, optional
        How many are drawn; the length of `data_source` if left out.
    generator : numpy.random.Generator, paddle.Generator or iterator of int, optional
        Drawn from; the stream of `paddle.seed` if left out. Of an iterator of ints the next
        `num_samples` are the indices themselves.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> sampler = paddle.io.RandomSampler(range(5))
    >>> sorted(sampler)
    [0, 1, 2, 3, 4]
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        size = length_of(data_source, "RandomSampler")
        require_bools("RandomSampler", replacement=replacement)
        if num_samples is not None:
            wanted = int_at_least("RandomSampler", "num_samples", num_samples)
            if not replacement and wanted > size:
                raise ArgumentError(
                    f"RandomSampler: num_samples is {wanted}, and there are {size} samples; pass "
                    "replacement=True to draw some of them more than once"
                )
        if not isinstance(generator, Iterator):
            stream("RandomSampler", generator)
        super().__init__(data_source)
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """How many indices are drawn."""
        return len(self.data_source) if self._num_samples is None else int(self._num_samples)

    def __iter__(self) -> Iterator[int]:
        if isinstance(self.generator, Iterator):
            return islice(self.generator, self.num_samples)
        draw, size = stream("RandomSampler", self.generator), len(self.data_source)
        if not size:
            return iter(())
        if self.replacement:
            count = self.num_samples
            chosen = in_memory(
                "RandomSampler: num_samples",
                [count],
                lambda: draw.integers(size, size=count).tolist(),
            )
            return iter(chosen)
        return iter(draw.permutation(size)[: self.num_samples].tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given indices in random order.

    Parameters
    ----------
    indices : sequence of int
    generator : numpy.random.Generator or paddle.Generator, optional
        Drawn from; the stream of `paddle.seed` if left out.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> sorted(paddle.io.SubsetRandomSampler([7, 3, 5]))
    [3, 5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        if not length_of(indices, "SubsetRandomSampler"):
            raise ArgumentError("SubsetRandomSampler takes one index at least, got none")
        stream("SubsetRandomSampler", generator)
        super().__init__(None)
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[Any]:
        order = stream("SubsetRandomSampler", self.generator).permutation(len(self.indices))
        return iter([self.indices[place] for place in order.tolist()])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with given weights.

    Parameters
    ----------
    weights : sequence of float, ndarray or Tensor
        ``[N]``, non-negative; they need not sum to 1.
    num_samples : int
        How many are drawn.
    replacement : bool
        Whether an index may come more than once.
    generator : numpy.random.Generator or paddle.Generator, optional
        Drawn from; the stream of `paddle.seed` if left out.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> list(paddle.io.WeightedRandomSampler([0.0, 2.0, 0.0], 4))
    [1, 1, 1, 1]
    """

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        name = "WeightedRandomSampler"
        wanted = int_at_least(name, "num_samples", num_samples)
        require_bools(name, replacement=replacement)
        stream(name, generator)
        try:
            numbers = np.array(weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(f"{name}: weights must be numbers, got {weights!r:.200}") from None
        if numbers.ndim != 1 or not numbers.size:
            raise ArgumentError(
                f"{name}: weights must be [N], one for each sample; got shape {list(numbers.shape)}"
            )
        if not np.isfinite(numbers).all() or (numbers < 0).any():
            bad = numbers[~np.isfinite(numbers) | (numbers < 0)][0]
            raise ArgumentError(f"{name}: weights must be finite and 0 at least, got {bad:g}")
        possible = np.count_nonzero(numbers)
        if not possible:
            raise ArgumentError(f"{name}: all weights are 0; one must be more")
        if not replacement and wanted > possible:
            raise ArgumentError(
                f"{name}: num_samples is {wanted}, and {possible} weights are more than 0; pass "
                "replacement=True to draw some of them more than once"
            )
        super().__init__(None)
        self.weights = numbers
        self.num_samples = wanted
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        draw = stream("WeightedRandomSampler", self.generator)
        largest = self.weights / self.weights.max()  # their sum may be more than a float holds
        size, replace = self.num_samples, self.replacement
        chosen = in_memory(
            "WeightedRandomSampler: num_samples",
            [size],
            lambda: draw.choice(largest.size, size, replace, largest / largest.sum()).tolist(),
        )
        return iter(chosen)

    def __len__(self) -> int:
        return self.num_samples


def stream(function: str, given: Any) -> np.random.Generator:
    """NumPy's generator behind what a user passed as `generator`."""
    if given is None or isinstance(given, Generator):
        return generator()
    if isinstance(given, np.random.Generator):
        return given
    raise ArgumentError(
        f"{function}: generator must be a numpy.random.Generator, got {type(given).__name__}: pass "
        "np.random.default_rng(seed), or leave it out and call paddle.seed(seed)"
    )


def random_split(dataset: Any, lengths: Iterable[float], generator: Any = None) -> list[Subset]:
    """Cut a dataset into parts that have no sample in common, at random.

    Parameters
    ----------
    dataset : Dataset
    lengths : sequence of int or of float
        How many samples each part gets; or its share, where the shares sum to 1: what is left by
        rounding down goes to the first parts whose share is not 0, one each.
    generator : numpy.random.Generator or paddle.Generator, optional
        Drawn from; the stream of `paddle.seed` if left out.

    Returns
    -------
    list of Subset

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> train, test = paddle.io.random_split(range(10), [0.8, 0.2])
    >>> len(train), len(test), sorted([*train, *test]) == list(range(10))
    (8, 2, True)
    """
    size = length_of(dataset, "random_split")
    counts = _counts(lengths, size)
    order = stream("random_split", generator).permutation(size).tolist()
    ends = accumulate(counts)
    return [
        Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)
    ]


def _counts(lengths: Any, size: int) -> list[int]:
    if isinstance(lengths, (str, dict)) or not isinstance(lengths, Iterable):
        raise ArgumentError(
            f"random_split: lengths must be a list of ints or of shares, got {lengths!r:.200}"
        )
    given = [_number(length) for length in lengths]
    total = math.fsum(given)
    shares = any(isinstance(length, float) for length in given)
    if shares and all(length <= 1 for length in given):
        if abs(total - 1) > 1e-6:
            raise ArgumentError(
                f"random_split: the shares {given} sum to {total:g}; they must sum to 1"
            )
        # A share such as 0.7 of 10 may be 6.999...
        counts = [math.floor(size * share + 1e-6) for share in given]
        parts = [part for part, share in enumerate(given) if share]
        for left in range(size - sum(counts)):
            counts[parts[left % len(parts)]] += 1
        return counts
    if shares or total != size:
        raise ArgumentError(
            f"random_split: the lengths {given} sum to {total:g}; they must be ints that sum to "
            f"the length of the dataset, {size}, or shares that sum to 1"
        )
    return [int(length) for length in given]


def _number(length: Any) -> int | float:
    fits = isinstance(length, (int, float, np.integer, np.floating))
    if isinstance(length, bool) or not fits or not length >= 0 or math.isinf(length):
        raise ArgumentError(
            f"random_split: lengths must be non-negative ints, or shares; got {length!r}"
        )
    return int(length) if isinstance(length, (int, np.integer)) else float(length)
