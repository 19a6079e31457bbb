"""What the reference's eager mode does, case by case, where no other test holds it.

Where the reference crashes, reads out of bounds or takes what makes no sense, the tests say what is
done instead.
"""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    DuplicateError,
    GraphFreedError,
    ModeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)
from autograd_engine.testing import gradgradcheck

F = paddle.nn.functional


def leaf(values, dtype="float32"):
    return paddle.to_tensor(values, dtype=dtype, stop_gradient=False)


def constant(values, dtype="float32"):
    return paddle.to_tensor(values, dtype=dtype)


# --- autograd.backward and Tensor.backward: arguments

BACKWARD = {
    "None": (lambda b, y: b(None), "tensors must be a Tensor or a list of Tensors, got NoneType"),
    "an ndarray": (lambda b, y: b(np.ones(2)), "a Tensor or a list of Tensors, got ndarray"),
    "[None]": (lambda b, y: b([None]), "a Tensor or a list of Tensors, got NoneType"),
    "[1]": (lambda b, y: b([1]), "a Tensor or a list of Tensors, got int"),
    "[]": (lambda b, y: b([]), "tensors cannot be empty; give one Tensor at least"),
    "twice": (lambda b, y: b([y, y]), "holds the same Tensor twice; name it once"),
    "too many cotangents": (lambda b, y: b([y], [y, y]), "has 2 entries for 1 tensors"),
    "one cotangent for two": (lambda b, y: b([y, y * 2.0], y), "has 1 entries for 2 tensors"),
    "an ndarray of cotangents": (
        lambda b, y: b([y], np.ones(2)),
        "must be None, a Tensor, or a list of Tensors and Nones; got ndarray",
    ),
    "an int of cotangents": (lambda b, y: b([y], 1), "Tensors and Nones; got int"),
    "retain_graph=1": (lambda b, y: b([y], None, 1), "must be True or False, got 1"),
    "retain_graph=None": (lambda b, y: b([y], None, None), "must be True or False, got None"),
    "method, retain_graph=1": (lambda b, y: y.backward(None, 1), "True or False, got 1"),
    "method, an ndarray": (lambda b, y: y.backward(np.ones(2)), "Nones; got ndarray"),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_arguments_of_backward_are_checked_by_assertions(name):
    call, hint = BACKWARD[name]
    x = leaf([1.0, 2.0])
    with pytest.raises(AssertionError, match=hint):
        call(paddle.autograd.backward, x * x)
    assert x.grad is None


@pytest.mark.parametrize("shape", [(3,), (1,), (2, 1), ()])
def test_a_cotangent_has_the_shape_of_its_tensor(shape):
    """The reference reads out of bounds here."""
    x = leaf([1.0, 2.0])
    for call in (
        lambda y, g: paddle.autograd.backward([y], [g]),
        lambda y, g: y.backward(g),
        lambda y, g: paddle.grad(y, x, g),
    ):
        with pytest.raises(ShapeError, match=r"for a tensor of shape \[2\]; they must be equal"):
            call(x * x, paddle.ones(list(shape)))
    assert x.grad is None


def test_static_mode_is_told_to_be_left():
    x = leaf([1.0])
    y = x * x
    paddle.enable_static()
    with pytest.raises(ModeError, match=r"call paddle\.disable_static\(\) first"):
        paddle.autograd.backward([y])


def test_a_graph_without_saved_values_is_freed_as_well():
    """So a second pass does not depend on which operations save something."""
    x = leaf([1.0])
    y = x + 1.0
    y.backward()
    for again in (y, y * 2.0):
        with pytest.raises(GraphFreedError, match="retain_graph=True"):
            again.backward()
    assert x.grad.tolist() == [1.0]


def test_two_roots_that_share_a_freed_part():
    x = leaf([3.0])
    h = x * x
    a, b = h * 2.0, h * 5.0
    a.backward()
    with pytest.raises(GraphFreedError, match="multiply"):
        b.backward()
    assert x.grad.tolist() == [12.0]


# --- .grad


def test_clearing_what_is_none_keeps_none():
    x = leaf([2.0])
    (x * x).backward()
    x.clear_gradient(False)
    x.clear_gradient(True)
    assert x.grad is None
    assert x.gradient() is None


def test_gradient_is_an_ndarray():
    x = leaf([2.0])
    (x * x).backward()
    assert type(x.gradient()) is np.ndarray
    assert x.gradient().tolist() == [4.0]


def test_what_grad_accepts():
    x = leaf([2.0])
    x.grad = constant([5.0])
    (x * x).backward()
    assert x.grad.tolist() == [9.0]
    x.grad = None
    assert x.grad is None
    with pytest.raises(ShapeError, match=r"\[1\]; got \[2\]"):
        x.grad = constant([1.0, 2.0])
    with pytest.raises(NotATensorError, match="got ndarray: use to_tensor"):
        x.grad = np.ones(1, np.float32)
    with pytest.raises(DTypeError, match=r"use grad\.astype\('float32'\)"):
        x.grad = constant([1.0], "float64")


def test_closing_a_tensor_after_its_use_cuts_nothing():
    x = leaf([2.0])
    y = x * x
    z = y * 3.0
    y.stop_gradient = True
    z.backward()
    assert x.grad.tolist() == [12.0]


@pytest.mark.parametrize("set_to_zero", [True, False])
def test_clear_grad_of_an_optimizer(set_to_zero):
    w = paddle.create_parameter([1], "float32")
    optimizer = paddle.optimizer.SGD(parameters=[w])
    (w * 2.0).backward()
    optimizer.clear_grad(set_to_zero=set_to_zero)
    assert (w.grad.tolist() if set_to_zero else w.grad) == ([0.0] if set_to_zero else None)
    optimizer.clear_grad()
    assert (w.grad.tolist() if set_to_zero else w.grad) == ([0.0] if set_to_zero else None)


# --- retain_grads


def test_retain_grads_returns_none_and_may_be_repeated():
    x = leaf([2.0])
    y = x * x
    assert [t.retain_grads() for t in (y, y, x, constant([1.0]))] == [None] * 4
    (y * 3.0).backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([3.0], [12.0])


def test_a_retained_gradient_is_replaced_where_a_leaf_accumulates():
    x = leaf([2.0])
    y = x * x
    y.retain_grads()
    z = y * 3.0
    z.backward(retain_graph=True)
    z.backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([3.0], [24.0])


def test_retained_gradients_of_several_outputs():
    x = leaf([[3.0, 1.0, 2.0]])
    values, _ = paddle.topk(x, 2)
    first, second = paddle.split(values, 2, axis=1)
    values.retain_grads()
    second.retain_grads()
    (first * 2.0 + second * 5.0).sum().backward()
    assert values.grad.tolist() == [[2.0, 5.0]]
    assert second.grad.tolist() == [[5.0]]
    assert first.grad is None
    assert x.grad.tolist() == [[2.0, 0.0, 5.0]]


# --- hooks


def test_hooks_run_in_order_each_on_what_the_last_returned():
    x, seen = leaf([2.0]), []
    y = x * 3.0
    y.register_hook(lambda g: (seen.append(g.tolist()), g * 10.0)[1])
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: (seen.append(g.tolist()), g + 1.0)[1])
    y.backward()
    assert seen == [[1.0], [10.0], [10.0]]
    assert x.grad.tolist() == [33.0]


