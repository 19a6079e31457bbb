"""Forward mode as a user has it: jvp and vjp of functions, alone and mixed, and in programs."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import jvp, vjp

F = paddle.nn.functional
RNG = np.random.default_rng(3)


def tensor(*shape):
    return paddle.to_tensor(RNG.uniform(0.5, 1.5, shape))


def net(x, w):
    h = paddle.tanh(paddle.matmul(x, w))
    return F.softmax(h, axis=1) * h.max(axis=0), h.sum()


def numeric(function, at, along, step=1e-6):
    def moved(by):
        pairs = zip(at, along, strict=True)
        return function(*[paddle.to_tensor(a.numpy() + by * v.numpy()) for a, v in pairs])

    sides = zip(moved(step), moved(-step), strict=True)
    return [(a.numpy() - b.numpy()) / (2 * step) for a, b in sides]


def test_several_inputs_and_outputs():
    at, along = [tensor(3, 4), tensor(4, 2)], [tensor(3, 4), tensor(4, 2)]
    ys, tangents = jvp(net, at, along)
    assert isinstance(tangents, tuple)
    for y, t, e in zip(ys, tangents, numeric(net, at, along), strict=True):
        assert y.stop_gradient
        assert t.stop_gradient
        np.testing.assert_allclose(t.numpy(), e, rtol=1e-7, atol=1e-7)


def test_a_sequence_may_leave_tangents_out():
    x, w = tensor(3, 4), tensor(4, 2)
    along = tensor(3, 4)
    _, (t, _) = jvp(net, [x, w], [along, None])
    _, (alone, _) = jvp(lambda x: net(x, w), x, along)
    np.testing.assert_array_equal(t.numpy(), alone.numpy())


def test_without_a_direction_it_is_ones():
    x = tensor(3)
    _, t = jvp(lambda x: x * x, x)
    np.testing.assert_array_equal(t.numpy(), 2 * x.numpy())


def test_outputs_that_do_not_depend_or_do_not_float():
    x = tensor(3)
    _, (constant, index, same) = jvp(
        lambda x: [paddle.ones([2]), paddle.argmax(x), x], x, paddle.ones([3], "float64")
    )
    assert constant.tolist() == [0.0, 0.0]
    assert index is None
    assert same.tolist() == [1.0, 1.0, 1.0]


def test_forward_over_reverse_is_the_hessian_times_a_vector():
    x, v = tensor(4), tensor(4)

    def f(x):
        return (paddle.exp(x) * paddle.cumsum(x * x)).sum() + F.log_softmax(x)[0]

    def gradient(x):
        return paddle.grad(f(x), x, create_graph=True)[0]

    _, forward_over_reverse = jvp(gradient, x, v)
    y = paddle.to_tensor(x.numpy(), stop_gradient=False)
    _, t = jvp(f, y, v, create_graph=True)
    (reverse_over_forward,) = paddle.grad(t, y)
    (g,) = paddle.grad(f(y), y, create_graph=True)
    (reverse_over_reverse,) = paddle.grad((g * v).sum(), y)
    for found in (forward_over_reverse, reverse_over_forward):
        np.testing.assert_allclose(found.numpy(), reverse_over_reverse.numpy(), rtol=1e-12)


def test_forward_over_forward_over_forward():
    x, v = tensor(3), paddle.ones([3], "float64")

    def derivative(f):
        return lambda x: jvp(f, x, v)[1]

    third = derivative(derivative(derivative(lambda x: paddle.sin(x) * x)))(x).numpy()
    a = x.numpy()
    np.testing.assert_allclose(third, -3 * np.sin(a) - a * np.cos(a), rtol=1e-12)


def test_a_gradient_reaches_what_the_function_closes_over():
    w = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    x, v = paddle.to_tensor([1.0, 1.0]), paddle.to_tensor([1.0, 10.0])
    _, t = jvp(lambda x: x * x * w, x, v, create_graph=True)
    (g,) = paddle.grad(t.sum(), w)
    assert g.tolist() == [2.0, 20.0]


def test_a_detached_value_has_no_tangent():
    x, v = tensor(3), tensor(3)
    _, t = jvp(lambda x: x * x.detach(), x, v)
    np.testing.assert_array_equal(t.numpy(), (x.numpy() * v.numpy()))


def test_recording_is_as_before_afterwards():
    x = tensor(2)
    with paddle.no_grad():
        jvp(lambda x: x * x, x)
        assert not paddle.is_grad_enabled()
    with pytest.raises(ZeroDivisionError):
        jvp(lambda x: 1 / 0, x)
    y = paddle.to_tensor([1.0], stop_gradient=False)
    assert not hasattr((y * y)._node, "context")


def test_vjp():
    x, w, v = tensor(3, 4), tensor(4, 2), tensor(3, 2)
    ys, (gx, gw) = vjp(lambda x, w: paddle.matmul(x, w), [x, w], v)
    np.testing.assert_allclose(ys.numpy(), x.numpy() @ w.numpy())
    np.testing.assert_allclose(gx.numpy(), v.numpy() @ w.numpy().T)
    np.testing.assert_allclose(gw.numpy(), x.numpy().T @ v.numpy())
    _, unused = vjp(lambda x: paddle.ones([1]), x)
    assert not unused.numpy().any()
    _, (first, second) = vjp(lambda x, w: x.sum(), (x, w))
    assert first.numpy().all()
    assert not second.numpy().any()


def test_a_program_mixes_both_modes():
    """The tangent of a gradient, and the gradient of a tangent, are the Hessian times a vector."""
    at, along = RNG.uniform(0.5, 1.5, (2, 3)), RNG.uniform(-1.0, 1.0, (2, 3))
    static = paddle.static
    program = static.Program()
    with static.program_guard(program):
        x = static.data("x", [None, 3], "float64")
        v = static.data("v", [None, 3], "float64")
        x.stop_gradient = False
        y = (F.softmax(paddle.matmul(x, paddle.t(x))) * paddle.exp(x).sum(axis=1)).sum()
        (g,) = static.gradients([y], [x])
        forward_over_reverse = static.forward_grad(g, x, v)
        (reverse_over_forward,) = static.gradients([static.forward_grad(y, x, v)], [x])
        (reverse_over_reverse,) = static.gradients([(g * v).sum()], [x])
    found = static.Executor().run(
        program,
        {"x": at, "v": along},
        [forward_over_reverse, reverse_over_forward, reverse_over_reverse],
    )
    for value in found[:2]:
        np.testing.assert_allclose(value, found[2], rtol=1e-11, atol=1e-12)


def test_a_program_of_a_thousand_operators_is_pushed_in_linear_time():
    static = paddle.static
    program = static.Program()
    with static.program_guard(program):
        x = static.data("x", [2, 2], "float64")
        y = x
        for _ in range(300):
            y = paddle.matmul(y, x) * 0.5
        t = static.forward_grad(y, x)
    before = len(program.global_block().ops)
    assert before < 300 * 14
    at = np.asarray([[0.0, 1.0], [1.0, 0.0]])
    (value,) = static.Executor().run(program, {"x": at}, [t])
    step = 1e-6

    def power(a):
        return np.linalg.matrix_power(a, 301) * 0.5**300

    expected = (power(at + step) - power(at - step)) / (2 * step)
    np.testing.assert_allclose(value, expected, rtol=1e-4)


def variable():
    return paddle.static.data("x", [2], "float32")


@pytest.mark.parametrize(
    ("attempt", "hint"),
    [
        (lambda x: jvp(1.0, x), "func must be a function of tensors, got float"),
        (lambda x: jvp(paddle.tanh, 1.0), r"xs\[0\] must be a Tensor, got float"),
        (lambda x: jvp(paddle.tanh, x.astype("int64")), r"must be floating.*astype\('float32'\)"),
        (lambda x: jvp(lambda x: 1.0, x), "func must return a Tensor"),
        (lambda x: jvp(paddle.tanh, x, [x, x]), "v has 2 entries for 1 tensors"),
        (lambda x: jvp(paddle.tanh, x, 1.0), r"v\[0\] must be a Tensor, got float"),
        (lambda x: jvp(paddle.tanh, x, paddle.ones([3], "float64")), "they must be equal"),
        (lambda x: jvp(paddle.tanh, x, paddle.ones([2])), r"is float32.*v\.astype\('float64'\)"),
        (lambda x: vjp(paddle.tanh, x, [None]), r"v\[0\] must be a Tensor, got NoneType"),
    ],
)
def test_what_jvp_refuses(attempt, hint):
    with pytest.raises((TypeError, ValueError), match=hint):
        attempt(tensor(2))


@pytest.mark.parametrize(
    ("attempt", "hint"),
    [
        (lambda s, x: s.forward_grad(1.0, x), "for eager tensors use paddle.autograd.jvp"),
        (lambda s, x: s.forward_grad([], x), "must have one Variable at least"),
        (lambda s, x: s.forward_grad(x, x, [x, x]), "2 entries for 1 inputs"),
        (lambda s, x: s.forward_grad(x, x, 1.0), "must hold Variables and Nones, got float"),
        (lambda s, x: s.forward_grad(x, x, x[0]), "they must be equal"),
        (lambda s, x: s.forward_grad(x, x, x.astype("float64")), "cast it"),
        (lambda s, x: s.forward_grad(x, x.astype("int64")), "must be floating"),
    ],
)
def test_what_forward_grad_refuses(attempt, hint):
    static = paddle.static
    program = static.Program()
    with static.program_guard(program):
        x = variable()
        count = len(program.global_block().ops)
        with pytest.raises((TypeError, ValueError), match=hint):
            attempt(static, x)
        kept = [op.type for op in program.global_block().ops[count:]]
    assert set(kept) <= {"cast", "getitem"}  # what the argument itself needed
