"""A save that does not come to its end leaves the files as they were."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograd_engine import static
from autograd_engine.core.atomic_file import write_all, write_atomically
from autograd_engine.errors import FileFormatError


def fill(value: float) -> static.Program:
    """A program whose variables are all `value`, in the global scope."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        static.create_parameter([50], "float32", name="w")
        static.create_global_var([50], 0.0, "float32", persistable=True, name="v")
    for name in ("w", "v"):
        static.global_scope().var(name).value = np.full(50, value, "float32")
    return main


def contents(directory: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in directory.iterdir()}


class Fails:
    """Lets a function of the system fail at its n-th call."""

    def __init__(self, function: Any, at: int) -> None:
        self.function = function
        self.left = at

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.left == 0:
            self.left -= 1
            raise OSError("the disk is full")
        self.left -= 1
        return self.function(*args, **kwargs)


@pytest.mark.parametrize("step", ["open", "fsync", "replace", "link", "chmod"])
@pytest.mark.parametrize("existing", [False, True])
def test_an_error_at_any_step_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, existing: bool
) -> None:
    with static.scope_guard(static.Scope()):
        if existing:
            static.save(fill(1.0), str(tmp_path / "m"))
        before, main = contents(tmp_path), fill(2.0)
        failures = 0
        for n in range(20):
            with monkeypatch.context() as patch:
                failing = Fails(getattr(os, step), n)
                patch.setattr(os, step, failing)
                failed = False
                try:
                    static.save(main, str(tmp_path / "m"))
                except OSError:
                    failed = True
            if failed:
                assert contents(tmp_path) == before
                failures += 1
                continue
            if failing.left >= 0:
                break  # it is called no more often than that
            before = contents(tmp_path)  # a step that can be done in another way
        # Without old files none is kept, and none has permissions to go on with.
        assert failures or step == "link" or not existing
        assert (static.load_program_state(str(tmp_path / "m"))["w"] == 2.0).all()
        assert len(contents(tmp_path)) == 3


def test_an_error_while_a_later_file_is_written(tmp_path: Path) -> None:
    def broken(file: Any) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_all({first: b"new", second: broken})
    assert contents(tmp_path) == {"first": b"old"}


def test_a_file_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old files are copied where the file system cannot link them."""

    def no_link(*_: Any) -> None:
        raise OSError("no links here")

    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"old")
    monkeypatch.setattr(os, "link", no_link)
    failing = Fails(os.replace, 1)
    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="the disk is full"):
        write_all({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert contents(tmp_path) == {"a": b"old", "b": b"old"}
    write_all({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert contents(tmp_path) == {"a": b"new", "b": b"new"}


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_new_files_have_the_permissions_of_any(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "atomic", b"")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_directories_that_are_not_there_or_are_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        write_atomically(tmp_path / "no" / "file", b"")
    (tmp_path / "dir").mkdir()
    with pytest.raises(IsADirectoryError, match="give the name of a file"):
        write_atomically(tmp_path / "dir", b"")
    assert [p.name for p in tmp_path.iterdir()] == ["dir"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_in_the_middle(tmp_path: Path) -> None:
    """Whenever a process dies, what it leaves is one save or another, never a part of one."""
    code = f"""
    import itertools
    import numpy as np
    from autograd_engine import static
    main = static.Program()
    with static.program_guard(main, static.Program()):
        static.create_parameter([5000], "float32", name="w")
        static.create_global_var([5000], 0.0, "float32", persistable=True, name="v")
    for n in itertools.count():
        for name in ("w", "v"):
            static.global_scope().var(name).value = np.full(5000, n, "float32")
        static.save(main, {str(tmp_path / "m")!r})
        if not n:
            print("first", flush=True)
    """
    mixed = 0
    for k in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "first\n"
        time.sleep(0.003 + 0.0071 * k)
        child.kill()
        child.wait()
        child.stdout.close()
        program = static.Program.parse_from_string((tmp_path / "m.pdmodel").read_bytes())
        with static.scope_guard(static.Scope()):
            try:
                static.load(program, str(tmp_path / "m"))
            except FileFormatError:  # it died between two of its three renamings
                mixed += 1
                continue
            w, v = (static.global_scope().find_var(n).value for n in ("w", "v"))
        assert (w == w[0]).all()
        assert (v == w[0]).all()
    assert mixed < 5
