"""The C compiler of this machine: which one, with which flags, for which processor.

A compiler is believed when a library that it made has been loaded and called. What was found out is
kept on disk (under the path, size and date of the compiler), so that a process whose programs are
all in the cache starts no compiler.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
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

__all__ = [
    "NO_COMPILER",
    "CompileError",
    "Toolchain",
    "cpu_features",
    "find_toolchain",
    "why_not",
]

SWITCH: Final = "AUTOGRAD_ENGINE_NATIVE"
EXTRA_FLAGS: Final = "AUTOGRAD_ENGINE_CFLAGS"
_FORMAT: Final = "2"
NO_COMPILER: Final = "no C compiler that works"
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
# What undoes flags of a user's that break the arithmetic, in GCC or Clang.
_STRICT: Final = (
    "-fno-fast-math",
    "-fno-unsafe-math-optimizations",
    "-fno-associative-math",
    "-fno-reciprocal-math",
    "-fno-finite-math-only",
    "-fhonor-nans",
    "-fhonor-infinities",
    "-fsigned-zeros",
    "-fno-approx-func",
    "-fno-single-precision-constant",
    "-fdenormal-fp-math=ieee",
    "-mno-daz-ftz",
    "-mno-recip",
)
_CARELESS: Final = frozenset(
    {"-Ofast", "-ffp-model=fast", "-ffp-model=aggressive", "-fdenormal-fp-math=preserve-sign"}
    | {flag.replace("no-", "", 1) for flag in _STRICT if flag[2:].startswith("no-")}
    | {"-fno-signed-zeros", "-fno-honor-nans", "-fno-honor-infinities"}
)
# A check of the arithmetic fails by its number. The operands are volatile, and the loops are those
# that a compiler vectorises, for it rewrites these most.
_TRIAL: Final = """\
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <pthread.h>
enum { N = 8 };
struct ae_padded { char first; double second; };
static volatile const double ae_given[N] = { -2.871, 0.3, 2.5, 3.5, 1e9, -1e9, 1.0, -0.25 };
static volatile const double ae_special[4] = { -0.0, 0.0, NAN, INFINITY };
static volatile const double ae_small[4] = { 0x1p-1060, 0x1p-1074, 0x1p-53, 0x1p-65 };

