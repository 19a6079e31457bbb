"""The compiler: which one is found, what is said where none is."""

import ctypes
import os
import shutil
import stat
from pathlib import Path

import pytest

import autograd_engine as paddle
from autograd_engine.compiler.native.toolchain import compiler as toolchain, library_cache
from autograd_engine.compiler.native.toolchain.compiler import CompileError, find_toolchain, why_not
from tests.tiers import by_default

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on PATH")


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path / "cache"))
    for name in ("CC", "AUTOGRAD_ENGINE_NATIVE", "AUTOGRAD_ENGINE_CFLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(toolchain, "_found", {})


def wrapper(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@needs_compiler
def test_a_compiler_is_found_and_its_library_loads(tmp_path: Path) -> None:
    found = find_toolchain()
    assert found is not None
    assert why_not() == ""
    source, target = tmp_path / "one.c", tmp_path / "one.so"
    source.write_text("double third(double x); double third(double x) { return x / 3; }")
    toolchain.run(found.library_command(source, target))
    third = ctypes.CDLL(str(target)).third
    third.restype, third.argtypes = ctypes.c_double, [ctypes.c_double]
    assert third(1.0) == 1 / 3


@needs_compiler
def test_flags_keep_nan_infinity_and_signs_of_zeros() -> None:
    found = find_toolchain()
    assert found is not None
    assert not {"-ffast-math", "-Ofast", "-fno-signed-zeros", "-ffinite-math-only", "-fopenmp"} & {
        *found.flags
    }
    assert ("-mprefer-vector-width=512" in found.flags) <= (
        "avx512f" in toolchain.cpu_features().split()
    )


@needs_compiler
def test_cc_may_hold_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"{COMPILER} -DGIVEN=3")
    found = find_toolchain()
    assert found is not None
    assert found.command == (COMPILER, "-DGIVEN=3")


@needs_compiler
def test_a_refused_flag_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picky = wrapper(
        tmp_path / "bin" / "picky",
        'for word in "$@"; do case "$word" in -fopenmp-simd|-march=native)\n'
        '  echo "error: unknown argument $word" >&2; exit 1;; esac; done\n'
        f'exec {COMPILER} "$@"',
    )
    monkeypatch.setenv("CC", str(picky))
    found = find_toolchain()
    assert found is not None
    assert found.command == (str(picky),)
    assert "-fopenmp-simd" not in found.flags
    assert "-march=native" not in found.flags
    assert "-fno-math-errno" in found.flags


@needs_compiler
def test_a_broken_cc_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = wrapper(tmp_path / "bin" / "broken", "echo 'fatal error: no licence' >&2; exit 3")
    monkeypatch.setenv("CC", str(broken))
    found = find_toolchain()
    assert found is not None
    assert found.command != (str(broken),)


def test_without_any_compiler_the_reason_names_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper(tmp_path / "bin" / "gcc", "echo 'fatal error: no licence' >&2; exit 3")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_toolchain() is None
    reason = why_not()
    assert "cc: not on PATH" in reason
    assert "no licence" in reason
    assert "clang: not on PATH" in reason


def test_an_empty_path_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(toolchain, "_packaged", list)
    assert find_toolchain() is None
    assert "no C compiler" in why_not()


@needs_compiler
def test_a_compiler_that_pip_has_installed_is_the_last_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in of the package, whose executable takes ``cc`` for its first argument."""
    wrapper(tmp_path / "ziglang" / "zig", f'[ "$1" = cc ] && shift && exec {COMPILER} "$@"')
    (tmp_path / "ziglang" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    found = find_toolchain()
    assert found is not None
    assert "zig" not in found.command[0]
    monkeypatch.setattr(toolchain, "_CANDIDATES", ("not-there",))
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{tmp_path}")
    found = find_toolchain()
    assert found is not None
    assert found.command == (str(tmp_path / "ziglang" / "zig"), "cc")


def test_without_a_compiler_one_line_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(toolchain, "_packaged", list)

    @paddle.jit.to_static(backend="native")
    def doubled(x: paddle.Tensor) -> paddle.Tensor:
        return x * 2.0

    for first, progress, said in (
        (2, "0", ""),
        (5, "1", "pip install 'autograd-engine[compiler]'"),
    ):
        monkeypatch.setenv("AUTOGRAD_ENGINE_PROGRESS", progress)
        library_cache._tell_of_compilers.cache_clear()
        for size in range(first, first + 3):
            for _ in range(4):
                assert doubled(paddle.ones([size])).tolist() == [2.0] * size
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") <= 1


@pytest.mark.skipif(not os.path.exists("/bin/sh"), reason="no shell")
def test_a_compiler_that_makes_nothing_loadable_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper(
        tmp_path / "bin" / "cc",
        'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo nonsense > "$2"; shift; done; exit 0',
    )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_toolchain() is None
    assert "cannot be loaded" in why_not()


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAD_ENGINE_NATIVE", "0")
    assert find_toolchain() is None
    assert "AUTOGRAD_ENGINE_NATIVE=0" in why_not()


def test_a_cc_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc 'unclosed")
    assert find_toolchain() is None
    assert "unclosed" in why_not()


@needs_compiler
def test_flags_of_the_user_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAD_ENGINE_CFLAGS", "-O1 -DMINE=2")
    found = find_toolchain()
    assert found is not None
    assert found.flags[-2:] == ("-O1", "-DMINE=2")
    monkeypatch.delenv("AUTOGRAD_ENGINE_CFLAGS")
    other = find_toolchain()
    assert other is not None
    assert other.fingerprint != found.fingerprint


@needs_compiler
def test_the_next_process_asks_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    counting = wrapper(tmp_path / "bin" / "cc", f'echo run >> {log}\nexec {COMPILER} "$@"')
    monkeypatch.setenv("CC", str(counting))
    first = find_toolchain()
    runs = log.read_text()
    assert runs
    toolchain._found.clear()  # as in a new process
    assert find_toolchain() == first
    assert log.read_text() == runs
    counting.write_text(counting.read_text() + "# another version\n")
    toolchain._found.clear()
    find_toolchain()
    assert len(log.read_text()) > len(runs)


@needs_compiler
def test_a_forged_record_is_not_believed(tmp_path: Path) -> None:
    first = find_toolchain()
    assert first is not None
    [record] = (tmp_path / "cache" / "native").glob("toolchain-*")
    seal, _, _ = record.read_bytes().partition(b"\n")
    record.write_bytes(seal + b'\n["forged", ["-DFORGED"]]')
    toolchain._found.clear()
    assert find_toolchain() == first


@needs_compiler
def test_another_processor_is_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    first = find_toolchain()
    assert first is not None
    monkeypatch.setattr(toolchain, "cpu_features", lambda: "linux imaginary avx9000")
    toolchain._found.clear()
    second = find_toolchain()
    assert second is not None
    assert second.fingerprint != first.fingerprint


def test_the_processor_is_described() -> None:
    words = toolchain.cpu_features().split()
    assert len(words) >= 2
    assert toolchain.cpu_features() == toolchain.cpu_features()


@needs_compiler
def test_an_error_carries_the_text_of_the_compiler(tmp_path: Path) -> None:
    found = find_toolchain()
    assert found is not None
    source = tmp_path / "bad.c"
    source.write_text("int f(void) { return missing_name; }")
    with pytest.raises(CompileError, match="missing_name") as caught:
        toolchain.run(found.library_command(source, tmp_path / "bad.so"))
    assert "missing_name" in caught.value.text


def test_a_compiler_that_hangs_is_given_up(tmp_path: Path) -> None:
    slow = wrapper(tmp_path / "slow", "exec sleep 30")
    with pytest.raises(CompileError, match="took more than"):
        toolchain.run([str(slow)], seconds=0.2)


# Flags that give other numbers than IEEE 754 says; what some compilers do not know is refused.
BREAKING = [
    "-ffast-math",
    "-Ofast",
    "-funsafe-math-optimizations",
    "-ffinite-math-only",
    "-fno-signed-zeros",
    "-freciprocal-math",
    "-fassociative-math",
    "-fsingle-precision-constant",
    "-fapprox-func",
    "-ffp-model=fast",
    "-mdaz-ftz",
    "-mrecip",
    "-mfpmath=387",
    "-fpack-struct",
    "-m32",
]
# exp and what it is made of: sums that are not to be reordered, and NaN, infinities, zeros below.
PROBE = """
#include <math.h>
void probe(const double *x, double *out);
void probe(const double *x, double *out)
{
    for (int i = 0; i < 8; i++) {
        double k = (x[i] + 0x1.8p52) - 0x1.8p52;
        out[i] = x[i] != x[i] ? -7.0 : k * 0.1 / 49.0 + (x[i] * 0.0 + 0.0);
    }
    out[7] = 1e-310 * x[0];
}
"""


def probed(found: toolchain.Toolchain, directory: Path) -> list[str]:
    source, target = directory / "probe.c", directory / "probe.so"
    source.write_text(PROBE)
    toolchain.run(found.library_command(source, target))
    given = (-1.99, 0.3, float("nan"), float("inf"), -0.0, 1e9, 2.5, 1.0)
    x, out = (ctypes.c_double * 8)(*given), (ctypes.c_double * 8)()
    ctypes.CDLL(str(target)).probe(x, out)
    return [value.hex() for value in out]


@needs_compiler
@pytest.mark.parametrize("flag", by_default(BREAKING, 2))
def test_flags_that_break_the_arithmetic_are_undone_or_refused(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = find_toolchain()
    assert plain is not None
    monkeypatch.setenv("AUTOGRAD_ENGINE_CFLAGS", flag)
    monkeypatch.setattr(toolchain, "_CANDIDATES", ("cc",))
    found = find_toolchain()
    if found is None:
        assert "no C compiler that works" in why_not()
    else:
        (tmp_path / "plain").mkdir()
        assert probed(found, tmp_path) == probed(plain, tmp_path / "plain")
    assert 5e-324 * 1.0 != 0.0, "this thread flushes to zero"


@needs_compiler
def test_the_trial_finds_what_the_flags_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without anything that undoes them, by the arithmetic alone."""
    monkeypatch.setattr(toolchain, "_STRICT", ())
    monkeypatch.setattr(toolchain, "_CARELESS", frozenset())
    monkeypatch.setattr(toolchain, "_CANDIDATES", ("cc",))
    monkeypatch.setenv("AUTOGRAD_ENGINE_CFLAGS", "-ffast-math")
    assert find_toolchain() is None
    assert "what it makes gives" in why_not()
    assert 5e-324 * 1.0 != 0.0, "this thread flushes to zero"


@needs_compiler
def test_a_library_that_crashes_does_so_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = tmp_path / "crash.h"
    crash.write_text(
        "#include <stdlib.h>\n__attribute__((constructor)) static void end(void) { abort(); }\n"
    )
    monkeypatch.setenv("AUTOGRAD_ENGINE_CFLAGS", f"-include {crash}")
    monkeypatch.setattr(toolchain, "_CANDIDATES", ("cc",))
    assert find_toolchain() is None
    assert "crashes here (signal 6)" in why_not()
