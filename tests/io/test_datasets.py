"""Datasets by themselves, and parts of them."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import io
from autograd_engine.errors import ArgumentError, NoLengthError, NotATensorError, ShapeError
from tests.io.data import Rows, Stream


def test_a_dataset_without_its_methods_says_which_to_define() -> None:
    class Empty(io.Dataset):
        pass

    with pytest.raises(NotImplementedError, match="Empty has no __getitem__: define `def __getit"):
        Empty()[0]
    with pytest.raises(NotImplementedError, match="Empty has no __len__: define `def __len__"):
        len(Empty())

    class Endless(io.IterableDataset):
        pass

    with pytest.raises(NotImplementedError, match="Endless has no __iter__: define"):
        iter(Endless())
    with pytest.raises(RuntimeError, match="has no index: iterate over it"):
        Endless()[0]
    with pytest.raises(NoLengthError, match="does not tell its length; define __len__"):
        len(Endless())


def test_a_list_of_a_stream_needs_no_length() -> None:
    assert list(Stream(3)) == [0, 1, 2]


def test_tensor_dataset_has_the_rows() -> None:
    x, y = paddle.rand([4, 2]), np.arange(4)
    data = io.TensorDataset([x, y])
    assert len(data) == 4
    row, label = data[-1]
    assert row.tolist() == x.numpy()[3].tolist()
    assert label == 3
    with pytest.raises(IndexError):
        data[4]


@pytest.mark.parametrize(
    ("tensors", "error", "hint"),
    [
        ([], ArgumentError, r"got an empty one: TensorDataset\(\[x, y\]\)"),
        (paddle.ones([2]), ArgumentError, "takes a list of tensors, got Tensor"),
        ([[1, 2]], NotATensorError, "got list: use paddle.to_tensor"),
        (
            [paddle.ones([2]), paddle.ones([3])],
            ShapeError,
            r"as many rows, got shapes \[2\], \[3\]",
        ),
        ([paddle.ones([])], ShapeError, r"got shapes \[\]"),
        (None, ArgumentError, "NoneType"),
    ],
)
def test_tensor_dataset_refuses(tensors: Any, error: Any, hint: str) -> None:
    with pytest.raises(error, match=hint):
        io.TensorDataset(tensors)


def test_compose_puts_fields_side_by_side() -> None:
    data = io.ComposeDataset([Rows(3), "abc"])
    x, number, letter = data[2]
    assert (x[0, 0], number, letter, len(data)) == (2, 2, "c", 3)
    with pytest.raises(ArgumentError, match=r"one length, got \[3, 2\]; ConcatDataset"):
        io.ComposeDataset([Rows(3), "ab"])


def test_concat_puts_datasets_one_after_the_other() -> None:
    data = io.ConcatDataset([range(3), [], range(10, 12)])
    assert [data[i] for i in range(5)] == [0, 1, 2, 10, 11]
    assert [data[i] for i in range(-5, 0)] == [0, 1, 2, 10, 11]
    assert data.cumulative_sizes == [3, 3, 5]
    for index in (5, -6):
        with pytest.raises(IndexError, match=f"index {index} is out of range for 5 samples"):
            data[index]


def test_chain_puts_streams_one_after_the_other() -> None:
    assert list(io.ChainDataset([Stream(2), Stream(3)])) == [0, 1, 0, 1, 2]


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda: io.ConcatDataset([]), "one dataset at least"),
        (lambda: io.ConcatDataset(None), r"got NoneType: ConcatDataset\(\[a, b\]\)"),
        (lambda: io.ConcatDataset(Rows()), "takes a list of datasets, got Rows"),
        (lambda: io.ConcatDataset([Stream()]), "got Stream; use ChainDataset"),
        (lambda: io.ChainDataset([Rows()]), "must be an IterableDataset, got Rows; use Concat"),
        (lambda: io.ComposeDataset([Stream()]), "got Stream"),
        (lambda: io.ConcatDataset([3]), "int has no length"),
        (lambda: io.Subset(Stream(), [0]), "Stream has no index"),
        (lambda: io.Subset(None, [0]), "NoneType has no index"),
        (lambda: io.Subset(Rows(), 3), "sequence of ints, got int"),
    ],
)
def test_wrong_parts_are_refused(make: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        make()


def test_a_subset_has_the_samples_of_its_indices() -> None:
    data = io.Subset(io.Subset(range(100, 110), [2, 4, 6]), np.array([2, 0]))
    assert [data[0], data[-1], len(data)] == [106, 102, 2]
    with pytest.raises(IndexError, match="Subset: index 2 is out of range for 2 samples"):
        data[2]


# --- random_split


def test_a_split_has_every_sample_once() -> None:
    parts = io.random_split(range(10), [3, 0, 7])
    assert [len(part) for part in parts] == [3, 0, 7]
    assert sorted(sample for part in parts for sample in part) == list(range(10))


@pytest.mark.parametrize(
    ("size", "shares", "lengths"),
    [
        (10, [0.33, 0.67], [4, 6]),  # as PaddlePaddle 3.3.1
        (10, [0.333, 0.333, 0.334], [4, 3, 3]),
        (10, [0.7, 0.3], [7, 3]),
        (10, [0.1] * 10, [1] * 10),
        (3, [0.5, 0.5], [2, 1]),
        (7, [0.0, 0.5, 0.5], [0, 4, 3]),
        (0, [0.5, 0.5], [0, 0]),
        (5, [1.0], [5]),
        (5, [1.0, 0], [5, 0]),
    ],
)
def test_shares_are_rounded_down_and_what_is_left_is_dealt(
    size: int, shares: list[float], lengths: list[int]
) -> None:
    parts = io.random_split(range(size), shares)
    assert [len(part) for part in parts] == lengths


def test_a_split_follows_the_seed_or_the_generator() -> None:
    def split(generator: Any = None) -> Any:
        return [part.indices for part in io.random_split(range(50), [25, 25], generator)]

    paddle.seed(3)
    first, second = split(), split()
    paddle.seed(3)
    assert split() == first != second
    own = [split(np.random.default_rng(1)) for _ in range(2)]
    assert own[0] == own[1]
    assert paddle.rand([3]).tolist() != paddle.rand([3]).tolist()


@pytest.mark.parametrize(
    ("lengths", "hint"),
    [
        ([3, 3], r"\[3, 3\] sum to 6; .* the length of the dataset, 10, or shares"),
        ([0.5, 0.4], "sum to 0.9; they must sum to 1"),
        ([-1, 11], "non-negative ints, or shares; got -1"),
        ([True, 9], "got True"),
        ([None], "got None"),
        ([float("nan"), 1.0], "got nan"),
        ([5.0, 5.0], "must be ints that sum to"),
        ("ab", "must be a list of ints or of shares"),
        (10, "must be a list of ints or of shares, got 10"),
        ([], "sum to 0; they must be ints"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(lengths: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        io.random_split(range(10), lengths)


@pytest.mark.parametrize("generator", [3, iter([1, 2]), "numpy"])
def test_a_split_takes_numpys_generators_only(generator: Any) -> None:
    with pytest.raises(ArgumentError, match=r"np.random.default_rng\(seed\), or leave it out"):
        io.random_split(range(3), [3], generator)


def test_a_dataset_without_a_length_cannot_be_split() -> None:
    with pytest.raises(ArgumentError, match="Stream has no length"):
        io.random_split(Stream(), [0.5, 0.5])
