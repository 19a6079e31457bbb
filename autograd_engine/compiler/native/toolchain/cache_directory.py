"""A directory that only this user writes to, and records in it that only this user can have made.

What is loaded into the process from a cache must be what the process (or an earlier one of the
same user) put there. The directory has mode 0700 and belongs to the user, and nobody else can put
another in its place, see `private_files`; every record carries a
checksum keyed with 32 secret bytes, which lie beside the records in a file of mode 0600. A file
that somebody else dropped, one that was cut short, and one of another directory all fail the check.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import hashlib
import hmac
import os
import secrets
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autograd_engine.compiler.native.toolchain.private_files import (
    OTHERS_WRITE,
    NotPrivate,
    contents,
    opened,
    private_folder,
    read_private,
)
from autograd_engine.core.locations import user_frame_from, warn_at
from autograd_engine.core.locks import renewed_lock

__all__ = ["CacheDirectory", "cache_directory", "temporary"]

VARIABLE: Final = "AUTOGRAD_ENGINE_CACHE"
_SECRET: Final = "secret"
_SECRET_BYTES: Final = 32
_PREFIX: Final = "autograd_engine-"
_TEMPORARY: Final = ("/tmp", "/var/tmp")
_OTHERS: Final = 0o077


def _check_directory(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotPrivate(f"{path} is no directory, or a link to one")
    if found.st_uid != os.geteuid():
        raise NotPrivate(f"{path} belongs to another user")
    if found.st_mode & OTHERS_WRITE:
        raise NotPrivate(f"{path} can be written to by others: remove it, or chmod 700")
    if found.st_mode & _OTHERS:
        path.chmod(0o700)
    if os.statvfs(path).f_flag & getattr(os, "ST_NOEXEC", 0):
        raise OSError(f"nothing can be executed from {path}")


@dataclass(frozen=True)
class CacheDirectory:
    """A private directory, and the secret that its records are sealed with.

    Attributes
    ----------
    path : Path
    why_temporary : str
        Why this is a directory that goes away with the process; empty where it stays.
    """

    path: Path
    secret: bytes
    why_temporary: str = ""

    @classmethod
    def at(cls, path: Path, why_temporary: str = "") -> CacheDirectory:
        """Make the directory, or check the one that is there (`NotPrivate`, OSError)."""
        path = private_folder(path.parent) / path.name
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        _check_directory(path)
        with tempfile.TemporaryFile(dir=path):
            pass  # it can be written to
        return cls(path, _secret(path / _SECRET), why_temporary)

    def seal(self, name: str, data: bytes) -> bytes:
        """A checksum of ``data`` under ``name`` that cannot be had without the secret."""
        keyed = hashlib.blake2b(key=self.secret, person=b"autograd_engine"[:16])
        keyed.update(len(name).to_bytes(8, "little") + name.encode())
        keyed.update(data)
        return keyed.hexdigest().encode()

    def is_sealed(self, name: str, data: bytes, seal: bytes) -> bool:
        return hmac.compare_digest(self.seal(name, data), seal)

    def read(self, name: str) -> bytes | None:
        """The small record ``name`` as `write` left it; None if there is none, or it is damaged."""
        try:
            seal, _, data = read_private(self.path / name).partition(b"\n")
        except OSError:
            return None
        return data if self.is_sealed(name, data, seal) else None

    def write(self, name: str, data: bytes) -> None:
        """Put the record there in one step; silently not, where the disk is full."""
        with contextlib.suppress(OSError):
            write_whole(self.path / name, self.seal(name, data) + b"\n" + data)


def write_whole(path: Path, data: bytes, *, first: bool = False) -> None:
    """Write a file of mode 0600 that is there completely or not at all.

    With `first`, one that another process has put there meanwhile stays.
    """
    handle, temporary_name = tempfile.mkstemp(dir=path.parent, prefix="tmp-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            if first:
                os.link(temporary_name, path)
                return
        except FileExistsError:
            return
        except OSError:
            pass  # no hard links here
        os.replace(temporary_name, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary_name)


def _secret(path: Path) -> bytes:
    """The secret of the directory, made at its first use. Processes that race get the same one."""
    for _ in range(3):
        found = _read_secret(path)
        if found is not None:
            return found
        write_whole(path, secrets.token_bytes(_SECRET_BYTES), first=True)
    raise NotPrivate(f"{path} cannot be made")


def _read_secret(path: Path) -> bytes | None:
    try:
        with opened(path) as descriptor:
            found = os.fstat(descriptor)
            if found.st_size == _SECRET_BYTES and not found.st_mode & _OTHERS:
                return contents(descriptor)
    except FileNotFoundError:
        return None
    except OSError:
        pass
    # Not ours, or damaged: with a new secret, nothing that was sealed with this one is believed.
    path.unlink(missing_ok=True)
    return None


_lock = renewed_lock()
_temporary: dict[int, CacheDirectory] = {}  # by process: a forked child makes its own


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def temporary(why: str) -> CacheDirectory:
    """The private directory that goes away with this process, and why it is wanted now.

    Raises
    ------
    OSError
        No folder for temporary files is fit for it.
    """
    with _lock:
        found = _temporary.get(os.getpid())
        if found is None:
            found = _temporary[os.getpid()] = _made_temporary(why)
        return dataclasses.replace(found, why_temporary=why)


def _made_temporary(why: str) -> CacheDirectory:
    problems = []
    for folder in dict.fromkeys((tempfile.gettempdir(), *_TEMPORARY)):
        if not os.path.isdir(folder):
            continue
        try:
            path = Path(tempfile.mkdtemp(dir=private_folder(Path(folder)), prefix=_PREFIX))
            atexit.register(_remove, path, os.getpid())
            return CacheDirectory.at(path, why)
        except OSError as error:
            problems.append(str(error))
    raise OSError(f"{why}; and there is no place for temporary files: {'; '.join(problems)}")


def cache_directory() -> CacheDirectory:
    """Where compiled programs are kept.

    ``AUTOGRAD_ENGINE_CACHE`` names the directory; else it is ``autograd_engine`` in
    ``XDG_CACHE_HOME``, or in ``~/.cache``. Where that is not private (a warning says so) or cannot
    be written to, a temporary directory takes its place.
    """
    return _at(
        os.environ.get(VARIABLE, ""),
        os.environ.get("XDG_CACHE_HOME", ""),
        os.environ.get("HOME", ""),
        os.getpid(),
    )


@functools.lru_cache(maxsize=8)
def _at(given: str, base: str, home: str, process: int) -> CacheDirectory:
    try:
        if given:
            root = Path(given).expanduser()
        elif base and os.path.isabs(base):
            root = Path(base) / "autograd_engine"
        else:
            root = Path.home() / ".cache" / "autograd_engine"
        return CacheDirectory.at(root.absolute() / "native")
    except NotPrivate as error:
        why = str(error)
        _warn(why)
    except (OSError, RuntimeError) as error:  # there is no home
        why = str(error)
    return temporary(f"compiled programs are not kept: {why}")


def _warn(why: str) -> None:
    """Say at the line of the user's that is being executed that a place is refused."""
    warn_at(
        user_frame_from(sys._getframe(1)),
        f"compiled programs are not kept for other processes: {why}. Whoever can do that can run "
        f"code as you. Correct it, or let {VARIABLE} name a folder that only you can write to",
        RuntimeWarning,
    )
