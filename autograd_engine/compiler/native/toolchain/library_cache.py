"""Compiled libraries on disk: made once, loaded by every later process of the same user.

An entry is a directory: the sources, the library, and its seal (`cache_directory`). It is written
under another name and renamed when it is complete, so that there is never half an entry, and
processes that make the same one at the same time do not disturb each other.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from autograd_engine.compiler.native.toolchain.cache_directory import (
    CacheDirectory,
    cache_directory,
    temporary,
    write_whole,
)
from autograd_engine.compiler.native.toolchain.compiler import (
    NO_COMPILER,
    CompileError,
    Toolchain,
    compiler_environment,
    why_not,
)
from autograd_engine.compiler.native.toolchain.loading import load_opened
from autograd_engine.compiler.native.toolchain.private_files import contents, opened, read_private
from autograd_engine.core.locks import renewed_lock

__all__ = ["ENTRY", "load", "tell", "tell_of_compilers", "trim"]

PROGRESS: Final = "AUTOGRAD_ENGINE_PROGRESS"
SIZE: Final = "AUTOGRAD_ENGINE_CACHE_MB"
_FORMAT: Final = "autograd_engine library 1"
_DEFAULT_MB: Final = 256
ENTRY: Final = "lib-"  # with which names of entries begin
_LIBRARY, _SEAL = "library.so", "seal"
_ABANDONED: Final = 3600.0  # seconds after which an unfinished entry is removed
_PATIENCE: Final = 1.0  # seconds until the progress line
_COMPILER_SECONDS: Final = 600.0

_lock = renewed_lock()
_locks: dict[str, threading.RLock] = {}
_loaded: dict[str, ctypes.CDLL] = {}


def load(source: str | Sequence[str], toolchain: Toolchain, what: str = "") -> ctypes.CDLL:
    """The library of ``source``, from this process, from the disk, or compiled now.

    Parameters
    ----------
    source : str or sequence of str
        C text. Several texts are compiled in parallel and linked to one library.
    toolchain : Toolchain
    what : str
        What is compiled, for the line that says so when it takes longer than a second.

    Raises
    ------
    CompileError
        The compiler failed, or its library could not be loaded.
    """
    units = [source] if isinstance(source, str) else list(source)
    name = _entry_name(units, toolchain)
    with _lock:
        own_lock = _locks.setdefault(name, renewed_lock())
    with own_lock:
        if name not in _loaded:
            _loaded[name] = _load(name, units, toolchain, what)
        return _loaded[name]


def _entry_name(units: Sequence[str], toolchain: Toolchain) -> str:
    digest = hashlib.blake2b(digest_size=20)
    for text in (_FORMAT, toolchain.fingerprint, *units):
        data = text.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return ENTRY + digest.hexdigest()


def _load(name: str, units: Sequence[str], toolchain: Toolchain, what: str) -> ctypes.CDLL:
    # The second try: a disk that is full, or mounted so that nothing on it can be executed.
    for place in (cache_directory, lambda: temporary("a library could not be kept")):
        try:
            directory = place()
            found = _open(directory, name)
            if found is None:
                _make(directory, name, units, toolchain, what)
                found = _open(directory, name)
        except OSError as error:
            problem = str(error)
            continue
        if found is not None:
            return found
        problem = f"what {toolchain.command[0]} made cannot be loaded from {directory.path}"
    raise CompileError(problem)


def _open(directory: CacheDirectory, name: str) -> ctypes.CDLL | None:
    """The library of an entry, if it is there, complete, and made by this user."""
    entry = directory.path / name
    if entry.is_symlink():
        return None
    try:
        with opened(entry / _LIBRARY) as descriptor:
            seal = read_private(entry / _SEAL)
            if not directory.is_sealed(name, contents(descriptor), seal):
                return None
            with contextlib.suppress(OSError):
                os.utime(entry)  # used now: `trim` removes the ones that were not used for longest
            return load_opened(descriptor, directory.path)
    except OSError:
        return None


def _make(
    directory: CacheDirectory, name: str, units: Sequence[str], toolchain: Toolchain, what: str
) -> None:
    """Compile in a directory of its own, then give that the name of the entry."""
    scratch = Path(tempfile.mkdtemp(dir=directory.path, prefix="tmp-"))
    try:
        _compile(scratch, units, toolchain, what)
        with opened(scratch / _LIBRARY, shut=True) as descriptor:
            data = contents(descriptor)
            os.fsync(descriptor)
        write_whole(scratch / _SEAL, directory.seal(name, data))
        _install(scratch, directory.path / name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    trim(directory, keep=name)


def _install(scratch: Path, entry: Path) -> None:
    for _ in range(10):
        try:
            os.rename(scratch, entry)
            return
        except OSError:
            if not os.path.lexists(entry):
                raise
            # A damaged entry, or one that another process has just finished: ours is as good.
            _discard(entry)
    raise OSError(f"{entry} cannot be replaced")


def _discard(entry: Path) -> None:
    """Take an entry away in one step, then remove it."""
    aside = Path(tempfile.mkdtemp(dir=entry.parent, prefix="tmp-"))
    with contextlib.suppress(OSError):
        os.rename(entry, aside / "old")
    shutil.rmtree(aside, ignore_errors=True)


def _compile(scratch: Path, units: Sequence[str], toolchain: Toolchain, what: str) -> None:
    several = len(units) > 1
    sources = [scratch / (f"source_{i}.c" if several else "source.c") for i in range(len(units))]
    for path, text in zip(sources, units, strict=True):
        path.write_text(text, encoding="utf-8")
    target = scratch / _LIBRARY
    progress = _Progress(what)
    if not several:
        _run_all([toolchain.library_command(sources[0], target)], scratch, progress)
        return
    objects = [path.with_suffix(".o") for path in sources]
    commands = [toolchain.compile_command(*pair) for pair in zip(sources, objects, strict=True)]
    _run_all(commands, scratch, progress)
    _run_all([toolchain.link_command(objects, target)], scratch, progress)
    for path in objects:
        path.unlink()


def _run_all(commands: Sequence[list[str]], scratch: Path, progress: _Progress) -> None:
    """Run the commands, as many at a time as there are processors."""
    waiting = list(enumerate(commands))[::-1]
    running: list[tuple[int, subprocess.Popen[bytes]]] = []
    most = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        most = len(os.sched_getaffinity(0))
    try:
        while waiting or running:
            while waiting and len(running) < most:
                index, command = waiting.pop()
                running.append((index, _start(command, scratch / f"messages_{index}")))
            index, process = running.pop(0)
            progress.wait(process)
            messages = scratch / f"messages_{index}"
            text = messages.read_text(encoding="utf-8", errors="replace")
            messages.unlink()
            if process.returncode != 0:
                raise CompileError(f"{commands[index][0]} failed ({process.returncode})", text)
    finally:
        for _, process in running:
            process.kill()
            process.wait()


def _start(command: list[str], messages: Path) -> subprocess.Popen[bytes]:
    with messages.open("wb") as file:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=compiler_environment(messages.parent),
            )
        except OSError as error:
            raise CompileError(f"{command[0]} cannot be run: {error}") from None


class _Progress:
    """Waits for compilers, and says so once when that takes long."""

    def __init__(self, what: str) -> None:
        self.text = f"autograd_engine: compiling {what or 'a program'} (once; kept on disk) ...\n"
        self.start = time.monotonic()
        self.said = not _wants_progress()

    def wait(self, process: subprocess.Popen[bytes]) -> None:
        try:
            if not self.said:
                left = self.start + _PATIENCE - time.monotonic()
                try:
                    process.wait(max(left, 0.001))
                    return
                except subprocess.TimeoutExpired:
                    self._say()
            process.wait(_COMPILER_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise CompileError(f"the compiler took over {_COMPILER_SECONDS:.0f} s") from None
        except BaseException:
            process.kill()
            process.wait()
            raise

    def _say(self) -> None:
        self.said = True
        _write(self.text)


def tell(text: str) -> None:
    """A line for who sits at a terminal."""
    if _wants_progress():
        _write(text)


def tell_of_compilers() -> None:
    """Say once that there is no compiler, where that is why none was found."""
    if why_not().startswith(NO_COMPILER):
        _tell_of_compilers()


@functools.cache  # once
def _tell_of_compilers() -> None:
    tell(
        "autograd_engine: there is no C compiler, all runs on NumPy; for more speed "
        "pip install 'autograd-engine[compiler]', or apt install gcc\n"
    )


def _write(text: str) -> None:
    with contextlib.suppress(Exception):  # no terminal any more: no reason to fail
        sys.stderr.write(text)
        sys.stderr.flush()


def _wants_progress() -> bool:
    chosen = os.environ.get(PROGRESS, "").strip().lower()
    if chosen:
        return chosen not in ("0", "off", "no", "false")
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # none, or closed
        return False


def trim(directory: CacheDirectory, keep: str = "", limit: int | None = None) -> None:
    """Remove the entries that were not used for longest, until ``limit`` bytes are left."""
    limit = _limit() if limit is None else limit
    entries = []
    now = time.time()
    with contextlib.suppress(OSError), os.scandir(directory.path) as found:
        for item in found:
            with contextlib.suppress(OSError):
                used = item.stat(follow_symlinks=False).st_mtime
                if item.name.startswith("tmp-") and now - used > _ABANDONED:
                    _remove(Path(item.path))
                elif item.name.startswith(ENTRY):
                    entries.append((used, _size(item.path), item.name))
    total = sum(size for _, size, _ in entries)
    for _, size, name in sorted(entries):
        if total <= limit:
            break
        if name != keep:
            _discard(directory.path / name)
            total -= size


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _size(path: str) -> int:
    try:
        with os.scandir(path) as found:
            return sum(item.stat(follow_symlinks=False).st_size for item in found)
    except OSError:
        return 0


def _limit() -> int:
    try:
        return max(int(float(os.environ.get(SIZE, _DEFAULT_MB)) * (1 << 20)), 0)
    except ValueError:
        return _DEFAULT_MB << 20
