"""What runs in a worker process."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import random
import signal
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any, Final

import numpy as np

from autograd_engine.core.random_generator import seed as seed_engine
from autograd_engine.io.collate import as_arrays
from autograd_engine.io.workers.channel import START, Link
from autograd_engine.io.workers.failures import packed
from autograd_engine.io.workers.fetch import NO_MORE, fetcher
from autograd_engine.io.workers.info import WorkerInfo, set_worker_info
from autograd_engine.io.workers.messages import (
    BATCH,
    END,
    EPOCH,
    ERROR,
    Message,
    message,
)
from autograd_engine.io.workers.shared_memory import WriteSlots

__all__ = ["Work", "run", "seed_of"]

_LOOK: Final = 1.0  # seconds between two looks whether the parent is still there


@dataclass(frozen=True)
class Work:
    """What the workers of a loader do."""

    dataset: Any
    collate: Callable[[Any], Any]
    batch_size: int | None
    drop_last: bool
    worker_init_fn: Callable[[int], None] | None
    num_workers: int
    slots: int  # of common memory; 0 for none


def seed_of(base: int, worker: int) -> int:
    """The seed of a worker in an epoch; streams of different workers have nothing in common."""
    return int(np.random.SeedSequence((base, worker)).generate_state(1, np.uint64)[0])


def _seed_all(seed: int) -> None:
    seed_engine(seed)
    random.seed(seed)
    np.random.seed(np.random.SeedSequence(seed).generate_state(4))


def run(link: Link, inherited: Iterable[Link], work: Work, number: int, parent: int) -> None:
    """Do what the parent asks for, until it asks to stop or is no more.

    Parameters
    ----------
    link : Link
    inherited : iterable of Link
        Ends of the parent, which a forked process has as well: while they are open here, other
        workers do not notice that the parent has died.
    work : Work
    number : int
        Which worker this is.
    parent : int
        The process that this one is a child of; 0 for the one that it has now.
    """
    for other in inherited:
        other.close()
    _own_signals()
    _yield_to_others()
    inbox = _Inbox(link, parent or os.getppid())
    with contextlib.suppress(Exception):
        _one_thread()
    worker = _Worker(link, work, number)
    try:
        # Where the connection is broken the parent does not listen any more, or is no more.
        with contextlib.suppress(ConnectionError):
            while (task := inbox.next()) is not None:
                worker.do(task)
    finally:
        link.close()


def _own_signals() -> None:
    """Ctrl-C is the parent's business: it ends its workers, or goes on with them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not what the program does at its end
    signal.set_wakeup_fd(-1)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _yield_to_others() -> None:
    """Have the scheduler not interrupt a training step because a task has come for a worker.

    The share of the processor that a worker gets is the same.
    """
    if hasattr(os, "SCHED_BATCH") and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _one_thread() -> None:
    """As many workers as cores leave no cores for threads of BLAS."""
    import ctypes

    from autograd_engine.compiler.native.toolchain.blas import find_blas

    blas = find_blas()
    if blas is not None and blas.set_threads:
        ctypes.CFUNCTYPE(None, ctypes.c_int)(blas.set_threads)(1)


class _Inbox:
    """The tasks that have come, taken from the pipe by a thread.

    So the parent never waits to send one, and a worker ends with its parent whatever it is doing.
    """

    def __init__(self, link: Link, parent: int) -> None:
        self._link = link
        self._parent = parent
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stopped = False
        threading.Thread(target=self._listen, name="tasks", daemon=True).start()

    def next(self) -> Any:
        """The next task, pickled; None where none is wanted any more."""
        task = self._tasks.get()
        return None if self.stopped else task

    def _listen(self) -> None:
        try:
            while True:
                while not wait([self._link], _LOOK):  # type: ignore[list-item]
                    if os.getppid() != self._parent:
                        os._exit(1)
                task = memoryview(self._link.receive())[START:]
                if not task:
                    break
                self._tasks.put(task)
        except (EOFError, OSError):
            os._exit(1)  # the parent has died: nobody is there to be told anything
        self.stopped = True
        self._tasks.put(None)


class _Worker:
    def __init__(self, link: Link, work: Work, number: int) -> None:
        self._link = link
        self._work = work
        self._number = number
        self._slots = WriteSlots(work.slots) if work.slots else None
        self._fetch: Callable[[Any], Any] | None = None
        self._failure: BaseException | None = None
        self._initialised = False

    def do(self, task: Any) -> None:
        """Begin an epoch, or make a batch and send it; an exception is sent in its place."""
        if task[:1] == EPOCH:
            try:
                self._begin(pickle.loads(task[1:]))
            except BaseException as error:
                self._failure = error  # told when a batch is asked for
        else:
            self._made(task[1:]).send(self._link)

    def _made(self, indices: Any) -> Message:
        try:
            if self._failure is not None:
                raise self._failure
            assert self._fetch is not None
            batch = self._fetch(pickle.loads(indices))
            if batch is NO_MORE:
                return message(END, None, None)
            return message(BATCH, as_arrays(batch), self._slots)
        except BaseException as error:  # SystemExit as well: a worker does not end by itself
            return message(ERROR, packed(error), None)

    def _begin(self, base: int) -> None:
        work, seed = self._work, seed_of(base, self._number)
        _seed_all(seed)
        self._failure = None
        set_worker_info(WorkerInfo(self._number, work.num_workers, seed, work.dataset))
        if not self._initialised and work.worker_init_fn is not None:
            work.worker_init_fn(self._number)
        self._initialised = True
        self._fetch = fetcher(work.dataset, work.collate, work.batch_size, work.drop_last)
