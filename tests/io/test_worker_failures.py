"""What goes wrong in a worker is told in the process of the program."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from autograd_engine import io
from autograd_engine.errors import ArgumentError, ShapeError, WorkerError, WorkerTimeoutError
from tests.io.data import Attributes, Failing, Hanging, Killed, Rows, Textless, Unpicklable
from tests.io.test_loader import values
from tests.io.test_workers import loader

# Samples 4 and 5 are the third batch: number 2, of worker 0.
PLACE = r"Raised in worker 0 \(process \d+\) of the DataLoader, batch 2, indices \[4, 5\]"


def taken(made: Any, error: Any, hint: str | None) -> tuple[BaseException, list[Any]]:
    """The exception of an iteration, and the labels that came before it."""
    labels: list[Any] = []

    def iterate() -> None:
        for _, y in made:
            labels.extend(y.tolist())

    with pytest.raises(error, match=hint) as caught:
        iterate()
    return caught.value, labels


@pytest.mark.parametrize(
    "error",
    [
        ValueError("the text"),
        KeyError("the text"),
        IndexError(),
        OSError("the text"),
        FileNotFoundError(2, "the text", "the/file"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "the text"),
        Attributes("the text", 7),
        ShapeError("the text"),
        ExceptionGroup("the text", [ValueError("one")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_exception_keeps_its_class_and_has_the_workers_traceback(error: Exception) -> None:
    found, labels = taken(loader(Failing(error)), type(error), None)
    told = str(found) + "".join(getattr(found, "__notes__", []))
    assert type(found) is type(error)
    for part in (str(error) or "IndexError", "Traceback", "__getitem__", "raise self.error"):
        assert part in told
    assert "\n\nRaised in worker 0 (process " in told
    assert "of the DataLoader, batch 2, indices [4, 5]. There:\n\n" in told
    assert labels == [0, 1, 2, 3], "what came before it is handed out"


def test_an_exception_keeps_its_attributes() -> None:
    found, _ = taken(loader(Failing(Attributes("the text", 7))), Attributes, PLACE)
    assert found.code == 7
    found, _ = taken(loader(Failing(FileNotFoundError(2, "no", "the/text"))), OSError, PLACE)
    assert (found.errno, found.filename) == (2, "the/text")


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (Unpicklable(), "Unpicklable: cannot travel"),
        (StopIteration(3), "StopIteration: 3"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_raised_here_is_a_runtime_error(error: BaseException, name: str) -> None:
    found, _ = taken(loader(Failing(error)), RuntimeError, PLACE)
    assert type(found) is RuntimeError
    assert str(found).splitlines()[0].endswith(name)


def test_an_exception_that_cannot_be_shown_is_told() -> None:
    found, _ = taken(loader(Failing(Textless())), Textless, None)
    (note,) = found.__notes__
    assert "Raised in worker 0" in note
    assert "raise self.error" in note


class _Nested(io.Dataset):
    """Each sample is made by a loader of its own."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __getitem__(self, index: int) -> Any:
        return next(iter(io.DataLoader([index], num_workers=self.workers))).numpy()

    def __len__(self) -> int:
        return 2


def test_a_worker_has_no_workers_of_its_own() -> None:
    assert [y.tolist() for y in loader(_Nested(0))] == [[[0], [1]]]
    with pytest.raises(WorkerError, match=r"worker process .* num_workers=0"):
        list(loader(_Nested(1)))


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    "data", [[1, 2, 3], io.TensorDataset([np.arange(3)])], ids=["list", "rows"]
)
def test_a_sampler_of_indices_is_no_batch_sampler(data: Any, workers: int) -> None:
    made = io.DataLoader(data, batch_sampler=io.SequenceSampler(data), num_workers=workers)
    with pytest.raises(ArgumentError, match=r"batch_sampler .* got 0: .*BatchSampler\(sampler="):
        list(made)


def test_an_exception_ends_the_iteration_and_its_workers() -> None:
    iterator = iter(loader(Failing(ValueError("the text"))))
    processes = [worker.process.pid for worker in iterator._pool.workers]
    with pytest.raises(ValueError, match=PLACE):
        list(iterator)
    with pytest.raises(StopIteration):
        next(iterator)
    assert not [pid for pid in processes if alive(pid)]


def alive(pid: Any) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_that_stay_are_started_anew_after_an_exception() -> None:
    made = loader(Failing(ValueError("the text")), persistent_workers=True)
    for _ in range(2):
        assert taken(made, ValueError, PLACE)[1] == [0, 1, 2, 3]


def test_an_exception_of_collate_fn() -> None:
    samples = [np.ones(0), np.ones(1)]
    with pytest.raises(ShapeError, match=r"shape \[0\] in sample 0 of the batch, and \[1\] in sam"):
        list(loader(samples))


