"""Samples put together."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.io import default_collate_fn as collate, default_convert_fn as convert


class Pair(NamedTuple):
    x: Any
    y: Any


@pytest.mark.parametrize(
    ("batch", "dtype", "values"),
    [
        ([1, 2], "int64", [1, 2]),
        ([1.5, 2], "float64", [1.5, 2.0]),
        ([True, False], "bool", [True, False]),
        ([np.float32(1), np.float32(2)], "float32", [1.0, 2.0]),
        ([np.bool_(True), np.bool_(False)], "bool", [True, False]),
        ([np.ones(2, "int8"), np.zeros(2, "int8")], "int8", [[1, 1], [0, 0]]),
        ([np.array(1), np.array(2)], "int64", [1, 2]),
        ([np.ones((0, 2)), np.ones((0, 2))], "float64", [[], []]),
        ([np.ones(1, "int32"), np.ones(1, "float64")], "float64", [[1.0], [1.0]]),
        ([1j, 2], "complex128", [1j, 2]),
    ],
)
def test_arrays_and_numbers_are_stacked(batch: Any, dtype: str, values: Any) -> None:
    stacked = collate(batch)
    assert type(stacked) is np.ndarray
    assert stacked.dtype == dtype
    assert stacked.tolist() == values


@pytest.mark.parametrize("order", ["C", "F"])
def test_stacked_is_what_numpy_stacks(order: Any) -> None:
    rows = [np.asarray(np.random.default_rng(i).random((2, 3, 4)), order=order) for i in range(5)]
    rows.append(rows[0].transpose(0, 2, 1).copy().transpose(0, 2, 1))  # in neither order
    np.testing.assert_array_equal(collate(rows), np.stack(rows))
    alone = collate(rows[:1])
    alone[...] = 0
    assert rows[0].all(), "what is stacked is a copy"


def test_structures_are_kept() -> None:
    batch = [
        {"x": (np.full(2, i), [i, "s"]), "t": paddle.full([2], float(i)), "b": b"q"}
        for i in range(2)
    ]
    made = collate(batch)
    assert set(made) == {"x", "t", "b"}
    assert made["x"][0].tolist() == [[0, 0], [1, 1]]
    assert made["x"][1][0].tolist() == [0, 1]
    assert made["x"][1][1] == ["s", "s"]
    assert made["b"] == [b"q", b"q"]
    assert isinstance(made["t"], paddle.Tensor)
    assert made["t"].tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert type(collate([(1,), (2,)])) is list
    pairs = collate([Pair(1, "a"), Pair(2, "b")])
    assert (pairs.x.tolist(), pairs.y) == ([1, 2], ["a", "b"])


def test_a_gradient_flows_through_stacked_tensors() -> None:
    x = paddle.ones([2])
    x.stop_gradient = False
    collate([x, x * 2])[1].sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("batch", "error", "hint"),
    [
        (
            [np.ones(2), np.ones(2), np.ones(3)],
            ShapeError,
            r"a sample has shape \[2\] in sample 0 of the batch, and \[3\] in sample 2: .* pad",
        ),
        (
            [(0, {"x": np.ones((2, 1))}), (0, {"x": np.ones(2)})],
            ShapeError,
            r"field \[1\]\['x'\] of the samples has shape \[2, 1\] .* \[2\] in sample 1",
        ),
        ([paddle.ones([2]), paddle.ones([3])], ShapeError, r"\[2\] in sample 0 .* collate_fn"),
        ([(1, 2), (1,)], ArgumentError, "has 2 fields in sample 0 .* 1 in sample 1"),
        ([{"a": 1}, {"b": 1}], ArgumentError, r"keys \['a'\] in sample 0 .* \['b'\] in sample 1"),
        ([None, None], TypeError, "a sample is None, which is not stacked"),
        ([(1, object())], TypeError, r"field \[1\] of the samples is of type object"),
        ([1, None], TypeError, "type int in sample 0 of the batch, and None in sample 1"),
        ([1, "a"], TypeError, "type int in sample 0 of the batch, and of type str"),
        ([np.ones(2), 3], TypeError, "type ndarray in sample 0 .* int in sample 1"),
        ([paddle.ones([1]), 3], TypeError, "type Tensor in sample 0"),
        ([(1, 2), 3], TypeError, "type tuple in sample 0"),
        ([(1, 2), "ab"], TypeError, "of type str in sample 1"),
        ([{"a": 1}, 3], TypeError, "type dict in sample 0"),
        (["a", 1], TypeError, "type str in sample 0 of the batch, and of type int in sample 1"),
        ([(0, b"a"), (0, None)], TypeError, r"field \[1\] .* type bytes in sample 0 .* None"),
        ([1, 10**30], ArgumentError, "an integer that no 64 bits hold"),
        ([], ArgumentError, "one sample at least, got none"),
        (3, ArgumentError, "got int"),
        ([{1, 2}], TypeError, "a sample is of type set"),
    ],
)
def test_what_does_not_fit_is_named(batch: Any, error: Any, hint: str) -> None:
    with pytest.raises(error, match=hint):
        collate(batch)


def test_a_converted_sample_keeps_its_values() -> None:
    x = np.ones(2)
    made = convert((x, {"k": (1, "s")}, Pair(1, (2,))))
    assert made[0] is x
    assert made[1:] == [{"k": [1, "s"]}, Pair(1, [2])]
