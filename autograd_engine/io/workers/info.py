"""What code that runs in a worker process can ask about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["WorkerInfo", "get_worker_info"]


@dataclass(frozen=True)
class WorkerInfo:
    """A worker process of a DataLoader.

    Attributes
    ----------
    id : int
        From 0.
    num_workers : int
        How many there are.
    seed : int
        What paddle's, Python's and NumPy's generators have been seeded with in this epoch.
    dataset : Dataset
        The copy that this process has.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


class _Here:
    info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Which worker process of a DataLoader this is.

    Returns
    -------
    WorkerInfo or None
        None in a process that is none.

    Examples
    --------
    >>> from autograd_engine.io import get_worker_info
    >>> print(get_worker_info())
    None
    """
    return _Here.info


def set_worker_info(info: WorkerInfo) -> None:
    """Note which worker process this is."""
    _Here.info = info
