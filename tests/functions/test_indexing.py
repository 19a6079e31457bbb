"""Keys by NumPy's rules, what writing does to a graph, and what is refused."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    ModeError,
    NotDifferentiableError,
    ShapeError,
)

X = np.arange(24.0).reshape(2, 3, 4)
PARTS = {
    "1": 1,
    "-2": -2,
    ":": slice(None),
    "1::-1": slice(1, None, -1),
    "None": None,
    "...": Ellipsis,
    "rows": np.asarray([0, 1, 1]),
    "column": np.asarray([[0], [-1]]),
    "0-d": np.asarray(1),
    "nothing": np.zeros(0, np.int64),
    "mask1": np.asarray([True, False]),
    "mask2": np.asarray([[True, False, True], [False, False, True]]),
    "mask0": np.asarray(True),
}


def valid_keys():
    """Keys of up to three parts that NumPy takes."""
    for count in (1, 2, 3):
        for names in itertools.product(PARTS, repeat=count):
            key = tuple(PARTS[n] for n in names)
            if names.count("...") < 2:
                with contextlib.suppress(IndexError):
                    yield names, key, X[key]


VALID = list(valid_keys())


@pytest.mark.parametrize("first", PARTS)
def test_every_key_is_read_as_numpy_reads_it_and_adds_where_it_read(first):
    tried = 0
    for names, key, expected in VALID:
        if names[0] != first:
            continue
        x = paddle.to_tensor(X, stop_gradient=False)
        y = x[key]
        np.testing.assert_array_equal(y.numpy(), expected, err_msg=str(names))
        weights = np.arange(1.0, expected.size + 1).reshape(expected.shape)
        (found,) = paddle.grad(y, x, paddle.to_tensor(weights))
        summed = np.zeros_like(X)
        np.add.at(summed, key, weights)
        np.testing.assert_array_equal(found.numpy(), summed, err_msg=str(names))
        tried += 1
    assert tried > 10


@pytest.mark.parametrize("first", PARTS)
def test_every_key_is_written_as_numpy_writes_it(first):
    for names, key, expected in VALID:
        if names[0] != first:
            continue
        value = -np.arange(1.0, expected.size + 1).reshape(expected.shape)
        written, y = X.copy(), paddle.to_tensor(X)
        written[key] = value
        y[key] = paddle.to_tensor(value)
        np.testing.assert_array_equal(y.numpy(), written, err_msg=str(names))


def test_lists_tensors_and_arrays_are_one_key():
    x = paddle.to_tensor(X)
    for key in ([1, 0], np.asarray([1, 0]), paddle.to_tensor([1, 0]), [paddle.to_tensor(1), 0]):
        np.testing.assert_array_equal(x[key].numpy(), X[[1, 0]])
    for mask in ([False, True], np.asarray([False, True]), paddle.to_tensor([False, True])):
        np.testing.assert_array_equal(x[mask].numpy(), X[[False, True]])
    np.testing.assert_array_equal(x[[]].numpy(), X[:0])
    np.testing.assert_array_equal(x[paddle.to_tensor(1), :, [0, 2]].numpy(), X[1, :, [0, 2]])


def test_computed_indices_in_a_program():
    static = paddle.static
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 4], "float32")
        i = static.data("i", [None], "int64")
        x.stop_gradient = False
        y = x[i % 2, :] * x[:, i][0]
        assert list(y.shape) == [-1, 4] or list(y.shape) == [-1, -1]
        z = x[x > 5.0]
        assert list(z.shape) == [-1]
        (g,) = static.gradients([z.sum()], [x])
        values = np.arange(8, dtype="float32").reshape(2, 4)
        feed = {"x": values, "i": np.asarray([3, 1, 0, 0])}
        found = static.Executor().run(feed=feed, fetch_list=[y, z, g])
    index = feed["i"]
    np.testing.assert_array_equal(found[0], values[index % 2] * values[:, index][0])
    np.testing.assert_array_equal(found[1], [6.0, 7.0])
    np.testing.assert_array_equal(found[2], values > 5.0)


# --- assignment


def test_a_written_tensor_is_the_result_of_an_operation():
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    v = paddle.to_tensor(5.0, stop_gradient=False)
    y = x * x
    before = y.sum()
    y[1:] = v
    assert not y.is_leaf
    assert y.tolist() == [1.0, 5.0, 5.0]
    gx, gv = paddle.grad((y * y).sum(), [x, v], retain_graph=True)
    assert gx.tolist() == [4.0, 0.0, 0.0]
    assert gv.item() == 20.0
    (g,) = paddle.grad(before, x)  # what was recorded before keeps the values it saw
    assert g.tolist() == [2.0, 4.0, 6.0]


def test_a_tensor_without_gradient_takes_that_of_what_is_written():
    y = paddle.zeros([3])
    v = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y[[0, 2]] = v * 3.0
    assert not y.stop_gradient
    (g,) = paddle.grad(y.sum(), v)
    assert g.tolist() == [3.0, 3.0]


def test_of_repeated_positions_the_last_stays_and_has_the_gradient():
    y = paddle.zeros([2])
    v = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
    y[[1, 0, 1, 1]] = v
    assert y.tolist() == [2.0, 4.0]
    (g,) = paddle.grad(y.sum(), v)
    assert g.tolist() == [0.0, 1.0, 0.0, 1.0]
    w = paddle.to_tensor(2.0, stop_gradient=False)
    y = paddle.zeros([2])
    y[[1, 0, 1]] = w  # two elements hold w in the end
    (g,) = paddle.grad(y.sum(), w)
    assert g.item() == 2.0


@pytest.mark.parametrize("order", [1, -1])
def test_the_last_of_many_stays_whatever_the_layout(order):
    index = np.asarray([3, 1, 3, 0, 1] * 40)[::order]
    values = np.arange(200.0)[::order]
    y = paddle.zeros([4], dtype="float64")
    y[index] = paddle.to_tensor(values)
    expected = np.zeros(4)
    for i, value in zip(index, values, strict=True):
        expected[i] = value
    np.testing.assert_array_equal(y.numpy(), expected)


def test_a_leaf_that_requires_a_gradient_is_written_under_no_grad_only():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x.name = "weight"
    with pytest.raises(NotDifferentiableError, match=r"weight is a leaf .*y = x\.clone\(\)"):
        x[0] = 5.0
    assert x.tolist() == [1.0, 2.0]
    y = (x * x).sum()
    with paddle.no_grad():
        x[0] = 5.0
    assert x.is_leaf
    assert not x.stop_gradient
    assert x.tolist() == [5.0, 2.0]
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]  # of the values that y was computed from


def test_a_numpy_view_taken_before_keeps_its_values():
    x = paddle.zeros([2])
    view = x.numpy()
    x[0] = 1.0
    assert view.tolist() == [0.0, 0.0]


def test_what_is_written_takes_the_dtype_of_what_it_is_written_to():
    x = paddle.to_tensor([1, 2, 3])
    x[0] = 2.7
    assert x.tolist() == [2, 2, 3]
    assert x.numpy().dtype == np.int64
    y = paddle.zeros([2], dtype="float32")
    v = paddle.to_tensor([1.5], dtype="float64", stop_gradient=False)
    y[:1] = v
    assert y.numpy().dtype == np.float32
    (g,) = paddle.grad(y.sum(), v)
    assert g.numpy().dtype == np.float64


def test_leading_ones_of_a_value_are_dropped():
    y = paddle.zeros([2, 3])
    y[0] = np.ones((1, 1, 3))
    assert y.tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]


def test_a_variable_is_not_written():
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        with pytest.raises(ModeError, match=r"x = paddle\.static\.setitem\(x, key, value\)"):
            x[0] = 1.0


# --- order


def test_sorts_are_stable_and_nan_is_largest():
    nan = float("nan")
    x = paddle.to_tensor([2.0, nan, 1.0, 2.0, nan, 1.0])
    assert paddle.argsort(x).tolist() == [2, 5, 0, 3, 1, 4]
    assert paddle.argsort(x, descending=True).tolist() == [1, 4, 0, 3, 2, 5]
    np.testing.assert_array_equal(paddle.sort(x).numpy(), [1, 1, 2, 2, nan, nan])


def test_integers_that_have_no_negative_are_sorted_downwards():
    x = paddle.to_tensor(np.asarray([5, -128, 127], np.int8))
    assert paddle.sort(x, descending=True).tolist() == [127, 5, -128]
    flags = paddle.to_tensor([False, True])
    assert paddle.argsort(flags, descending=True).tolist() == [1, 0]


def test_float16_adds_up_in_float32():
    """2048 + 1 is 2048 in float16."""
    x = paddle.to_tensor(np.zeros((2, 3), np.float16), stop_gradient=False)
    rows = np.zeros(3000, np.int64)
    (g,) = paddle.grad(x[rows].sum(), x)
    assert g[0].tolist() == [3000.0] * 3
    (g,) = paddle.grad(x[rows, rows + 1].sum(), x)
    assert g[0, 1].item() == 3000.0


def test_extrema_of_nothing_but_integers():
    x, index = paddle.to_tensor([3, 7]), paddle.to_tensor([0, 0])
    v = paddle.to_tensor([-5, 2])
    found = paddle.put_along_axis(x, index, v, 0, reduce="amax", include_self=False)
    assert found.tolist() == [2, 7]
    found = paddle.put_along_axis(x, index, v, 0, reduce="mean")
    assert found.tolist() == [0, 7]


# --- what is refused


def tensor(*shape, dtype="float32"):
    return paddle.zeros(list(shape), dtype=dtype)


def ints(*values):
    return paddle.to_tensor(np.asarray(values, np.int64))


def assign(x, key, value):
    x[key] = value


REFUSED = {
    "index far": (lambda x: x[[0, 5]], IndexError, "index 5 is out of range; .* axis 0 is 2"),
    "index far on an axis": (lambda x: x[:, [3]], IndexError, "index 3 .* size of axis 1 is 3"),
    "index far below": (lambda x: x[[-3]], IndexError, "index -3 .* must be in -2 to 1"),
    "second index far": (lambda x: x[[0, 1], [0, 7]], IndexError, "index 7 .* axis 1 of size 3"),
    "int beside an array": (lambda x: x[5, [0]], IndexError, "index 5 .* axis 0 of size 2"),
    "too many": (lambda x: x[[0], [0], [0]], IndexError, r"too many indices: 3 .* \[2, 3\]"),
    "mask too deep": (lambda x: x[tensor(2, 3, 1) > 0], IndexError, "too many indices: 3"),
    "no axis for rows": (lambda x: x[0, 0][[0]], IndexError, "too many indices: 1 .* 0 dim"),
    "arrays that do not meet": (
        lambda x: x[[0, 1], [0, 1, 2]],
        IndexError,
        r"\[2\] and \[3\] do not; index one axis after the other",
    ),
    "mask of another shape": (
        lambda x: x[[True, False, True]],
        IndexError,
        r"mask of shape \[3\] on axes 0 to 0 of \[2, 3\] must have the sizes of these, \[2\]",
    ),
    "float mask": (lambda x: x[tensor(2)], DTypeError, r"use .* \.astype\('bool'\) for a mask"),
    "ragged": (lambda x: x[[object()]], TypeError, "a list of"),
    "two ellipses": (lambda x: x[..., [0], ...], IndexError, r"one \.\.\. only; write :"),
    "step 0": (lambda x: x[[0], ::0], IndexError, "step of a slice cannot be 0"),
    "step of a tensor": (lambda x: x[:: paddle.to_tensor(0)], IndexError, "cannot be 0"),
    "value too wide": (
        lambda x: assign(x, 0, tensor(2)),
        ShapeError,
        r"\[2\] does not broadcast to",
    ),
    "value that stretches": (
        lambda x: assign(x, slice(0, 1), tensor(2, 3)),
        ShapeError,
        r"\[2, 3\] does not broadcast to the \[1, 3\] elements",
    ),
    "too few for a mask": (
        lambda x: assign(x, paddle.to_tensor([[True] * 3, [False] * 3]), tensor(2)),
        ShapeError,
        r"\[2\] does not broadcast to the \[3\] elements",
    ),
    "complex into real": (lambda x: assign(x, 0, 1j * np.ones(3)), DTypeError, r"paddle\.real"),
    "write far": (lambda x: assign(x, [4], 1.0), IndexError, "index 4 .* axis 0 of size 2"),
    "index_select matrix": (
        lambda x: paddle.index_select(x, ints([0])),
        ShapeError,
        r"one axis, got \[1, 1\]; use paddle\.gather",
    ),
    "gather floats": (lambda x: paddle.gather(x, tensor(1)), DTypeError, "index.astype"),
    "gather_nd deep": (
        lambda x: paddle.gather_nd(x, ints([0, 0, 0])),
        ShapeError,
        "rows of at most 2 positions",
    ),
    "gather_nd far": (lambda x: paddle.gather_nd(x, ints([0, 3])), IndexError, "index 3 .* axis 1"),
    "take far": (lambda x: paddle.take(x, ints(6)), IndexError, "index 6 .* -6 to 5"),
    "take mode": (lambda x: paddle.take(x, ints(0), mode="x"), ArgumentError, "'wrap' or 'clip'"),
    "take_along_axis rank": (
        lambda x: paddle.take_along_axis(x, ints(0), 0),
        ShapeError,
        "as many axes as arr",
    ),
    "take_along_axis lines": (
        lambda x: paddle.take_along_axis(x, ints([0], [0], [0]), 1),
        ShapeError,
        "do not broadcast",
    ),
    "take_along_axis larger": (
        lambda x: paddle.take_along_axis(x, ints([0], [0], [0]), 1, broadcast=False),
        ShapeError,
        "no larger than",
    ),
    "index_sample below": (
        lambda x: paddle.index_sample(x, ints([-1], [0])),
        IndexError,
        "index -1 .* 0 to 2",
    ),
    "index_sample vector": (
        lambda x: paddle.index_sample(x, ints(0)),
        ShapeError,
        "must be matrices",
    ),
    "put_along_axis reduce": (
        lambda x: paddle.put_along_axis(x, ints([0]), 1.0, 1, reduce="max"),
        ArgumentError,
        "'amin' or 'amax', got 'max'",
    ),
    "put_along_axis values": (
        lambda x: paddle.put_along_axis(x, ints([0], [0]), tensor(2, 2), 1),
        ShapeError,
        r"values \[2, 2\] do not broadcast to indices \[2, 1\]",
    ),
    "put_along_axis far": (
        lambda x: paddle.put_along_axis(x, ints([0], [3]), 1.0, 1, reduce="mul"),
        IndexError,
        "index 3 is out of range",
    ),
    "scatter matrix": (
        lambda x: paddle.scatter(x, ints([0]), x),
        ShapeError,
        "use paddle.scatter_nd_add",
    ),
    "scatter rows": (
        lambda x: paddle.scatter(x, ints(0, 1), tensor(2, 2)),
        ShapeError,
        r"updates must have the shape .* \[2, 3\]; got \[2, 2\]",
    ),
    "index_add value": (
        lambda x: paddle.index_add(x, ints(0, 1), 0, tensor(1, 3)),
        ShapeError,
        r"value must have the shape .* \[2, 3\]; got \[1, 3\]",
    ),
    "index_fill several": (
        lambda x: paddle.index_fill(x, ints(0), 0, tensor(2)),
        ShapeError,
        "one number, .* use paddle.index_put",
    ),
    "index_put tensor": (lambda x: paddle.index_put(x, ints(0), 1.0), TypeError, "a tuple of arr"),
    "scatter_nd shape": (
        lambda x: paddle.scatter_nd(ints([0]), tensor(1), [-1]),
        ArgumentError,
        "must hold non-negative ints",
    ),
    "masked_fill floats": (
        lambda x: paddle.masked_fill(x, tensor(3), 0.0),
        DTypeError,
        r"mask\.astype\('bool'\)",
    ),
    "masked_scatter few": (
        lambda x: paddle.masked_scatter(x, tensor(3) == 0.0, tensor(5)),
        ShapeError,
        "has 6 ones, and value only 5",
    ),
    "masked_scatter wide": (
        lambda x: paddle.masked_scatter(x, tensor(2, 2, 3) == 0.0, x),
        ShapeError,
        r"does not broadcast to x \[2, 3\]",
    ),
    "where of one": (lambda x: paddle.where(x > 0, x), ArgumentError, "both x and y, or neither"),
    "sort axis": (lambda x: paddle.sort(x, axis=2), ShapeError, "axis 2 is out of range"),
    "nonzero 0-d": (lambda x: paddle.nonzero(x.sum()), ShapeError, "one dimension or more"),
    "unique dtype": (lambda x: paddle.unique(x, dtype="float32"), ArgumentError, "'int32' or"),
    "bucketize matrix": (lambda x: paddle.bucketize(x, x), ShapeError, "use paddle.searchsorted"),
    "searchsorted lines": (
        lambda x: paddle.searchsorted(x, tensor(3, 3)),
        ShapeError,
        "equal sizes on all but the last",
    ),
    "searchsorted side": (
        lambda x: paddle.searchsorted(x[0], x, right=True, side="left"),
        ArgumentError,
        "agree with right",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call(tensor(2, 3))


def test_a_tensor_among_variables_is_refused():
    mask = paddle.to_tensor([True, False])
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        with pytest.raises(TypeError, match="is an eager Tensor among Variables"):
            x[mask]
        with pytest.raises(TypeError, match=r"the Variable i: use paddle\.stack"):
            x[[paddle.static.data("i", [], "int64")]]
        with pytest.raises(IndexError, match=r"mask of shape \[3\]"):
            x[[True, False, True]]


def test_what_a_program_finds_out_when_it_runs():
    static = paddle.static
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 3], "float32")
        y = x[static.data("i", [None], "int64")]
        z = x[static.data("m", [None], "bool")]
        run = static.Executor().run
        ones = np.ones((2, 3), "float32")
        with pytest.raises(RuntimeError, match=r"index 2 is out of range; .* axis 0 is 2"):
            run(feed={"x": ones, "i": np.asarray([2]), "m": np.ones(2, bool)}, fetch_list=[y])
        with pytest.raises(RuntimeError, match=r"mask of shape \[3\] on axes 0 to 0"):
            run(feed={"x": ones, "i": np.asarray([0]), "m": np.ones(3, bool)}, fetch_list=[z])
