"""The cache where other users can reach it: nothing of theirs is ever run."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograd_engine.compiler.native.toolchain import (
    cache_directory as directories,
    compiler as toolchain,
    library_cache,
    loading,
    private_files,
)
from autograd_engine.compiler.native.toolchain.cache_directory import (
    CacheDirectory,
    cache_directory,
)
from autograd_engine.compiler.native.toolchain.compiler import Toolchain
from autograd_engine.compiler.native.toolchain.private_files import (
    NotPrivate,
    opened,
    private_folder,
)

ROOT = Path(__file__).parents[2]
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")


# --- folders


def test_what_is_missing_is_made_for_this_user_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        made = private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(old)
    assert made == tmp_path / "a" / "b"
    assert {p.stat().st_mode & 0o777 for p in (made, made.parent)} == {0o700}


@pytest.mark.parametrize("depth", range(3))
def test_a_folder_above_that_others_can_write_to(tmp_path: Path, depth: int) -> None:
    deep = tmp_path / "0" / "1" / "2"
    deep.mkdir(parents=True)
    open_one = [tmp_path / "0", tmp_path / "0" / "1", deep][depth]
    open_one.chmod(0o777)
    with pytest.raises(NotPrivate, match=f"{open_one} can be written to by others"):
        private_folder(deep / "cache")
    assert not (deep / "cache").exists()
    open_one.chmod(0o1777)  # as /tmp: who does not own an entry cannot rename it
    assert private_folder(deep / "cache") == deep / "cache"


@as_root
@pytest.mark.parametrize("depth", range(3))
def test_a_folder_above_that_another_user_owns(tmp_path: Path, depth: int) -> None:
    """He may rename what is in it, also where it is sticky."""
    deep = tmp_path / "0" / "1" / "2"
    deep.mkdir(parents=True)
    theirs = [tmp_path / "0", tmp_path / "0" / "1", deep][depth]
    os.chown(theirs, NOBODY, NOBODY)
    for mode in (0o700, 0o755, 0o1777):
        theirs.chmod(mode)
        with pytest.raises(NotPrivate, match=rf"{theirs} belongs to another user \({NOBODY}\)"):
            private_folder(deep / "cache")


def test_a_group_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many systems give each user a group, and let folders be written to by it."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(0o775)
    own, own_group = private_files._own_group, True
    monkeypatch.setattr(private_files, "_own_group", lambda gid: own_group)
    assert private_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    own_group = False
    with pytest.raises(NotPrivate, match="written to by others"):
        private_folder(tmp_path / "a" / "b")
    assert own(0)
    assert not own(2**31 - 7)  # that nobody has


def test_links_on_the_way_are_followed_and_looked_at(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "one").symlink_to(tmp_path / "real")
    (tmp_path / "two").symlink_to("one/deep")
    (tmp_path / "real" / "up").symlink_to("../real/deep/..")
    real = tmp_path / "real" / "deep"
    assert private_folder(tmp_path / "one" / "deep" / "x") == real / "x"
    assert private_folder(tmp_path / "two" / ".." / "deep" / "y") == real / "y"
    assert private_folder(tmp_path / "one" / "up" / "deep") == real
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="links"):
        private_folder(tmp_path / "circle" / "x")
    (tmp_path / "real").chmod(0o777)  # behind the link
    with pytest.raises(NotPrivate, match=f"{tmp_path}/real can be written to"):
        private_folder(tmp_path / "two")


@as_root
def test_a_link_of_another_user(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    os.chown(tmp_path / "link", NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(NotPrivate, match="link belongs to another user"):
        private_folder(tmp_path / "link" / "cache")


@pytest.mark.parametrize("variable", ["AUTOGRAD_ENGINE_CACHE", "XDG_CACHE_HOME", "HOME"])
def test_a_refused_place_is_named_once(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AUTOGRAD_ENGINE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv(variable, str(shared / "mine"))
    with pytest.warns(RuntimeWarning) as said:
        found = cache_directory()
    assert cache_directory() == found
    [warning] = said
    assert f"{shared} can be written to by others" in str(warning.message)
    assert "AUTOGRAD_ENGINE_CACHE name a folder" in str(warning.message)
    assert warning.filename == __file__
    assert not list(shared.iterdir())
    assert found.why_temporary
    assert found.path.stat().st_mode & 0o777 == 0o700
    assert tmp_path not in found.path.parents


def test_a_refused_place_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(directories, "_temporary", {})
    monkeypatch.setattr(directories.tempfile, "tempdir", str(shared))
    with contextlib.suppress(OSError):  # where /tmp is as bad
        assert shared not in directories.temporary("a test").path.parents
    monkeypatch.setattr(directories, "_temporary", {})
    monkeypatch.setattr(directories, "_TEMPORARY", ())
    with pytest.raises(OSError, match=r"no place for temporary files: .*written to by others"):
        directories.temporary("a test")
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(shared))
    monkeypatch.setattr(toolchain, "_found", {})
    with pytest.warns(RuntimeWarning, match="written to by others"):
        assert toolchain.find_toolchain() is None
    assert "no place for temporary files" in toolchain.why_not()


# --- files


def test_a_file_is_opened_once(tmp_path: Path) -> None:
    """What is read is what was checked, whatever has become of the path."""
    path = tmp_path / "file"
    path.write_bytes(b"mine")
    path.chmod(0o600)
    with opened(path) as descriptor:
        path.unlink()
        path.write_bytes(b"theirs")
        assert private_files.contents(descriptor) == b"mine"
    path.chmod(0o666)
    with pytest.raises(NotPrivate, match="written to by others"), opened(path):
        pass
    with opened(path, shut=True):
        assert path.stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError), opened(tmp_path / "link"):  # noqa: PT011
        pass
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(NotPrivate, match="no file"), opened(tmp_path / "pipe"):
        pass


# --- libraries


with_compiler = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")),
    reason="no C compiler on PATH",
)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("AUTOGRAD_ENGINE_NATIVE", raising=False)
        found = toolchain.find_toolchain()
    assert found is not None, toolchain.why_not()
    return found


def built(tools: Toolchain, folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "source.c").write_text(text)
    toolchain.run(tools.library_command(folder / "source.c", folder / "library.so"))
    (folder / "library.so").chmod(0o700)
    return folder / "library.so"


def gives(number: int) -> str:
    return f"int answer(void);\nint answer(void) {{ return {number}; }}\n"


@with_compiler
@pytest.mark.parametrize("copies", [False, True])
def test_the_open_file_is_loaded(
    copies: bool, tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where descriptors, and so their names, are used again."""
    if copies:
        monkeypatch.setattr(loading, "_OPEN_FILES", "/nowhere")
    paths = [built(tools, tmp_path / str(k), gives(k)) for k in range(9)]
    numbers = set()
    for k, path in enumerate(paths):
        with opened(path) as descriptor:
            numbers.add(descriptor)
            path.rename(path.with_name("moved"))
            shutil.copyfile(paths[0].with_name("moved"), path)
            assert loading.load_opened(descriptor, tmp_path).answer() == k
    assert len(numbers) < 9
    assert not list(tmp_path.glob("tmp-*"))


