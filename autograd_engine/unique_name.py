"""Names that are used once: counters by key, which a guard starts afresh."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator

__all__ = ["generate", "guard", "switch"]


class Generator:
    """Counters by key; every name starts with `prefix`."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counters: defaultdict[str, int] = defaultdict(int)

    def __call__(self, key: str) -> str:
        number = self.counters[key]
        self.counters[key] += 1
        return f"{self.prefix}{key}_{number}"


_generator = Generator()


def generate(key: str) -> str:
    """A name made of `key` and a number that counts its uses.

    Examples
    --------
    >>> with guard():
    ...     generate("fc"), generate("fc"), generate("mean")
    ('fc_0', 'fc_1', 'mean_0')
    """
    return _generator(key)


def switch(new_generator: Generator | None = None) -> Generator:
    """Put other counters in use (fresh ones by default); returns those that were."""
    global _generator
    old, _generator = _generator, new_generator or Generator()
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
