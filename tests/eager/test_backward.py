"""`autograd.backward` and `Tensor.backward`: seeds, accumulation, freeing, depth, threads."""

import gc
import re
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import backward
from autograd_engine.errors import GraphFreedError, NoHistoryWarning

F = paddle.nn.functional


def leaf(value: Any, dtype: str = "float32") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


# --- seeds


def test_ones_are_the_default_for_any_shape() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    (x * 3.0).backward()
    assert x.grad.tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize("form", ["tensor", "list", "tuple", "method"])
def test_a_cotangent_is_used_as_it_is(form: str) -> None:
    x, g = leaf([1.0, 2.0]), paddle.to_tensor([5.0, 7.0])
    y = x * 2.0
    {
        "tensor": lambda: backward(y, g),
        "list": lambda: backward([y], [g]),
        "tuple": lambda: backward((y,), (g,)),
        "method": lambda: y.backward(g),
    }[form]()
    assert x.grad.tolist() == [10.0, 14.0]


@pytest.mark.parametrize("given", [None, [], [None, None], (None, None)])
def test_none_stands_for_ones(given: Any) -> None:
    x = leaf([1.0, 2.0])
    backward([x * 2.0, x * 3.0], given)
    assert x.grad.tolist() == [5.0, 5.0]


def test_some_cotangents_may_be_none() -> None:
    x = leaf([1.0, 2.0])
    backward([x * 2.0, x * 3.0], [None, paddle.to_tensor([10.0, 0.0])])
    assert x.grad.tolist() == [32.0, 2.0]


def test_a_cotangent_of_another_dtype_is_cast() -> None:
    x = leaf([1.0])
    (x * 2.0).backward(paddle.to_tensor([3.0], dtype="float64"))
    assert (x.grad.dtype, x.grad.tolist()) == ("float32", [6.0])


def test_the_cotangent_given_is_not_changed_or_kept() -> None:
    x, g = leaf([1.0]), paddle.to_tensor([3.0])
    (x + x).backward(g)
    assert g.tolist() == [3.0]
    y = leaf([1.0])
    paddle.assign(y).backward(g)
    y.grad.set_value([9.0])
    assert g.tolist() == [3.0]


# --- roots


def test_a_leaf_as_root() -> None:
    x = leaf(2.0)
    backward(x)
    assert x.grad.item() == 1.0
    backward([x, x * x])
    assert x.grad.item() == 6.0


def test_a_root_that_another_root_depends_on() -> None:
    x = leaf(3.0)
    y = x * x
    backward([y, y * y])
    assert x.grad.item() == 6.0 + 4 * 27.0


def test_a_closed_root_does_nothing() -> None:
    x = paddle.to_tensor([1.0])
    with pytest.warns(NoHistoryWarning, match="nothing to differentiate"):
        backward(x * 2.0)
    assert x.grad is None
    y = leaf([1.0])
    with pytest.warns(NoHistoryWarning, match=r"tensors\[0\] of backward"):
        backward([x, y * 2.0])
    assert (x.grad, y.grad.tolist()) == (None, [2.0])


def test_under_no_grad_an_existing_graph_runs() -> None:
    x = leaf([3.0])
    y = x * x
    with paddle.no_grad():
        y.backward()
    assert x.grad.tolist() == [6.0]


# --- accumulation


def test_gradients_add_up_over_calls() -> None:
    x = leaf([2.0])
    for k in range(1, 4):
        (x * x).backward()
        assert x.grad.tolist() == [4.0 * k]


def test_ways_through_the_graph_add_up() -> None:
    x = leaf([2.0])
    y = x * x
    (y + y * x + x).backward()
    assert x.grad.tolist() == [4.0 + 12.0 + 1.0]


def test_broadcast_operands_get_the_sum() -> None:
    x, y = leaf(2.0), leaf([[1.0, 2.0, 3.0]])
    (x * y * paddle.ones([4, 1])).backward()
    assert (x.grad.shape, x.grad.item()) == ([], 24.0)
    assert y.grad.tolist() == [[8.0, 8.0, 8.0]]


