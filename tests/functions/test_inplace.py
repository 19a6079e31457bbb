"""In-place methods: the result is that of the operation out of place, and nothing else changes."""

import copy
import inspect

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)


def leaf(values, dtype="float64"):
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)


def constant(values, dtype="float64"):
    return paddle.to_tensor(np.asarray(values, dtype))


def test_gradients_are_those_of_rebinding():
    x, other = leaf([0.5, 1.0]), leaf([0.5, 1.0])
    y = x * 2.0
    assert y.add_(paddle.to_tensor(1.0, "float64")) is y
    assert y.exp_() is y
    z = (other * 2.0 + 1.0).exp()
    np.testing.assert_array_equal(y.numpy(), z.numpy())
    y.sum().backward()
    z.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), other.grad.numpy())
    np.testing.assert_allclose(x.grad.numpy(), 2.0 * np.exp([2.0, 3.0]))


def test_what_was_recorded_before_keeps_its_values():
    x = leaf([3.0])
    y = x * 2.0
    z = y * y
    y.add_(constant([1.0]))
    z.backward()
    assert x.grad.tolist() == [24.0]  # 2 y dy/dx with the y of then, 6


def test_an_operand_that_is_written_afterwards_counts_as_it_was():
    x, w = leaf([2.0]), constant([5.0])
    y = x * w
    w.zero_()
    y.backward()
    assert x.grad.tolist() == [5.0]


def test_both_gradients_of_a_chain_of_writes():
    x, w = leaf([2.0]), leaf([3.0])
    y = x.clone()
    y.multiply_(w)
    y.multiply_(y)
    y.backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([36.0], [24.0])


def test_second_order_through_a_write():
    x = leaf([2.0])
    y = x * x
    y.multiply_(x)
    (g,) = paddle.grad(y, x, create_graph=True)
    (h,) = paddle.grad(g, x)
    assert (g.tolist(), h.tolist()) == ([12.0], [12.0])


def test_clones_and_arrays_taken_before_keep_the_old_values():
    x = constant([[1.0, 2.0]])
    taken = [x.clone(), copy.copy(x), copy.deepcopy(x), x[[0]], x.expand([1, 2])]
    array = x.numpy()
    x.zero_()
    assert x.tolist() == [[0.0, 0.0]]
    assert all(t.numpy().ravel().tolist() == [1.0, 2.0] for t in taken)
    assert array.tolist() == [[1.0, 2.0]]


def test_two_names_of_one_tensor_both_see_the_write():
    x = constant([1.0])
    y = x
    x.add_(constant([1.0]))
    assert y.tolist() == [2.0]


