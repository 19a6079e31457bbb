"""Zeros that stay zeros, in both modes alike."""

import threading

import numpy as np
import pytest

import autograd_engine as paddle

F = paddle.nn.functional

# function, where the untaken branch has an infinite derivative, and the gradient of the taken one
CASES = {
    "log": (lambda x: paddle.where(x > 0.0, paddle.log(x), x), [0.0, 2.0], [1.0, 0.5]),
    "sqrt": (lambda x: paddle.where(x > 0.0, paddle.sqrt(x), x), [0.0, 4.0], [1.0, 0.25]),
    "divide": (lambda x: paddle.where(x != 0.0, 1.0 / x, x), [0.0, 2.0], [1.0, -0.25]),
    "pow": (lambda x: paddle.where(x > 0.0, x**0.5, 3.0 * x), [0.0, 4.0], [3.0, 0.25]),
    "two in a row": (
        lambda x: paddle.where(x > 0.0, paddle.log(paddle.sqrt(x)), x),
        [0.0, 4.0],
        [1.0, 0.125],
    ),
    "broadcast": (
        lambda x: paddle.where(x > 0.0, 1.0 / (x * paddle.ones([2, 1], "float64")), x),
        [0.0, 2.0],
        [2.0, -0.5],
    ),
}


def ignoring(function, *arguments, **options):
    """Infinities are what these tests are about."""
    with np.errstate(all="ignore"):
        return function(*arguments, **options)


def eager(function, at, *, create_graph=False):
    x = paddle.to_tensor(np.asarray(at), stop_gradient=False)
    y = ignoring(function, x).sum()
    with paddle.strong_zeros():  # without a warning: what is masked is nobody's concern
        (g,) = paddle.grad(y, x, create_graph=create_graph)
    return x, g


@pytest.mark.parametrize("name", CASES)
def test_the_branch_not_taken_adds_nothing(name):
    function, at, expected = CASES[name]
    _, g = eager(function, at)
    np.testing.assert_array_equal(g.numpy(), expected)
    x = paddle.to_tensor(np.asarray(at), stop_gradient=False)
    (plain,) = ignoring(paddle.grad, ignoring(function, x).sum(), x)
    assert np.isnan(plain.numpy()).any(), "the case is none without the context"


@pytest.mark.parametrize("name", CASES)
def test_recording_the_pass_and_differentiating_it(name):
    function, at, expected = CASES[name]
    x, g = eager(function, at, create_graph=True)
    np.testing.assert_array_equal(g.numpy(), expected)
    with paddle.strong_zeros():
        (second,) = ignoring(paddle.grad, g.sum(), x, allow_unused=True)
    assert second is None or np.isfinite(second.numpy()).all()


@pytest.mark.parametrize("name", CASES)
def test_programs_have_the_same_bits(name):
    function, at, expected = CASES[name]
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [2], "float64")
        x.stop_gradient = False
        y = function(x).sum()
        with paddle.strong_zeros():
            (g,) = paddle.static.gradients([y], [x])
        (plain,) = paddle.static.gradients([y], [x])
        with paddle.strong_zeros():
            (again,) = paddle.static.gradients([y], [x])
    assert again is g
    assert plain is not g
    values = ignoring(paddle.static.Executor().run, program, {"x": np.asarray(at)}, [g, plain])
    np.testing.assert_array_equal(values[0], expected)
    assert np.isnan(values[1]).any()


def test_nothing_else_changes():
    """Where no cotangent is 0 the bits are those without."""
    rng = np.random.default_rng(0)
    at = rng.uniform(0.5, 1.5, (3, 4))

    def loss(x):
        h = F.softmax(paddle.matmul(x, paddle.t(x)))
        return (paddle.tanh(h) * paddle.log(x).sum(axis=1)).sum() + F.layer_norm(x, [4]).prod()

    x, strong = eager(loss, at)
    (plain,) = paddle.grad(loss(x), x)
    np.testing.assert_array_equal(strong.numpy(), plain.numpy())


def test_an_operation_that_mixes_elements_is_masked_as_a_whole():
    x = paddle.to_tensor(np.zeros((2, 2)), stop_gradient=False)
    y = ignoring(paddle.matmul, x, paddle.to_tensor([[np.inf, 1.0], [1.0, 1.0]], "float64"))
    loss = (y * 0.0).sum()
    (plain,) = ignoring(paddle.grad, loss, x)
    assert np.isnan(plain.numpy()).any()
    with paddle.strong_zeros():
        (g,) = ignoring(paddle.grad, loss, x)
    assert g.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_the_context_is_of_its_thread_and_ends():
    from autograd_engine.ops.registry.strong_zeros import zeros_are_strong

    seen = []
    with paddle.strong_zeros():
        thread = threading.Thread(target=lambda: seen.append(zeros_are_strong()))
        thread.start()
        thread.join()
        with paddle.strong_zeros():
            pass
        assert zeros_are_strong()
    assert seen == [False]
    assert not zeros_are_strong()
    again = paddle.strong_zeros()
    with again, again:
        pass
    assert not zeros_are_strong()


def test_forward_mode_through_a_backward_of_the_users():
    """The rule is transposed at a cotangent of zeros, which must not count as strong."""

    class Around(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            create_graph = paddle.is_grad_enabled()
            return paddle.autograd.vjp(lambda x: x * x, x, g, create_graph=create_graph)[1]

    x = paddle.to_tensor([1.0, 3.0])
    with paddle.strong_zeros():
        _, tangent = paddle.autograd.jvp(Around.apply, x)
    assert tangent.tolist() == [2.0, 6.0]