def test_leaves_share_no_memory() -> None:
    """add hands its cotangent on as it is, to both; each leaf still owns its gradient."""
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    z = x + y
    z.backward(retain_graph=True)
    x_first, y_first = x.grad.numpy().copy(), y.grad.numpy().copy()
    x.grad.set_value([50.0, 50.0])
    assert y.grad.tolist() == y_first.tolist()
    z.backward()
    assert y.grad.tolist() == [2.0, 2.0]
    assert x_first.tolist() == [1.0, 1.0]


def test_a_held_gradient_is_not_changed_by_the_next_pass() -> None:
    x = leaf([1.0])
    x.sum().backward()
    held, view = x.grad, x.grad.numpy()
    x.sum().backward()
    assert (held.tolist(), view.tolist(), x.grad.tolist()) == ([1.0], [1.0], [2.0])


def test_unused_outputs_count_as_zeros() -> None:
    x = leaf([1.0, 2.0, 3.0, 4.0])
    _, second, _, fourth = paddle.split(x, 4)
    (second * 2.0 + fourth * 5.0).backward()
    assert x.grad.tolist() == [0.0, 2.0, 0.0, 5.0]


def test_each_output_of_an_operation_can_be_a_root() -> None:
    x = leaf([3.0, 1.0, 2.0])
    values, positions = paddle.topk(x, 2)
    assert positions.stop_gradient
    first, second = paddle.unbind(values)
    backward([first, second], [paddle.to_tensor(10.0), paddle.to_tensor(1.0)])
    assert x.grad.tolist() == [10.0, 0.0, 1.0]


def test_intermediate_results_keep_no_gradient() -> None:
    x = leaf([2.0])
    y = x * x
    (y * 3.0).backward()
    assert y.grad is None


def test_gradients_have_the_dtype_of_their_leaf() -> None:
    x, y = leaf([1.0]), leaf([2.0], "float64")
    (x * y).backward()
    assert (x.grad.dtype, y.grad.dtype) == ("float32", "float64")


# --- freeing


def test_a_second_pass_names_both_lines() -> None:
    x = leaf([2.0])
    y = x * x  # recorded here
    y.backward()  # freed here
    with pytest.raises(GraphFreedError) as caught:
        y.backward()
    text = str(caught.value)
    assert re.search(r"freed by an earlier backward pass at test_backward\.py:\d+", text)
    assert "(y.backward()  # freed here)" in text
    assert re.search(r"reached multiply of test_backward\.py:\d+", text)
    assert "retain_graph=True, or compute the result again" in text


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x * paddle.ones([1], "float64"),
        lambda x: x * np.ones(1),
        lambda x: np.ones(1) * x,
        lambda x: x * np.float64(2.0),
        lambda x: paddle.concat([x, x]),
        lambda x: F.softmax(x),
        lambda x: F.linear(paddle.reshape(x, [1, 1]), paddle.ones([1, 1])),
        lambda x: paddle.split(x, 1)[0],
        lambda x: x @ x,
    ],
)
def test_the_line_is_the_users_whichever_way_the_operation_took(operation: Any) -> None:
    """Casts, constants, several outputs, functions made of functions."""
    y = operation(leaf([2.0]))
    y.backward()
    with pytest.raises(GraphFreedError) as caught:
        y.backward()
    assert len(re.findall(r"test_backward\.py:\d+", str(caught.value))) == 2


@pytest.mark.parametrize("stacked", [lambda y: y * 3.0, lambda y: y + 1.0, paddle.sum])
def test_a_new_operation_on_a_freed_graph(stacked: Any) -> None:
    x = leaf([2.0])
    y = x + x  # saves nothing
    y.backward()
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        stacked(y).backward()


def test_a_failed_pass_leaves_the_leaves_as_they_were() -> None:
    x, w = leaf([2.0]), leaf([3.0])
    shared = x * x
    shared.backward()
    loss = shared * w
    with pytest.raises(GraphFreedError):
        loss.backward()
    assert x.grad.tolist() == [4.0]
    assert w.grad is None


