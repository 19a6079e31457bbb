"""Forward mode as a user has it: jvp and vjp of functions, alone and mixed, and in programs."""

import sys
import threading

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


def writing(x):
    """x x, written to x, whose first element is then 3 times the second."""
    x.multiply_(x * 1.0)
    x[0] = x[1] * 3.0
    return x


@pytest.mark.parametrize("stop_gradient", [True, False])
def test_a_function_may_write_to_what_it_is_given(stop_gradient):
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=stop_gradient)
    v = paddle.to_tensor([1.0, 10.0])
    y, t = jvp(writing, x, v)
    assert (y.tolist(), t.tolist()) == ([12.0, 4.0], [120.0, 40.0])
    y, g = vjp(writing, x, v)
    assert (y.tolist(), g.tolist()) == ([12.0, 4.0], [0.0, 52.0])
    assert x.tolist() == [1.0, 2.0]


def test_graphs_from_before_are_no_matter():
    """They cannot lead to the inputs, so they may be freed."""
    w = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    h = w * w
    h.sum().backward()
    v = paddle.to_tensor([1.0, 10.0])
    assert jvp(lambda x: x * h, paddle.ones([2]), v)[1].tolist() == [4.0, 90.0]
    assert jvp(lambda x: x * x, h, v)[1].tolist() == [8.0, 180.0]


def test_work_is_linear_in_the_recording():
    """Each operation looks at its own part of the graph, not at all that led to it."""

    def lines(n):
        def power(x):
            y = x
            for _ in range(n):
                y = paddle.matmul(y, x)
            return y

        counted = 0

        def count(*_):
            nonlocal counted
            counted += 1

        sys.setprofile(count)
        try:
            jvp(power, paddle.to_tensor(np.eye(2)))
        finally:
            sys.setprofile(None)
        return counted

    assert lines(160) < 2.2 * lines(80)


@pytest.mark.parametrize("create_graph", [False, True])
def test_tangents_are_tensors_of_their_own(create_graph):
    x, v = tensor(2), paddle.to_tensor([1.0, 10.0], "float64", stop_gradient=False)

    def thrice(x):
        y = x * 1.0
        return x, y, y

    _, tangents = jvp(thrice, x, v, create_graph=create_graph)
    assert len({id(v), *map(id, tangents)}) == 4
    assert [t.stop_gradient for t in tangents] == [not create_graph] * 3
    ys, g = vjp(thrice, x)
    assert len(ys) == 3
    assert g.tolist() == [3.0, 3.0]


def test_a_tangent_taken_without_recording_is_a_constant():
    def f(x):
        with paddle.no_grad():
            _, t = jvp(lambda y: y * y, x)
            _, g = vjp(lambda y: y * y, x)
        return (t + g) * x

    x = tensor(2)
    np.testing.assert_array_equal(jvp(f, x)[1].numpy(), 4.0 * x.numpy())


def test_a_switch_may_be_set_inside_and_reset_outside():
    x = tensor(2)
    switch = paddle.no_grad()

    def leaves(x):
        switch.__exit__(None, None, None)
        return x * x

    def enters(x):
        y = x * x
        switch.__enter__()
        return y

    switch.__enter__()
    np.testing.assert_array_equal(jvp(leaves, x)[1].numpy(), 2.0 * x.numpy())
    jvp(enters, x)
    switch.__exit__(None, None, None)
    y = paddle.to_tensor([1.0], stop_gradient=False)
    assert not hasattr(paddle.argmax(y), "context")
    assert not hasattr(paddle.gather(y, paddle.to_tensor([0]))._node, "context")


def test_a_recording_of_another_thread_is_refused():
    def f(x):
        found = []
        thread = threading.Thread(target=lambda: found.append(x * x))
        thread.start()
        thread.join()
        return found[0]

    with pytest.raises(RuntimeError, match=r"multiply of .* was recorded in another thread"):
        jvp(f, tensor(2))


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


def test_an_input_that_is_computed_from_another_is_independent_of_it():
    static = paddle.static
    program = static.Program()
    with static.program_guard(program):
        x = static.data("x", [2], "float64")
        h = x * x
        y = h * 3.0 + x
        alone = static.forward_grad(y, [x, h], [x * 0.0 + 1.0, None])
        zeros = static.forward_grad(y, [x, h], [x * 0.0 + 1.0, x * 0.0])
        none = static.forward_grad(y, [h], [None])
    found = static.Executor().run(program, {"x": np.ones(2)}, [alone, zeros, none])
    assert [f.tolist() for f in found] == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]


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
