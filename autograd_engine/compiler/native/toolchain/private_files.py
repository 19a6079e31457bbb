"""Files and folders that nobody but this user can exchange.

A path is looked up anew each time that it is used. Whoever may write to a folder can rename what is
in it, so what was found at a path a moment ago need not be there now. So all folders above are
looked at, from the root down: each belongs to this user or to the system, and nobody else may write
to it, or it is sticky as ``/tmp`` is, where only the owner of an entry can rename it. Then what is
above stays as it is while what is below is looked at. And a file is opened once: what is checked is
the open file, and that is read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["NotPrivate", "OTHERS_WRITE", "contents", "opened", "private_folder", "read_private"]

OTHERS_WRITE: Final = 0o022
_MOST_LINKS: Final = 40


class NotPrivate(OSError):
    """What another user can exchange. Internal: callers fall back."""


# --- folders


def private_folder(path: Path) -> Path:
    """The folder by its own name, without links; what is missing of it is made, with mode 0700.

    Raises
    ------
    NotPrivate
        Another user can exchange the folder, one above it, or a link on the way.
    OSError
        It is not there, and cannot be made.
    """
    root, *parts = path.absolute().parts
    here, waiting, links = Path(root), parts[::-1], 0
    _check(here, here.lstat())
    while waiting:
        name = waiting.pop()
        if name == os.pardir:
            here = here.parent
            continue
        there = here / name
        try:
            found = there.lstat()
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                there.mkdir(mode=0o700)
            found = there.lstat()
        if not stat.S_ISLNK(found.st_mode):
            _check(there, found)
            here = there
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(f"{path} leads through more than {_MOST_LINKS} links")
        _check_owner(there, found)
        target = Path(os.readlink(there))
        waiting += target.parts[::-1]
        if target.is_absolute():
            here = Path(waiting.pop())
    return here


def _check(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{path}: Not a directory")
    _check_owner(path, found)
    mode = found.st_mode
    if mode & stat.S_ISVTX:
        return
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _own_group(found.st_gid)):
        raise NotPrivate(
            f"{path} can be written to by others, who can exchange what is in it (chmod go-w)"
        )


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in (os.geteuid(), 0, _system()):
        raise NotPrivate(
            f"{path} belongs to another user ({found.st_uid}), who can exchange what is in it"
        )


def _system() -> int:
    """Who owns the root: not always number 0, as seen from inside a container."""
    return os.lstat("/").st_uid


def _own_group(gid: int) -> bool:
    """Whether a group is root's, or the user's alone, which many systems give everybody."""
    import grp  # not on every system
    import pwd

    if gid == 0:
        return True
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    own = user.pw_gid == gid and user.pw_name == group.gr_name
    return own and set(group.gr_mem) <= {user.pw_name}


# --- files


@contextlib.contextmanager
def opened(path: Path, shut: bool = False) -> Iterator[int]:
    """A descriptor of a file of this user that nobody else can write to, and no link.

    Parameters
    ----------
    path : Path
    shut : bool
        Take the right to write to it from others, rather than refuse it.
    """
    # One that is no file but a pipe is not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise NotPrivate(f"{path} is no file of this user")
        if shut:
            os.fchmod(descriptor, 0o700)
        elif found.st_mode & OTHERS_WRITE:
            raise NotPrivate(f"{path} can be written to by others")
        yield descriptor
    finally:
        os.close(descriptor)


def read_private(path: Path) -> bytes:
    """What is in a file that is private (`NotPrivate`, OSError)."""
    with opened(path) as descriptor:
        return contents(descriptor)


def contents(descriptor: int) -> bytes:
    """All of an open file."""
    with open(descriptor, "rb", closefd=False) as file:
        return file.read()