CALLS = {
    "add_": lambda x: x.add_(constant([1.0, 1.0])),
    "exp_": lambda x: x.exp_(),
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(1.0),
    "uniform_": lambda x: x.uniform_(),
    "exponential_": lambda x: x.exponential_(),
    "reshape_": lambda x: x.reshape_([2, 1]),
    "copy_": lambda x: x.copy_(constant([1.0, 2.0])),
    "tanh_": lambda x: paddle.tanh_(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_leaf_that_requires_a_gradient_is_refused(name):
    x = leaf([1.0, 2.0])
    with pytest.raises(NotDifferentiableError, match=rf"{name}: .* leaf .*no_grad"):
        CALLS[name](x)
    assert x.tolist() == [1.0, 2.0]
    assert x.inplace_version == 0


def test_a_refused_draw_draws_nothing():
    paddle.seed(3)
    with pytest.raises(NotDifferentiableError):
        leaf([1.0]).uniform_()
    after = paddle.rand([2]).tolist()
    paddle.seed(3)
    assert paddle.rand([2]).tolist() == after


def test_under_no_grad_a_leaf_takes_the_value_and_stays_the_leaf():
    x = leaf([1.0, 2.0])
    y = x * x
    with paddle.no_grad():
        assert x.add_(constant([1.0, 1.0])) is x
    assert (x.is_leaf, x.stop_gradient, x.tolist()) == (True, False, [2.0, 3.0])
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]  # of the values that y was computed from
    (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 10.0]


def test_a_leaf_that_requires_a_gradient_keeps_its_shape_and_dtype():
    x = leaf([1.0, 2.0])
    with paddle.no_grad():
        with pytest.raises(ShapeError, match="reshape_"):
            x.reshape_([2, 1])
        with pytest.raises(DTypeError, match="cast_"):
            x.cast_("int64")
    assert (x.shape, x.dtype) == ([2], "float64")


def test_a_constant_takes_over_the_history_of_the_result():
    x, total = leaf([3.0]), constant([1.0])
    total.add_(x * x)
    assert not total.is_leaf
    total.backward()
    assert x.grad.tolist() == [6.0]


def test_a_write_without_history_makes_a_constant():
    x = leaf([1.0])
    y = x * 2.0
    y.fill_(3.0)
    assert (y.stop_gradient, y.is_leaf) == (True, True)


def test_detach_cuts_the_tensor_itself_off():
    x = leaf([1.0])
    y = x * 2.0
    assert y.detach_() is y
    assert (y.is_leaf, y.stop_gradient, y.tolist()) == (True, True, [2.0])
    x.detach_()
    assert x.stop_gradient


def test_a_result_of_another_shape_is_refused():
    x = constant([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"add_: .* shape \[2\] .* \[3, 2\]; use x = paddle.add"):
        x.add_(paddle.ones([3, 2], "float64"))
    assert x.tolist() == [1.0, 2.0]
    assert paddle.ones([3, 2], "float64").add_(x).shape == [3, 2]


def test_an_integer_tensor_does_not_become_a_float_one():
    x = paddle.to_tensor([1, 2])
    for write in (lambda: x.add_(paddle.to_tensor([0.5, 0.5])), lambda: x.exp_()):
        with pytest.raises(DTypeError, match="is int64 and cannot take a result of dtype float32"):
            write()
    assert x.tolist() == [1, 2]


def test_what_may_change_the_dtype():
    assert paddle.to_tensor([1.0]).add_(constant([1.0])).dtype == "float64"
    assert paddle.to_tensor([1.0]).equal_(paddle.to_tensor([1.0])).dtype == "bool"
    assert paddle.to_tensor([1.0]).logical_not_().dtype == "bool"
    assert paddle.to_tensor([1.7]).cast_("int32").tolist() == [1]
    assert paddle.to_tensor([1, 3]).divide_(paddle.to_tensor([2, 2])).tolist() == [0.5, 1.5]


def test_versions_count_the_writes():
    x = constant([1.0, 2.0])
    assert x.inplace_version == 0
    x.add_(x)
    x[0] = 5.0
    x.zero_()
    assert x.inplace_version == 3
    x = x + 1.0
    assert x.inplace_version == 0


def test_the_tensor_may_be_given_by_its_name():
    x = constant([0.0])
    assert paddle.tanh_(x=x) is x
    y = constant([1.0])
    assert paddle.where_(paddle.to_tensor([False]), x=y, y=constant([7.0])) is y
    assert y.tolist() == [7.0]


@pytest.mark.parametrize("wrong", [1.0, np.ones(2)])
def test_only_a_tensor_can_take_a_result(wrong):
    with pytest.raises(NotATensorError, match="tanh_: x must be a Tensor to take the result"):
        paddle.tanh_(wrong)


def test_fill_takes_what_the_dtype_holds():
    assert paddle.to_tensor([1, 2]).fill_(2.7).tolist() == [2, 2]
    with pytest.raises(ArgumentError, match="fill_: value 300 does not fit int8"):
        paddle.to_tensor([1], "int8").fill_(300)
    with pytest.raises(TypeError, match="fill_: value must be a number"):
        constant([1.0]).fill_("a")


def test_copy_casts_and_lets_gradients_through():
    x, y = leaf([1.5, 2.5]), paddle.zeros([2], "float32")
    assert y.copy_(x) is y
    assert y.dtype == "float32"
    (y * y).sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]
    with pytest.raises(ShapeError, match="copy_"):
        y.copy_(paddle.ones([3]))


DRAWN = {
    "uniform_": ((-1.0, 3.0), 1.0, 4.0 / 12**0.5),
    "normal_": ((2.0, 0.5), 2.0, 0.5),
    "log_normal_": ((0.0, 0.5), np.exp(0.125), np.sqrt((np.exp(0.25) - 1.0) * np.exp(0.25))),
    "exponential_": ((2.0,), 0.5, 0.5),
    "geometric_": ((0.25,), 4.0, 12.0**0.5),
    "bernoulli_": ((0.25,), 0.25, (0.25 * 0.75) ** 0.5),
    "random_": ((0, 5), 2.0, 2.0**0.5),
}


@pytest.mark.parametrize("name", DRAWN)
def test_moments_of_what_is_drawn(name):
    parameters, mean, deviation = DRAWN[name]
    paddle.seed(11)
    n = 40_000
    x = getattr(paddle.zeros([n], "float64"), name)(*parameters).numpy()
    assert abs(x.mean() - mean) < 5 * deviation / n**0.5
    assert abs(x.std() / deviation - 1.0) < 0.05


def test_the_median_and_quartiles_of_cauchy():
    paddle.seed(11)
    x = paddle.zeros([40_000], "float64").cauchy_(1.0, 2.0).numpy()
    np.testing.assert_allclose(np.quantile(x, [0.25, 0.5, 0.75]), [-1.0, 1.0, 3.0], atol=0.1)


def test_uniform_follows_a_seed_of_its_own():
    x, y = constant([0.0, 0.0]).uniform_(seed=5), constant([0.0, 0.0]).uniform_(seed=5)
    assert x.tolist() == y.tolist()
    assert x.tolist() != constant([0.0, 0.0]).uniform_(seed=6).tolist()


REFUSED = [
    (lambda x: x.uniform_(2.0, 1.0), ArgumentError, "must not be above max"),
    (lambda x: x.normal_(0.0, -1.0), ArgumentError, "std must not be negative"),
    (lambda x: x.log_normal_(0.0, -1.0), ArgumentError, "std must not be negative"),
    (lambda x: x.exponential_(0.0), ArgumentError, "lam must be above 0"),
    (lambda x: x.cauchy_(0.0, 0.0), ArgumentError, "scale must be above 0"),
    (lambda x: x.geometric_(0.0), ArgumentError, "probs must be above 0"),
    (lambda x: x.geometric_(1.5), ArgumentError, r"probs must be in \[0, 1\]"),
    (lambda x: x.bernoulli_(2.0), ArgumentError, r"p must be in \[0, 1\]"),
    (lambda x: x.random_(5, 5), ArgumentError, "must be above from_"),
    (lambda x: x.astype("int64").normal_(), DTypeError, "normal_: draws floats"),
    (lambda x: x.astype("int64").uniform_(), DTypeError, "uniform_: draws floats"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_parameters_out_of_range(call, error, text):
    with pytest.raises(error, match=text):
        call(constant([0.0]))


def test_every_method_has_the_signature_of_its_function():
    assert list(inspect.signature(paddle.Tensor.add_).parameters)[:3] == ["x", "y", "name"]
    assert list(inspect.signature(paddle.Tensor.clip_).parameters)[:3] == ["x", "min", "max"]
    assert paddle.Tensor.add_.__doc__


def test_a_variable_stays_what_it_was():
    static = paddle.static
    program = static.Program()
    with static.program_guard(program):
        x = static.data("x", [None], "float64")
        y = x.exp_()
        z = x + y.detach_()
    feed = {"x": np.asarray([0.0, 1.0])}
    values = static.Executor().run(program, feed, [y, z])
    np.testing.assert_allclose(values[0], np.exp([0.0, 1.0]))
    np.testing.assert_allclose(values[1], [1.0, 1.0 + np.e])