def test_retain_graph_allows_any_number_of_passes() -> None:
    x = leaf([2.0])
    y = paddle.exp(x * x)
    for _ in range(3):
        y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), [4 * 4 * np.exp(4.0)], rtol=1e-6)
    with pytest.raises(GraphFreedError):
        y.backward()


def test_a_part_that_no_pass_reached_is_not_freed() -> None:
    x = leaf([2.0])
    shared = x * 1.0
    one, two = paddle.exp(shared), paddle.tanh(shared)
    one.backward(retain_graph=True)
    two.backward(retain_graph=True)
    one.backward()


def test_what_no_rule_saves_does_not_stay_alive() -> None:
    """exp saves its output, not its input: the input dies with the name."""
    x = leaf(np.ones(1000))
    doubled = x * 2.0
    alive = weakref.ref(doubled)
    array = weakref.ref(doubled._data)
    y = paddle.exp(doubled)
    del doubled
    gc.collect()
    assert alive() is None
    assert array() is None
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(2.0) * np.ones(1000), rtol=1e-6)


def test_saved_values_go_with_the_pass() -> None:
    x = leaf(np.ones(10))
    h = x * 2.0
    array = weakref.ref(h._data)
    y = h * h
    del h
    assert array() is not None
    y.backward()
    gc.collect()
    assert array() is None
    del y


def test_a_graph_dies_without_the_collector() -> None:
    gc.disable()
    try:
        x = leaf(np.ones(10))
        parts = paddle.split(x * 2.0, 2)
        array = weakref.ref(parts[0]._data)
        y = parts[0] * parts[1]
        del parts, y
        assert array() is None
    finally:
        gc.enable()


# --- values


@pytest.mark.parametrize("how", ["set_value", "step", "assign"])
def test_a_graph_keeps_the_values_it_was_recorded_with(how: str) -> None:
    w = paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(3.0))
    y = w * w
    if how == "set_value":
        w.set_value([100.0])
    elif how == "assign":
        paddle.assign(paddle.to_tensor([100.0]), w)
    else:
        w.grad = paddle.to_tensor([-97.0])
        paddle.optimizer.SGD(1.0, parameters=[w]).step()
        w.clear_grad(False)
    assert w.tolist() == [100.0]
    y.backward()
    assert w.grad.tolist() == [6.0]


def test_numpy_is_a_read_only_view() -> None:
    x = leaf([1.0, 2.0])
    for view in (x.numpy(), np.asarray(x)):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 5.0


def test_an_array_of_the_users_is_copied() -> None:
    mine = np.array([2.0, 3.0], "float32")
    x, y = leaf(mine), leaf([1.0, 1.0])
    z = x * x * y * mine
    mine[:] = 77.0
    z.backward()
    assert x.grad.tolist() == [8.0, 18.0]
    assert y.grad.tolist() == [8.0, 27.0]


# --- depth and threads


def test_a_chain_of_a_hundred_thousand_operations() -> None:
    """No recursion: neither in the pass nor when the graph is freed."""
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + x
    y.backward(retain_graph=True)
    assert x.grad.item() == 100_001.0
    del y
    z = x
    for _ in range(100_000):
        z = z * 1.0
    del z


def test_two_threads_on_graphs_of_their_own() -> None:
    errors: list[BaseException] = []
    barrier = threading.Barrier(2)

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            for _ in range(30):
                value = rng.standard_normal(20).astype("float32")
                x = leaf(value)
                barrier.wait()
                h = x
                for _ in range(20):
                    h = h * 0.5 + x
                h.backward()
                expected = np.float32(0.0)
                for _ in range(20):
                    expected = expected * np.float32(0.5) + np.float32(1.0)
                np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def test_grad_mode_is_of_each_thread() -> None:
    seen = []
    with paddle.no_grad():
        thread = threading.Thread(target=lambda: seen.append(paddle.is_grad_enabled()))
        thread.start()
        thread.join()
        assert not paddle.is_grad_enabled()
    assert seen == [True]