static int ae_same_f64(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }
static int ae_same_f32(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }
static int ae_nan_f64(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

static int ae_sums(const double *x, double *out, float *narrow)
{
    static const double expected[N] = { -3, 0, 2, 4, 1e9, -1e9, 1, 0 };
    int right = 1;
#pragma omp simd
    for (int i = 0; i < N; i++) {
        out[i] = (x[i] + 0x1.8p52) - 0x1.8p52;
        narrow[i] = ((float)x[i] * 0.0009765625f + 0x1.8p23f) - 0x1.8p23f;
    }
    for (int i = 0; i < N; i++) {
        right &= out[i] == expected[i];
        right &= narrow[i] == (i == 4 ? 976562.0f : i == 5 ? -976562.0f : 0.0f);
    }
#pragma omp simd
    for (int i = 0; i < N; i++) {
        double b = ae_small[2] * x[i], sum = 1.0 + b, part = sum - 1.0;
        out[i] = (1.0 - (sum - part)) + (b - part);
    }
    for (int i = 0; i < N; i++)
        right &= out[i] != 0 || i == 4 || i == 5;
    return right & ((1.0 + (ae_small[2] + ae_small[3])) == 0x1.0000000000001p0);
}

static int ae_quotients(const double *x, double *out, float *narrow)
{
    static const double part[N] = {
        -0x1.dffbfcd2d1909p-5, 0x1.913da62386cabp-8, 0x1.a1f58d0fac688p-5, 0x1.2492492492492p-4,
        0x1.37676343eb1a2p+24, -0x1.37676343eb1a2p+24, 0x1.4e5e0a72f0539p-6, -0x1.4e5e0a72f0539p-8
    };
    static const float third[N] = {
        -0x1.e9fbe8p-1f, 0x1.99999ap-4f, 0x1.aaaaaap-1f, 0x1.2aaaaap+0f,
        0x1.3de436p+28f, -0x1.3de436p+28f, 0x1.555556p-2f, -0x1.555556p-4f
    };
    volatile double many = 49;
    volatile float three = 3;
    double divisor = many;
    float small = three;
    int right = 1;
#pragma omp simd
    for (int i = 0; i < N; i++) {
        out[i] = x[i] / divisor;
        narrow[i] = (float)x[i] / small;
    }
    for (int i = 0; i < N; i++)
        right &= out[i] == part[i] && narrow[i] == third[i];
#pragma omp simd
    for (int i = 0; i < N; i++) {
        out[i] = x[i] / 49.0;
        narrow[i] = (float)x[i] / 3.0f;
    }
    for (int i = 0; i < N; i++)
        right &= out[i] == part[i] && narrow[i] == third[i];
    return right;
}

static int ae_roots(const double *x, double *out, float *narrow)
{
    static const double root[N] = {
        0x1.b1c45d90acfb5p+0, 0x1.186f174f88472p-1, 0x1.94c583ada5b53p+0, 0x1.deeea11683f49p+0,
        0x1.ee1b1b3d78c7ap+14, 0x1.ee1b1b3d78c7ap+14, 0x1p+0, 0x1p-1
    };
    static const float small[N] = {
        0x1.b1c45ep+0f, 0x1.186f18p-1f, 0x1.94c584p+0f, 0x1.deeea2p+0f,
        0x1.ee1b1cp+14f, 0x1.ee1b1cp+14f, 0x1p+0f, 0x1p-1f
    };
    int right = 1;
#pragma omp simd
    for (int i = 0; i < N; i++) {
        out[i] = sqrt(fabs(x[i]));
        narrow[i] = sqrtf(fabsf((float)x[i]));
    }
    for (int i = 0; i < N; i++)
        right &= out[i] == root[i] && narrow[i] == small[i];
    return right;
}

int ae_trial(int pointer);
int ae_trial(int pointer)
{
    double x[N], out[N], zero = ae_special[0], none = ae_special[1];
    float narrow[N];
    for (int i = 0; i < N; i++)
        x[i] = ae_given[i];
    if ((int)sizeof(void *) != pointer || sizeof(double) != 8)
        return 101;
    if (offsetof(struct ae_padded, second) != _Alignof(double) || sizeof(int) != 4)
        return 101;
    if (!ae_sums(x, out, narrow))
        return 102;
    if (!ae_quotients(x, out, narrow))
        return 103;
    if (!ae_roots(x, out, narrow))
        return 104;
    double nan = ae_special[2], inf = ae_special[3];
    if (nan == nan || nan > none || !(nan != none) || !isnan(nan) || !isinf(inf) || isfinite(inf))
        return 105;
    if (!ae_nan_f64(inf - inf) || !ae_nan_f64(inf * none) || !(inf > 0x1.fffffffffffffp1023))
        return 105;
    if (!ae_same_f64(zero + none, 0.0) || !ae_same_f64(none - none, 0.0)
        || !ae_same_f64(none * x[0], -0.0) || !ae_same_f64(none - x[6] * none, 0.0)
        || !ae_same_f64(-(none - none), -0.0) || !ae_same_f64(zero - none, -0.0)
        || !signbit(zero) || !(x[6] / zero < 0))
        return 106;
    volatile float tiny = 0x1p-140f;
    if (ae_small[0] * 0.5 != 0x1p-1061 || ae_small[1] == 0 || ae_small[1] * 2 != 0x1p-1073)
        return 107;
    if (tiny * 0.5f != 0x1p-141f || tiny == 0)
        return 107;
    if (!ae_same_f64(x[6] * 0.1, 0x1.999999999999ap-4) || !ae_same_f32((float)x[6] * 0.1f, 0.1f))
        return 108;
    return 0;
}
"""
# It loads a library and calls its trial.
_LOADER: Final = """\
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words)
{
    void *library = count == 2 ? dlopen(words[1], RTLD_NOW) : 0;
    int (*trial)(int) = library ? (int (*)(int))dlsym(library, "ae_trial") : 0;
    if (!trial)
        fprintf(stderr, "%s\\n", dlerror());
    return trial ? trial(sizeof(void *)) : 1;
}
"""
_WRONG: Final = {
    101: "types of other sizes or places than this process has",
    102: "wrong sums (-fassociative-math)",
    103: "wrong quotients (-freciprocal-math)",
    104: "wrong square roots (-mrecip)",
    105: "wrong answers about NaN and infinity (-ffinite-math-only)",
    106: "wrong signs of zeros (-fno-signed-zeros)",
    107: "no numbers below the normal ones (flush to zero)",
    108: "constants of single precision (-fsingle-precision-constant)",
}


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
    """The first of ``CC``, cc, gcc, clang and ziglang's that works here; None: see `why_not`.

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
    for command in [given] * bool(given) + [[name] for name in _CANDIDATES] + _packaged():
        where = shutil.which(command[0], path=path or None) if path or "/" in command[0] else None
        if where is None:
            reasons.append(f"{command[0]}: not on PATH")
            continue
        try:
            return _known_or_tried((where, *command[1:]), more), ""
        except (CompileError, OSError) as error:
            first_line = str(error).partition("\n")[0]
            reasons.append(f"{shlex.join(command)}: {first_line}")
    if not _packaged():
        reasons.append("ziglang: not installed")
    return None, f"{NO_COMPILER} (" + "; ".join(reasons) + ")"


