"""Batches of a dataset."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from autograd_engine.core.checks import check_callback, int_at_least, require_bools, require_cpu
from autograd_engine.core.described import Described
from autograd_engine.core.names.constructors import Given, Respelled, respelled
from autograd_engine.core.names.missing_names import answered
from autograd_engine.core.random_generator import Generator
from autograd_engine.errors import ArgumentError, ModeError, NoLengthError, ShapeError, WorkerError
from autograd_engine.io.batch_samplers import BatchSampler
from autograd_engine.io.collate import as_tensors, default_collate_fn, default_convert_fn
from autograd_engine.io.datasets import Dataset, IterableDataset
from autograd_engine.io.workers.fetch import NO_MORE, Fetch, fetcher
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.mode import in_dynamic_mode

if TYPE_CHECKING:
    from autograd_engine.io.workers.pool import Pool

__all__ = ["DataLoader"]

_MOST_WORKERS: Final = 1024  # processes


@respelled
class DataLoader(Respelled, Described):
    """Batches of a dataset, made in this process or ahead of time by worker processes.

    A batch has the structure that `collate_fn` gives it, with Tensors for arrays and lists for
    tuples. It comes in the order of the sampler, whichever worker is faster. Iterating draws from
    the stream of `paddle.seed`: the order, and one number more, which seeds the workers. Between
    processes values travel, and no history of a gradient: batches of workers stop it.

    Parameters
    ----------
    dataset : Dataset, IterableDataset or sequence
    feed_list : list of Variable, optional
        Whose names the fields of a batch get with ``return_list=False``.
    places : CPUPlace, optional
    return_list : bool
        False, while a program is built or run, for batches as ``[{name: Tensor}]``, which
        `Executor.run` takes as its feed.
    batch_sampler : BatchSampler or iterable of lists of int, optional
        Given in the place of `batch_size`, `shuffle` and `drop_last`.
    batch_size : int, optional
        None for samples as they are.
    shuffle, drop_last : bool
    collate_fn : callable, optional
        From a list of samples to a batch (`default_collate_fn`); without `batch_size`, from a
        sample (`default_convert_fn`).
    num_workers : int
        How many processes make the batches; 0 for this one.
    use_buffer_reader : bool
        Accepted for the reference's sake, as is `reader_buffer_size`: without workers nothing is
        read ahead, so that what the dataset draws and what the program draws do not mix.
    prefetch_factor : int
        How many batches each worker is ahead at most.
    use_shared_memory : bool
        Whether arrays come through memory that the processes have in common (Linux); else through
        the pipe.
    timeout : float
        Seconds to wait for a batch of a worker; 0 for as long as it takes.
    worker_init_fn : callable, optional
        Called in each worker with its number when it has started.
    persistent_workers : bool
        Whether workers stay for the next iteration. They end with the loader.
    multiprocessing_context : str or multiprocessing context, optional
        How workers are started: ``"fork"``, ``"spawn"`` or ``"forkserver"``. Left out, as the
        program has said with `multiprocessing.set_start_method`; on Linux by forking, until jax is
        loaded: its threads hold locks, so from then on ``"forkserver"`` starts workers, for which
        the dataset must be one that can be pickled.

    Raises
    ------
    ArgumentError
    WorkerError
        While iterating: when a worker has died, or cannot be started. An exception of the dataset
        keeps its class, and has the traceback of the worker in its text.
    WorkerTimeoutError
        While iterating: when there is no batch within `timeout` seconds.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> data = paddle.io.TensorDataset([paddle.ones([5, 2]), paddle.arange(5)])
    >>> loader = paddle.io.DataLoader(data, batch_size=2, drop_last=True)
    >>> len(loader)
    2
    >>> for x, y in loader:
    ...     print(x.shape, y.tolist())
    paddle.Size([2, 2]) [0, 1]
    paddle.Size([2, 2]) [2, 3]
    """

    if not TYPE_CHECKING:
        __getattr__ = answered("paddle.io.DataLoader")

    @staticmethod
    def _reorder(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        """PyTorch's: sizes behind the dataset, and a sampler of what is to be batched."""
        if len(args) > 1 and isinstance(args[1], int):
            names = ("batch_size", "shuffle", "sampler", "batch_sampler", "num_workers")
            args, kwargs = args[:1], {**dict(zip(names, args[1:], strict=False)), **kwargs}
        sampler = kwargs.get("sampler")
        if "sampler" in kwargs and (sampler is None or kwargs.get("batch_size", 1) is not None):
            kwargs = {name: value for name, value in kwargs.items() if name != "sampler"}
        if sampler is not None and "sampler" not in kwargs:
            about = ("batch_size", "shuffle", "drop_last")
            told = {name: kwargs.pop(name) for name in about if name in kwargs}
            kwargs["batch_sampler"] = BatchSampler(sampler=sampler, **told)
        return args, kwargs

    def __init__(
        self,
        dataset: Any,
        feed_list: Any = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        persistent_workers: bool = False,
        *,
        multiprocessing_context: Any = None,
    ) -> None:
        require_bools(
            "DataLoader",
            return_list=return_list,
            shuffle=shuffle,
            drop_last=drop_last,
            use_buffer_reader=use_buffer_reader,
            use_shared_memory=use_shared_memory,
            persistent_workers=persistent_workers,
        )
        for name, function in (("collate_fn", collate_fn), ("worker_init_fn", worker_init_fn)):
            if function is not None and not callable(function):
                raise ArgumentError(
                    f"DataLoader: {name} must be a function, got {type(function).__name__}"
                )
            if function is not None:
                given = "samples" if name == "collate_fn" else "worker_id"
                check_callback("DataLoader", name, function, given)
        _check_dataset(dataset)
        _check_places(places)
        self.dataset = dataset
        self.feed_list = _checked_feeds(feed_list, return_list)
        self.places = places
        self.return_list = return_list
        name = "DataLoader"
        self.num_workers = int_at_least(name, "num_workers", num_workers, 0, _MOST_WORKERS)
        self.prefetch_factor = int_at_least(name, "prefetch_factor", prefetch_factor)
        self.reader_buffer_size = int_at_least(name, "reader_buffer_size", reader_buffer_size)
        self.timeout = _seconds(timeout)
        self.use_buffer_reader = use_buffer_reader
        self.use_shared_memory = use_shared_memory
        self.worker_init_fn = worker_init_fn
        self.persistent_workers = persistent_workers
        self.multiprocessing_context = multiprocessing_context
        if self.num_workers and multiprocessing_context is not None:
            from autograd_engine.io.workers.pool import context_of

            context_of(multiprocessing_context)
        self._choose_batches(batch_sampler, batch_size, shuffle, drop_last)
        by_default = default_convert_fn if self.batch_size is None else default_collate_fn
        self.collate_fn: Callable[[Any], Any] = by_default if collate_fn is None else collate_fn
        self._pool: Pool | None = None

    def _choose_batches(self, sampler: Any, size: Any, shuffle: bool, drop_last: bool) -> None:
        """Set `batch_sampler`, `batch_size` and `drop_last`."""
        self.batch_sampler: Any = None
        self.batch_size, self.drop_last = size, drop_last
        kind = type(self.dataset).__name__
        if sampler is not None:
            if isinstance(self.dataset, IterableDataset):
                raise ArgumentError(
                    f"DataLoader: {kind} is an IterableDataset, which has no index; pass "
                    "batch_size in the place of batch_sampler"
                )
            if (size is not None and size != 1) or shuffle or drop_last:
                raise ArgumentError(
                    "DataLoader: batch_size, shuffle and drop_last are up to the batch_sampler; "
                    "leave them out"
                )
            if not isinstance(sampler, Iterable):
                raise ArgumentError(
                    "DataLoader: batch_sampler must be a BatchSampler or another iterable of lists "
                    f"of ints, got {type(sampler).__name__}"
                )
            self.batch_sampler = sampler
            self.batch_size = getattr(sampler, "batch_size", 1)
            return
        if size is not None:
            self.batch_size = int_at_least("DataLoader", "batch_size (an int, or None)", size)
        if isinstance(self.dataset, IterableDataset):
            if shuffle:
                raise ArgumentError(
                    f"DataLoader: {kind} is an IterableDataset, which comes in its own order; "
                    "shuffle in its __iter__"
                )
        elif size is None:
            if shuffle or drop_last:
                raise ArgumentError(
                    "DataLoader: with batch_size=None there are no batches to shuffle or to drop; "
                    "give batch_size=1, or a dataset in another order (Subset)"
                )
        else:
            self.batch_sampler = BatchSampler(
                self.dataset, None, shuffle, self.batch_size, drop_last
            )

    def __len__(self) -> int:
        """How many batches one iteration has."""
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        if not isinstance(self.dataset, IterableDataset):
            return len(self.dataset)
        try:
            samples: int = len(self.dataset)
        except NoLengthError:
            raise NoLengthError(
                f"DataLoader: {type(self.dataset).__name__} is an IterableDataset, which does not "
                "tell its length; define __len__ if it is known"
            ) from None
        if self.batch_size is None:
            return samples
        size: int = self.batch_size
        return samples // size if self.drop_last else -(-samples // size)

    def __iter__(self) -> Iterator[Any]:
        tasks = self._tasks()
        seed = Generator().random()  # drawn without workers too: a program draws the same numbers
        if not self.num_workers:
            fetch = fetcher(self.dataset, self.collate_fn, self.batch_size, self.drop_last)
            owned = self.collate_fn is default_collate_fn
            return Here(tasks, fetch, self._finish(), owned)
        pool = self._workers()
        try:
            return InWorkers(
                tasks,
                pool,
                self.prefetch_factor,
                seed,
                self._finish(),
                self.persistent_workers,
            )
        except BaseException:
            pool.close()
            raise

    def __call__(self) -> Iterator[Any]:
        """The same as ``iter(loader)``."""
        return iter(self)

    def _tasks(self) -> Iterator[Any]:
        if self.batch_sampler is not None:
            return iter(self.batch_sampler)
        if isinstance(self.dataset, IterableDataset):
            return repeat(None)
        return iter(range(len(self.dataset)))

    def _workers(self) -> Pool:
        from autograd_engine.io.workers.pool import Pool, context_of
        from autograd_engine.io.workers.shared_memory import HAS_MEMORY
        from autograd_engine.io.workers.worker import Work

        if self._pool is not None and not self._pool.closed:
            return self._pool
        work = Work(
            self.dataset,
            self.collate_fn,
            self.batch_size,
            self.drop_last,
            self.worker_init_fn,
            self.num_workers,
            self.prefetch_factor if self.use_shared_memory and HAS_MEMORY else 0,
        )
        pool = Pool(work, context_of(self.multiprocessing_context), self.timeout)
        if self.persistent_workers:
            self._pool = pool
        return pool

    def _finish(self) -> Callable[[Any], Any] | None:
        """What is done with a batch of Tensors before it is handed out."""
        if self.return_list or in_dynamic_mode():
            return None
        return self._by_name

    def _by_name(self, batch: Any) -> list[dict[str, Any]]:
        names = [variable.name for variable in self.feed_list]
        fields = batch if isinstance(batch, list) else [batch]
        if len(fields) != len(names):
            raise ShapeError(
                f"DataLoader: a batch has {len(fields)} fields, and feed_list has {len(names)} "
                f"variables ({', '.join(names)})"
            )
        return [dict(zip(names, fields, strict=True))]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}  # a copy starts workers of its own


