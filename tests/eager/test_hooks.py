"""Hooks on gradients: order, handles, `retain_grads`, leaves, and what they may return."""

from __future__ import annotations

import gc
import re
import weakref
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    DTypeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), stop_gradient=False)


def grad_of(x: Any) -> list[float]:
    values: list[float] = x.grad.tolist()
    return values


# --- order and handles


def test_each_hook_sees_what_the_one_before_returned() -> None:
    x = leaf(1.0)
    y = x * 2.0
    seen = []

    def times(factor: float) -> Any:
        def hook(grad: Any) -> Any:
            seen.append(grad.item())
            return grad * factor

        return hook

    for factor in (2.0, 3.0, 5.0):
        y.register_hook(times(factor))
    y.sum().backward()
    assert seen == [1.0, 2.0, 6.0]
    assert grad_of(x) == [60.0]


def test_none_keeps_the_gradient() -> None:
    x = leaf(1.0)
    seen: list[float] = []
    (x * 2.0).register_hook(lambda grad: seen.append(grad.item()))
    y = x * 2.0
    y.register_hook(lambda grad: seen.append(grad.item()))
    y.sum().backward()
    assert seen == [1.0]
    assert grad_of(x) == [2.0]


def test_a_handle_removes_its_hook_once() -> None:
    x = leaf(1.0)
    handle = x.register_hook(lambda grad: grad * 10.0)
    other = x.register_hook(lambda grad: grad * 7.0)
    assert handle.remove() is True
    assert handle.remove() is False
    (x * 1.0).sum().backward()
    assert grad_of(x) == [7.0]
    other.remove()
    x.clear_grad()
    (x * 1.0).sum().backward()
    assert grad_of(x) == [1.0]


def test_a_handle_as_a_context() -> None:
    x = leaf(1.0)
    with x.register_hook(lambda grad: grad * 10.0):
        (x * 1.0).sum().backward()
    (x * 1.0).sum().backward()
    assert grad_of(x) == [11.0]


def test_a_hook_that_removes_itself() -> None:
    x = leaf(1.0)
    handles: list[Any] = []

    def once(grad: Any) -> Any:
        handles[0].remove()
        return grad * 10.0

    handles.append(x.register_hook(once))
    for _ in range(2):
        (x * 1.0).sum().backward()
    assert grad_of(x) == [11.0]


def test_a_registration_leaves_nothing_to_the_collector() -> None:
    x = leaf([1.0])
    for hook in ([].append, print, lambda g: None):
        x.register_hook(hook)
        gc.collect()
        handle = x.register_hook(hook)
        handle.remove()
        del handle
        assert gc.collect() == 0, hook


def test_hooks_registered_after_the_forward_pass_count() -> None:
    x = leaf(2.0)
    y = x * x
    loss = (y * y).sum()
    y.register_hook(lambda grad: grad * 0.0)
    loss.backward()
    assert grad_of(x) == [0.0]


# --- leaves


def test_a_leaf_hook_runs_once_with_the_sum_of_the_pass() -> None:
    x = leaf(3.0)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.item()))
    for _ in range(2):
        (x * x + 2.0 * x).sum().backward()
    assert seen == [8.0, 8.0]  # of the pass, and not what has accumulated
    assert grad_of(x) == [16.0]


def test_a_leaf_hook_changes_what_is_accumulated() -> None:
    x = leaf(3.0)
    x.register_hook(lambda grad: grad * 0.5)
    (x * 4.0).sum().backward()
    (x * 4.0).sum().backward()
    assert grad_of(x) == [4.0]


def test_a_leaf_hook_on_a_sparse_gradient() -> None:
    table = paddle.create_parameter([5, 2])
    table.register_hook(lambda grad: grad * 2.0)
    ids = paddle.to_tensor([1, 3, 1])
    paddle.nn.functional.embedding(ids, table, sparse=True).sum().backward()
    np.testing.assert_array_equal(table.grad.numpy()[:, 0], [0.0, 4.0, 0.0, 2.0, 0.0])


def test_after_accumulation() -> None:
    x = leaf(3.0)
    seen = []

    def update(p: Any) -> None:
        seen.append(p.grad.item())
        p.clear_grad(False)

    handle = x.register_post_accumulate_grad_hook(update)
    (x * 4.0).sum().backward()
    assert seen == [4.0]
    assert x.grad is None
    assert handle.remove()
    (x * 4.0).sum().backward()
    assert grad_of(x) == [4.0]


def test_an_optimizer_inside_the_pass() -> None:
    x = leaf(3.0)
    sgd = paddle.optimizer.SGD(0.5, parameters=[x])
    x.register_post_accumulate_grad_hook(lambda _: (sgd.step(), sgd.clear_grad(False)))
    (x * x).sum().backward()
    assert x.tolist() == [0.0]
    assert x.grad is None