def test_an_exception_of_a_stream_or_of_worker_init_fn() -> None:
    class Broken(io.IterableDataset):
        def __iter__(self) -> Any:
            yield 1
            raise LookupError("the text")

    iterator = iter(loader(Broken(), batch_size=1))
    assert [next(iterator).item(), next(iterator).item()] == [1, 1]
    with pytest.raises(LookupError, match=r"of the DataLoader, batch 2\. There"):
        next(iterator)

    def init(number: int) -> None:
        raise LookupError(f"no worker {number}")

    with pytest.raises(LookupError, match="no worker 0"):
        list(loader(Rows(), worker_init_fn=init))


def test_a_batch_that_cannot_be_pickled_is_an_exception() -> None:
    with pytest.raises((AttributeError, TypeError, RuntimeError), match="pickle"):
        list(loader(Rows(), collate_fn=lambda samples: {"f": threading.Lock()}))


class Sealed:
    """An index that can be sent, and not be read."""

    def __reduce__(self) -> Any:
        return int, ("no number",)


def test_indices_that_cannot_be_read_are_an_exception() -> None:
    with pytest.raises(ValueError, match=r"no number(.|\n)*batch 1"):
        list(loader(Rows(), batch_sampler=[[1], [Sealed()]], batch_size=1))
    with pytest.raises((AttributeError, TypeError), match="pickle"):
        list(loader(Rows(), batch_sampler=[[1], [threading.Lock()]], batch_size=1))


# --- processes that end


@pytest.mark.parametrize(
    ("how", "hint"),
    [
        (signal.SIGKILL, "was killed by SIGKILL: the system does that when memory is short"),
        (signal.SIGSEGV, "was killed by SIGSEGV: native code that the dataset calls has crashed"),
        (signal.SIGTERM, "was killed by SIGTERM$"),
        (3, "has ended with exit code 3$"),
        (0, "has ended with exit code 0$"),
    ],
    ids=str,
)
def test_a_worker_that_ends_is_noticed(how: Any, hint: str) -> None:
    start = time.monotonic()
    found, labels = taken(loader(Killed(how), timeout=0), WorkerError, hint)
    assert time.monotonic() - start < 20
    assert labels == [0, 1, 2, 3]
    assert "worker 0 (process " in str(found)
    assert "batch 2, indices [4, 5]" in str(found)


def test_a_worker_that_is_killed_from_outside_is_noticed() -> None:
    iterator = iter(loader(Hanging(), timeout=0))
    first = iterator._pool.workers[0].process
    threading.Timer(0.3, first.kill).start()
    with pytest.raises(WorkerError, match=r"worker 0 .* batch 2, .* killed by SIGKILL"):
        list(iterator)


def test_staying_workers_are_started_anew_when_one_has_been_killed() -> None:
    made = loader(Rows(4), persistent_workers=True)
    whole = values(made)
    assert made._pool is not None
    made._pool.workers[1].process.kill()
    made._pool.workers[1].process.join()
    with pytest.raises(WorkerError, match=r"worker 1 .* killed by SIGKILL"):
        values(made)
    assert values(made) == whole


def test_a_worker_that_takes_too_long() -> None:
    start = time.monotonic()
    found, labels = taken(
        loader(Hanging(), timeout=1.5), WorkerTimeoutError, "nothing has come within 1.5 seconds"
    )
    assert 1.5 <= time.monotonic() - start < 20
    assert isinstance(found, TimeoutError)
    assert "batch 2, indices [4, 5]" in str(found)
    assert labels == [0, 1, 2, 3]


# --- processes that do not start


@pytest.mark.parametrize("method", [m for m in ("spawn", "forkserver") if m != "fork"])
def test_what_cannot_be_pickled_is_named(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")

    class Local(Rows):
        pass

    arguments: Any = {"multiprocessing_context": method}
    with pytest.raises(WorkerError, match=r"dataset \(Local\) cannot be pickled, which the start"):
        iter(loader(Local(), **arguments))
    with pytest.raises(WorkerError, match=r"collate_fn \(function\) .* at the top of a module"):
        iter(loader(Rows(), collate_fn=lambda samples: samples, **arguments))
    with pytest.raises(WorkerError, match="worker_init_fn"):
        iter(loader(Rows(), worker_init_fn=lambda number: None, **arguments))


def test_a_script_that_starts_itself_again_is_told_what_to_write(tmp_path: Any) -> None:
    import subprocess

    script = tmp_path / "unguarded.py"
    script.write_text(
        "import autograd_engine as paddle\n"
        "loader = paddle.io.DataLoader([1, 2], num_workers=1, multiprocessing_context='spawn')\n"
        "print(list(loader))\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "WorkerError: worker 0 (process" in last
    assert 'belongs under `if __name__ == "__main__":`' in last


def test_an_iterator_in_a_forked_process_says_so() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot fork here")
    iterator = iter(loader(Rows(8)))
    next(iterator)

    def child(end: Any) -> None:
        try:
            next(iterator)
        except WorkerError as error:
            end.send(str(error))

    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(there,))
    process.start()
    assert here.poll(30)
    assert "which has forked this one" in here.recv()
    process.join()
    assert [y.tolist() for _, y in iterator] == [[2, 3], [4, 5], [6, 7]], "the child took nothing"
