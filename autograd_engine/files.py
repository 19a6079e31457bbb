"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, text: str) -> None:
    """Write `text` beside `path` and move it there: a crash leaves the old file, or none."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{str(path)!r}: there is no directory {str(path.parent)!r}")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
