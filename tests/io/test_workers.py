"""Batches made by worker processes."""

import multiprocessing
import os
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import io
from autograd_engine.errors import WorkerError
from tests.io.data import Drawn, Rows, Slow, Stream
from tests.io.test_loader import values

METHODS = multiprocessing.get_all_start_methods()


def loader(dataset: Any, **arguments: Any) -> io.DataLoader:
    return io.DataLoader(dataset, **{"batch_size": 2, "num_workers": 2, "timeout": 60, **arguments})


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "piped"])
def test_batches_are_those_of_one_process(shared: bool) -> None:
    alone = values(loader(Rows(7), num_workers=0))
    for workers in (1, 2, 5):
        assert values(loader(Rows(7), num_workers=workers, use_shared_memory=shared)) == alone
    dropped = loader(Rows(7), drop_last=True, use_shared_memory=shared)
    assert values(dropped) == alone[:-1]


def test_the_order_is_that_of_the_sampler_whichever_worker_is_faster() -> None:
    assert [y.tolist() for _, y in loader(Slow(10), batch_size=1)] == [[i] for i in range(10)]


@pytest.mark.parametrize("method", METHODS)
def test_start_methods(method: str) -> None:
    paddle.seed(1)
    alone = values(loader(Rows(5), num_workers=0, shuffle=True))
    paddle.seed(1)
    made = loader(Rows(5), shuffle=True, multiprocessing_context=method)
    assert values(made) == alone


def test_a_context_or_the_method_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from autograd_engine.io.workers.pool import context_of

    spawn = multiprocessing.get_context("spawn")
    assert context_of(spawn) is spawn
    if "fork" in METHODS and os.uname().sysname == "Linux":
        assert context_of(None).get_start_method() == "fork"
        with monkeypatch.context() as patch:  # whose threads hold locks
            patch.setitem(sys.modules, "jax", os)
            assert context_of(None).get_start_method() == "forkserver"
            assert context_of("fork").get_start_method() == "fork"
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none: "spawn")
    assert context_of(None).get_start_method() == "spawn"


@pytest.mark.skipif("fork" not in METHODS, reason="processes cannot fork here")
def test_forking_with_threads_is_no_warning() -> None:
    # Python 3.12 warns of that; warnings are errors here.
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert len(list(loader(Rows(4), multiprocessing_context="fork"))) == 2
    finally:
        done.set()
        thread.join()


def test_batches_belong_to_the_program() -> None:
    made = list(loader(Rows(40), prefetch_factor=1))
    for number, (x, y) in enumerate(made):
        assert y.tolist() == [2 * number, 2 * number + 1]
        assert (x.numpy() == y.numpy()[:, None, None]).all(), "a slot was written again"
    x = made[0][0]
    x[0, 0, 0] = 5.0
    assert x[0, 0, 0].item() == 5.0


def pieces(samples: Any) -> Any:
    size = samples[0][1]
    big = np.arange(2 * 3 * 50_000 * (size % 3 + 1)).reshape(2, 3, -1)
    return {
        "grown": big,
        "strided": big[:, ::2],
        "columns": np.asfortranarray(big[0]),
        "read-only": np.broadcast_to(np.float32(1), (3, 4)),
        "empty": np.ones((0, 3)),
        "small": np.array(7, "int8"),
        "tensor": paddle.full([300], 2.0),
        "text": ["words"] * 3000 + ["x" * 9000],
        "words": np.array(["ab", "c"]),
        "nested": (1, [2.5, None, np.float64(3)]),
        "bytes": b"\0" * 70_000,
    }


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "piped"])
def test_all_kinds_of_values_travel(shared: bool) -> None:
    arguments: Any = {"collate_fn": pieces, "batch_size": 1, "use_shared_memory": shared}
    alone, made = loader(Rows(7), num_workers=0, **arguments), loader(Rows(7), **arguments)
    for left, right in zip(alone, made, strict=True):
        assert left.keys() == right.keys()
        for key, value in left.items():
            assert type(value) is type(right[key])
            if isinstance(value, (paddle.Tensor, np.ndarray)):
                np.testing.assert_array_equal(np.asarray(value), np.asarray(right[key]))
                assert value.dtype == right[key].dtype
            else:
                assert value == right[key]


