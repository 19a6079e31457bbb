"""Libraries on disk: made once, refused where anybody else could have made them."""

import contextlib
import ctypes
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from autograd_engine.compiler.native.toolchain import (
    cache_directory as directories,
    compiler as toolchain,
    library_cache,
)
from autograd_engine.compiler.native.toolchain.cache_directory import (
    CacheDirectory,
    cache_directory,
)
from autograd_engine.compiler.native.toolchain.compiler import CompileError, Toolchain
from autograd_engine.compiler.native.toolchain.library_cache import load, trim
from autograd_engine.compiler.native.toolchain.private_files import NotPrivate

pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")),
    reason="no C compiler on PATH",
)
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("AUTOGRAD_ENGINE_NATIVE", raising=False)
        found = toolchain.find_toolchain()
    assert found is not None, toolchain.why_not()
    return found


@pytest.fixture
def tools(found: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """A compiler, and an empty cache."""
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("AUTOGRAD_ENGINE_NATIVE", raising=False)
    monkeypatch.setattr(library_cache, "_loaded", {})
    return found


@pytest.fixture
def counted(tools: Toolchain, tmp_path: Path) -> tuple[Toolchain, Path]:
    """A compiler that writes a line for each of its runs."""
    log = tmp_path / "runs"
    log.write_text("")
    script = tmp_path / "counting"
    script.write_text(f'#!/bin/sh\necho run >> {log}\nexec {tools.command[0]} "$@"\n')
    script.chmod(0o700)
    return Toolchain((str(script),), tools.version, tools.flags, tools.cpu), log


def gives(number: int) -> str:
    return f"int answer(void);\nint answer(void) {{ return {number}; }}\n"


def entry_path(source: str | list[str], tools: Toolchain) -> Path:
    """Where `load` keeps the sources and the library."""
    units = [source] if isinstance(source, str) else source
    return cache_directory().path / library_cache._entry_name(units, tools)


def new_process() -> None:
    """Forget what this process has loaded, as a new one would."""
    library_cache._loaded.clear()


def runs(log: Path) -> int:
    return len(log.read_text().splitlines())


def test_a_library_is_compiled_once(counted: tuple[Toolchain, Path]) -> None:
    tools, log = counted
    first = load(gives(7), tools)
    assert first.answer() == 7
    assert load(gives(7), tools) is first
    new_process()
    assert load(gives(7), tools).answer() == 7
    assert runs(log) == 1
    assert load(gives(8), tools).answer() == 8
    assert runs(log) == 2


def test_other_flags_are_another_library(tools: Toolchain) -> None:
    source = "int answer(void);\nint answer(void) { return GIVEN; }\n"
    assert load(source, tools.with_flags("-DGIVEN=1")).answer() == 1
    assert load(source, tools.with_flags("-DGIVEN=2")).answer() == 2


def test_the_source_lies_beside_the_library(tools: Toolchain) -> None:
    load(gives(9), tools)
    assert (entry_path(gives(9), tools) / "source.c").read_text() == gives(9)


def test_several_units_become_one_library(tools: Toolchain) -> None:
    units = [
        "int part(void);\nint answer(void);\nint answer(void) { return part() + 1; }\n",
        "int part(void);\nint part(void) { return 41; }\n",
    ]
    assert load(units, tools).answer() == 42
    names = {path.name for path in entry_path(units, tools).iterdir()}
    assert names == {"source_0.c", "source_1.c", "library.so", "seal"}


def test_a_refused_source_leaves_nothing(tools: Toolchain) -> None:
    with pytest.raises(CompileError) as caught:
        load("int f(void) { return no_such_name; }\n", tools)
    assert "no_such_name" in caught.value.text
    with pytest.raises(CompileError, match="no_such_name"):
        load([gives(1), "int f(void) { return no_such_name; }\n"], tools)
    left = [path.name for path in cache_directory().path.iterdir()]
    assert not [name for name in left if name.startswith(("tmp-", "lib-"))]


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "no seal", "old seal"])
def test_a_damaged_entry_is_made_again(counted: tuple[Toolchain, Path], damage: str) -> None:
    tools, log = counted
    load(gives(5), tools)
    entry = entry_path(gives(5), tools)
    library, seal = entry / "library.so", entry / "seal"
    data = library.read_bytes()
    library.unlink()  # never written in place: this process has it mapped
    if damage == "cut":
        library.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        library.write_bytes(b"")
    elif damage == "changed":
        library.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    else:
        library.write_bytes(data)
        seal.unlink()
        if damage == "old seal":
            load(gives(6), tools)
            seal.write_bytes((entry_path(gives(6), tools) / "seal").read_bytes())
    new_process()
    before = runs(log)
    assert load(gives(5), tools).answer() == 5
    assert runs(log) == before + 1
    new_process()
    assert load(gives(5), tools).answer() == 5
    assert runs(log) == before + 1


