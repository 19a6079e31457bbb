"""Tensors: `.grad`, values, dtypes and how they meet, what leaves are."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dtypes import DTYPES
from autograd_engine.errors import (
    DTypeError,
    NoHistoryWarning,
    NotDifferentiableError,
    ShapeError,
)


def leaf(value: Any, dtype: str = "float32") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


def of(dtype: str, *shape: int) -> Any:
    return paddle.ones(shape or (2,), dtype=dtype)


# --- .grad


def test_grad_is_none_until_a_pass() -> None:
    x = leaf([1.0])
    assert x.grad is None
    assert x.gradient() is None
    (x * 2.0).backward()
    assert not x.grad.stop_gradient
    assert isinstance(x.gradient(), np.ndarray)
    assert x.gradient().tolist() == [2.0]


@pytest.mark.parametrize("clear", [lambda x: x.clear_grad(), lambda x: x.clear_gradient()])
def test_clear_grad_leaves_zeros(clear: Any) -> None:
    x = leaf([1.0, 2.0])
    clear(x)
    assert x.grad is None
    (x * 2.0).backward()
    clear(x)
    assert x.grad.tolist() == [0.0, 0.0]
    (x * 3.0).backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_clear_gradient_false_leaves_none() -> None:
    x = leaf([1.0])
    x.sum().backward()
    x.clear_gradient(False)
    assert x.grad is None
    x.clear_gradient(True)
    assert x.grad is None


def test_clearing_does_not_write_to_a_held_gradient() -> None:
    x = leaf([1.0])
    x.sum().backward()
    held = x.grad
    x.clear_grad()
    assert held.tolist() == [1.0]


def test_grad_can_be_set() -> None:
    x = leaf([1.0, 2.0])
    x.grad = paddle.to_tensor([5.0, 5.0])
    x.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    x.grad = None
    assert x.grad is None


@pytest.mark.parametrize(
    ("value", "kind", "hint"),
    [
        (np.ones(2), TypeError, "grad takes a Tensor or None, got ndarray: use to_tensor"),
        ([1.0, 2.0], TypeError, "got list"),
        (paddle.ones([3]), ValueError, r"must have the shape of the tensor, \[2\]; got \[3\]"),
        (paddle.ones([2], "float64"), TypeError, r"got float64: use grad\.astype\('float32'\)"),
    ],
)
def test_a_grad_that_does_not_fit(value: Any, kind: Any, hint: str) -> None:
    x = leaf([1.0, 2.0])
    with pytest.raises(kind, match=hint):
        x.grad = value
    assert x.grad is None


# --- leaves


def test_which_tensors_are_leaves() -> None:
    x, c = leaf([1.0]), paddle.ones([1])
    assert (x.is_leaf, c.is_leaf, (x * c).is_leaf, (c * c).is_leaf) == (True, True, False, True)


def test_stop_gradient_of_results() -> None:
    x, c = leaf([1.0]), paddle.ones([1])
    assert c.stop_gradient
    assert not (x * c).stop_gradient
    assert (c * c).stop_gradient
    for closed in (paddle.argmax(x), x > 0.0, x.astype("int64"), x.detach(), paddle.zeros_like(x)):
        assert closed.stop_gradient
    assert not paddle.create_parameter([1]).stop_gradient


def test_closing_a_result_cuts_what_is_built_from_it_later() -> None:
    x = leaf([2.0])
    y = x * x
    before = y * 3.0
    y.stop_gradient = True
    after = y * 3.0 + x
    before.backward()
    assert x.grad.tolist() == [12.0]
    x.clear_gradient(False)
    after.backward()
    assert x.grad.tolist() == [1.0]


@pytest.mark.parametrize("values", [[1, 2], [True, False]])
def test_no_gradient_comes_to_integers_and_bools(values: Any) -> None:
    """They take stop_gradient=False, as in the reference, and nothing else about them changes."""
    t = paddle.to_tensor(values, stop_gradient=False)
    assert not t.stop_gradient
    assert "stop_gradient=False" in repr(t)
    assert not t.requires_grad
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (x * t).sum().backward()
    assert x.grad.tolist() == [float(v) for v in values]
    assert t.grad is None
    assert (t * 2).stop_gradient
    assert t.astype("float32").stop_gradient
    assert t.detach().stop_gradient
    assert paddle.grad((x * t).sum(), [t], allow_unused=True) == [None]
    with pytest.raises(NotDifferentiableError, match="or it holds integers"):
        paddle.grad((x * t).sum(), [t])
    with pytest.raises(NotDifferentiableError, match="no gradient comes to integers and bools"):
        t.register_hook(lambda grad: None)
    with pytest.warns(NoHistoryWarning, match="integers and bools have no gradient"):
        paddle.autograd.backward([t])
    assert "only floating tensors carry gradients" in str(paddle.explain(t, (x * t).sum()))
    for copied in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert not copied.stop_gradient
    t.add_(paddle.to_tensor(values))  # no leaf whose gradient would be lost
    t.stop_gradient = True
    assert t.stop_gradient
    for ask in (lambda: t.requires_grad_(), lambda: setattr(t, "requires_grad", True)):
        with pytest.raises(DTypeError, match=r"needs a floating dtype, got \w+.*dtype='float32'"):
            ask()


def test_detach_and_clone() -> None:
    x = leaf([2.0])
    y = x * x
    assert y.detach().stop_gradient
    (y.clone() * 3.0 + y.detach()).backward()
    assert x.grad.tolist() == [12.0]


def test_deepcopy_is_a_leaf_of_its_own() -> None:
    x = leaf([2.0])
    (x * x).backward()
    y = copy.deepcopy(x)
    y.set_value([5.0])
    assert (x.tolist(), y.tolist(), y.stop_gradient) == ([2.0], [5.0], False)


# --- values


def test_set_value_replaces_by_a_copy() -> None:
    x, mine = leaf([1.0, 2.0]), np.array([3.0, 4.0])
    view = x.numpy()
    x.set_value(mine)
    mine[:] = 0.0
    assert (x.tolist(), x.dtype, view.tolist()) == ([3.0, 4.0], "float32", [1.0, 2.0])
    x.set_value(paddle.to_tensor([5.0, 6.0]))
    assert x.tolist() == [5.0, 6.0]


@pytest.mark.parametrize(
    ("value", "kind", "hint"),
    [
        ([1.0, 2.0, 3.0], ShapeError, r"w has shape \[2\], the value \[3\]"),
        (np.ones((2, 1)), ShapeError, r"the value \[2, 1\]"),
        (np.array([1j, 2j]), DTypeError, r"w is float32, the value complex128; use value\.astype"),
        ("ab", (TypeError, ValueError), "set_value"),
        ([[1.0], [2.0, 3.0]], ValueError, "set_value: the lists are not rectangular"),
    ],
)
def test_a_value_that_does_not_fit(value: Any, kind: Any, hint: str) -> None:
    w = leaf([1.0, 2.0])
    w.name = "w"
    with pytest.raises(kind, match=hint):
        w.set_value(value)
    assert w.tolist() == [1.0, 2.0]


def test_scalars() -> None:
    t = paddle.to_tensor([[2.5]])
    assert (t.item(), float(t), int(t), bool(t)) == (2.5, 2.5, 2, True)
    assert paddle.to_tensor([1.0, 2.0]).item(1) == 2.0
    assert [10, 20, 30][paddle.to_tensor(1)] == 20


@pytest.mark.parametrize(
    ("use", "kind", "hint"),
    [
        (lambda t: t.item(), ValueError, r"one element; this one has shape \[2\]"),
        (float, ValueError, "give a position, or reduce it first"),
        (bool, ValueError, r"truth of a tensor with shape \[2\] is ambiguous.*\.any\(\) or"),
        (lambda t: [1, 2][t[0]], TypeError, r"float32 tensor cannot be an index.*astype\('int64'"),
        (lambda t: len(t[0]), TypeError, "len\\(\\) of a 0-d tensor"),
        (lambda t: list(t[0]), TypeError, "0-d tensor"),
        (lambda t: t.nope, AttributeError, "nope"),
    ],
)
def test_what_a_tensor_is_not(use: Any, kind: Any, hint: str) -> None:
    with pytest.raises(kind, match=hint):
        use(paddle.to_tensor([1.0, 2.0]))


def test_iteration_is_differentiable() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    first, second = x
    (first * second).sum().backward()
    assert x.grad.tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_shape_compares_with_lists_and_tuples() -> None:
    t = paddle.ones([2, 3])
    assert t.shape == [2, 3]
    assert t.shape == (2, 3)
    assert t.shape != [3, 2]
    assert (t.ndim, t.size, len(t), t.T.shape) == (2, 6, 2, [3, 2])


def test_names() -> None:
    x = leaf([1.0])
    assert x.name.startswith("generated_tensor_")
    assert (x * 1.0).name.startswith("eager_tmp_")
    x.name = "mine"
    assert x.name == "mine"


# --- dtypes


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, "int64"),
        (1.5, "float32"),
        ([1, 2], "int64"),
        ([1, 2.5], "float32"),
        (True, "bool"),
        (1j, "complex64"),
        (np.ones(2), "float64"),
        (np.float64(1.0), "float64"),
        (np.ones(2, "float16"), "float16"),
        ([np.float32(1.0)], "float32"),
        ([], "float32"),
    ],
)
def test_to_tensor(data: Any, dtype: str) -> None:
    assert paddle.to_tensor(data).dtype == dtype


def test_the_default_dtype() -> None:
    paddle.set_default_dtype("float64")
    assert paddle.get_default_dtype() == "float64"
    assert {paddle.to_tensor(1.5).dtype, paddle.ones([1]).dtype, paddle.rand([1]).dtype} == {
        paddle.float64
    }
    assert (paddle.to_tensor([1]) / 2).dtype == "float64"


def test_dtypes_compare_with_names_and_numpy() -> None:
    assert paddle.float32 == "float32"
    assert paddle.float32 == np.float32
    assert np.dtype(paddle.float32) == np.float32
    assert repr(paddle.float32) == "paddle.float32"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("float32", "float64", "float64"),
        ("float16", "float32", "float32"),
        ("int64", "float32", "float32"),
        ("int64", "float16", "float16"),
        ("int32", "float64", "float64"),
        ("bool", "float32", "float32"),
        ("int32", "int64", "int64"),
        ("bool", "int32", "int32"),
        ("float32", "complex64", "complex64"),
    ],
)
def test_how_dtypes_meet(left: str, right: str, expected: str) -> None:
    a, b = of(left), of(right)
    for out in (a + b, b + a, a * b, paddle.maximum(a, b) if "complex" not in right else a - b):
        assert out.dtype == expected


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: of("int64") + 1, "int64"),
        (lambda: of("int64") + 1.5, "float32"),
        (lambda: of("int64") / 2, "float32"),
        (lambda: of("int64") / of("int64"), "float32"),
        (lambda: of("bool") + 1, "int64"),
        (lambda: of("float16") * 2.5, "float16"),
        (lambda: of("float32") * np.float64(2.5), "float32"),
        (lambda: of("float64") * 2, "float64"),
        (lambda: 2.0 - of("float16"), "float16"),
        (lambda: 1 / of("float64"), "float64"),
        (lambda: of("float32") ** 2, "float32"),
        (lambda: of("float32") > 1, "bool"),
        (lambda: paddle.exp(of("int64")), "float32"),
        (lambda: paddle.sqrt(of("int32")), "float32"),
        (lambda: paddle.sum(of("int32")), "int64"),
        (lambda: paddle.sum(of("bool")), "int64"),
        (lambda: paddle.sum(of("float16")), "float16"),
        (lambda: paddle.mean(of("int64")), "float32"),
        (lambda: paddle.matmul(of("float32", 2, 2), of("float64", 2, 2)), "float64"),
        (lambda: paddle.concat([of("float32"), of("float64")]), "float64"),
        (lambda: paddle.where(of("bool"), of("float32"), 0), "float32"),
        (lambda: paddle.clip(of("float16"), 0.0, 1.0), "float16"),
        (lambda: paddle.nn.functional.softmax(of("float16")), "float16"),
    ],
)
def test_dtypes_of_results(make: Any, expected: str) -> None:
    assert make().dtype == expected


def test_a_negative_power_of_integers_ends() -> None:
    """The reference hangs; NumPy refuses."""
    with pytest.raises((ValueError, TypeError)):
        _ = of("int64") ** -1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients_keep_the_dtype(dtype: str) -> None:
    x = leaf([1.0, 2.0], dtype)
    y = paddle.sum(paddle.tanh(x * 2 + 0.5) ** 3 / 7) * np.float64(2.0)
    assert y.dtype == dtype
    y.backward()
    assert x.grad.dtype == dtype


def test_through_casts_the_gradient_returns_to_the_dtype_of_the_leaf() -> None:
    x = leaf([1.0])
    (x.astype("float64").astype("float16") * 3.0).backward()
    assert (x.grad.dtype, x.grad.tolist()) == ("float32", [3.0])


def test_0d_results_are_tensors() -> None:
    x = leaf(2.0)
    for y in (x + 1.0, -x, x * x, paddle.exp(x), abs(x), paddle.sum(x), x.astype("float64")):
        assert y.shape == []
        assert isinstance(y.numpy(), np.ndarray)


def test_numpy_on_the_left() -> None:
    x = leaf([1.0, 2.0])
    y = np.array([3.0, 4.0], "float32") * x + np.float32(1.0)
    assert isinstance(y, paddle.Tensor)
    y.backward()
    assert x.grad.tolist() == [3.0, 4.0]
    assert ((np.float64(2.0) - x) / np.ones(2, "float32")).dtype == "float32"


@pytest.mark.parametrize("other", ["a", None, object(), [1.0, "a"]])
def test_operators_refuse_what_is_no_number(other: Any) -> None:
    x = leaf([1.0, 2.0])
    for use in (lambda: x + other, lambda: other - x, lambda: x * other):
        with pytest.raises(TypeError):
            use()


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bfloat16"])
def test_a_dtype_says_what_numpys_says(name: str) -> None:
    dtype, numpys = DTYPES[name], np.dtype(name)
    assert (dtype.type, dtype.kind, dtype.itemsize) == (numpys.type, numpys.kind, numpys.itemsize)
    assert dtype.type(1) == 1