def test_workers_are_ahead_by_the_factor_and_no_more() -> None:
    counter = multiprocessing.Value("i", 0)

    class Counted(Rows):
        def __getitem__(self, index: int) -> Any:
            with counter.get_lock():
                counter.value += 1
            return index

    def settled() -> int:
        before, deadline = -1, time.monotonic() + 20
        while before != counter.value and time.monotonic() < deadline:
            before = counter.value
            time.sleep(0.3)
        return before

    iterator = iter(loader(Counted(40), batch_size=1, prefetch_factor=3))
    assert settled() == 6
    for _ in range(3):
        next(iterator)
    assert settled() == 9


# --- random numbers


def test_workers_draw_what_the_seed_says() -> None:
    def drawn(seed: int, **arguments: Any) -> Any:
        paddle.seed(seed)
        made = loader(Drawn(8), **arguments)
        return [values(made) for _ in range(2)]

    first = drawn(1)
    assert first == drawn(1), "seeds follow from paddle.seed"
    assert first == drawn(1, persistent_workers=True), "in each epoch, whoever works in it"
    assert first != drawn(2)
    numbers = np.array([batch[:3] for epoch in first for batch in epoch])
    assert len(np.unique(numbers)) == numbers.size, "epochs and workers have streams of their own"
    assert [batch[3] for batch in first[0]] == [[0, 0], [1, 1], [0, 0], [1, 1]]


def test_the_program_draws_the_same_with_and_without_workers() -> None:
    def after(workers: int) -> Any:
        paddle.seed(4)
        made = []
        for _ in loader(Rows(8), shuffle=True, num_workers=workers):
            made.append(paddle.rand([1]).item())
        return made, paddle.rand([1]).item()

    assert after(0) == after(2)


class Told(Rows):
    def __getitem__(self, index: int) -> Any:
        info = io.get_worker_info()
        assert info is not None
        return info.id, info.num_workers, len(info.dataset), str(info.seed), os.getpid()


def test_workers_know_who_they_are() -> None:
    assert io.get_worker_info() is None
    epochs = [values(loader(Told(4), batch_size=1, persistent_workers=True)) for _ in range(2)]
    assert [batch[:3] for batch in epochs[0]] == [[[i % 2], [2], [4]] for i in range(4)]
    seeds = {batch[3][0] for epoch in epochs for batch in epoch}
    assert len(seeds) == 4
    assert os.getpid() not in {batch[4][0] for batch in epochs[0]}


def started(number: int) -> None:
    os.environ["STARTED"] = os.environ.get("STARTED", "") + str(number)


class Started(Rows):
    def __getitem__(self, index: int) -> Any:
        return os.environ.get("STARTED", "")


def test_workers_are_initialised_once() -> None:
    made = loader(Started(4), batch_size=1, worker_init_fn=started, persistent_workers=True)
    for _ in range(2):
        assert values(made) == [["0"], ["1"], ["0"], ["1"]]
    assert "STARTED" not in os.environ


# --- streams


def test_workers_share_a_stream() -> None:
    assert values(loader(Stream(7))) == [[0, 2], [1, 3], [4, 6], [5]]
    assert values(loader(Stream(7), drop_last=True)) == [[0, 2], [1, 3], [4, 6]]
    assert values(loader(Stream(5), batch_size=None)) == [0, 1, 2, 3, 4]
    assert values(loader(Stream(1), num_workers=3)) == [[0]]
    assert values(loader(Stream(0))) == []


def test_streams_of_different_lengths_come_to_their_end() -> None:
    class Uneven(io.IterableDataset):
        def __iter__(self) -> Any:
            info = io.get_worker_info()
            assert info is not None
            return iter([info.id * 100 + i for i in range((info.id + 1) * 3)])

    for persistent in (False, True):
        made = loader(Uneven(), batch_size=2, persistent_workers=persistent)
        expected = [[0, 1], [100, 101], [2], [102, 103], [104, 105]]
        for _ in range(2):
            assert values(made) == expected


# --- iterators


