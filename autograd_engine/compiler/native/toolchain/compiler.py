"""The C compiler of this machine: which one, with which flags, for which processor.

A compiler is believed when a library that it made has been loaded and called. What was found out is
kept on disk (under the path, size and date of the compiler), so that a process whose programs are
all in the cache starts no compiler.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from autograd_engine.compiler.native.toolchain.cache_directory import cache_directory
from autograd_engine.compiler.native.toolchain.loading import load_opened
from autograd_engine.compiler.native.toolchain.private_files import opened
from autograd_engine.core.locks import renewed_lock

__all__ = ["CompileError", "Toolchain", "cpu_features", "find_toolchain", "why_not"]

SWITCH: Final = "AUTOGRAD_ENGINE_NATIVE"
EXTRA_FLAGS: Final = "AUTOGRAD_ENGINE_CFLAGS"
_FORMAT: Final = "1"
_CANDIDATES: Final = ("cc", "gcc", "clang")
_REQUIRED: Final = ("-std=gnu11", "-fPIC", "-O2")
# NaN, infinities and signs of zeros stay what IEEE 754 says; errno and traps are not looked at.
_WANTED: Final = (
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fopenmp-simd",
    "-fno-semantic-interposition",
)
_NATIVE: Final = ("-march=native", "-mcpu=native")
_WIDE_VECTORS: Final = "-mprefer-vector-width=512"
_SECONDS: Final = 60.0
_TRIAL: Final = """\
#include <math.h>
#include <stdint.h>
#include <pthread.h>
int ae_trial(int n);
int ae_trial(int n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += sqrt((double)i * i);
    return (int)sum + (sizeof(void *) == 8 ? 1 : 0);
}
"""


class CompileError(Exception):
    """The compiler refused a source, or its library could not be loaded.

    Internal: who asked for the library goes on without it.

    Attributes
    ----------
    text : str
        What the compiler said.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(f"{message}\n{text}" if text else message)
        self.text = text


@dataclass(frozen=True)
class Toolchain:
    """A compiler that makes libraries for this process.

    Attributes
    ----------
    command : tuple of str
        The compiler, with the arguments that `CC` holds.
    version : str
        The first line of what it says about itself.
    flags : tuple of str
        For compiling; those that it refuses are left out.
    cpu : str
        A digest of what the processor can do: a library for another one is another library.
    """

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...]
    cpu: str

    @property
    def fingerprint(self) -> str:
        """All that the bytes of a library depend on, beside its source."""
        return json.dumps(asdict(self), sort_keys=True)

    def with_flags(self, *more: str) -> Toolchain:
        """The same compiler with further flags, which win over those before."""
        return replace(self, flags=(*self.flags, *more))

    def compile_command(self, source: Path, target: Path) -> list[str]:
        return [*self.command, *self.flags, "-c", str(source), "-o", str(target)]

    def link_command(self, objects: Sequence[Path], target: Path) -> list[str]:
        named = [str(path) for path in objects]
        return [*self.command, *self.flags, "-shared", *named, "-o", str(target), *_LIBRARIES]

    def library_command(self, source: Path, target: Path) -> list[str]:
        """Compile and link at once."""
        return self.link_command([source], target)


_LIBRARIES: Final = ("-lm", "-pthread")
_lock = renewed_lock()
_found: dict[tuple[str, ...], tuple[Toolchain | None, str]] = {}


def find_toolchain() -> Toolchain | None:
    """The first of ``CC``, cc, gcc and clang that works here; None if none does (`why_not`).

    ``AUTOGRAD_ENGINE_NATIVE=0`` in the environment says that none is wanted.
    ``AUTOGRAD_ENGINE_CFLAGS`` holds flags that come after ours.
    """
    return _look()[0]


def why_not() -> str:
    """Why `find_toolchain` found none; empty where it found one."""
    return _look()[1]


def _look() -> tuple[Toolchain | None, str]:
    names = ("CC", "PATH", SWITCH, EXTRA_FLAGS)
    key = tuple(os.environ.get(name, "") for name in names)
    with _lock:
        if key not in _found:
            _found[key] = _search(*key)
        return _found[key]


def _search(cc: str, path: str, switch: str, extra: str) -> tuple[Toolchain | None, str]:
    if switch.strip().lower() in ("0", "off", "no", "false"):
        return None, f"native code is turned off by {SWITCH}={switch}"
    if os.name != "posix":
        return None, f"native code needs a POSIX system, this is {sys.platform}"
    try:
        given = shlex.split(cc)
        more = tuple(shlex.split(extra))
    except ValueError as error:
        return None, f"CC={cc!r} or {EXTRA_FLAGS}={extra!r} cannot be read: {error}"
    reasons = []
    for command in [given] * bool(given) + [[name] for name in _CANDIDATES]:
        where = shutil.which(command[0], path=path or None) if path or "/" in command[0] else None
        if where is None:
            reasons.append(f"{command[0]}: not on PATH")
            continue
        try:
            return _known_or_tried((where, *command[1:]), more), ""
        except (CompileError, OSError) as error:
            first_line = str(error).partition("\n")[0]
            reasons.append(f"{shlex.join(command)}: {first_line}")
    return None, "no C compiler that works (" + "; ".join(reasons) + ")"


