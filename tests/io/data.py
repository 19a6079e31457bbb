"""Datasets at the top of a module, which any process can import."""

import faulthandler
import os
import random
import signal
import time
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.io import Dataset, IterableDataset, get_worker_info


class Rows(Dataset):
    """Sample i: an array full of i, and i."""

    def __init__(self, size: int = 12) -> None:
        self.size = size

    def __getitem__(self, index: int) -> Any:
        return np.full((2, 3), index, "float32"), index

    def __len__(self) -> int:
        return self.size


class Slow(Rows):
    """One worker takes much longer than the other."""

    def __getitem__(self, index: int) -> Any:
        worker = get_worker_info()
        if worker is not None and worker.id == 0:
            time.sleep(0.02)
        return super().__getitem__(index)


class Drawn(Rows):
    """What the three generators of the process draw, and its number."""

    def __getitem__(self, index: int) -> Any:
        worker = get_worker_info()
        return (
            paddle.rand([1]).numpy()[0],
            random.random(),
            np.random.rand(),
            -1 if worker is None else worker.id,
        )


class Failing(Rows):
    """Raises `error` at the fifth sample."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def __getitem__(self, index: int) -> Any:
        if index == 5:
            raise self.error
        return super().__getitem__(index)


class Killed(Rows):
    """The process ends at the fifth sample."""

    def __init__(self, how: Any) -> None:
        super().__init__()
        self.how = how

    def __getitem__(self, index: int) -> Any:
        if index == 5:
            faulthandler.disable()  # what pytest would print of it
            if isinstance(self.how, signal.Signals):
                os.kill(os.getpid(), self.how)
                time.sleep(60)
            os._exit(self.how)
        return super().__getitem__(index)


class Hanging(Rows):
    def __getitem__(self, index: int) -> Any:
        if index == 5:
            time.sleep(60)
        return super().__getitem__(index)


class Stream(IterableDataset):
    """0 to size - 1, shared out between workers."""

    def __init__(self, size: int = 10) -> None:
        self.size = size

    def __iter__(self) -> Any:
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        return iter(range(first, self.size, step))


class Attributes(Exception):
    """Keeps more than its text."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text, code)
        self.code = code


class Textless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("the exception cannot be shown")


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__("cannot travel")
        self.function = lambda: None