# --- retain_grads


def test_retained_gradients() -> None:
    x = leaf(2.0)
    y = x * 3.0
    z = y * y
    y.retain_grads()
    z.retain_grads()
    y.retain_grads()  # again changes nothing
    z.sum().backward()
    assert (grad_of(y), grad_of(z), grad_of(x)) == ([12.0], [1.0], [36.0])


def test_without_it_a_result_has_no_gradient() -> None:
    x = leaf(2.0)
    y = x * 3.0
    y.sum().backward()
    assert y.grad is None


def test_hooks_before_count_and_hooks_after_do_not() -> None:
    x = leaf(1.0)
    y = x * 1.0
    y.register_hook(lambda grad: grad * 10.0)
    y.retain_grads()
    y.register_hook(lambda grad: grad * 100.0)
    (y * 3.0).sum().backward()
    assert (grad_of(y), grad_of(x)) == ([30.0], [3000.0])


def test_a_second_pass_replaces_what_was_retained() -> None:
    x = leaf(2.0)
    y = x * x
    y.retain_grads()
    loss = (y * 3.0).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    assert (grad_of(y), grad_of(x)) == ([3.0], [24.0])


def test_retained_through_an_in_place_method() -> None:
    x = leaf(2.0)
    y = x * 3.0
    y.retain_grads()
    y.add_(paddle.to_tensor([1.0]))
    (y * y).sum().backward()
    assert grad_of(y) == [14.0]  # of what y is now: 2 (3 x + 1)


def test_retaining_keeps_nothing_alive() -> None:
    x = leaf(2.0)
    y = x * 3.0
    y.retain_grads()
    gone = weakref.ref(y)
    loss = (y * y).sum()
    gc.disable()
    try:
        del y
        assert gone() is None
    finally:
        gc.enable()
    loss.backward()
    assert grad_of(x) == [36.0]


@pytest.mark.parametrize("make", [lambda: leaf(1.0), lambda: paddle.to_tensor([1.0])])
def test_retaining_where_there_is_nothing_to_do(make: Any) -> None:
    assert make().retain_grads() is None


def test_one_output_of_several() -> None:
    x = leaf(1.0, 2.0)
    a, b = paddle.split(x * 1.0, 2)
    a.register_hook(lambda grad: grad * 10.0)
    a.retain_grads()
    (a * 2.0 + b * 3.0).sum().backward()
    assert grad_of(a) == [20.0]
    assert grad_of(x) == [20.0, 3.0]


# --- paddle.grad, higher orders


def test_paddle_grad_calls_hooks_of_what_it_passes_and_of_inputs_between() -> None:
    x = leaf(1.0)
    y = x * 3.0
    z = y * 1.0
    y.register_hook(lambda grad: grad * 100.0)
    (g,) = paddle.grad(z.sum(), x)
    assert g.tolist() == [300.0]
    z = y * 1.0
    (g,) = paddle.grad((z * 3.0).sum(), y)
    assert g.tolist() == [300.0]


def test_paddle_grad_leaves_leaves_alone() -> None:
    x = leaf(1.0)
    y = x * 2.0
    y.retain_grads()
    x.register_hook(lambda grad: grad * 100.0)
    x.register_post_accumulate_grad_hook(lambda _: pytest.fail("nothing accumulates"))
    (g,) = paddle.grad((y * 2.0).sum(), x)
    assert g.tolist() == [4.0]
    assert x.grad is None
    assert y.grad is None


def test_a_hook_is_differentiated() -> None:
    x = leaf(3.0)
    y = x * x
    handle = y.register_hook(lambda grad: grad * grad)
    (first,) = paddle.grad((y * y).sum(), x, create_graph=True)
    # dy = 2 y = 2 x^2, squared 4 x^4, times dy/dx = 2 x: 8 x^5, whose derivative is 40 x^4.
    assert first.tolist() == [8 * 3.0**5]
    handle.remove()  # the second pass goes through y too
    (second,) = paddle.grad(first, x)
    assert second.tolist() == [40 * 3.0**4]


def test_nothing_is_recorded_in_a_first_order_pass() -> None:
    x = leaf(3.0)
    y = x * x
    found = []
    y.register_hook(lambda grad: found.append((grad * x).stop_gradient))
    y.sum().backward()
    assert found == [True]


# --- mistakes


def boom(grad: Any) -> Any:
    raise ZeroDivisionError("boom")


@pytest.mark.parametrize("where", ["result", "leaf"])
def test_an_exception_comes_through_and_no_gradient_changes(where: str) -> None:
    x, w = leaf(1.0), leaf(2.0)
    x.grad = paddle.to_tensor([7.0])
    y = x * w
    handle = (y if where == "result" else w).register_hook(boom)
    with pytest.raises(ZeroDivisionError, match=r"^boom$"):
        y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [7.0]
    assert w.grad is None
    handle.remove()
    y.sum().backward()
    assert (grad_of(x), grad_of(w)) == ([9.0], [1.0])


