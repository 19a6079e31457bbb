"""Names that are used once: counters by key, which a guard starts afresh."""

from __future__ import annotations

import contextlib
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from autograd_engine.core.lazy import listed
from autograd_engine.core.overrides import Setting

__all__ = ["after", "generate", "guard", "switch"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


class Generator:
    """Counters by key; every name starts with `prefix`."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self._counters: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)

    def __call__(self, key: str) -> str:
        # One step, so that two threads get two names.
        return f"{self.prefix}{key}_{next(self._counters[key])}"

    def advance(self, names: Iterable[str]) -> None:
        """Let no name that is made from here on be one of `names`."""
        last: dict[str, int] = {}
        for name in names:
            key, _, number = name.removeprefix(self.prefix).rpartition("_")
            if number.isascii() and number.isdecimal() and len(number) < 10:
                last[key] = max(last.get(key, 0), int(number))
        for key, used in last.items():
            reached = next(self._counters[key])
            self._counters[key] = itertools.count(max(reached, used + 1))


# One for all threads, until one of them puts another in use for itself.
_current: Final = Setting("autograd_engine.unique_name", Generator())


def generate(key: str) -> str:
    """A name made of `key` and a number that counts its uses.

    Examples
    --------
    >>> with guard():
    ...     generate("fc"), generate("fc"), generate("mean")
    ('fc_0', 'fc_1', 'mean_0')
    """
    return _current.get()(key)


def after(names: Iterable[str]) -> Generator:
    """Counters that make none of `names`.

    Examples
    --------
    >>> with guard(after(["x", "fc.tmp_0", "fc.tmp_7"])):
    ...     generate("fc.tmp"), generate("fc")
    ('fc.tmp_8', 'fc_0')
    """
    highest: dict[str, int] = {}
    for name in names:
        key, _, number = name.rpartition("_")
        if number.isdecimal():
            highest[key] = max(highest.get(key, -1), int(number))
    generator = Generator()
    generator._counters.update((key, itertools.count(n + 1)) for key, n in highest.items())
    return generator


def advance(names: Iterable[str]) -> None:
    """Let no name that `generate` makes from here on be one of `names`."""
    _current.get().advance(names)


def switch(new_generator: Generator | None = None) -> Generator:
    """Put other counters in use here (fresh ones by default); returns those that were.

    For the thread, or the asyncio task, that calls it.
    """
    old = _current.get()
    _current.put(new_generator or Generator())
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
    with _current.replaced(new_generator or Generator()):
        yield
