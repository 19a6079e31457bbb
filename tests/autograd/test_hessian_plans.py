"""Plans that Hessians are computed by: what they depend on, and stacks kept as what moves them."""

import threading
import tracemalloc

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import (
    hessian,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from autograd_engine.autograd.hessians import plan as hessian_plan
from autograd_engine.errors import ArgumentError

Y = np.array([0.7, 1.3, 0.9, 1.1])
RNG = np.random.default_rng(8)


def tensor(a, **options):
    return paddle.to_tensor(np.asarray(a, np.float64), **options)


def close(actual, expected, tolerance=1e-9):
    np.testing.assert_allclose(actual.numpy(), expected, rtol=tolerance, atol=tolerance)


def differences(f, x, step=1e-5):
    """The Hessian of a function of one array, by differences of its gradient."""
    gradient = value_and_grad(f)
    rows = []
    for index in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        above, below = (gradient(tensor(m))[1].numpy() for m in moved)
        rows.append((above - below) / (2.0 * step))
    return np.stack(rows).reshape(*x.shape, *x.shape)


@pytest.fixture(autouse=True)
def no_plans():
    hessian_plan._PLANS.clear()


def planned():
    return sum(entry.plan is not None for entry in hessian_plan._PLANS.values())


# --- stacks that are kept as what moves their elements


def chain(p):
    rest = p[1:] - p[:-1] * p[:-1]
    away = 1.0 - p[:-1]
    return (100.0 * rest * rest + away * away).sum()


FUNCTIONS = {
    "chain": chain,
    "reshaped": lambda p: (p.reshape([2, 2]) * p.reshape([2, 2]).T * p[0]).sum(),
    "a sum": lambda p: (p * p).sum() ** 2 + p.mean() ** 3,
    "a sum out of order": lambda p: paddle.flip(p**3, [0]).sum() * p[::-1].sum(),
    "stretched": lambda p: (
        (paddle.expand(p, [3, 4]) * tensor(np.arange(12.0).reshape(3, 4)) ** p).sin().sum()
    ),
    "every other": lambda p: (p[::2] / p[1::2] - p[3] * p[::2]).tanh().sum(),
    "chosen": lambda p: paddle.where(p > 1.0, p**3, p[0] * p).sum(),
    "divided by": lambda p: (1.0 / p + p[1] / (p * p)).sum(),
    "rolled": lambda p: sum((paddle.roll(p, k) * p * float(k)).sum() ** 2 for k in range(4)),
    "cast": lambda p: (p.astype("float32").astype("float64") ** 3).sum() * p[0],
    "joined": lambda p: (paddle.concat([p[:2] ** 2, p, p[2:] ** 3]) ** 2).sum(),
    "with a matrix": lambda p: (paddle.matmul(tensor(np.arange(16.0).reshape(4, 4)), p) ** 3).sum(),
    "one": lambda p: p[2] ** 3,
    "cumulative": lambda p: (paddle.cumsum(p, axis=0) ** 3).sum(),
    "row by row": lambda p: sum((p[k + 1] - p[k] * p[k]) ** 2 for k in range(3)),
    "nothing": lambda p: (p * 0.0).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_differences(name):
    function = FUNCTIONS[name]
    if name == "cast":  # differences of what is rounded are no reference
        expected = hessian(lambda p: (p**3).sum() * p[0], tensor(Y), create_graph=True).numpy()
        close(hessian(function, tensor(Y)), expected, 1e-5)
    else:
        expected = differences(function, Y)
        close(hessian(function, tensor(Y)), expected, 1e-6 * max(1.0, np.abs(expected).max()))
    assert planned() == 1


def test_many_terms_are_written_out():
    w = RNG.standard_normal((24, 24))

    def f(p):
        return sum((paddle.roll(p, k) * p * tensor(w[k])).sum() for k in range(24))

    x = RNG.standard_normal(24)
    expected = np.zeros((24, 24))
    for k in range(24):
        shift = np.diag(w[k]) @ np.roll(np.eye(24), k, 0)
        expected += shift + shift.T
    hessian(f, tensor(x))
    close(hessian(f, tensor(x)), expected, 1e-9)
    assert planned() == 1


def halves(p, *shapes):
    """`p` taken apart."""
    parts, start = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        parts.append(p[start : start + size].reshape(shape))
        start += size
    return parts


X = tensor(RNG.standard_normal((20, 5)))


def network(p):
    w1, b1, w2, b2, _ = halves(p, (5, 6), (6,), (6, 3), (3,), (3,))
    out = paddle.tanh(X @ w1 + b1) @ w2 + b2
    return (out * out).mean()


def attention(p):
    q, k, v = halves(p, (4, 5), (4, 5), (4, 5))
    return (paddle.nn.functional.softmax(q @ k.T, -1) @ v).pow(2).sum()


def convolution(p):
    x, w = halves(p, (2, 3, 6), (4, 3, 3))
    return paddle.nn.functional.conv1d(x, w).tanh().sum()


def ends(p):
    """What is in the middle moves nothing."""
    a, _, b = halves(p, (6, 5), (20,), (6, 5))
    return ((X @ (a - b).T).sin() + (X @ b.T)).pow(2).sum()


def of_parts(p):
    """Sums of more than two, out of order and over one another, and products of them."""
    a, b, c = halves(p, (3, 5), (3, 5), (3, 5))
    first, second = X @ a.T, X @ c.T - X @ b.T
    both = first * second + first / (2.0 + second * second)
    return (both * both).sum() - (second - first).exp().sum()


RANGES = {network: 60, attention: 60, convolution: 72, ends: 80, of_parts: 45}


@pytest.mark.parametrize("function", RANGES, ids=lambda f: f.__name__)
def test_parameters_that_are_slices_of_one(function):
    """Stacks of which most directions are zero."""
    x = 0.3 * RNG.standard_normal(RANGES[function])
    expected = differences(function, x)
    for _ in range(2):  # other values, in the memory of the first
        close(hessian(function, tensor(x)), expected, 1e-6 * max(1.0, np.abs(expected).max()))
        x = x + 0.1
        expected = differences(function, x)
    assert planned() == 1


def test_zeros_stay_zeros_beside_what_is_infinite():
    with np.errstate(divide="ignore", invalid="ignore"):
        found = hessian(lambda p: p.sqrt().sum(), tensor([0.0, 4.0])).numpy()
    assert found[0, 1] == 0.0 == found[1, 0]
    assert found[1, 1] == -1.0 / 32.0


def test_a_banded_hessian_takes_no_other_matrix():
    """Nothing as large as the result is made on the way to it."""
    x = tensor(RNG.standard_normal(600))
    chained = hessian(chain, x)
    tracemalloc.start()
    try:
        again = hessian(chain, x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.3 * again.numpy().nbytes
    np.testing.assert_array_equal(chained.numpy(), again.numpy())


# --- what a plan depends on


def test_a_long_recording_waits_for_the_second_time():
    def f(p):
        total = 0.0
        for k in range(60):
            total = total + (p[k % 4] * p[(k + 1) % 4]) ** 2
        return total

    expected = hessian(f, tensor(Y), create_graph=True).numpy()
    for count in (0, 1, 1):
        close(hessian(f, tensor(Y)), expected)
        assert planned() == count


def test_rules_of_the_users_are_run_each_time():
    """They may read what is no argument of theirs."""
    factor = [1.0]

    @paddle.autograd.defop("plain_cube")
    def cube(x):
        return x * x * x

    cube.vjp(x=lambda xp, g, x: g * x * x * (3.0 * factor[0]))
    for factor[0] in (1.0, 2.0):
        close(hessian(lambda p: cube(p).sum(), tensor(Y)), np.diag(6.0 * Y * factor[0]))


def hooked_argument(p):
    p.register_hook(lambda g: g * 2.0)
    return (p**3).sum()


def hooked_inside(p):
    y = p * p
    y.register_hook(lambda g: g * 2.0)
    return (y * p).sum()


@pytest.mark.parametrize("options", [{}, {"create_graph": True}, {"chunk_size": 3}])
@pytest.mark.parametrize(("function", "factor"), [(hooked_argument, 12.0), (hooked_inside, 10.0)])
def test_hooks_have_their_part_in_the_gradient_once(function, factor, options):
    """The Hessian is the Jacobian of the gradient that the hooks make."""
    close(hessian(function, tensor(Y), **options), np.diag(factor * Y))


def test_a_constant_that_is_nan_makes_one_plan():
    for _ in range(3):
        bound = float("nan")
        hessian(lambda p, b=bound: (paddle.nan_to_num(p, nan=b) ** 2).sum(), tensor(Y))
        hessian(lambda p, b=bound: (paddle.nn.functional.pad(p, [1, 1], value=b)[1:-1] ** 2).sum(),
                tensor(Y))  # fmt: skip
    assert len(hessian_plan._PLANS) == 2


def test_threads_that_make_the_same_plan(monkeypatch):
    monkeypatch.setattr(hessian_plan, "_MOST", 4)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(40):
            y, w = rng.standard_normal((2, int(rng.integers(1, 9))))
            found = hessian(lambda p, w=w: (tensor(w) * p**3).sum(), tensor(y)).numpy()
            if not np.allclose(found, np.diag(6.0 * w * y)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(hessian_plan._PLANS) <= 4


# --- histories that were freed


@pytest.fixture
def freed():
    w = tensor(np.ones(4), stop_gradient=False)
    h = w * 2.0
    (h * h).sum().backward()
    return h


WAYS = {
    "hessian": lambda f, x: hessian(f, x),
    "hessian, recorded": lambda f, x: hessian(f, x, create_graph=True).sum(0),
    "hvp": lambda f, x: hvp(f, x)[1],
    "jacobian": lambda f, x: jacobian(f, x, mode="reverse"),
    "jacobian, forward": lambda f, x: jacobian(f, x, mode="forward"),
    "jvp": lambda f, x: jvp(f, x)[1],
    "vjp": lambda f, x: vjp(f, x)[1],
    "value_and_grad": lambda f, x: value_and_grad(f)(x)[1],
}


@pytest.mark.parametrize("name", WAYS)
def test_what_came_before_may_have_been_freed(freed, name):
    """Neither an input's own history nor that of a captured tensor is gone through."""
    way = WAYS[name]
    plain = tensor(np.full(4, 2.0))

    def captures(p):
        return (p**3 * freed).sum()

    expected = way(lambda p: (p**3 * 2.0).sum(), plain).numpy()
    close(way(captures, plain), expected)
    close(way(lambda p: (p**3 * 2.0).sum(), freed), expected)


def test_grad_by_a_tensor_whose_history_was_freed(freed):
    z = (freed**3).sum()
    (g,) = paddle.grad(z, freed)
    close(g, np.full(4, 12.0))


def test_mode_is_checked_for_tensors_too():
    x = tensor(Y, stop_gradient=False)
    with pytest.raises(ArgumentError, match="must be 'auto', 'forward' or 'reverse'"):
        jacobian(x * x, x, mode="backward")