def _check_dataset(dataset: Any) -> None:
    if isinstance(dataset, Dataset):
        return
    if hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"):
        return
    raise ArgumentError(
        f"DataLoader: {type(dataset).__name__} is no dataset, which has __getitem__ and __len__; "
        "derive it from paddle.io.Dataset, or from paddle.io.IterableDataset if it is a stream"
    )


def _check_places(places: Any) -> None:
    for place in places if isinstance(places, (list, tuple)) else [places]:
        require_cpu("DataLoader", "places", place)


def _checked_feeds(feed_list: Any, return_list: bool) -> Any:
    if feed_list is None:
        if not return_list and not in_dynamic_mode():
            raise ModeError(
                "DataLoader: return_list=False gives batches by name; pass feed_list, the "
                "variables of paddle.static.data"
            )
        return None
    given = feed_list if isinstance(feed_list, (list, tuple)) else [feed_list]
    for variable in given:
        if not isinstance(variable, Variable):
            raise ArgumentError(
                "DataLoader: feed_list must be a list of variables of paddle.static.data, got "
                f"{type(variable).__name__}"
            )
    return list(given)


def _seconds(timeout: Any) -> float:
    fits = isinstance(timeout, (int, float, np.number)) and not isinstance(timeout, bool)
    if not fits or not 0 <= timeout < float("inf"):
        raise ArgumentError(f"DataLoader: timeout must be seconds, 0 for no limit; got {timeout!r}")
    return timeout  # type: ignore[no-any-return]


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