@with_compiler
def test_files_between_compiler_and_linker_are_private(
    tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    script = tmp_path / "cc"
    script.write_text(f'#!/bin/sh\necho "$TMPDIR" >> {log}\nexec {tools.command[0]} "$@"\n')
    script.chmod(0o700)
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", "/somewhere/else")
    logged = Toolchain((str(script),), tools.version, tools.flags, tools.cpu)
    assert library_cache.load([gives(1), "int other;\n"], logged).answer() == 1
    places = {Path(line).parent for line in log.read_text().splitlines()}
    assert places == {tmp_path / "cache" / "native"}


# --- an attack


ATTACK = """
    import contextlib, ctypes, os, sys
    os.chdir(sys.argv[2])
    if sys.argv[1] != "-":
        os.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
    here, exchange = -100, 2
    rename = getattr(ctypes.CDLL(None), "renameat2", lambda *_: -1)
    print("ready", flush=True)
    while True:
        if rename(here, b"cache", here, b"theirs", exchange) != 0:  # not on every file system
            for old, new in ("cache", "aside"), ("theirs", "cache"), ("aside", "theirs"):
                with contextlib.suppress(OSError):
                    os.rename(old, new)
"""


@contextlib.contextmanager
def attacked(folder: Path, user: int | None) -> Iterator[None]:
    """While another process exchanges ``cache`` and ``theirs`` in a folder, all the time."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", textwrap.dedent(ATTACK), str(user or "-"), str(folder)],
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield
        assert process.poll() is None  # it has gone on until now
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def hostile(tools: Toolchain, tmp_path: Path, marker: Path) -> Path:
    """A library whose constructor leaves a file."""
    text = f"""
        #include <fcntl.h>
        int answer(void);
        int answer(void) {{ return 666; }}
        __attribute__((constructor)) static void run(void);
        static void run(void) {{ open("{marker}", O_CREAT | O_WRONLY, 0600); }}
    """
    return built(tools, tmp_path / "hostile", text)


def rounds(thorough: bool, few: int) -> Iterator[int]:
    """Numbers: few, or for ten seconds."""
    end = time.monotonic() + 10
    return itertools.takewhile(
        lambda k: time.monotonic() < end if thorough else k < few, itertools.count()
    )


@with_compiler
@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_exchanged_folders_run_nothing_foreign(
    thorough: bool, tools: Toolchain, tmp_path: Path
) -> None:
    """Even where the place was not refused: entries of this user, exchanged while they are loaded.

    The attacker has the right names, owner and modes, and all seals; he has not the secret.
    """
    marker = tmp_path / "marker"
    evil = hostile(tools, tmp_path, marker)
    good = built(tools, tmp_path / "good", gives(5))
    ours, theirs = (CacheDirectory.at(tmp_path / name) for name in ("cache", "theirs"))
    names = [f"lib-{k}" for k in range(400)]
    for name in names:
        for directory, library in ((ours, good), (theirs, evil)):
            (directory.path / name).mkdir(mode=0o700)
            shutil.copy(library, directory.path / name / "library.so")
            seal = ours.seal(name, good.read_bytes())
            (directory.path / name / "seal").write_bytes(seal)
            (directory.path / name / "seal").chmod(0o600)
    loaded = 0
    with attacked(tmp_path, None):
        for k in rounds(thorough, len(names)):
            library = library_cache._open(ours, names[k % len(names)])
            if library is not None:
                loaded += 1
                assert library.answer() == 5
    assert loaded
    assert not marker.exists()
    with opened(evil) as descriptor:  # it does leave one
        loading.load_opened(descriptor, tmp_path)
    assert marker.exists()


@as_root
@with_compiler
@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_a_cache_in_a_folder_of_another_user(
    thorough: bool, tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """He exchanges it while root compiles and loads: root keeps what it makes elsewhere."""
    marker, source = tmp_path / "marker", gives(5)
    evil = hostile(tools, tmp_path, marker)
    home = tmp_path / "home"
    (home / "cache" / "native").mkdir(parents=True)
    name = library_cache._entry_name([source], tools)
    (home / "theirs" / "native" / name).mkdir(parents=True)
    shutil.copy(evil, home / "theirs" / "native" / name / "library.so")
    for path in (home, *home.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    os.chown(home / "cache" / "native", 0, 0)
    monkeypatch.setenv("AUTOGRAD_ENGINE_CACHE", str(home / "cache"))
    with attacked(home, NOBODY), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in rounds(thorough, 40):
            directories._at.cache_clear()
            library_cache._loaded.clear()
            assert library_cache.load(source, tools).answer() == 5
    assert all("belongs to another user" in str(w.message) for w in said)
    assert said
    assert not marker.exists()
