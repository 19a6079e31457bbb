"""Loading a library that is open: what was checked, whatever has become of its path."""

from __future__ import annotations

import ctypes
import itertools
import os
import tempfile
from pathlib import Path
from typing import Final

from autograd_engine.compiler.native.toolchain.private_files import contents

__all__ = ["load_opened"]

_OPEN_FILES: Final = "/proc/self/fd"
_numbers: Final = itertools.count(1)


def load_opened(descriptor: int, folder: Path) -> ctypes.CDLL:
    """The library that a descriptor is open on.

    Parameters
    ----------
    descriptor : int
    folder : Path
        Private, for a copy where the system does not name open files.
    """
    if os.path.exists(f"{_OPEN_FILES}/{descriptor}"):
        return ctypes.CDLL(_unused_name(descriptor))
    with tempfile.TemporaryDirectory(dir=folder, prefix="tmp-") as name:
        copy = Path(name) / "library.so"  # in a folder whose name nobody else can know
        copy.write_bytes(contents(descriptor))
        copy.chmod(0o700)
        return ctypes.CDLL(str(copy))


def _unused_name(descriptor: int) -> str:
    """A path of an open file that was not loaded before.

    The loader knows libraries by the name under which they were loaded, and gives the old one for
    that name, but descriptors are used again. So the path is written in another way each time: the
    bits of a number are ``./`` and ``.//``, which lead nowhere.
    """
    here = "".join(".//" if bit == "1" else "./" for bit in f"{next(_numbers):b}")
    return f"{_OPEN_FILES}/{here}{descriptor}"