def _packaged() -> list[list[str]]:
    """The compiler that the extra ``[compiler]`` brings, an executable beside a Python module."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        return []
    return [[str(Path(found.origin).with_name("zig")), "cc"]]


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
        loader = _loader(command, directory)

        def attempt(*flags: str) -> None:
            _try(Toolchain(command, version, flags, ""), loader, directory)

        def works(*flags: str) -> bool:
            try:
                attempt(*flags)
            except CompileError:
                return False
            return True

        def strict() -> tuple[str, ...]:
            """The flags of the user with what undoes them, and our flags that this undoes too."""
            given = tuple("-O3" if flag == "-Ofast" else flag for flag in extra)
            also = (*_STRICT, "-fno-math-errno", "-fno-trapping-math")
            return (*given, *(flag for flag in also if _takes(command, flag, directory)))

        careless = not _CARELESS.isdisjoint((*command, *extra))
        if careless:
            extra = strict()
        best = (*_REQUIRED, *_WANTED, _NATIVE[0], *wide)
        if not works(*best, *extra):
            if not careless and extra and (works(*best) or not works(*_REQUIRED, *extra)):
                extra = strict()
            attempt(*_REQUIRED, *extra)  # says what is wrong
            native = next(([flag] for flag in _NATIVE if works(*_REQUIRED, flag)), [])
            wanted = [*_WANTED, *native, *wide]
            best = (*_REQUIRED, *(flag for flag in wanted if works(*_REQUIRED, flag)))
            attempt(*best, *extra)
    return Toolchain(command, version, (*best, *extra), _digest(cpu))


def _takes(command: tuple[str, ...], flag: str, directory: Path) -> bool:
    source, target = directory / "empty.c", directory / "empty.o"
    source.write_text("int ae_empty;\n", encoding="utf-8")
    try:
        run([*command, *_REQUIRED, flag, "-c", str(source), "-o", str(target)])
    except CompileError:
        return False
    return True


def _loader(command: tuple[str, ...], directory: Path) -> Path:
    source, target = directory / "loader.c", directory / "loader"
    source.write_text(_LOADER, encoding="utf-8")
    run([*command, *_REQUIRED, str(source), "-o", str(target), "-ldl", *_LIBRARIES])
    return target


def _try(toolchain: Toolchain, loader: Path, directory: Path) -> None:
    """Compile, load, call.

    In another process first: with some flags a library crashes, or changes how the thread that
    loads it rounds.
    """
    with tempfile.TemporaryDirectory(dir=directory) as inner:
        source, target = Path(inner) / "trial.c", Path(inner) / "trial.so"
        source.write_text(_TRIAL, encoding="utf-8")
        run(toolchain.library_command(source, target), folder=inner)
        try:
            _believe(*_called(loader, target))
            with opened(target, shut=True) as descriptor:
                library = load_opened(descriptor, directory)
        except OSError as error:
            raise CompileError(f"what it makes cannot be loaded here ({error})") from None
        _believe(library.ae_trial(ctypes.sizeof(ctypes.c_void_p)))


def _called(loader: Path, library: Path) -> tuple[int, str]:
    """What the trial returns in another process, and what that printed."""
    try:
        done = subprocess.run(
            [str(loader), str(library)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise CompileError("what it makes does not end") from None
    return done.returncode, done.stdout.decode(errors="replace").strip()


def _believe(result: int, said: str = "") -> None:
    if result < 0:
        raise CompileError(f"what it makes crashes here (signal {-result})")
    if result in _WRONG:
        raise CompileError(f"what it makes gives {_WRONG[result]}")
    if result:
        raise CompileError(f"what it makes cannot be loaded here ({said or result})")


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
