"""No worker outlives its use, however that ends."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.io.data import Hanging, Rows
from tests.io.test_workers import loader

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

# Prints the processes of its workers, and then does what is in the place of BODY.
PROGRAM = """
import os, signal, sys, time
import numpy as np
import autograd_engine as paddle

class Data(paddle.io.Dataset):
    def __getitem__(self, index):
        if index > 20 and SLOW:
            time.sleep(60)
        return np.full((64, 64), index, "float32")

    def __len__(self):
        return 1000

def main():
    loader = paddle.io.DataLoader(
        Data(), batch_size=2, num_workers=2, multiprocessing_context=METHOD, persistent_workers=STAY
    )
    iterator = iter(loader)
    next(iterator)
    print(*(worker.process.pid for worker in iterator._pool.workers), flush=True)
    BODY

if __name__ == "__main__":
    main()
"""


def gone(pid: int) -> bool:
    """Whether the process has ended; one that nobody has asked for its exit code has, too."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return status.rpartition(")")[2].split()[0] in "ZX"


def all_gone(pids: list[int], seconds: float = 15) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if all(gone(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


class Program:
    """A script that runs beside the test, in a process group of its own."""

    def __init__(
        self, body: str, *, slow: bool = False, stay: bool = False, method: str = "fork"
    ) -> None:
        text = PROGRAM.replace("BODY", body.replace("\n", "\n    ")).replace("SLOW", str(slow))
        text = text.replace("METHOD", repr(method)).replace("STAY", str(stay))
        script = Path(tempfile.mkdtemp(prefix="loader")) / "program.py"
        script.write_text(text)
        self._script = script
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        self.workers = [int(pid) for pid in line.split()]

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        shutil.rmtree(self._script.parent)

    def end(self) -> tuple[int, str, str]:
        """Wait for it: its exit code, and what else it has printed."""
        out, error = self.process.communicate(timeout=40)
        return self.process.returncode, out, error


SLEEPS = "print('sleeps', flush=True)\ntime.sleep(60)"
TRAINS = "for batch in iterator:\n    time.sleep(0.01)"


@LINUX
@pytest.mark.parametrize(
    ("to_group", "method", "slow"),
    [
        (True, "fork", False),
        (True, "fork", True),
        (False, "fork", True),
        (True, "spawn", False),
    ],
)
def test_ctrl_c_leaves_no_process(to_group: bool, method: str, slow: bool) -> None:
    with Program(TRAINS, slow=slow, method=method) as program:
        time.sleep(0.3)
        if to_group:
            os.killpg(program.process.pid, signal.SIGINT)
        else:
            program.process.send_signal(signal.SIGINT)
        code, _, error = program.end()
        assert code == -signal.SIGINT
        assert error.count("Traceback") == 1, "workers say nothing of it"
        assert error.rstrip().endswith("KeyboardInterrupt")
        assert all_gone(program.workers)


@LINUX
def test_a_program_that_catches_ctrl_c_goes_on() -> None:
    body = """
try:
    print('sleeps', flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    pass
print(len(list(iterator)))"""
    with Program(body) as program:
        assert program.process.stdout is not None
        assert program.process.stdout.readline() == "sleeps\n"
        os.killpg(program.process.pid, signal.SIGINT)
        assert program.end() == (0, "499\n", "")
        assert all_gone(program.workers)


@LINUX
@pytest.mark.parametrize(
    ("number", "slow", "method"),
    [
        (signal.SIGKILL, False, "fork"),
        (signal.SIGKILL, True, "fork"),
        (signal.SIGKILL, True, "spawn"),
        (signal.SIGTERM, True, "fork"),
    ],
)
def test_workers_end_with_their_parent(number: signal.Signals, slow: bool, method: str) -> None:
    with Program(SLEEPS, slow=slow, method=method) as program:
        program.process.send_signal(number)
        code, _, error = program.end()
        assert (code, error) == (-number, "")
        assert all_gone(program.workers)


@LINUX
def test_workers_end_with_their_parent_while_another_process_has_its_pipes() -> None:
    body = """
if os.fork() == 0:
    time.sleep(8)
    os._exit(0)
print('forked', flush=True)
time.sleep(60)"""
    with Program(body, slow=True) as program:
        assert program.process.stdout is not None
        assert program.process.stdout.readline() == "forked\n"
        program.process.kill()
        assert all_gone(program.workers, 6)
        os.killpg(program.process.pid, signal.SIGKILL)


@LINUX
@pytest.mark.parametrize(
    ("body", "code", "stay"),
    [
        ("sys.exit(3)", 3, False),
        ("sys.exit(3)", 3, True),
        ("del iterator", 0, False),
        ("del iterator", 0, True),
        ("os._exit(4)", 4, False),
    ],
)
def test_a_program_ends_with_an_iterator_left_halfway(body: str, code: int, stay: bool) -> None:
    with Program(body, stay=stay) as program:
        assert program.end() == (code, "", "")
        assert all_gone(program.workers)


@LINUX
def test_a_program_ends_though_a_worker_is_busy() -> None:
    with Program("for _ in range(9): next(iterator)", slow=True) as program:
        start = time.monotonic()
        assert program.end() == (0, "", "")
        assert time.monotonic() - start < 15
        assert all_gone(program.workers)


# --- in one process


def pids(iterator: Any) -> list[int]:
    return [worker.process.pid for worker in iterator._pool.workers]


@LINUX
def test_an_iterator_that_is_dropped_ends_its_workers() -> None:
    iterator = iter(loader(Rows(100)))
    workers = pids(iterator)
    next(iterator)
    del iterator
    gc.collect()
    assert all(gone(pid) for pid in workers)


@LINUX
def test_a_loop_that_is_left_ends_its_workers() -> None:
    made = iter(loader(Rows(100)))
    workers = pids(made)
    for _ in made:
        break
    del made
    assert all(gone(pid) for pid in workers)


@LINUX
def test_staying_workers_end_with_the_loader() -> None:
    made = loader(Rows(4), persistent_workers=True)
    list(made)
    assert made._pool is not None
    workers = [worker.process.pid for worker in made._pool.workers]
    assert not any(gone(pid) for pid in workers)
    del made
    gc.collect()
    assert all(gone(pid) for pid in workers)


@LINUX
def test_a_worker_that_is_busy_is_ended() -> None:
    iterator = iter(loader(Hanging()))
    workers = pids(iterator)
    next(iterator)
    start = time.monotonic()
    del iterator
    assert time.monotonic() - start < 10
    assert all(gone(pid) for pid in workers)


@LINUX
def test_nothing_is_left_over() -> None:
    def files() -> int:
        return len(os.listdir("/proc/self/fd"))

    def maps() -> int:
        return Path("/proc/self/maps").read_text().count("autograd_engine_io")

    list(loader(Rows(4)))
    shared, before, mapped = set(os.listdir("/dev/shm")), files(), maps()
    for stay in (False, True):
        for _ in range(3):
            made = loader(Rows(40), persistent_workers=stay)
            list(made)
            iterator = iter(made)
            next(iterator)
            del iterator, made
    gc.collect()
    assert (files(), maps()) == (before, mapped)
    assert set(os.listdir("/dev/shm")) <= shared
    assert not [t for t in threading.enumerate() if t.name == "tasks"]