def test_a_foreign_library_is_never_loaded(counted: tuple[Toolchain, Path], tmp_path: Path) -> None:
    """A whole entry of another directory (with another secret) under the right name."""
    tools, log = counted
    foreign = CacheDirectory.at(tmp_path / "foreign")
    name = entry_path(gives(5), tools).name
    library_cache._make(foreign, name, [gives(666)], tools, "")
    assert library_cache._open(foreign, name).answer() == 666
    shutil.copytree(foreign.path / name, entry_path(gives(5), tools))
    before = runs(log)
    assert load(gives(5), tools).answer() == 5
    assert runs(log) == before + 1


@pytest.mark.parametrize("which", ["library.so", "seal"])
def test_a_file_that_others_can_write_to_is_not_loaded(
    counted: tuple[Toolchain, Path], which: str
) -> None:
    tools, log = counted
    load(gives(5), tools)
    (entry_path(gives(5), tools) / which).chmod(0o770)
    new_process()
    assert load(gives(5), tools).answer() == 5
    assert runs(log) == 2


def test_a_link_is_not_followed(counted: tuple[Toolchain, Path], tmp_path: Path) -> None:
    tools, log = counted
    load(gives(5), tools)
    entry = entry_path(gives(5), tools)
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    new_process()
    assert load(gives(5), tools).answer() == 5
    assert runs(log) == 2
    assert not entry.is_symlink()
    library = entry / "library.so"
    library.rename(tmp_path / "library.so")
    library.symlink_to(tmp_path / "library.so")
    new_process()
    assert load(gives(5), tools).answer() == 5
    assert runs(log) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_not_loaded(counted: tuple[Toolchain, Path]) -> None:
    tools, log = counted
    load(gives(5), tools)
    os.chown(entry_path(gives(5), tools) / "library.so", 65534, 65534)
    new_process()
    assert load(gives(5), tools).answer() == 5
    assert runs(log) == 2


def test_a_new_secret_makes_all_entries_worthless(counted: tuple[Toolchain, Path]) -> None:
    tools, log = counted
    load(gives(5), tools)
    (cache_directory().path / "secret").write_bytes(b"x" * 31)
    directories._at.cache_clear()
    new_process()
    assert load(gives(5), tools).answer() == 5
    assert runs(log) == 2
    secret = cache_directory().path / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert len(secret.read_bytes()) == 32


def test_the_directory_is_private(tools: Toolchain) -> None:
    load(gives(5), tools)
    place = cache_directory().path
    assert place.stat().st_mode & 0o777 == 0o700
    assert entry_path(gives(5), tools).stat().st_mode & 0o077 == 0


def test_a_directory_that_others_can_read_is_closed(tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o755)
    CacheDirectory.at(place)
    assert place.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_others_can_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "shared" / "native"
    place.mkdir(parents=True)
    place.chmod(0o777)
    with pytest.raises(NotPrivate, match="written to by others"):
        CacheDirectory.at(place)
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(place.parent))
    with pytest.warns(RuntimeWarning, match="written to by others.*AUTOGRAD_ENGINE_CACHE"):
        instead = cache_directory()
    assert tmp_path not in instead.path.parents
    assert "written to by others" in instead.why_temporary
    assert instead.path.stat().st_mode & 0o777 == 0o700


def test_the_reason_is_that_of_the_place_that_is_asked_for_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "native").mkdir()
    (tmp_path / "open" / "native").chmod(0o777)
    paths = []
    for place, reason in (
        ("file", "File exists|Not a directory"),
        ("open", "written to by others"),
    ):
        monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path / place))
        refused = pytest.warns(RuntimeWarning) if place == "open" else contextlib.nullcontext()
        with refused:
            found = cache_directory()
        assert re.search(reason, found.why_temporary)
        paths.append(found.path)
    assert paths[0] == paths[1]


def test_a_linked_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(NotPrivate, match="link"):
        CacheDirectory.at(tmp_path / "link")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir(mode=0o700)
    os.chown(tmp_path / "theirs", 65534, 65534)
    with pytest.raises(NotPrivate, match="another user"):
        CacheDirectory.at(tmp_path / "theirs")


def test_a_place_that_cannot_be_written_to_is_replaced(
    tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path / "file"))
    assert load(gives(11), tools).answer() == 11
    assert cache_directory().why_temporary


def test_where_the_directory_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOGRAD_ENGINE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory().path == tmp_path / "xdg" / "autograd_engine" / "native"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory().path == tmp_path / "home" / ".cache" / "autograd_engine" / "native"


