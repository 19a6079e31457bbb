"""A dataset cut into parts at random."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import numpy as np

from autograd_engine.errors import ArgumentError
from autograd_engine.io.datasets import Subset, length_of
from autograd_engine.io.drawing import stream

__all__ = ["random_split"]


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