def test_workers_stay_if_asked_to() -> None:
    def workers(made: Any) -> Any:
        return {batch[4].item() for batch in made}

    staying = loader(Told(8), batch_size=1, persistent_workers=True)
    assert workers(staying) == workers(staying)
    going = loader(Told(8), batch_size=1)
    assert not workers(going) & workers(going)


def test_staying_workers_forget_a_pass_that_is_given_up() -> None:
    made = loader(Rows(20), persistent_workers=True)
    whole = values(made)
    given_up = iter(made)
    next(given_up)
    assert values(made) == whole
    with pytest.raises(WorkerError, match="another pass over this DataLoader has begun"):
        next(given_up)
    assert values(made) == whole


def test_passes_side_by_side() -> None:
    made = loader(Rows(8))
    pairs = [(a[1].tolist(), b[1].tolist()) for a, b in zip(made, made, strict=True)]
    assert pairs == [([i, i + 1], [i, i + 1]) for i in range(0, 8, 2)]


def test_an_iterator_that_has_ended_stays_so() -> None:
    iterator = iter(loader(Rows(2)))
    assert len(list(iterator)) == 1
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)


def test_an_exception_of_the_sampler_comes_when_it_is_its_turn() -> None:
    def batches() -> Any:
        yield [0]
        yield [1]
        raise LookupError("no more of it")

    iterator = iter(loader(range(5), batch_sampler=batches(), batch_size=1))
    assert [next(iterator).item() for _ in range(2)] == [0, 1]
    with pytest.raises(LookupError, match="no more of it"):
        next(iterator)


def test_long_lists_of_indices() -> None:
    indices = list(range(150_000))
    made = loader(range(200_000), batch_sampler=[indices] * 6, batch_size=1)
    for batch in made:
        assert batch.shape == [150_000]
        assert batch[-1].item() == 149_999


def test_feeds_of_a_program() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [None, 2, 3])
    y = paddle.static.data("y", [None], "int64")
    made = loader(Rows(4), feed_list=[x, y], return_list=False)
    assert [np.asarray(feed[0]["y"]).tolist() for feed in made] == [[0, 1], [2, 3]]


def test_messages_that_come_again() -> None:
    """Batches are made of views of the memory where the message is known, and are the same."""

    class Changing(Rows):
        def __getitem__(self, index: int) -> Any:
            width = 3 if index < 30 or index >= 50 else 4
            return np.full((2, width), index, "float32"), index, "s"

    made = loader(Changing(80), prefetch_factor=1)
    iterator = iter(made)
    batches = list(iterator)
    alone = list(loader(Changing(80), num_workers=0))
    assert len(batches) == len(alone) == 40
    for (x, y, s), (wanted, label, text) in zip(batches, alone, strict=True):
        np.testing.assert_array_equal(x.numpy(), wanted.numpy())
        assert (y.tolist(), s) == (label.tolist(), text)
    batches[-1][2].append("more")
    assert batches[-2][2] == ["s", "s"]


def test_views_are_used_where_messages_come_again() -> None:
    iterator = iter(loader(Rows(40), num_workers=1))
    used = []
    for _ in iterator:
        for worker in iterator._pool.workers:
            used.append(len(worker._reader._views))
    assert used[0] == 0
    assert used[10] == 2, "one for each slot"


class Boxed:
    """Holds an array where nobody looks for one."""

    def __init__(self, x: Any) -> None:
        self.x = x


def boxed(samples: Any) -> Any:
    return Boxed(np.array([y for _, y in samples], "float32"))


def twice(samples: Any) -> Any:
    x = np.array([y for _, y in samples], "float32")
    return [x, x]


def test_arrays_in_other_objects_are_not_views() -> None:
    made = list(loader(Rows(40), collate_fn=boxed))
    assert [batch.x.tolist() for batch in made] == [[i, i + 1] for i in range(0, 40, 2)]


def test_an_array_that_comes_twice_is_two() -> None:
    for workers in (0, 2):
        for x, y in loader(Rows(20), collate_fn=twice, num_workers=workers):
            before = y.tolist()
            x[0] = 100.0
            assert y.tolist() == before
