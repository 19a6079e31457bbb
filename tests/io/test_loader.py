"""Batches made in the process of the program."""

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import io
from autograd_engine.errors import ArgumentError, DTypeError, ModeError, NoLengthError, ShapeError
from tests.io.data import Rows, Stream


def values(batches: Any) -> Any:
    """Nested lists in the place of tensors."""
    if isinstance(batches, paddle.Tensor):
        return batches.tolist()
    if isinstance(batches, dict):
        return {key: values(value) for key, value in batches.items()}
    if isinstance(batches, (list, io.DataLoader)):
        return [values(batch) for batch in batches]
    return batches


def test_batches_are_lists_of_tensors() -> None:
    loader = io.DataLoader(Rows(5), batch_size=2)
    assert len(loader) == 3
    batches = list(loader)
    assert [y.tolist() for _, y in batches] == [[0, 1], [2, 3], [4]]
    x, y = batches[1]
    assert (type(batches[1]), x.shape, x.dtype, y.dtype) == (list, [2, 2, 3], "float32", "int64")
    assert x.numpy()[:, 0, 0].tolist() == [2, 3]
    assert x.stop_gradient
    assert values(list(loader())) == values(loader) == values(batches)


def test_data_without_an_axis_are_a_tensor() -> None:
    assert values(io.DataLoader([1, 2, 3], batch_size=2)) == [[1, 2], [3]]
    assert values(io.DataLoader("abc", batch_size=2)) == [["a", "b"], ["c"]]


def test_drop_last() -> None:
    loader = io.DataLoader(Rows(5), batch_size=2, drop_last=True)
    assert [y.tolist() for _, y in loader] == [[0, 1], [2, 3]]
    assert len(loader) == 2


def test_shuffled_batches_follow_the_seed() -> None:
    loader = io.DataLoader(range(20), batch_size=6, shuffle=True)
    paddle.seed(2)
    first, second = values(loader), values(loader)
    assert first != second
    assert sorted(index for batch in first for index in batch) == list(range(20))
    paddle.seed(2)
    assert values(loader) == first


def test_the_order_is_that_of_the_beginning() -> None:
    loader = io.DataLoader(range(20), batch_size=6, shuffle=True)
    paddle.seed(2)
    whole = values(loader)
    paddle.seed(2)
    iterator = iter(loader)
    paddle.rand([10])
    assert values(list(iterator)) == whole


def test_a_batch_sampler_says_the_batches() -> None:
    loader = io.DataLoader(range(5), batch_sampler=[[4, 0], [1]])
    assert values(loader) == [[4, 0], [1]]
    assert len(loader) == 2
    sampler = io.BatchSampler(sampler=[3, 1], batch_size=2)
    assert values(io.DataLoader(range(5), batch_sampler=sampler)) == [[3, 1]]


def test_without_a_batch_size_samples_are_as_they_are() -> None:
    class Batches(io.Dataset):
        rows = np.zeros((3, 2))

        def __getitem__(self, index: int) -> Any:
            return self.rows, index, "s"

        def __len__(self) -> int:
            return 2

    loader = io.DataLoader(Batches(), batch_size=None)
    assert len(loader) == 2
    batches = list(loader)
    assert values(batches) == [[[[0.0] * 2] * 3, 0, "s"], [[[0.0] * 2] * 3, 1, "s"]]
    Batches.rows[...] = 1
    assert not batches[0][0].numpy().any(), "a tensor has memory of its own"
    assert values(io.DataLoader([1, 2], batch_size=None, collate_fn=lambda v: [v])) == [[1], [2]]


def test_custom_collates_keep_their_structure() -> None:
    def made(collate: Any) -> Any:
        return next(iter(io.DataLoader(Rows(2), batch_size=2, collate_fn=collate)))

    buffer = np.zeros(2)
    batch = made(lambda samples: {"x": buffer, "n": (1, 2.5, "s", None), "k": samples[0][1]})
    assert values(batch) == {"x": [0.0, 0.0], "n": [1, 2.5, "s", None], "k": 0}
    buffer[...] = 1
    assert not batch["x"].numpy().any(), "what collate_fn keeps does not change a batch"
    tensor = paddle.ones([2])
    assert made(lambda samples: tensor) is tensor
    assert made(lambda samples: len(samples)) == 2


