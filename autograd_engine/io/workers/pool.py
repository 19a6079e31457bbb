"""Worker processes, as the process that uses them sees them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import select
import signal
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any, Final

from autograd_engine.errors import ArgumentError, WorkerError, WorkerTimeoutError
from autograd_engine.io.workers.channel import Link, link_pair
from autograd_engine.io.workers.failures import ended, place, unpacked
from autograd_engine.io.workers.fetch import NO_MORE
from autograd_engine.io.workers.messages import (
    BATCH,
    END,
    EPOCH,
    ERROR,
    Reader,
)
from autograd_engine.io.workers.worker import Work, run

__all__ = ["Pool", "context_of"]

_GRACE: Final = 1.0  # seconds for a batch under way, before a worker is terminated
_THREADED: Final = "jax"  # which starts threads that hold locks, and warns of forks
_ends: Final[weakref.WeakSet[Link]] = weakref.WeakSet()  # of all pools of this process


def context_of(given: Any) -> Any:
    """How processes are started: as asked for, as the program has set, or as is best here.

    A forked process has the dataset at once and need not be able to import or to pickle anything.
    What speaks against it are locks that other threads hold while the process forks. Those of
    Python, of OpenBLAS and of this package are free in the child; and a worker runs nothing but
    the dataset. Those of jax are not, so once it is loaded workers are started by a server, a
    process that has none of its threads; who asks for a fork by name gets one.
    """
    if given is None:
        chosen = multiprocessing.get_start_method(allow_none=True)
        methods = multiprocessing.get_all_start_methods()  # the first is the platform's own choice
        if chosen is None or chosen == methods[0]:
            chosen = "fork" if sys.platform == "linux" and "fork" in methods else methods[0]
            if chosen == "fork" and _THREADED in sys.modules:
                chosen = "forkserver" if "forkserver" in methods else "spawn"
        return multiprocessing.get_context(chosen)
    if isinstance(given, str):
        if given not in multiprocessing.get_all_start_methods():
            raise ArgumentError(
                f"DataLoader: multiprocessing_context must be one of "
                f"{', '.join(multiprocessing.get_all_start_methods())}; got {given!r}"
            )
        return multiprocessing.get_context(given)
    if not isinstance(given, multiprocessing.context.BaseContext):
        raise ArgumentError(
            "DataLoader: multiprocessing_context must be the name of a start method, such as "
            f"'spawn', or what multiprocessing.get_context returns; got {type(given).__name__}"
        )
    return multiprocessing.get_context() if given.get_start_method(True) is None else given


class _Worker:
    """One process, the pipe to it, and what it has been asked for."""

    def __init__(self, context: Any, work: Work, number: int) -> None:
        self.number = number
        self.tasks: deque[tuple[int, Any]] = deque()  # not answered yet: number, indices
        self.answered = False
        self._method = context.get_start_method()
        self.link, theirs = link_pair(context)
        self._reader = Reader(self.link)
        _ends.add(self.link)
        forked = self._method == "fork"
        self.process = context.Process(
            target=run,
            args=(
                theirs,
                tuple(_ends) if forked else (),
                work,
                number,
                0 if self._method == "forkserver" else os.getpid(),
            ),
            name=f"DataLoader worker {number}",
            daemon=True,
        )
        try:
            _start(self.process, self._method, work)
        except BaseException:
            self.link.close()
            raise
        finally:
            theirs.close()
        self._poller = _poller(self.link.fileno(), self.process.sentinel)

    def put(self, kind: bytes, value: Any) -> None:
        task = kind + pickle.dumps(value, protocol=5)
        with contextlib.suppress(OSError):  # it has died: `get` says so, where it is waited for
            self.link.send(task)

    def get(self, timeout: float) -> Any:
        """Its answer to the oldest task. `timeout` is in seconds; 0 waits as long as it takes."""
        try:
            data = self.link.take()
            if data is None:
                data = self._awaited(timeout)
            kind, value = self._reader.read(data)
        except (EOFError, ConnectionError):
            raise self._died() from None
        if kind == ERROR:
            where = self._where()
            self.tasks.popleft()
            raise unpacked(value, f"Raised in {where}")
        self.answered = True
        self.tasks.popleft()
        return NO_MORE if kind == END else value

    def drain(self, timeout: float) -> None:
        """Throw away all that it has been asked for."""
        while self.tasks:
            try:
                self.get(timeout)
            except WorkerError:
                raise
            except Exception:
                continue  # of a batch that nobody wants any more

    def _died(self) -> WorkerError:
        self.process.join(_GRACE)
        return ended(self.process.exitcode, self._where(), self.answered, self._method)

    def _where(self) -> str:
        return place(self.number, self.process.pid, self.tasks[0] if self.tasks else None)

    def _awaited(self, timeout: float) -> Any:
        """The next message; raises where the process has ended."""
        if self._poller is None:
            ready = wait([self.link, self.process.sentinel], timeout or None)  # type: ignore[list-item]
        else:
            ready = self._poller.poll(timeout * 1000 if timeout else None)
        if not ready:
            raise WorkerTimeoutError(
                f"{self._where()}: nothing has come within {timeout:g} seconds; raise timeout=, or "
                "look with num_workers=0 what takes so long"
            )
        data = self.link.take()
        if data is None:  # so it is the process that has ended
            raise EOFError
        return data


def _poller(*fds: int) -> Any:
    """What waits for any of them; an object that stays is faster than `wait`."""
    if not hasattr(select, "poll"):
        return None
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN)
    return poller


def _start(process: Any, method: str, work: Work) -> None:
    try:
        with warnings.catch_warnings():
            # Python says that a process with threads should not fork; see `context_of`.
            warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
            process.start()
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if method == "fork":
            raise
        raise WorkerError(
            f"DataLoader: {_culprit(work)} cannot be pickled, which the start method {method!r} "
            f"needs ({error}): define it at the top of a module, without lambdas, open files and "
            "locks as attributes"
            + _or_fork()
        ) from error


def _or_fork() -> str:
    if "fork" not in multiprocessing.get_all_start_methods():
        return ""
    if _THREADED in sys.modules:
        return (
            f". Workers are not forked because {_THREADED} is loaded, whose threads a fork may "
            f"leave waiting for ever: let the first iteration begin before {_THREADED} is imported"
        )
    return "; or pass multiprocessing_context='fork'"


def _culprit(work: Work) -> str:
    """Which of what a worker is given cannot be pickled."""
    named = {"dataset": work.dataset, "collate_fn": work.collate}
    for name, value in {**named, "worker_init_fn": work.worker_init_fn}.items():
        try:
            pickle.dumps(value)
        except Exception:
            return f"{name} ({type(value).__name__})"
    return "what a worker is given"


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C waits in this thread, and in processes that are started, until they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Pool:
    """The workers of a loader.

    They end when `close` is called, when the pool is no more, and with the process.
    """

    def __init__(self, work: Work, context: Any, timeout: float) -> None:
        if multiprocessing.current_process().daemon:
            raise WorkerError(
                "DataLoader: this is a worker process itself, of a DataLoader or of "
                "multiprocessing, which may start no others: pass num_workers=0 here"
            )
        self._timeout = timeout
        self._owner = os.getpid()
        self._count = 0
        self.epoch = 0
        self.workers: list[_Worker] = []
        self._end = weakref.finalize(self, _end, self.workers, self._owner)
        _warm(context)
        try:
            with _without_interrupts():
                for number in range(work.num_workers):
                    self.workers.append(_Worker(context, work, number))
        except BaseException:
            self.close()
            raise

    def begin(self, seed: int) -> int:
        """Begin an epoch; what is left of the one before is thrown away. Its number."""
        for worker in self.workers:
            worker.drain(self._timeout)
            worker.put(EPOCH, seed)
        self._count = 0
        self.epoch += 1
        return self.epoch

    def put(self, worker: int, indices: Any) -> None:
        """Ask a worker for a batch."""
        asked = self.workers[worker]
        asked.tasks.append((self._count, indices))
        self._count += 1
        asked.put(BATCH, indices)

    def get(self, worker: int) -> Any:
        """The batch that a worker was asked for first, or NO_MORE."""
        if os.getpid() != self._owner:
            raise WorkerError(
                f"this iterator belongs to process {self._owner}, which has forked this one "
                f"({os.getpid()}): iterate over the DataLoader anew"
            )
        return self.workers[worker].get(self._timeout)

    @property
    def closed(self) -> bool:
        """Whether there are no workers any more."""
        return not self._end.alive

    def close(self) -> None:
        """End the workers."""
        self._end()


def _warm(context: Any) -> None:
    """What is done once, and before interrupts are put off."""
    if context.get_start_method() == "fork":
        from autograd_engine.compiler.native.toolchain.blas import find_blas

        find_blas()  # each worker would look for it again
    elif sys.platform != "win32":
        from multiprocessing import forkserver, resource_tracker

        # Helpers of multiprocessing, which would pass on to others that interrupts wait.
        resource_tracker.ensure_running()
        if context.get_start_method() == "forkserver":
            forkserver.ensure_running()


def _end(workers: list[_Worker], owner: int) -> None:
    """Ask all of them to stop; end those that do not."""
    if os.getpid() != owner:
        return  # a forked process has copies of the objects, and no workers
    for worker in workers:
        with contextlib.suppress(OSError):
            worker.link.send(b"")
        worker.link.close()  # one that waits to send something stops waiting
    for end in (None, "terminate", "kill"):
        deadline = time.monotonic() + _GRACE
        left = [worker.process for worker in workers if worker.process.exitcode is None]
        for process in left:
            if end is not None:
                getattr(process, end)()
        for process in left:
            process.join(max(0.0, deadline - time.monotonic()))
    for worker in workers:
        if worker.process.exitcode is not None:
            worker.process.close()
    workers.clear()