def _known_or_tried(command: tuple[str, ...], extra: tuple[str, ...]) -> Toolchain:
    """What an earlier process found out about the same compiler, or a trial now."""
    directory, cpu = cache_directory(), cpu_features()
    about = os.stat(os.path.realpath(command[0]))
    key = [_FORMAT, list(command), list(extra), about.st_size, about.st_mtime_ns, cpu]
    digest = hashlib.blake2b(json.dumps(key).encode(), digest_size=16).hexdigest()
    record = directory.read(f"toolchain-{digest}")
    if record is not None:
        version, flags = json.loads(record)
        return Toolchain(command, version, tuple(flags), _digest(cpu))
    found = _tried(command, extra, cpu)
    record = json.dumps([found.version, found.flags]).encode()
    directory.write(f"toolchain-{digest}", record)
    return found


def _tried(command: tuple[str, ...], extra: tuple[str, ...], cpu: str) -> Toolchain:
    said = run([*command, "--version"])
    version = next(iter(said.splitlines()), "").strip()
    wide = (_WIDE_VECTORS,) if "avx512f" in cpu.split() else ()
    with trial_directory() as directory:

        def works(*flags: str) -> bool:
            try:
                _try(Toolchain(command, version, flags, ""), directory)
            except CompileError:
                return False
            return True

        best = (*_REQUIRED, *_WANTED, _NATIVE[0], *wide)
        if not works(*best, *extra):
            required = (*_REQUIRED, *extra)
            _try(Toolchain(command, version, required, ""), directory)  # says what is wrong
            native = next(([flag] for flag in _NATIVE if works(*_REQUIRED, flag)), [])
            wanted = [*_WANTED, *native, *wide]
            best = (*_REQUIRED, *(flag for flag in wanted if works(*_REQUIRED, flag)))
            _try(Toolchain(command, version, (*best, *extra), ""), directory)
    return Toolchain(command, version, (*best, *extra), _digest(cpu))


def _try(toolchain: Toolchain, directory: Path) -> None:
    """Compile, load, call."""
    with tempfile.TemporaryDirectory(dir=directory) as inner:
        source, target = Path(inner) / "trial.c", Path(inner) / "trial.so"
        source.write_text(_TRIAL, encoding="utf-8")
        run(toolchain.library_command(source, target), folder=inner)
        try:
            with opened(target, shut=True) as descriptor:
                library = load_opened(descriptor, directory)
        except OSError as error:
            raise CompileError(f"what it makes cannot be loaded here ({error})") from None
        if library.ae_trial(5) not in (10, 11):
            raise CompileError("what it makes gives wrong results here")


@contextlib.contextmanager
def trial_directory() -> Iterator[Path]:
    """A private directory for a moment: where the cache is, else among the temporary files."""
    with tempfile.TemporaryDirectory(dir=cache_directory().path, prefix="tmp-") as name:
        yield Path(name)


def run(command: Sequence[str], seconds: float = _SECONDS, folder: str | Path | None = None) -> str:
    """Run the compiler; what it printed. `CompileError` if it fails, or takes too long."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            env=compiler_environment(folder),
        )
    except subprocess.TimeoutExpired:
        raise CompileError(f"{command[0]} took more than {seconds:.0f} s") from None
    except OSError as error:
        raise CompileError(f"{command[0]} cannot be run: {error}") from None
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        lines = [line for line in text.splitlines() if "error" in line.lower()]
        what = (lines or text.splitlines() or [f"exit status {done.returncode}"])[0].strip()
        raise CompileError(f"{os.path.basename(command[0])} failed: {what}", text)
    return text


def compiler_environment(folder: str | Path | None = None) -> dict[str, str]:
    """The environment of the process, with messages that are the same everywhere.

    What the compiler hands to the assembler and the linker is code as well: it lies in the
    `folder`, which is private, not where ``TMPDIR`` says.
    """
    inside = {} if folder is None else {"TMPDIR": str(folder)}
    return {**os.environ, "LC_ALL": "C", **inside}


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def cpu_features() -> str:
    """What the processor is and can do, in words: part of what a library depends on."""
    words = [sys.platform, platform.machine()]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            words += _first_processor(file)
    except OSError:
        words.append(platform.processor())
        if sys.platform == "darwin":
            with contextlib.suppress(CompileError):
                words.append(run(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]))
    return " ".join(words)


_ABOUT: Final = (
    "vendor_id", "cpu family", "model", "model name", "flags", "Features", "isa",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "cpu",
)  # fmt: skip


def _first_processor(lines: Iterator[str]) -> list[str]:
    words: list[str] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon and words:
            break  # the others are not read: asking for their clock rates takes time
        if name.strip() in _ABOUT:
            words.append(value.strip())
    return words