def test_arrays_that_no_tensor_can_hold_stay_arrays() -> None:
    words = np.array(["a", "b"])
    made = next(iter(io.DataLoader([words], batch_size=1)))
    assert made.tolist() == [["a", "b"]]
    assert type(made) is np.ndarray


def test_dtypes_that_no_tensor_has_are_refused() -> None:
    for workers in (0, 1):
        with pytest.raises(DTypeError, match="dtype uint16, which no Tensor can hold: convert it"):
            next(iter(io.DataLoader([np.ones(2, "uint16")], num_workers=workers)))
    swapped = np.arange(3, dtype=">i4")
    assert next(iter(io.DataLoader([swapped]))).tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("subset", [False, True])
def test_rows_of_tensors_are_taken_at_once(subset: bool) -> None:
    x, y = paddle.rand([7, 3]), np.arange(7, dtype="int32")
    data: Any = io.TensorDataset([x, y])
    if subset:
        data = io.Subset(data, [6, -2, 0, 3])
    single = [data[i] for i in range(len(data))]
    for sampler in ([[0, 2], [1]], [[-1, 3]], [range(3)], [np.array([1, 1])]):
        for batch, indices in zip(io.DataLoader(data, batch_sampler=sampler), sampler, strict=True):
            expected = io.default_collate_fn([single[i] for i in indices])
            assert [t.dtype for t in batch] == ["float32", "int32"]
            for t, wanted in zip(batch, expected, strict=True):
                np.testing.assert_array_equal(t.numpy(), np.asarray(wanted))
    with pytest.raises(IndexError, match="is out of range"):
        list(io.DataLoader(data, batch_sampler=[[0, 9]]))


def test_rows_with_a_gradient_keep_it() -> None:
    x = paddle.ones([3, 2])
    x.stop_gradient = False
    ((batch,),) = io.DataLoader(io.TensorDataset([x]), batch_size=3)
    batch.sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0]] * 3


# --- streams


