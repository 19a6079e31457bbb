"""Derivatives of functions: Jacobians, Hessians, products with them, values with gradients."""

import gc
import tracemalloc

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import (
    PyLayer,
    directions,
    hessian,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from autograd_engine.autograd.hessians import plan as hessian_plan
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.nn import functional

STEP = 1e-5
RNG = np.random.default_rng(5)
X = RNG.uniform(0.5, 1.5, (2, 3))
Y = RNG.uniform(0.5, 1.5, (4,))
W = RNG.uniform(-1.0, 1.0, (3, 4))


def tensor(a, **options):
    return paddle.to_tensor(np.asarray(a, np.float64), **options)


def differences(f, *arrays):
    """The Jacobian of a function of arrays by each of them: ``[*y.shape, *x.shape]``."""
    out = []
    for k, a in enumerate(arrays):
        columns = []
        for index in np.ndindex(a.shape):
            moved = []
            for step in (STEP, -STEP):
                given = [v.copy() for v in arrays]
                given[k][index] += step
                moved.append(np.asarray(f(*given)))
            columns.append((moved[0] - moved[1]) / (2.0 * STEP))
        y_shape = np.asarray(f(*arrays)).shape
        stacked = np.stack(columns, axis=-1) if columns else np.zeros((*y_shape, 0))
        out.append(stacked.reshape(*y_shape, *a.shape))
    return out


def close(actual, expected, tolerance=1e-7):
    actual = actual.numpy()
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def mixed(x, y):
    """From [2, 3] and [4] to [2, 4], in Tensors."""
    return paddle.tanh(x @ tensor(W)) * y + paddle.exp(-y)


def mixed_numpy(x, y):
    return np.tanh(x @ W) * y + np.exp(-y)


def energy(x, y):
    return (mixed(x, y) ** 2).sum()


def energy_gradient(x, y):
    t = np.tanh(x @ W)
    m = t * y + np.exp(-y)
    gx = (2 * m * y * (1 - t * t)) @ W.T
    gy = (2 * m * (t - np.exp(-y))).sum(0)
    return gx, gy


@pytest.fixture
def passes(monkeypatch):
    """How many batched passes ran."""
    counts = {"reverse": 0, "forward": 0}

    def counted(name, function):
        def run(*args, **kwargs):
            counts[name] += 1
            return function(*args, **kwargs)

        return run

    monkeypatch.setattr(directions, "run_backward", counted("reverse", directions.run_backward))
    monkeypatch.setattr(directions, "push_along", counted("forward", directions.push_along))
    return counts


# --- Jacobians of functions


@pytest.mark.parametrize("mode", ["reverse", "forward", "auto"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_jacobian_by_several(mode, create_graph):
    found = jacobian(mixed, [tensor(X), tensor(Y)], mode=mode, create_graph=create_graph)
    assert isinstance(found, tuple)
    for got, expected in zip(found, differences(mixed_numpy, X, Y), strict=True):
        close(got, expected)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_one_pass_for_all_directions(mode, passes):
    jacobian(lambda x: mixed(x, tensor(Y)), tensor(X), mode=mode)
    assert passes[mode] == 1
    assert sum(passes.values()) == 1


def test_auto_takes_the_shorter_way(passes):
    jacobian(lambda x: paddle.concat([x, x * x]), tensor(Y))
    assert passes == {"forward": 1, "reverse": 0}
    jacobian(lambda x: x.sum(), tensor(Y))
    assert passes == {"forward": 1, "reverse": 1}


def test_several_outputs_are_rows_of_blocks():
    def f(x, y):
        return [x * y.sum(), y, (x * x).sum()]

    found = jacobian(f, (tensor(X), tensor(Y)))
    assert isinstance(found, list)
    assert [[list(b.shape) for b in row] for row in found] == [
        [[2, 3, 2, 3], [2, 3, 4]],
        [[4, 2, 3], [4, 4]],
        [[2, 3], [4]],
    ]
    close(found[1][1], np.eye(4))
    close(found[1][0], np.zeros((4, 2, 3)))
    close(found[2][0], 2 * X)


def test_a_sequence_of_one_gives_a_tuple_of_one():
    (only,) = jacobian(lambda x: x * x, [tensor(Y)])
    close(only, np.diag(2 * Y))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(
    ("function", "x", "shape"),
    [
        (lambda x: x * x, np.float64(3.0), ()),
        (lambda x: x * tensor(Y), np.float64(3.0), (4,)),
        (lambda x: x.sum(), np.zeros((0, 3)), (0, 3)),
        (lambda x: x.reshape([-1]), np.zeros((0, 3)), (0, 0, 3)),
        (lambda x: x[:0], Y, (0, 4)),
    ],
    ids=["0-d", "by-0-d", "by-nothing", "nothing-by-nothing", "of-nothing"],
)
def test_shapes_at_the_edge(function, x, shape, mode):
    found = jacobian(function, tensor(x), mode=mode)
    assert tuple(found.shape) == shape
    assert found.dtype == paddle.float64


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("chunk_size", [1, 3, 100])
def test_chunks_give_the_same(mode, chunk_size, passes):
    whole = jacobian(mixed, [tensor(X), tensor(Y)], mode=mode)
    passes.update(reverse=0, forward=0)
    chunked = jacobian(mixed, [tensor(X), tensor(Y)], mode=mode, chunk_size=chunk_size)
    sizes = [8] if mode == "reverse" else [6, 4]
    assert sum(passes.values()) == sum(-(-n // chunk_size) for n in sizes)
    for a, b in zip(whole, chunked, strict=True):
        close(a, b.numpy(), 1e-14)


def test_chunks_bound_memory():
    x = tensor(RNG.uniform(size=120))
    w = tensor(RNG.uniform(size=(120, 120)))

    def f(x):
        for _ in range(4):
            x = paddle.tanh(paddle.sin(w) * x).sum(1)
        return x[:100]

    def peak(chunk_size):
        gc.collect()
        tracemalloc.start()
        jacobian(f, x, mode="reverse", chunk_size=chunk_size)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(10) < peak(None) / 4


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_batch_takes_one_direction_for_each_component(mode, passes):
    def f(x):
        return paddle.sin(x) * x.sum(1, keepdim=True)

    found = jacobian(f, tensor(X), batch_axis=0, mode=mode)
    for k, row in enumerate(X):
        (expected,) = differences(lambda r: np.sin(r) * r.sum(), row)
        np.testing.assert_allclose(found.numpy()[k], expected, atol=1e-8)
    assert sum(passes.values()) == 1
    big = jacobian(lambda x: (x**3).reshape([2, 3, 1]), tensor(X), batch_axis=0, mode=mode)
    assert list(big.shape) == [2, 3, 1, 3]


def test_a_batch_of_vectors_gives_one_row_each():
    found = jacobian(lambda x: (x**2).sum(1), tensor(X), batch_axis=0)
    close(found, 2 * X)
    close(jacobian(lambda y: y**2, tensor(Y), batch_axis=0), 2 * Y)


def test_create_graph_lets_a_jacobian_be_differentiated():
    y = tensor(Y, stop_gradient=False)
    for mode in ("reverse", "forward"):
        jac = jacobian(lambda y: y**3, y, mode=mode, create_graph=True)
        (g,) = paddle.grad(jac.sum(), y)
        close(g, 6 * Y)
    assert jacobian(lambda y: y**3, y).stop_gradient


def test_third_order_by_nesting():
    found = jacobian(lambda y: hessian(lambda z: (z**4).sum(), y), tensor(Y))
    expected = np.zeros((4, 4, 4))
    for k in range(4):
        expected[k, k, k] = 24 * Y[k]
    close(found, expected)
    again = jacobian(
        lambda y: hessian(lambda z: (z**4).sum(), y, create_graph=True), tensor(Y), mode="reverse"
    )
    close(again, expected)


def test_jacobian_inside_a_jvp():
    _, t = jvp(lambda y: jacobian(lambda z: z**3, y).sum(0), tensor(Y), tensor(np.ones(4)))
    close(t, 6 * Y)


def test_float32_stays_float32():
    x = paddle.to_tensor(np.float32([1.0, 2.0]))
    for mode in ("reverse", "forward"):
        assert jacobian(lambda x: x * x, x, mode=mode).dtype == paddle.float32
    assert hessian(lambda x: (x * x).sum(), x).dtype == paddle.float32


# --- Hessians of functions


def hessian_of_energy():
    gx, gy = (lambda *a: energy_gradient(*a)[0]), (lambda *a: energy_gradient(*a)[1])
    return [differences(gx, X, Y), differences(gy, X, Y)]


@pytest.mark.parametrize(
    "options", [{}, {"create_graph": True}, {"chunk_size": 3}], ids=["plan", "graph", "chunks"]
)
def test_hessian_by_several(options):
    found = hessian(energy, (tensor(X), tensor(Y)), **options)
    for row, expected in zip(found, hessian_of_energy(), strict=True):
        for got, block in zip(row, expected, strict=True):
            close(got, block, 1e-6)


def test_hessian_of_what_has_no_plan():
    """Several outputs of one operation are worked out the general way."""
    hessian_plan._PLANS.clear()

    def f(y):
        a, b = paddle.split(y, 2)
        return (a * b * b).sum() + functional.gelu(y).sum() * 0.0

    found = hessian(f, tensor(Y))
    assert all(entry.plan is None for entry in hessian_plan._PLANS.values())
    a, b = Y[:2], Y[2:]
    expected = np.block([[np.zeros((2, 2)), np.diag(2 * b)], [np.diag(2 * b), np.diag(2 * a)]])
    close(found, expected)


def test_hessian_runs_the_function_once():
    calls = []

    def f(y):
        calls.append(1)
        return sum(part.prod() for part in paddle.split(y, 2))

    hessian(f, tensor(Y))
    hessian(lambda y: f(y) * 2.0, tensor(Y))
    assert len(calls) == 2


def test_a_plan_is_used_again_with_other_values():
    hessian_plan._PLANS.clear()
    for scale in (1.0, 2.0, -0.5):
        for power in (3, 5):
            y = Y * scale
            c = tensor(scale)

            def f(y, c=c, power=power):
                return (c * y**power).sum()

            expected = scale * power * (power - 1) * np.diag(y ** (power - 2))
            close(hessian(f, tensor(y)), expected)
    assert len(hessian_plan._PLANS) == 1  # the power is a value too


def test_plans_tell_attributes_and_shapes_apart():
    hessian_plan._PLANS.clear()
    close(hessian(lambda x: (x.sum(0) ** 2).sum(), tensor(X)).sum(), np.asarray(2.0 * 4 * 3))
    close(hessian(lambda x: (x.sum(1) ** 2).sum(), tensor(X)).sum(), np.asarray(2.0 * 9 * 2))
    close(hessian(lambda x: (x.sum(1) ** 2).sum(), tensor(X[:1])).sum(), np.asarray(2.0 * 9))
    close(hessian(lambda x: (x[1:] ** 2).sum(), tensor(Y)), np.diag([0.0, 2, 2, 2]))
    close(hessian(lambda x: (x[:-1] ** 2).sum(), tensor(Y)), np.diag([2.0, 2, 2, 0]))
    assert len(hessian_plan._PLANS) == 5


def test_results_of_a_plan_are_the_callers():
    found = hessian(lambda y: (y * y).sum() * 0.5, tensor(Y))
    np.asarray(found._data)[...] = 7.0
    close(hessian(lambda y: (y * y).sum() * 0.5, tensor(Y)), np.eye(4))


def test_plans_are_forgotten(monkeypatch):
    monkeypatch.setattr(hessian_plan, "_MOST", 3)
    hessian_plan._PLANS.clear()
    for n in range(1, 6):
        hessian(lambda y: (y**3).sum(), tensor(np.ones(n)))
    assert len(hessian_plan._PLANS) == 3


@pytest.mark.parametrize("function", [lambda x: tensor(1.0), lambda x: x.sum(), lambda x: x[0]])
def test_hessian_of_what_does_not_curve(function):
    for options in ({}, {"create_graph": True}):
        close(hessian(function, tensor(Y), **options), np.zeros((4, 4)))


def test_an_unused_input_has_zeros():
    rows = hessian(lambda x, y: (x**2).sum(), [tensor(X), tensor(Y)])
    close(rows[0][1], np.zeros((2, 3, 4)))
    close(rows[1][1], np.zeros((4, 4)))


def test_hessian_with_a_batch(passes):
    for shape in ([-1], [-1, 1]):
        found = hessian(lambda x, s=shape: (x.sum(1) ** 3).reshape(s), tensor(X), batch_axis=0)
        expected = 6 * X.sum(1)[:, None, None] * np.ones((2, 3, 3))
        close(found, expected)
    assert passes["forward"] == 2


def test_hessian_of_a_loss_in_float64_is_symmetric():
    label = paddle.to_tensor(np.array([0, 2]))

    def loss(w):
        return functional.cross_entropy(tensor(X) @ w, label)

    found = hessian(loss, tensor(W)).numpy().reshape(12, 12)
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    (expected,) = differences(lambda w: vjp(loss, tensor(w))[1].numpy(), W)
    np.testing.assert_allclose(found, expected.reshape(12, 12), atol=1e-7)


def test_functions_may_write_in_place():
    def f(y):
        z = y * 1.0
        z[0] = y[1] * y[2]
        z[1:] = z[1:] * y[0]
        return (z * z).sum()

    def plain(y):
        return (y[1] * y[2]) ** 2 + ((y[1:] * y[0]) ** 2).sum()

    def gradient(y):
        (g,) = differences(plain, y)
        return g

    (expected,) = differences(gradient, Y)
    for options in ({}, {"create_graph": True}, {"chunk_size": 2}):
        np.testing.assert_allclose(hessian(f, tensor(Y), **options).numpy(), expected, atol=1e-3)


def test_slicing_in_a_loop():
    def f(y):
        total = 0.0
        for k in range(3):
            total = total + y[k] * y[k + 1] ** 2
        return total

    expected = np.zeros((4, 4))
    for k in range(3):
        expected[k, k + 1] += 2 * Y[k + 1]
        expected[k + 1, k] += 2 * Y[k + 1]
        expected[k + 1, k + 1] += 2 * Y[k]
    for options in ({}, {"create_graph": True}):
        close(hessian(f, tensor(Y), **options), expected)


def test_no_grad_outside_changes_nothing():
    with paddle.no_grad():
        close(hessian(lambda y: (y**3).sum(), tensor(Y)), np.diag(6 * Y))
        close(jacobian(lambda y: y**2, tensor(Y)), np.diag(2 * Y))
        _, g = value_and_grad(lambda y: (y**2).sum())(tensor(Y))
        close(g, 2 * Y)


def test_no_grad_inside_stops_derivatives():
    def f(y):
        with paddle.no_grad():
            fixed = y * 1.0
        return (fixed * y * y).sum()

    close(hessian(f, tensor(Y)), np.diag(2 * Y))


def test_strong_zeros_hold_in_batched_passes():
    x = tensor([0.0, 4.0])

    def f(x):
        return paddle.where(x > 0.0, paddle.sqrt(x), x)

    with paddle.strong_zeros():
        close(jacobian(f, x, mode="reverse"), np.diag([1.0, 0.25]))
        close(hessian(lambda x: f(x).sum(), x), np.diag([0.0, -1.0 / 32]))


class Cube(PyLayer):
    """A rule that looks at its cotangent's shape: it takes one direction at a time."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        assert list(g.shape) == list(x.shape)
        return g * 3.0 * x * x


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_layers_of_the_users_own(mode, create_graph):
    x = tensor(Y)
    close(jacobian(Cube.apply, x, mode=mode, create_graph=create_graph), np.diag(3 * Y**2))
    found = hessian(lambda x: Cube.apply(x).sum(), x, create_graph=create_graph)
    close(found, np.diag(6 * Y))
    _, product = hvp(lambda x: Cube.apply(x).sum(), x, create_graph=create_graph)
    close(product, 6 * Y)


def test_hooks_see_one_direction_at_a_time():
    seen = []

    def f(y):
        z = y * y
        z.register_hook(lambda g: seen.append(list(g.shape)))
        return z * 1.0

    close(jacobian(f, tensor(Y), mode="reverse"), np.diag(2 * Y))
    assert seen == [[4]] * 4


def test_operations_of_the_users_own():
    """A kernel that looks at the shape takes one direction at a time."""

    @paddle.autograd.defop("cube")
    def cube(x):
        assert x.shape == (4,)
        return x * x * x

    cube.vjp(x=lambda xp, g, x: g * (3.0 * x * x))
    x = tensor(Y)
    for create_graph in (False, True):
        for mode in ("reverse", "forward"):
            found = jacobian(cube, x, mode=mode, create_graph=create_graph)
            close(found, np.diag(3 * Y**2))
        found = hessian(lambda x: cube(x).sum(), x, create_graph=create_graph)
        close(found, np.diag(6 * Y))
    close(hvp(lambda x: cube(cube(x)).sum(), x)[1], 72 * Y**7)


# --- products and gradients


def test_hvp_is_the_hessian_times_the_vector():
    v = [tensor(RNG.uniform(size=X.shape)), tensor(RNG.uniform(size=Y.shape))]
    value, products = hvp(energy, [tensor(X), tensor(Y)], v)
    assert value.item() == pytest.approx(float((mixed_numpy(X, Y) ** 2).sum()))
    expected = hessian_of_energy()
    for got, row in zip(products, expected, strict=True):
        total = sum(
            np.tensordot(block, t.numpy(), t.numpy().ndim) for block, t in zip(row, v, strict=True)
        )
        close(got, total, 1e-6)


def test_hvp_can_be_differentiated():
    y = tensor(Y, stop_gradient=False)
    value, product = hvp(lambda y: (y**4).sum(), y, tensor(np.ones(4)), create_graph=True)
    (g,) = paddle.grad(product.sum(), y)
    close(g, 24 * Y)
    (g,) = paddle.grad(value, y)
    close(g, 4 * Y**3)


def test_hvp_of_a_constant_is_zero():
    _, product = hvp(lambda y: tensor(1.0), tensor(Y))
    close(product, np.zeros(4))


def test_value_and_grad():
    run = value_and_grad(lambda x, y, *, scale: (x.sum() * y * y).sum() * scale, argnums=(1, 0))
    value, (gy, gx) = run(tensor(X), tensor(Y), scale=2.0)
    close(value, np.asarray(2 * X.sum() * (Y**2).sum()))
    close(gy, 4 * X.sum() * Y)
    close(gx, np.full(X.shape, 2 * (Y**2).sum()))
    assert value.stop_gradient
    assert gx.stop_gradient


def test_value_and_grad_hands_on_what_is_beside():
    def f(y):
        return (y * y).sum(), {"first": y[0]}

    (value, aux), g = value_and_grad(f, has_aux=True)(tensor(Y))
    close(g, 2 * Y)
    assert aux["first"].item() == Y[0]
    assert value.item() == pytest.approx((Y**2).sum())


def test_value_and_grad_takes_derivatives_of_gradients():
    y = tensor(Y, stop_gradient=False)
    _, g = value_and_grad(lambda y: (y**3).sum(), create_graph=True)(y)
    (h,) = paddle.grad(g.sum(), y)
    close(h, 6 * Y)
    close(
        jacobian(lambda y: value_and_grad(lambda z: (z**3).sum())(y)[1], y, mode="forward"),
        np.diag(6 * Y),
    )


def test_value_and_grad_counts_from_the_back_and_touches_no_grad():
    w = tensor(Y, stop_gradient=False)
    _, g = value_and_grad(lambda a, b: (a * b).sum(), argnums=-1)(tensor(Y), w)
    close(g, Y)
    assert w.grad is None


# --- mistakes


def square(x):
    return (x * x).sum()


MISTAKES = [
    (lambda: jacobian(square, paddle.to_tensor([1, 2])), DTypeError, "astype"),
    (lambda: jacobian(square, paddle.to_tensor([1j])), DTypeError, "as_complex"),
    (lambda: jacobian(square, np.ones(2)), NotATensorError, "to_tensor"),
    (lambda: jacobian(square, tensor(Y), 1), ArgumentError, "None or 0, got 1"),
    (lambda: jacobian(square, tensor(Y), True), ArgumentError, "None or 0, got True"),
    (lambda: jacobian(square, tensor(Y), mode="back"), ArgumentError, "'auto', 'forward'"),
    (lambda: jacobian(square, tensor(Y), chunk_size=0), ArgumentError, "positive int"),
    (lambda: jacobian(lambda x: 1.0, tensor(Y)), NotATensorError, "must return a Tensor"),
    (lambda: jacobian(lambda x: x > 0, tensor(Y)), DTypeError, "return floating"),
    (lambda: jacobian(square, tensor(Y), 0), ShapeError, "leave batch_axis out"),
    (lambda: jacobian(lambda x: x[:2], tensor(Y), 0), ShapeError, "one size, got 2 and 4"),
    (lambda: hessian(lambda x: x * x, tensor(Y)), ShapeError, "take the sum"),
    (lambda: hessian(lambda x: (x > 0).sum(), tensor(Y)), DTypeError, "return floating"),
    (lambda: hessian(lambda x: x * x, tensor(X), 0), ShapeError, r"\[B\] or \[B, 1\]"),
    (lambda: hessian(square, [1.0]), NotATensorError, "to_tensor"),
    (lambda: hessian(square, tensor(Y), chunk_size=1.5), ArgumentError, "positive int"),
    (lambda: hvp(square, tensor(Y), tensor(X)), ShapeError, "must be equal"),
    (lambda: hvp(lambda x: x * x, tensor(Y)), ShapeError, "one element"),
    (lambda: value_and_grad(3), NotATensorError, "must be a function"),
    (lambda: value_and_grad(square, "x"), ArgumentError, "must be an int"),
    (lambda: value_and_grad(square, 1)(tensor(Y)), ArgumentError, "by position"),
    (lambda: value_and_grad(square)(paddle.to_tensor([1])), DTypeError, "astype"),
    (lambda: value_and_grad(lambda x: x)(tensor(Y)), ShapeError, "the sum or the mean"),
    (lambda: value_and_grad(square, has_aux=True)(tensor(Y)), ArgumentError, "a pair"),
    (lambda: value_and_grad(lambda x: (x, 1))(tensor(Y)), NotATensorError, "has_aux=True"),
]


@pytest.mark.parametrize(("wrong", "error", "hint"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_explained(wrong, error, hint):
    with pytest.raises(error, match=hint):
        wrong()


def test_names_are_where_the_reference_has_them():
    for name in ("jacobian", "hessian", "hvp", "value_and_grad", "Jacobian", "Hessian"):
        assert name in paddle.autograd.__all__
        assert callable(getattr(paddle.autograd, name))
    with pytest.raises(AttributeError, match="no attribute 'vmapp'"):
        paddle.autograd.vmapp  # noqa: B018
    assert paddle.autograd.functional.hvp is paddle.autograd.hvp


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_result_that_stops_gradients_is_constant(mode):
    def stopped(x):
        y = (x * x).sum()
        y.stop_gradient = True
        return y

    autograd, x = paddle.autograd, paddle.to_tensor([1.0, 2.0])
    zeros = [0.0, 0.0]
    assert autograd.jvp(stopped, x)[1].item() == 0.0
    for transform in (autograd.vjp, autograd.hvp):
        assert transform(stopped, x)[1].tolist() == zeros
    assert autograd.value_and_grad(stopped)(x)[1].tolist() == zeros
    assert autograd.jacobian(stopped, x, mode=mode).tolist() == zeros
    assert autograd.hessian(stopped, x).tolist() == [zeros, zeros]
    x.stop_gradient = False
    assert autograd.jacobian(stopped(x), x)[:].tolist() == zeros
