"""Whether operations with effects have them, or only look as if."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Final

__all__ = ["effects", "without_effects"]


class _Effects(threading.local):
    off: bool = False


effects: Final = _Effects()


@contextlib.contextmanager
def without_effects() -> Iterator[None]:
    """Inside the ``with`` block nothing is printed, no assertion fails, no `py_func` is called.

    For kernels that are run on values that nobody has computed, to see what they take.
    """
    old, effects.off = effects.off, True
    try:
        yield
    finally:
        effects.off = old