def test_a_hook_of_a_leaf_runs_once_with_the_sum_of_the_pass():
    x, seen = leaf([2.0]), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 3.0 + x * 4.0).backward()
    (x * 1.0).backward()
    assert seen == [[7.0], [1.0]]
    assert x.grad.tolist() == [8.0]


def test_a_handle_removes_once():
    x = leaf([2.0])
    handle = x.register_hook(lambda g: g * 100.0)
    x.register_hook(lambda g: g + 1.0)
    assert (handle.remove(), handle.remove()) == (True, False)
    (x * 3.0).backward()
    assert x.grad.tolist() == [4.0]


@pytest.mark.parametrize(("before", "kept"), [(True, 30.0), (False, 3.0)])
def test_hooks_before_retain_grads_act_on_what_it_keeps(before, kept):
    x = leaf([2.0])
    y = x * 1.0
    if before:
        y.register_hook(lambda g: g * 10.0)
    y.retain_grads()
    if not before:
        y.register_hook(lambda g: g * 10.0)
    (y * 3.0).backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([kept], [30.0])


def test_which_hooks_grad_runs():
    """Those of results, on the way and as inputs; not those of leaves, which accumulate nothing."""
    x = leaf([2.0])
    x.register_hook(lambda g: g * 100.0)
    assert paddle.grad(x * x, x)[0].tolist() == [4.0]
    y = x * 1.0
    y.register_hook(lambda g: g * 100.0)
    assert paddle.grad(y * 3.0, y)[0].tolist() == [300.0]
    assert paddle.grad(y * 3.0, x)[0].tolist() == [300.0]


WRONG_HOOKS = {
    "an int": (3, NotATensorError, "returned int; return a Tensor, or None"),
    "an ndarray": (np.ones(1, np.float32), NotATensorError, "returned ndarray; return a Tensor"),
    "another shape": (constant([1.0, 2.0]), ShapeError, r"made shape \[2\] of a gradient of"),
    "another dtype": (constant([1.0], "float64"), DTypeError, r"grad\.astype\('float32'\)"),
}


@pytest.mark.parametrize("on_leaf", [False, True], ids=["result", "leaf"])
@pytest.mark.parametrize("name", WRONG_HOOKS)
def test_what_a_hook_may_not_return(name, on_leaf):
    """The reference crashes, or goes on with it."""
    value, error, hint = WRONG_HOOKS[name]
    x = leaf([2.0])
    y = x * 3.0
    (x if on_leaf else y).register_hook(lambda g: value)
    with pytest.raises(error, match=hint):
        y.backward()
    assert x.grad is None


def test_an_exception_in_a_hook_arrives_as_it_is():
    x, w = leaf([2.0]), leaf([1.0])
    y = x * 3.0

    def fails(grad):
        raise KeyError("mine")

    y.register_hook(fails)
    with pytest.raises(KeyError, match="mine"):
        (y * w).backward()
    assert x.grad is None
    assert w.grad is None


