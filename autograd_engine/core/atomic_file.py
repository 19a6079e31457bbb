"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TypeAlias

__all__ = ["Content", "write_all", "write_atomically"]

# What a file is to hold, or what writes it.
Content: TypeAlias = str | bytes | Callable[[IO[bytes]], None]


def write_atomically(path: Path, content: Content) -> None:
    """Write `content` beside `path` and move it there: a crash leaves the old file, or none."""
    write_all({path: content})


def write_all(contents: Mapping[Path, Content]) -> None:
    """Write several files that belong together.

    All of them are written beside their places and brought to the disk before the first is moved
    to its own, so a crash leaves each file either old or new, and whole. An error leaves all of
    them old.

    Raises
    ------
    FileNotFoundError
        When a directory does not exist.
    OSError
        As the system reports it; nothing has changed then.
    """
    for path in contents:
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{str(path)!r}: there is no directory {str(path.parent)!r}")
        if path.is_dir():
            raise IsADirectoryError(f"{str(path)!r} is a directory; give the name of a file")
    with contextlib.ExitStack() as leftovers:
        temporaries = {}
        for link, content in contents.items():
            path = Path(os.path.realpath(link))  # a link goes on being one
            temporaries[path] = _beside(path, leftovers)
            _write(temporaries[path], content)
            if path.exists():
                os.chmod(temporaries[path], path.stat().st_mode & 0o777)
        with contextlib.ExitStack() as undo:
            for path, temporary in temporaries.items():
                if len(temporaries) > 1:
                    _keep(path, undo, leftovers)
                os.replace(temporary, path)
            undo.pop_all()


def _beside(path: Path, leftovers: contextlib.ExitStack) -> str:
    """A new file in the directory of `path`, which is gone in the end."""
    while True:
        temporary = str(path.parent / f".{path.name[:50]}-{secrets.token_hex(6)}")
        with contextlib.suppress(FileExistsError):
            # With the permissions that any new file gets; those of `tempfile` are the owner's only.
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            leftovers.callback(_remove, temporary)
            return temporary


def _write(temporary: str, content: Content) -> None:
    with open(temporary, "wb") as file:
        if callable(content):
            content(file)
        else:
            file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


def _keep(path: Path, undo: contextlib.ExitStack, leftovers: contextlib.ExitStack) -> None:
    """Have an error put back what is at `path` now."""
    if not path.exists():
        undo.callback(_remove, str(path))
        return
    kept = _beside(path, leftovers)
    os.unlink(kept)
    try:
        os.link(path, kept)
    except OSError:  # a file system without links
        _write(kept, path.read_bytes())
    undo.callback(os.replace, kept, path)


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