def test_the_least_used_go_first(tools: Toolchain) -> None:
    for number in (1, 2, 3):
        load(gives(number), tools)
        os.utime(entry_path(gives(number), tools), (number, number))
    new_process()
    load(gives(1), tools)  # used last now
    one = library_cache._size(str(entry_path(gives(1), tools)))
    trim(cache_directory(), limit=2 * one + one // 2)
    there = [number for number in (1, 2, 3) if entry_path(gives(number), tools).exists()]
    assert there == [1, 3]
    trim(cache_directory(), keep=entry_path(gives(3), tools).name, limit=0)
    there = [number for number in (1, 2, 3) if entry_path(gives(number), tools).exists()]
    assert there == [3]


def test_the_limit_is_a_setting(tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    load(gives(1), tools)
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE_MB", "0.0001")
    assert load(gives(2), tools).answer() == 2
    assert not entry_path(gives(1), tools).exists()
    assert entry_path(gives(2), tools).exists()
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE_MB", "plenty")
    load(gives(3), tools)
    assert entry_path(gives(2), tools).exists()


def test_what_was_abandoned_is_removed(tools: Toolchain) -> None:
    place = cache_directory().path
    old, new = place / "tmp-old", place / "tmp-new"
    for path in (old, new):
        path.mkdir()
        (path / "source.c").write_text("")
    os.utime(old, (1, 1))
    load(gives(1), tools)
    assert not old.exists()
    assert new.exists()


def test_threads_that_ask_for_the_same_compile_once(counted: tuple[Toolchain, Path]) -> None:
    tools, log = counted
    found: list[ctypes.CDLL] = []
    threads = [
        threading.Thread(target=lambda: found.append(load(gives(4), tools))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 4
    assert len({id(library) for library in found}) == 1
    assert runs(log) == 1


CHILD = """
    import sys, time
    from autograd_engine.compiler.native.toolchain import library_cache
    from autograd_engine.compiler.native.toolchain import compiler as toolchain
    tools = toolchain.find_toolchain()
    assert tools is not None, toolchain.why_not()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(3):
        source = f"int answer(void);\\nint answer(void) {{ return {number}; }}\\n"
        assert library_cache.load(source, tools).answer() == number
    print("done", flush=True)
"""


def test_processes_race_for_one_entry(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "AUTOGRAD_ENGINE_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(CHILD)]
    children = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )
        for _ in range(2)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    outputs = [child.communicate("go\n", timeout=60)[0] for child in children]
    assert outputs == ["done\n", "done\n"]
    assert [child.returncode for child in children] == [0, 0]
    place = tmp_path / "cache" / "native"
    assert len(list(place.glob("lib-*"))) == 3
    assert not list(place.glob("tmp-*"))


def test_an_interrupted_compile_leaves_nothing_broken(
    counted: tuple[Toolchain, Path], tmp_path: Path
) -> None:
    tools, _ = counted
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o700)
    source = gives(12)
    waiting = Toolchain((str(slow),), tools.version, tools.flags, tools.cpu)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        load([source, source], waiting)
    assert time.monotonic() - start < 20
    assert not [p for p in cache_directory().path.iterdir() if p.name.startswith(("tmp-", "lib-"))]
    assert load(source, tools).answer() == 12


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "setting", "lines"),
    [(Terminal, "", 1), (io.StringIO, "", 0), (io.StringIO, "1", 1), (Terminal, "0", 0)],
)
def test_one_line_when_it_takes_long(
    tools: Toolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: type[io.StringIO],
    setting: str,
    lines: int,
) -> None:
    monkeypatch.setattr(library_cache, "_PATIENCE", 0.05)
    monkeypatch.setenv("AUTOGRAD_ENGINE_PROGRESS", setting)
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\nsleep 0.2\nexec {tools.command[0]} "$@"\n')
    slow.chmod(0o700)
    said = stream()
    monkeypatch.setattr(sys, "stderr", said)
    load(
        [gives(1), "int other;\n"],
        Toolchain((str(slow),), tools.version, tools.flags, tools.cpu),
        "the program of a test",
    )
    assert said.getvalue().count("\n") == lines
    assert ("compiling the program of a test" in said.getvalue()) == bool(lines)


def test_a_full_disk_does_not_stop_it(tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = cache_directory().path
    whole = directories.write_whole

    def full(path: Path, data: bytes) -> None:
        if kept in path.parents:
            raise OSError(28, "No space left on device")
        whole(path, data)

    monkeypatch.setattr(library_cache, "write_whole", full)
    assert load(gives(13), tools).answer() == 13
    assert not list(kept.glob("lib-*"))


def test_a_compiler_that_went_away(tools: Toolchain, tmp_path: Path) -> None:
    gone = Toolchain((str(tmp_path / "gone"),), tools.version, tools.flags, tools.cpu)
    with pytest.raises(CompileError, match="cannot be run"):
        load(gives(1), gone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_does_not_wait_for_a_lock_of_its_parent(tools: Toolchain, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\nsleep 1\nexec {tools.command[0]} "$@"\n')
    slow.chmod(0o700)
    waiting = Toolchain((str(slow),), tools.version, tools.flags, tools.cpu)
    thread = threading.Thread(target=load, args=(gives(3), waiting))
    thread.start()
    time.sleep(0.2)  # the thread holds the lock of the entry
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(load(gives(3), waiting).answer())
    _, status = os.waitpid(child, 0)
    thread.join(30)
    assert os.waitstatus_to_exitcode(status) == 3