def test_a_stream_is_cut_into_batches() -> None:
    assert values(io.DataLoader(Stream(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert values(io.DataLoader(Stream(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert values(io.DataLoader(Stream(2), batch_size=None)) == [0, 1]
    assert values(io.DataLoader(Stream(0), batch_size=2)) == []


def test_a_stream_that_has_ended_stays_so() -> None:
    iterator = iter(io.DataLoader(Stream(1), batch_size=2))
    assert next(iterator).tolist() == [0]
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)


def test_a_stream_may_tell_its_length() -> None:
    class Told(Stream):
        def __len__(self) -> int:
            return self.size

    lengths = [(2, False, 3), (2, True, 2), (None, False, 5)]
    for size, drop, expected in lengths:
        assert len(io.DataLoader(Told(5), batch_size=size, drop_last=drop)) == expected
    with pytest.raises(NoLengthError, match="Stream is an IterableDataset, which does not tell"):
        len(io.DataLoader(Stream()))
    with pytest.raises(ValueError, match="does not tell its length"):
        len(io.DataLoader(Stream()))


# --- in programs


def test_feeds_of_a_program(exe: Any) -> None:
    main = paddle.static.Program()
    paddle.enable_static()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [None, 2, 3])
        y = paddle.static.data("y", [None], "int64")
        total = paddle.sum(x) + paddle.cast(paddle.sum(y), "float32")
    loader = io.DataLoader(Rows(4), feed_list=[x, y], batch_size=2, return_list=False)
    sums = [float(exe.run(main, feed, [total])[0]) for feed in loader]
    assert sums == [7.0, 35.0]
    assert [set(feed[0]) for feed in loader] == [{"x", "y"}] * 2
    listed = next(iter(io.DataLoader(Rows(4), feed_list=[x, y], batch_size=2)))
    assert np.asarray(listed[1]).tolist() == [0, 1]
    with pytest.raises(ShapeError, match=r"has 1 fields, and feed_list has 2 variables \(x, y\)"):
        next(iter(io.DataLoader([1], feed_list=[x, y], return_list=False)))
    with pytest.raises(ModeError, match="pass feed_list"):
        io.DataLoader([1], return_list=False)
    paddle.disable_static()
    assert len(next(iter(loader))) == 2, "in eager mode a batch is a list"


# --- arguments


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"batch_size": 0}, "batch_size .* 1 at least; got 0"),
        ({"batch_size": -1}, "got -1"),
        ({"batch_size": True}, "got True"),
        ({"batch_size": 2.0}, "got 2.0"),
        ({"batch_size": "2"}, "got '2'"),
        ({"shuffle": 1}, "shuffle must be True or False, got 1"),
        ({"drop_last": None}, "drop_last must be True or False, got None"),
        ({"batch_sampler": [[0]], "shuffle": True}, "are up to the batch_sampler; leave them out"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "are up to the batch_sampler"),
        ({"batch_sampler": [[0]], "drop_last": True}, "are up to the batch_sampler"),
        ({"batch_sampler": 3}, "batch_sampler must be a BatchSampler .* got int"),
        ({"batch_size": None, "shuffle": True}, "there are no batches to shuffle"),
        ({"batch_size": None, "drop_last": True}, "or to drop"),
        ({"collate_fn": 3}, "collate_fn must be a function, got int"),
        ({"worker_init_fn": "f"}, "worker_init_fn must be a function, got str"),
        ({"num_workers": -1}, "num_workers must be an int, 0 at least; got -1"),
        ({"num_workers": True}, "got True"),
        ({"num_workers": 1.5}, "got 1.5"),
        ({"prefetch_factor": 0}, "prefetch_factor must be an int, 1 at least"),
        ({"timeout": -1}, "timeout must be seconds, 0 for no limit; got -1"),
        ({"timeout": float("nan")}, "got nan"),
        ({"timeout": None}, "got None"),
        ({"persistent_workers": 1}, "persistent_workers must be True or False"),
        ({"return_list": 0}, "return_list must be True or False"),
        ({"places": "gpu:0"}, r"places must be 'cpu' or .* got 'gpu:0'"),
        ({"feed_list": ["x"]}, "variables of paddle.static.data, got str"),
        ({"num_workers": 1, "multiprocessing_context": "thread"}, "got 'thread'"),
        ({"num_workers": 1, "multiprocessing_context": 3}, "name of a start method"),
    ],
)
def test_wrong_arguments_are_refused(arguments: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        io.DataLoader(Rows(), **arguments)


@pytest.mark.parametrize(
    ("dataset", "arguments", "hint"),
    [
        (None, {}, "NoneType is no dataset, which has __getitem__ and __len__"),
        (iter([1]), {}, "list_iterator is no dataset"),
        (Stream(), {"shuffle": True}, "comes in its own order; shuffle in its __iter__"),
        (Stream(), {"batch_sampler": [[0]]}, "pass batch_size in the place of batch_sampler"),
    ],
)
def test_wrong_data_are_refused(dataset: Any, arguments: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        io.DataLoader(dataset, **arguments)


def test_the_cpu_is_a_place() -> None:
    for places in (None, "cpu", paddle.CPUPlace(), [paddle.CPUPlace()], ["cpu"]):
        assert len(io.DataLoader(Rows(2), places=places)) == 2


def test_errors_of_the_dataset_are_its_own() -> None:
    class Wrong(Rows):
        def __getitem__(self, index: int) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        next(iter(io.DataLoader(Wrong())))
    with pytest.raises(ShapeError, match=r"shape \[0\] in sample 0 of the batch, and \[1\] in"):
        next(iter(io.DataLoader([np.ones(0), np.ones(1)], batch_size=2)))


def test_a_stop_iteration_of_the_dataset_does_not_end_the_loop() -> None:
    class Wrong(Rows):
        def __getitem__(self, index: int) -> Any:
            raise StopIteration

    with pytest.raises(RuntimeError, match="raised StopIteration, which would end the loop"):
        list(io.DataLoader(Wrong()))


def test_a_loader_can_be_copied() -> None:
    loader = io.DataLoader(Rows(4), batch_size=2)
    for other in (copy.deepcopy(loader), pickle.loads(pickle.dumps(loader))):
        assert values(other) == values(loader)


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    program = """
import sys
import autograd_engine as paddle
late = {"autograd_engine.io", "autograd_engine.metric", "multiprocessing", "socket", "select"}
assert not late & set(sys.modules), late & set(sys.modules)
list(paddle.io.DataLoader([1, 2]))
late -= {"autograd_engine.io"}
assert not late & set(sys.modules), late & set(sys.modules)
assert "io" in dir(paddle) and "metric" in dir(paddle) and "DataLoader" in dir(paddle.io)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
