"""Orders of indices."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import io
from autograd_engine.errors import ArgumentError, NoLengthError
from tests.io.data import Rows, Stream

SEEDED = {
    "random": lambda g=None: io.RandomSampler(range(30), generator=g),
    "replacement": lambda g=None: io.RandomSampler(range(30), True, 40, g),
    "subset": lambda g=None: io.SubsetRandomSampler(range(100, 130), g),
    "weighted": lambda g=None: io.WeightedRandomSampler([1.0] * 30, 20, True, g),
    "weighted once": lambda g=None: io.WeightedRandomSampler([1.0] * 30, 20, False, g),
}


def test_in_order() -> None:
    sampler = io.SequenceSampler("abc")
    assert list(sampler) == list(sampler) == [0, 1, 2]
    assert len(sampler) == 3


@pytest.mark.parametrize("name", SEEDED)
def test_random_orders_follow_the_seed_or_a_generator(name: str) -> None:
    make = SEEDED[name]
    paddle.seed(5)
    sampler = make()
    first, second = list(sampler), list(sampler)
    assert first != second
    assert len(first) == len(sampler)
    assert all(type(index) is int for index in first)
    paddle.seed(5)
    assert list(make()) == first
    state = paddle.get_rng_state()
    own = [list(make(np.random.default_rng(2))) for _ in range(2)]
    assert own[0] == own[1]
    assert paddle.get_rng_state() == state, "a generator of one's own leaves the stream alone"
    paddle.seed(5)
    assert list(make(paddle.Generator())) == first


@pytest.mark.parametrize("name", SEEDED)
def test_all_is_drawn_when_the_iteration_begins(name: str) -> None:
    paddle.seed(5)
    whole = list(SEEDED[name]())
    paddle.seed(5)
    iterator = iter(SEEDED[name]())
    paddle.rand([100])
    assert list(iterator) == whole


def test_a_random_order_has_each_index_once() -> None:
    assert sorted(io.RandomSampler(range(50))) == list(range(50))
    some = list(io.RandomSampler(range(50), num_samples=7))
    assert len(set(some)) == 7
    assert sorted(io.SubsetRandomSampler([7, 3, 5])) == [3, 5, 7]
    assert list(io.RandomSampler([])) == []


def test_with_replacement_every_index_is_as_likely() -> None:
    counts = Counter(io.RandomSampler(range(4), True, 8000))
    # 2000 each; five standard deviations are 194.
    assert set(counts) == {0, 1, 2, 3}
    assert all(abs(count - 2000) < 194 for count in counts.values())


def test_weights_are_followed() -> None:
    counts = Counter(io.WeightedRandomSampler(paddle.to_tensor([1.0, 0.0, 3.0]), 8000))
    assert set(counts) == {0, 2}
    assert abs(counts[0] - 2000) < 194
    once = list(io.WeightedRandomSampler(np.array([1.0, 0.0, 3.0]), 2, replacement=False))
    assert sorted(once) == [0, 2]
    assert set(io.WeightedRandomSampler([1e308, 1e308], 20)) == {0, 1}


def test_an_iterator_of_ints_gives_the_indices() -> None:
    assert list(io.RandomSampler(range(5), num_samples=3, generator=iter([4, 4, 1, 0]))) == [
        4,
        4,
        1,
    ]


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda: io.RandomSampler(range(5), num_samples=6), "there are 5 samples; pass replac"),
        (lambda: io.RandomSampler(range(5), num_samples=0), "1 at least; got 0"),
        (lambda: io.RandomSampler(range(5), num_samples=2.0), "got 2.0"),
        (lambda: io.RandomSampler(range(5), replacement=1), "replacement must be True or False"),
        (lambda: io.RandomSampler(range(5), generator=7), "numpy.random.Generator, got int"),
        (lambda: io.RandomSampler(3), "int has no length"),
        (lambda: io.SequenceSampler(None), "NoneType has no length"),
        (lambda: io.SubsetRandomSampler([]), "one index at least"),
        (lambda: io.WeightedRandomSampler([], 1), r"one for each sample; got shape \[0\]"),
        (lambda: io.WeightedRandomSampler([[1.0]], 1), r"got shape \[1, 1\]"),
        (lambda: io.WeightedRandomSampler([-1.0, 2.0], 1), "finite and 0 at least, got -1"),
        (lambda: io.WeightedRandomSampler([np.nan, 2.0], 1), "got nan"),
        (lambda: io.WeightedRandomSampler([0.0, 0.0], 1), "all weights are 0"),
        (lambda: io.WeightedRandomSampler(["a"], 1), "must be numbers"),
        (lambda: io.WeightedRandomSampler([1.0, 0.0], 2, False), "1 weights are more than 0"),
        (lambda: io.WeightedRandomSampler([1.0], True), "num_samples must be an int"),
    ],
)
def test_wrong_arguments_are_refused(make: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        make()


def test_a_sampler_without_iter_says_what_to_define() -> None:
    with pytest.raises(NotImplementedError, match="Sampler has no __iter__: define"):
        iter(io.Sampler())


# --- batches


@pytest.mark.parametrize(
    ("size", "batch", "drop", "expected"),
    [
        (5, 2, False, [[0, 1], [2, 3], [4]]),
        (5, 2, True, [[0, 1], [2, 3]]),
        (4, 2, True, [[0, 1], [2, 3]]),
        (1, 2, True, []),
        (0, 2, False, []),
    ],
)
def test_batches(size: int, batch: int, drop: bool, expected: Any) -> None:
    for given in ({"dataset": range(size)}, {"sampler": range(size)}):
        sampler = io.BatchSampler(**given, batch_size=batch, drop_last=drop)
        assert list(sampler) == expected
        assert len(sampler) == len(expected)


def test_batches_at_random() -> None:
    first = list(io.BatchSampler(range(20), shuffle=True, batch_size=6))
    assert [len(batch) for batch in first] == [6, 6, 6, 2]
    assert sorted(index for batch in first for index in batch) == list(range(20))


def test_a_sampler_of_unknown_length_is_cut_as_well() -> None:
    sampler = io.BatchSampler(sampler=(i for i in range(3)), batch_size=2)
    with pytest.raises(NoLengthError, match="does not tell its length; define __len__"):
        len(sampler)
    assert list(sampler) == [[0, 1], [2]]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({}, "either dataset= or sampler=, got neither"),
        ({"dataset": "ab", "sampler": [0]}, "got both"),
        ({"sampler": [0], "shuffle": True}, "shuffle=True goes with dataset="),
        ({"sampler": 3}, "sampler must be a Sampler .*, got int"),
        ({"dataset": "ab", "batch_size": 0}, "batch_size must be an int, 1 at least; got 0"),
        ({"dataset": "ab", "batch_size": True}, "got True"),
        ({"dataset": "ab", "batch_size": 1.5}, "got 1.5"),
        ({"dataset": "ab", "drop_last": 1}, "drop_last must be True or False"),
        ({"dataset": "ab", "shuffle": "yes"}, "shuffle must be True or False"),
        ({"dataset": Stream()}, "an IterableDataset, which has no index"),
        ({"dataset": 3}, "int has no length"),
    ],
)
def test_wrong_batches_are_refused(arguments: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        io.BatchSampler(**arguments)


# What PaddlePaddle 3.3.1 gives for 10 samples: (replicas, batch, shuffle, drop_last), by rank.
OBSERVED = {
    (2, 3, False, False): [[[0, 1, 2], [6, 7]], [[3, 4, 5], [8, 9]]],
    (2, 3, False, True): [[[0, 1, 2]], [[3, 4, 5]]],
    (2, 3, True, False): [[[2, 8, 4], [7, 3]], [[9, 1, 6], [0, 5]]],
    (3, 3, False, False): [[[0, 1, 2], [9]], [[3, 4, 5], [0]], [[6, 7, 8], [1]]],
    (3, 3, True, False): [[[6, 1, 4], [3]], [[0, 2, 8], [0]], [[1, 7, 9], [5]]],
    (4, 2, False, False): [[[0, 1], [8]], [[2, 3], [9]], [[4, 5], [0]], [[6, 7], [1]]],
    (4, 2, True, True): [[[6, 1]], [[4, 0]], [[2, 8]], [[1, 7]]],
}


@pytest.mark.parametrize("case", OBSERVED, ids=str)
def test_distributed_batches_are_the_references(case: Any) -> None:
    replicas, batch, shuffle, drop = case
    for rank, expected in enumerate(OBSERVED[case]):
        sampler = io.DistributedBatchSampler(range(10), batch, replicas, rank, shuffle, drop)
        assert list(sampler) == expected
        assert len(sampler) == len(expected)


def test_distributed_orders_follow_the_epoch() -> None:
    sampler = io.DistributedBatchSampler(range(10), 3, num_replicas=2, rank=0, shuffle=True)
    first, second = list(sampler), list(sampler)
    assert first != second == [[2, 9, 6], [1, 7]]
    sampler.set_epoch(0)
    assert list(sampler) == first
    sampler.set_epoch(5)
    assert list(sampler) == [[9, 5, 2], [0, 8]]
    with pytest.raises(ArgumentError, match="non-negative int, got -1"):
        sampler.set_epoch(-1)


def test_one_process_has_all() -> None:
    assert list(io.DistributedBatchSampler(range(3), 2)) == [[0, 1], [2]]
    assert list(io.DistributedBatchSampler([], 2, num_replicas=2, rank=1)) == []


def test_few_samples_come_several_times() -> None:
    shares = [list(io.DistributedBatchSampler([7], 2, 3, rank)) for rank in range(3)]
    assert shares == [[[0]]] * 3


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"num_replicas": 2, "rank": 2}, "rank must be from 0 to 1, as num_replicas is 2; got 2"),
        ({"num_replicas": 0}, "num_replicas must be an int, 1 at least"),
        ({"rank": 1}, "rank must be from 0 to 0"),
        ({"rank": True}, "rank must be an int"),
        ({"num_replicas": 2, "rank": -1}, "got -1"),
    ],
)
def test_wrong_places_are_refused(arguments: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        io.DistributedBatchSampler(Rows(), 2, **arguments)
