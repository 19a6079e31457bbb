"""Names that are used once: counters by key, which a guard starts afresh."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

__all__ = ["generate", "guard", "switch"]


def __dir__() -> list[str]:
    return __all__


class Generator:
    """Counters by key; every name starts with `prefix`."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self._counters: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)

    def __call__(self, key: str) -> str:
        # One step, so that two threads get two names.
        return f"{self.prefix}{key}_{next(self._counters[key])}"


class _Current(threading.local):
    # One for all threads, until one of them puts another in use for itself.
    generator = Generator()


_current: Final = _Current()


def generate(key: str) -> str:
    """A name made of `key` and a number that counts its uses.

    Examples
    --------
    >>> with guard():
    ...     generate("fc"), generate("fc"), generate("mean")
    ('fc_0', 'fc_1', 'mean_0')
    """
    return _current.generator(key)


def switch(new_generator: Generator | None = None) -> Generator:
    """Put other counters in use in this thread (fresh ones by default); returns those that were."""
    old, _current.generator = _current.generator, new_generator or Generator()
    return old


@contextlib.contextmanager
def guard(new_generator: str | Generator | None = None) -> Iterator[None]:
    """Fresh counters inside a ``with`` block; a string becomes a prefix of every name.

    Examples
    --------
    >>> with guard("left_"):
    ...     generate("fc")
    'left_fc_0'
    """
    if isinstance(new_generator, str):
        new_generator = Generator(new_generator)
    old = switch(new_generator)
    try:
        yield
    finally:
        switch(old)