def test_a_graph_that_a_pass_left_half_way_says_so() -> None:
    x = leaf(1.0)
    y = x * x
    handle = y.register_hook(boom)
    loss = (y * 2.0).sum()
    with pytest.raises(ZeroDivisionError):
        loss.backward()
    handle.remove()
    with pytest.raises(paddle.errors.GraphFreedError, match="interrupted"):
        loss.backward()
    y.sum().backward()  # what was not reached can be used
    assert grad_of(x) == [2.0]


@pytest.mark.parametrize(
    ("returned", "error", "text"),
    [
        (lambda g: 3.0, NotATensorError, "returned float; return a Tensor, or None"),
        (lambda g: g.numpy(), NotATensorError, "returned ndarray"),
        (lambda g: paddle.concat([g, g]), ShapeError, "made shape [4] of a gradient of shape [2]"),
        (lambda g: g.astype("float64"), DTypeError, "return grad.astype('float32')"),
    ],
)
@pytest.mark.parametrize("on_leaf", [True, False])
def test_what_a_hook_must_not_return(
    returned: Any, error: type[Exception], text: str, on_leaf: bool
) -> None:
    x = leaf(1.0, 2.0)
    y = x * 2.0
    (x if on_leaf else y).register_hook(returned)
    with pytest.raises(error, match=re.escape(text)) as caught:
        y.sum().backward()
    place = x.name if on_leaf else "multiply at test_hooks.py"
    assert place in str(caught.value)
    assert x.grad is None


def test_where_no_gradient_comes() -> None:
    with pytest.raises(NotDifferentiableError, match="stop_gradient=True"):
        paddle.to_tensor([1.0]).register_hook(lambda grad: grad)
    with pytest.raises(NotDifferentiableError, match="use register_hook"):
        (leaf(1.0) * 2.0).register_post_accumulate_grad_hook(lambda p: None)
    with pytest.raises(TypeError, match="must be a function"):
        leaf(1.0).register_hook(3)


def test_what_a_hook_does_to_its_argument_in_place_counts_and_stays_there() -> None:
    x, w = leaf(1.0), leaf(1.0)
    y = x + w  # both get the same array
    x.register_hook(lambda grad: grad.scale_(5.0) and None)
    y.sum().backward()
    assert (grad_of(x), grad_of(w)) == ([5.0], [1.0])


@pytest.mark.parametrize("create_graph", [False, True])
def test_what_a_hook_writes_to_in_place_is_its_own(create_graph: bool) -> None:
    """Not the cotangent that was given, nor what an earlier hook returned, nor what is retained."""
    x, v, w = leaf(1.0), paddle.to_tensor([1.0]), leaf(3.0)
    y = x * 2.0
    y.register_hook(lambda grad: grad.scale_(5.0) and None)
    y.retain_grads()
    y.register_hook(lambda grad: grad.scale_(7.0) and None)
    y.register_hook(lambda grad: w)
    y.register_hook(lambda grad: grad.scale_(11.0) and None)
    paddle.autograd.backward([y], [v], create_graph=create_graph)
    assert (v.tolist(), v.stop_gradient) == ([1.0], True)
    assert (w.tolist(), w.is_leaf) == ([3.0], True)
    assert grad_of(y) == [5.0]
    assert grad_of(x) == [66.0]
    x.grad = None


def test_the_cotangent_that_was_given_is_not_what_is_retained() -> None:
    x, v = leaf(1.0), paddle.to_tensor([1.0])
    y = x * 2.0
    y.retain_grads()
    y.backward(v, create_graph=True)
    assert y.grad is not v
    assert v.stop_gradient
    x.grad = None


def test_a_hook_that_returns_a_leaf_is_differentiated_by_it() -> None:
    x, w = leaf(2.0), leaf(3.0)
    y = x * x
    y.register_hook(lambda grad: w)
    (g,) = paddle.grad(y, x, create_graph=True)
    (by_w,) = paddle.grad(g, w)
    assert (g.tolist(), by_w.tolist()) == ([12.0], [4.0])


def test_the_gradient_of_a_number_is_an_array() -> None:
    x = paddle.to_tensor(2.0, stop_gradient=False)
    y = x * 3.0
    seen = []
    y.register_hook(lambda grad: seen.append(type(grad._data)))
    y.retain_grads()
    (y * 5.0 + y * 2.0).backward()
    assert seen == [np.ndarray]
    assert type(y.grad._data) is np.ndarray
    assert y.grad.item() == 7.0
