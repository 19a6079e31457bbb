"""One pass over the data: in this process, or by workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from autograd_engine.errors import WorkerError
from autograd_engine.io.collate import as_tensors
from autograd_engine.io.workers.fetch import NO_MORE, Fetch

if TYPE_CHECKING:
    from autograd_engine.io.workers.pool import Pool

__all__ = ["Here", "InWorkers"]

Finish = Callable[[Any], Any] | None  # what is done with a batch of Tensors


class Here(Iterator[Any]):
    """Batches made when they are asked for, in the thread that asks."""

    def __init__(self, tasks: Iterator[Any], fetch: Fetch, finish: Finish, owned: bool) -> None:
        self._tasks = tasks
        self._fetch = fetch
        self._finish = finish
        self._owned = owned  # nobody else has the arrays that are fetched

    def __next__(self) -> Any:
        task = next(self._tasks)
        try:
            batch = self._fetch(task)
        except StopIteration as error:
            raise RuntimeError(
                "the dataset or collate_fn raised StopIteration, which would end the loop over the "
                "DataLoader"
            ) from error
        if batch is NO_MORE:
            self._tasks = iter(())
            raise StopIteration
        made = as_tensors(batch, owned=self._owned)
        return made if self._finish is None else self._finish(made)


class InWorkers(Iterator[Any]):
    """Batches made by workers, in the order of their tasks.

    Each worker in turn is asked for a batch, and each in turn is waited for: which of them is
    faster changes nothing. For each batch that is handed out its worker is asked for another one.
    """

    def __init__(
        self, tasks: Iterator[Any], pool: Pool, ahead: int, seed: int, finish: Finish, keep: bool
    ) -> None:
        self._tasks = tasks
        self._pool = pool
        self._finish = finish
        self._keep = keep  # the pool, for another pass
        self._turns: deque[int] = deque()
        self._streaming = set(range(len(pool.workers)))
        self._failure: Exception | None = None
        self._epoch = pool.begin(seed)
        for _ in range(ahead):
            for worker in range(len(pool.workers)):
                self._ask(worker)

    def _ask(self, worker: int) -> None:
        """For the next batch; the exception of a sampler waits until it is its turn."""
        if self._failure is not None or worker not in self._streaming:
            return
        try:
            task = next(self._tasks)
        except StopIteration:
            self._streaming.clear()
        except Exception as error:
            self._failure = error
        else:
            self._pool.put(worker, task)
            self._turns.append(worker)

    def __next__(self) -> Any:
        if self._turns and self._epoch != self._pool.epoch:
            raise WorkerError(
                "another pass over this DataLoader has begun, and has its workers: with "
                "persistent_workers=True there is one pass at a time"
            )
        try:
            while self._turns:
                worker = self._turns.popleft()
                batch = self._pool.get(worker)
                if batch is NO_MORE:
                    self._streaming.discard(worker)
                    continue
                self._ask(worker)
                return batch if self._finish is None else self._finish(batch)
            if self._failure is not None:
                raise self._failure
        except BaseException:
            self._turns.clear()
            self._failure = None
            self._pool.close()
            raise
        if not self._keep:
            self._pool.close()
        raise StopIteration