def test_what_takes_no_hooks():
    with pytest.raises(RuntimeError, match="has stop_gradient=True, so no gradient reaches it"):
        constant([1.0]).register_hook(lambda g: g)
    with pytest.raises(TypeError, match=r"called as hook\(grad\); got int"):
        leaf([1.0]).register_hook(3)


# --- paddle.grad

GRAD = {
    "empty outputs": (lambda x: paddle.grad([], x), ArgumentError, "outputs cannot be empty"),
    "empty inputs": (lambda x: paddle.grad(x * x, []), ArgumentError, "inputs cannot be empty"),
    "the same input twice": (
        lambda x: paddle.grad(x * x, [x, x]),
        DuplicateError,
        "inputs holds the same Tensor twice",
    ),
    "too many cotangents": (
        lambda x: paddle.grad(x * x, x, [None, None]),
        ArgumentError,
        "2 entries for 1",
    ),
    "only_inputs=False": (
        lambda x: paddle.grad(x * x, x, only_inputs=False),
        ArgumentError,
        "only_inputs=False is not supported; use backward",
    ),
    "no_grad_vars=1": (
        lambda x: paddle.grad(x * x, x, no_grad_vars=1),
        NotATensorError,
        "no_grad_vars must be None, a Tensor or a list of Tensors",
    ),
}


@pytest.mark.parametrize("name", GRAD)
def test_arguments_of_grad_are_checked_by_assertions(name):
    call, error, hint = GRAD[name]
    with pytest.raises(AssertionError, match=hint) as caught:
        call(leaf([2.0]))
    assert caught.type is error


def test_an_input_that_is_not_reached_is_a_value_error():
    """As in the reference, and a RuntimeError, as where users come from otherwise."""
    y = leaf([2.0]) * 2.0
    for unreached in (leaf([1.0]), constant([1.0])):
        for kind in (ValueError, RuntimeError, NotDifferentiableError):
            with pytest.raises(kind, match=r"inputs\[0\] does not appear.*allow_unused=True"):
                paddle.grad(y, unreached)
        assert paddle.grad(y, unreached, allow_unused=True) == [None]


LINEAR = {"mean": paddle.mean, "sum": paddle.sum, "relu": F.relu, "abs": paddle.abs}


@pytest.mark.parametrize("name", LINEAR)
def test_the_gradient_of_what_is_linear_depends_on_nothing(name):
    x = leaf([1.0, -2.0])
    (first,) = paddle.grad(LINEAR[name](x).sum(), x, create_graph=True)
    assert paddle.grad(first, x, allow_unused=True) == [None]


# What the reference has no second derivative of.
ONCE_IN_THE_REFERENCE = {
    "gelu": F.gelu,
    "softmax": F.softmax,
    "log_softmax": F.log_softmax,
    "layer_norm": lambda x: F.layer_norm(x, [3]),
    "cross_entropy": lambda x: F.cross_entropy(x, paddle.to_tensor([2, 0])),
    "embedding": lambda x: F.embedding(paddle.to_tensor([1, 0, 1]), x) ** 2.0,
    "max": lambda x: paddle.max(x, axis=1) ** 2.0,
    "cumsum": lambda x: paddle.cumsum(x, axis=1) ** 2.0,
    "prod": lambda x: paddle.prod(x, axis=1),
    "norm": lambda x: paddle.linalg.norm(x),
    "logsumexp": lambda x: paddle.logsumexp(x, axis=1),
    "erf": paddle.erf,
}


@pytest.mark.parametrize("name", ONCE_IN_THE_REFERENCE)
def test_second_derivatives_that_the_reference_has_not(name):
    x = leaf([[0.3, -1.2, 0.8], [1.5, 0.4, -0.6]], "float64")
    assert gradgradcheck(ONCE_IN_THE_REFERENCE[name], x)


# --- in place


def test_a_write_to_a_leaf_is_a_value_error():
    for write in (lambda x: x.add_(constant([1.0])), lambda x: x.__setitem__(0, 1.0)):
        x = leaf([2.0])
        with pytest.raises(ValueError, match=r"paddle\.no_grad\(\)"):
            write(x)
        assert (x.tolist(), x.inplace_version) == ([2.0], 0)


def test_augmented_assignment_makes_another_tensor():
    x = leaf([2.0])
    y = x
    x += 1.0
    assert x is not y
    assert (x.tolist(), y.tolist(), y.inplace_version) == ([3.0], [2.0], 0)


def test_item_assignment_sends_the_gradient_to_the_value():
    x, value = leaf([1.0, 2.0, 3.0]), leaf([5.0])
    y = x * 2.0
    y[1:2] = value
    (y * constant([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 200.0]
    assert value.grad.tolist() == [10.0]


def test_a_saved_value_that_was_written_to_is_not_lost():
    """The reference refuses this pass; what was recorded keeps its values here."""
    x = leaf([2.0])
    y = x * 1.0
    z = y * y
    y.add_(constant([1.0]))
    z.backward()
    assert x.grad.tolist() == [4.0]
    assert y.tolist() == [3.0]
