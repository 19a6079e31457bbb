"""A checkpoint that is not written to its end leaves the one before it as it was."""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.program.files import archive as serialize_archive


def state(value: float, size: int = 10**5) -> dict[str, Any]:
    return {
        "model": {"w": np.full(size, value), "b": paddle.full([size], value)},
        "epoch": value,
    }


def check(path: Path, value: float) -> None:
    found = paddle.load(path, return_numpy=True)
    assert found["epoch"] == value
    assert (found["model"]["w"] == value).all()
    assert (found["model"]["b"] == value).all()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_writer_that_raises_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "last.pd"
    paddle.save(state(1.0), path)
    parts = serialize_archive.array_parts
    for failing in (ValueError("in the middle"), KeyboardInterrupt(), MemoryError()):

        def broken(array: Any, failing: BaseException = failing) -> Any:
            length, pieces = parts(array)

            def some() -> Any:
                yield next(pieces)
                yield b"half of it"
                raise failing

            return length, some()

        with monkeypatch.context() as patch:
            patch.setattr(serialize_archive, "array_parts", broken)
            with pytest.raises(type(failing)):
                paddle.save(state(2.0), path)
        check(path, 1.0)
    paddle.save(state(2.0), path)
    check(path, 2.0)


class Full:
    """A file on a disk that takes `room` bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, data: Any) -> int:
        self.room -= memoryview(data).nbytes
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)  # type: ignore[no-any-return]

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *error: Any) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 10, 3000, 900_000, 1_100_000, 1_200_500])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    path = tmp_path / "last.pd"
    paddle.save(state(1.0), path)
    assert path.stat().st_size > room
    real = builtins.open

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        made = real(file, mode, *args, **kwargs)
        return Full(made, room) if mode == "wb" else made

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", opened)
        with pytest.raises(OSError, match="No space left on device"):
            paddle.save(state(2.0), path)
    check(path, 1.0)


LIMITED = """
import resource, signal, sys
import numpy as np
import autograd_engine as paddle
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
try:
    paddle.save({"w": np.zeros(10**6)}, sys.argv[1])
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs limits of the system")
@pytest.mark.parametrize("name", ["last.pd", "last.safetensors"])
def test_a_limit_of_the_system(tmp_path: Path, name: str) -> None:
    if name.endswith("safetensors"):
        pytest.importorskip("safetensors")
    path = tmp_path / name
    paddle.save({"w": np.ones(3)}, path)
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=60
    )
    assert run.stdout.startswith("OSError "), run.stderr
    assert os.strerror(errno.EFBIG) in run.stdout
    assert paddle.load(path)["w"].tolist() == [1, 1, 1]
    assert len(list(tmp_path.iterdir())) == 1


def test_an_error_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "last.pd"
    paddle.save(state(1.0), path)
    with pytest.raises(ValueError, match="is a object"):
        paddle.save({**state(2.0), "last": object()}, path)
    check(path, 1.0)


SAVING = """
import itertools, sys
import numpy as np
import autograd_engine as paddle
for n in itertools.count(1):
    value = float(n)
    state = {"model": {"w": np.full(10**5, value), "b": paddle.full([10**5], value)}}
    paddle.save({**state, "epoch": value}, sys.argv[1])
    print(n, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_while_it_saves(tmp_path: Path) -> None:
    """Whenever a process dies, the file is that of one save, and loads."""
    path = tmp_path / "last.pd"
    for k in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SAVING), str(path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        saved = [int(child.stdout.readline())]
        time.sleep(0.002 + 0.0057 * k)
        child.kill()
        child.wait()
        saved += [int(line) for line in child.stdout if line.endswith("\n")]
        child.stdout.close()
        found = paddle.load(path, return_numpy=True)
        value = found["epoch"]
        assert value in (saved[-1], saved[-1] + 1)  # it may have died before it could say so
        assert (found["model"]["w"] == value).all()
        assert (found["model"]["b"] == value).all()
        for other in tmp_path.iterdir():  # what a process that was killed could not take away
            if other != path:
                assert other.name.startswith(".last.pd-")
                other.unlink()


def test_large_arrays_are_not_copied(tmp_path: Path) -> None:
    import tracemalloc

    w = np.zeros(2 * 10**6)
    state = {"w": w, "columns": w.reshape(1000, 2000).T, "t": paddle.Tensor._wrap(w)}
    tracemalloc.start()
    try:
        paddle.save(state, tmp_path / "f")
        saving = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        paddle.load(tmp_path / "f")
        loading = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert saving < w.nbytes / 4
    assert loading < 3.3 * w.nbytes


def test_files_of_more_than_4_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have sizes of 64 bits, which zipfile uses from a limit on: here from 1000 bytes."""
    large = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(zipfile, "ZIP64_LIMIT", 1000)
        paddle.save(state(3.0), large)
    assert b"PK\x06\x06" in large.getvalue()  # the end of an archive in the larger format
    large.seek(0)
    assert (paddle.load(large)["model"]["w"] == 3.0).all()
    with pytest.raises(ValueError, match="is damaged"):
        paddle.load(io.BytesIO(large.getvalue()[:-1]))
