"""Readers: functions that return the samples one by one, as ``paddle.batch`` takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from autograd_engine.core.checks import require_bools
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.program.conversion import count

__all__ = ["batch"]

T = TypeVar("T")


def batch(
    reader: Callable[[], Iterable[T]], batch_size: int, drop_last: bool = False
) -> Callable[[], Iterator[list[T]]]:
    """A reader of lists of `batch_size` samples; `paddle.io.DataLoader` does more.

    Parameters
    ----------
    reader : callable
        Returns the samples.
    batch_size : int
    drop_last : bool
        Leave out a last list that is shorter.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> reader = paddle.batch(lambda: range(5), batch_size=2)
    >>> list(reader())
    [[0, 1], [2, 3], [4]]
    """
    require_bools("batch", drop_last=drop_last)
    size = count("batch", "batch_size", batch_size)
    if not size:
        raise ArgumentError("batch: batch_size must be 1 or more, got 0")
    if not callable(reader):
        raise ArgumentTypeError(
            f"batch: reader must be a function that returns samples, got {type(reader).__name__}"
        )

    def batches() -> Iterator[list[T]]:
        samples = iter(reader())
        while samples_of_one := list(islice(samples, size)):
            if drop_last and len(samples_of_one) < size:
                return
            yield samples_of_one

    return batches
