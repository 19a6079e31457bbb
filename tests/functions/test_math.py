"""Elementwise mathematics far out, near 0, at poles and kinks, and given what it cannot take."""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ExecutionError

INF, NAN = math.inf, math.nan
MODES = ["eager", "static"]


def evaluate(mode, function, *arrays):
    """(value, gradients of its sum), None where there is no gradient."""
    if mode == "eager":
        xs = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
        y = function(*xs)
        if y.stop_gradient:
            return y.numpy(), [None] * len(xs)
        found = paddle.grad(y, xs, allow_unused=True)
        return y.numpy(), [None if g is None else g.numpy() for g in found]
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        xs = [paddle.static.data(f"x{k}", a.shape, a.dtype) for k, a in enumerate(arrays)]
        for x in xs:
            x.stop_gradient = x.dtype != "float64"
        y = function(*xs)
        found = paddle.static.gradients(y, xs) if not y.stop_gradient else [None] * len(xs)
    wanted = [y, *(g for g in found if g is not None)]
    feed = {f"x{k}": a for k, a in enumerate(arrays)}
    value, *rest = paddle.static.Executor().run(program, feed, wanted)
    return value, [None if g is None else rest.pop(0) for g in found]


def slope(function, *values, k=0, order=1):
    """A derivative in operand `k`, at one point."""
    xs = [paddle.to_tensor(v, dtype="float64", stop_gradient=False) for v in values]
    y = function(*xs)
    for _ in range(order):
        (y,) = paddle.grad(y, xs[k], create_graph=True)
    return y.item()


# --- far out and close to 0, without a warning (warnings are errors here)

BOUNDED = {
    # name: (values, expected)
    "log1p": ([1e-30, -1e-30, 1e4, 0.0, INF], [1e-30, -1e-30, math.log1p(1e4), 0.0, INF]),
    "expm1": ([1e-30, -1e-30, -1e4, 0.0, -INF], [1e-30, -1e-30, -1.0, 0.0, -1.0]),
    "atan": ([1e-30, 1e4, -1e4, INF], [1e-30, math.atan(1e4), -math.atan(1e4), math.pi / 2]),
    "asinh": ([1e-30, 1e4, -1e30, INF], [1e-30, math.asinh(1e4), -math.asinh(1e30), INF]),
    "acosh": ([1.5, 1e4, 1e30, INF], [math.acosh(v) for v in (1.5, 1e4, 1e30, INF)]),
    "atanh": ([1e-30, -1e-30, 0.0], [1e-30, -1e-30, 0.0]),
    "tan": ([1e-30, 1e4], [1e-30, math.tan(1e4)]),
    "sinc": ([1e-30, 1e4, 0.0], [1.0, 0.0, 1.0]),
    "erfinv": (
        [1e-30, -1e-30, 1.0, -1.0],
        [1e-30 * math.sqrt(math.pi) / 2] * 1 + [-1e-30 * math.sqrt(math.pi) / 2, INF, -INF],
    ),
    "lgamma": ([1e-30, 1e4, INF], [-math.log(1e-30), math.lgamma(1e4), INF]),
    "digamma": ([1e-30, INF], [-1e30, INF]),
    "i0": ([1e-30, 0.0, INF, -INF], [1.0, 1.0, INF, INF]),
    "i1": ([1e-30, 0.0, INF, -INF], [5e-31, 0.0, INF, -INF]),
    "i0e": ([0.0, 1e4, INF], [1.0, 3.98947267460e-3, 0.0]),
    "i1e": ([0.0, -1e4, INF], [0.0, -3.98927319598e-3, 0.0]),
    "logit": ([1e-30, 0.5], [math.log(1e-30), 0.0]),
    "frac": ([1e30, -1e-30, 0.0], [0.0, -1e-30, 0.0]),
    "nan_to_num": ([NAN, 1e4], [0.0, 1e4]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", BOUNDED)
def test_far_out_and_close_to_0(name, mode):
    values, expected = BOUNDED[name]
    at = np.asarray([*values, NAN])
    found, (gradient,) = evaluate(mode, getattr(paddle, name), at[:-1])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)
    assert found.dtype == np.float64
    inside = np.isfinite(at[:-1]) & np.isfinite(found)
    assert not np.isnan(gradient[inside]).any()
    value, _ = evaluate(mode, getattr(paddle, name), at[-1:])
    assert np.isnan(value).all() == (name != "nan_to_num")


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", ["atan", "asinh", "erf", "erfinv", "tanh", "sinc", "i0e", "i1e"])
def test_far_out_in_lower_precision(name, dtype):
    at = np.asarray([0.0, 1e-4, 0.5, -0.5, 1e4, -1e4], dtype)
    at = at[:4] if name == "erfinv" else at
    low, (g,) = evaluate("eager", getattr(paddle, name), at)
    high, (exact,) = evaluate("eager", getattr(paddle, name), at.astype(np.float64))
    tolerance = 2e-3 if dtype == "float16" else 1e-6
    assert (low.dtype, g.dtype) == (at.dtype, at.dtype)
    np.testing.assert_allclose(low, high, rtol=tolerance, atol=1e-7)
    # A rule reads the result, which is rounded to 16 bits, beside what it computes itself.
    atol = 2e-6 if dtype == "float16" else 3e-7
    np.testing.assert_allclose(g, exact, rtol=2 * tolerance, atol=atol)


@pytest.mark.parametrize("mode", MODES)
def test_logaddexp_far_out(mode):
    x = np.asarray([1e4, -1e4, 1e4, INF, -INF, 1e-30])
    y = np.asarray([1e4, -1e4, -1e4, 0.0, 0.0, 1e-30])
    value, (gx, gy) = evaluate(mode, paddle.logaddexp, x, y)
    two = math.log(2.0)
    np.testing.assert_allclose(value, [1e4 + two, -1e4 + two, 1e4, INF, 0.0, two], rtol=1e-15)
    np.testing.assert_allclose(gx, [0.5, 0.5, 1.0, 1.0, 0.0, 0.5])
    np.testing.assert_allclose(gy, [0.5, 0.5, 0.0, 0.0, 1.0, 0.5])


@pytest.mark.parametrize("mode", MODES)
def test_angles_of_complex_numbers_have_the_bits_of_any_layout(mode):
    """Real and imaginary parts have gaps between them, which NumPy has another loop for."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(20, 3)) + 1j * rng.normal(size=(20, 3))
    expected, _ = evaluate(mode, paddle.angle, z)
    backwards, _ = evaluate(mode, lambda x: paddle.angle(x[::-1, ::-1]), z)
    np.testing.assert_array_equal(backwards[::-1, ::-1], expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [1e-300, 1e-30, 1.0, 1e4, 1e300])
def test_lengths_and_angles_of_any_size(size, mode):
    """Neither squares overflow, nor do those of small numbers vanish."""
    x, y = np.asarray([3.0 * size]), np.asarray([-4.0 * size])
    value, (gx, gy) = evaluate(mode, paddle.hypot, x, y)
    np.testing.assert_allclose(value, 5.0 * size, rtol=1e-15)
    np.testing.assert_allclose([gx.item(), gy.item()], [0.6, -0.8], rtol=1e-15)
    value, (gx, gy) = evaluate(mode, paddle.atan2, x, y)
    np.testing.assert_allclose(value, math.atan2(3.0, -4.0), rtol=1e-15)
    np.testing.assert_allclose([gx.item() * size, gy.item() * size], [-0.16, -0.12], rtol=1e-14)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["hypot", "atan2"])
def test_at_the_origin_gradients_are_0(name, mode):
    zeros = np.zeros((2, 1))
    value, (gx, gy) = evaluate(mode, getattr(paddle, name), zeros, zeros.reshape(1, 2))
    assert value.tolist() == [[0.0, 0.0]] * 2
    assert (gx.tolist(), gy.tolist()) == ([[0.0]] * 2, [[0.0, 0.0]])


def test_a_second_derivative_at_the_origin_is_finite():
    for name in ("hypot", "atan2"):
        for k in (0, 1):
            assert math.isfinite(slope(getattr(paddle, name), 0.0, 0.0, k=k, order=2))


def test_gradients_that_saturate_do_not_overflow():
    """1 + x^2 overflows in float16 from 256 on, and in float64 from 1e154 on."""
    assert slope(paddle.atan, 1e200) == 0.0
    assert slope(paddle.atan, 1e100) == pytest.approx(1e-200, rel=1e-14)
    assert slope(paddle.asinh, 1e200) == pytest.approx(1e-200, rel=1e-14)
    assert slope(paddle.acosh, 1e200) == pytest.approx(1e-200, rel=1e-14)


# --- what is smooth is so at every order

SMOOTH_AT_0 = {
    # derivatives of order 1, 2, 3, 4 at 0, from the power series
    "sinc": [0.0, -(math.pi**2) / 3, 0.0, math.pi**4 / 5],
    "i0": [0.0, 0.5, 0.0, 0.375],
    "i1": [0.5, 0.0, 0.375, 0.0],
    "erfinv": [math.sqrt(math.pi) / 2, 0.0, math.pi**1.5 / 4, 0.0],
    "asinh": [1.0, 0.0, -1.0, 0.0],
    "atan": [1.0, 0.0, -2.0, 0.0],
    "log1p": [1.0, -1.0, 2.0, -6.0],
    "expm1": [1.0, 1.0, 1.0, 1.0],
}


@pytest.mark.parametrize("name", SMOOTH_AT_0)
def test_four_orders_at_0(name):
    for order, expected in enumerate(SMOOTH_AT_0[name], 1):
        found = slope(getattr(paddle, name), 0.0, order=order)
        assert found == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_the_gamma_family_at_four_orders():
    """At 1: -gamma, zeta(2), -2 zeta(3), 6 zeta(4)."""
    zeta = [math.pi**2 / 6, 1.2020569031595942, math.pi**4 / 90]
    expected = [-0.5772156649015329, zeta[0], -2 * zeta[1], 6 * zeta[2]]
    for order, value in enumerate(expected, 1):
        assert slope(paddle.lgamma, 1.0, order=order) == pytest.approx(value, rel=1e-14)


def test_gammainc_of_1_is_an_exponential_even_at_0():
    for order in (1, 2, 3):
        found = slope(lambda y: paddle.gammainc(1.0, y), 0.0, order=order)
        assert found == pytest.approx((-1.0) ** (order - 1), rel=1e-14)
        found = slope(lambda y: paddle.gammaincc(1.0, y), 2.0, order=order)
        assert found == pytest.approx((-1.0) ** order * math.exp(-2.0), rel=1e-13)


# --- accuracy, against identities and values with more digits than a float has


def test_gamma_functions_keep_their_digits():
    x = np.concatenate([np.linspace(0.05, 12.0, 241), 10.0 ** np.linspace(-20, 20, 81)])
    exact = [math.lgamma(v) for v in x]
    found = paddle.lgamma(paddle.to_tensor(x)).numpy()
    np.testing.assert_allclose(found, exact, rtol=2e-14, atol=2e-15)  # math's at its zeros
    # psi_n(x + 1) - psi_n(x) = (-1)^n n! / x^(n+1)
    x = np.linspace(0.1, 6.0, 60)
    for n in range(5):
        step = paddle.polygamma(paddle.to_tensor(x + 1.0), n) - paddle.polygamma(
            paddle.to_tensor(x), n
        )
        exact = (-1.0) ** n * math.factorial(n) / x ** (n + 1)
        np.testing.assert_allclose(step.numpy(), exact, rtol=1e-12)


@pytest.mark.parametrize(
    ("x", "n", "expected"),
    [
        (0.5, 0, -1.9635100260214235),
        (1.4616321449683622, 0, -9.241265526728996e-17),
        (10.0, 0, 2.251752589066721),
        (-2.5, 0, 1.1031566406452432),
        (0.5, 1, 4.934802200544679),
        (-0.5, 1, 8.934802200544680),
        (1.0, 2, -2.404113806319188),
        (100.0, 3, 2.0301999900013330e-06),
    ],
)
def test_polygamma_values(x, n, expected):
    found = paddle.polygamma(paddle.to_tensor([x], dtype="float64"), n).item()
    assert found == pytest.approx(expected, rel=2e-14)


def test_erfinv_inverts():
    x = np.concatenate([np.linspace(-0.99, 0.99, 199), 1.0 - 10.0 ** -np.arange(2.0, 16.0)])
    y = paddle.erfinv(paddle.to_tensor(x)).numpy()
    # Near 1 through erfc, which keeps the digits that erf has lost.
    back = np.asarray([1.0 - math.erfc(v) if v < 0.5 else math.erfc(v) for v in y])
    exact = np.where(y < 0.5, x, 1.0 - x)
    np.testing.assert_allclose(back, exact, rtol=5e-15, atol=5e-16)
    tiny = paddle.erfinv(paddle.to_tensor([1e-200], dtype="float64")).item()
    assert tiny == pytest.approx(1e-200 * math.sqrt(math.pi) / 2, rel=1e-15)


def test_gammainc_on_both_sides_of_its_median():
    """For whole a, Q(a, y) is a sum of Poisson probabilities."""
    for a in (1, 3, 40, 150, 400):
        for y in (0.3 * a, 0.9 * a, 1.0 * a, 1.1 * a, 2.0 * a):
            terms = [math.exp(k * math.log(y) - y - math.lgamma(k + 1)) for k in range(a)]
            upper = paddle.gammaincc(float(a), paddle.to_tensor(y, dtype="float64")).item()
            lower = paddle.gammainc(float(a), paddle.to_tensor(y, dtype="float64")).item()
            assert upper == pytest.approx(math.fsum(terms), rel=1e-11)
            assert lower + upper == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1.0, INF, 1.0), (INF, 1.0, 0.0), (-1.0, 1.0, NAN),
     (1.0, -1.0, NAN), (0.0, 0.0, NAN), (1e12, 1e12, 0.5000001329807601)],
)  # fmt: skip
def test_gammainc_at_the_edges(x, y, expected):
    found = paddle.gammainc(x, paddle.to_tensor(y, dtype="float64")).item()
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_special_functions_round_once(dtype):
    """Lower precisions are the float64 value, rounded."""
    x = np.linspace(0.05, 0.95, 19).astype(dtype)
    for name in ("lgamma", "digamma", "erfinv", "i0", "i0e", "i1", "i1e", "sinc"):
        low = getattr(paddle, name)(paddle.to_tensor(x)).numpy()
        high = getattr(paddle, name)(paddle.to_tensor(x.astype(np.float64))).numpy()
        np.testing.assert_array_equal(low, high.astype(dtype))


def test_a_result_does_not_depend_on_its_neighbours():
    x = np.asarray([0.3, 1.46, 1.0, 25.0, 3.0, 0.7, 140.0, 8.0])
    for function in (
        paddle.lgamma,
        paddle.digamma,
        lambda v: paddle.polygamma(v, 2),
        paddle.i0e,
        paddle.sinc,
        lambda v: paddle.gammainc(v, v + 1.5),
        lambda v: paddle.gammaincc(v, v + 0.5),
    ):
        whole = function(paddle.to_tensor(x)).numpy()
        alone = [function(paddle.to_tensor(v, dtype="float64")).item() for v in x]
        assert whole.tolist() == alone


# --- integers


@pytest.mark.parametrize("mode", MODES)
def test_integers_are_not_divided_by_0(mode):
    x, zero = np.asarray([6, 5]), np.asarray([3, 0])
    for name in ("remainder", "floor_divide", "mod", "floor_mod"):
        with pytest.raises(
            (ValueError, ExecutionError), match=r"cannot be divided by 0.*astype\('float32'\)"
        ):
            evaluate(mode, getattr(paddle, name), x, zero)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize(
    "name", ["remainder", "floor_divide", "floor", "ceil", "trunc", "round", "abs", "square", "gcd"]
)
def test_integers_stay_integers(name, dtype):
    x, y = paddle.to_tensor([7, 8], dtype=dtype), paddle.to_tensor([3, 3], dtype=dtype)
    binary = name in ("remainder", "floor_divide", "gcd")
    result = getattr(paddle, name)(x, y) if binary else getattr(paddle, name)(x)
    assert result.dtype == dtype
    assert result.stop_gradient


@pytest.mark.parametrize("name", ["exp", "sin", "lgamma", "reciprocal", "deg2rad", "sinc", "i0"])
def test_integers_become_the_default_float(name):
    result = getattr(paddle, name)(paddle.to_tensor([1, 2]))
    assert result.dtype == paddle.get_default_dtype()


@pytest.mark.parametrize("mode", MODES)
def test_integers_have_no_negative_powers(mode):
    with pytest.raises(
        (ValueError, ExecutionError), match=r"negative powers: use x\.astype\('float32'\)"
    ):
        evaluate(mode, lambda x: x**-1, np.asarray([2, 3]))
    with pytest.raises(
        (ValueError, ExecutionError), match=r"negative powers: use x\.astype\('float32'\)"
    ):
        evaluate(mode, paddle.pow, np.asarray([2, 3]), np.asarray([1, -2]))
    value, _ = evaluate(mode, lambda x: x**-1.0, np.asarray([2, 4]))
    assert value.tolist() == [0.5, 0.25]


def test_remainders_have_the_sign_of_the_divisor():
    for x in (7, -7, 7.5, -7.5):
        for y in (3, -3):
            found = paddle.to_tensor(x) % y, paddle.to_tensor(x) // y
            assert tuple(v.item() for v in found) == (x % y, x // y)
            assert (x % paddle.to_tensor(float(y))).item() == x % y
            assert (x // paddle.to_tensor(float(y))).item() == x // y


# --- writing


def test_increment_writes():
    x = paddle.to_tensor([1.0, 2.0])
    assert paddle.increment(x, 3.0) is x
    assert x.tolist() == [4.0, 5.0]
    n = paddle.to_tensor([1])
    assert paddle.increment(n).tolist() == [2]
    assert n.dtype == paddle.int64
    with pytest.raises(TypeError, match="cannot take a result of dtype float32"):
        paddle.increment(n, 0.5)
    leaf = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(RuntimeError, match=r"use x \+ value"):
        paddle.increment(leaf)
    with pytest.raises(TypeError, match="must be a Tensor or a Variable, got list"):
        paddle.increment([1.0])


def test_increment_in_a_program():
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [1], "float64")
        x.stop_gradient = False
        y = x * 2.0
        before = y * 1.0
        assert paddle.increment(y, 5.0) is y
        after = y * y
        (g,) = paddle.static.gradients(after, x)
    feed = {"x": np.asarray([3.0])}
    values = paddle.static.Executor().run(program, feed, [before, y, after, g])
    assert [v.item() for v in values] == [6.0, 11.0, 121.0, 44.0]


# --- arguments that are wrong

REFUSED = [
    (lambda x: paddle.gcd(x, x), TypeError, r"gcd: x must hold integers.*astype\('int64'\)"),
    (lambda x: paddle.round(x, 1.5), ValueError, "round: decimals must be an int, got 1.5"),
    (lambda x: paddle.polygamma(x, -1), ValueError, "polygamma: n must be 0 to 1000, got -1"),
    (lambda x: paddle.polygamma(x, 1.0), TypeError, "polygamma: n must be an int, got 1.0"),
    (lambda x: paddle.multigammaln(x, 0), ValueError, "p must be an int of 1 to 100000, got 0"),
    (lambda x: paddle.logit(x, 0.7), ValueError, "logit: eps must be from 0 to 0.5, got 0.7"),
    (lambda x: paddle.divide(x, x, rounding_mode="up"), ValueError, "must be None, 'trunc' or"),
    (lambda x: paddle.multiplex(x, x), ValueError, "inputs must be a list"),
    (lambda x: paddle.multiplex([x, x], x), TypeError, "index must hold integers"),
    (
        lambda x: paddle.multiplex([x, x], paddle.full([3], 0, "int64")),
        ValueError,
        r"one row for each row of \[2, 2\].*got \[3\]",
    ),
    (lambda x: paddle.fmax(x, [1.0]), TypeError, "fmax: argument 'y' must be a Tensor"),
    (lambda x: paddle.atan2(x, "1"), TypeError, "must be a"),
    (lambda x: paddle.hypot(x, np.zeros(3)), ValueError, "hypot: .*do not broadcast"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("call", "kind", "hint"), REFUSED)
def test_refused(call, kind, hint, mode):
    with pytest.raises(kind, match=hint):
        evaluate(mode, call, np.ones((2, 2)))


@pytest.mark.parametrize("mode", MODES)
def test_multiplex_has_no_such_input(mode):
    with pytest.raises((IndexError, ExecutionError), match="index 2 is out of range"):
        evaluate(mode, lambda x: paddle.multiplex([x, x], paddle.full([2], 2, "int64")), np.eye(2))


def test_bools_have_no_remainder():
    flags = paddle.to_tensor([True, False])
    with pytest.raises(TypeError, match=r"takes numbers, got bools; use .*astype\('int64'\)"):
        paddle.remainder(flags, flags)


# --- special values


def test_round_half_to_even_and_what_is_too_large_to_round():
    x = paddle.to_tensor([0.5, 1.5, 2.5, -0.5, INF, NAN], dtype="float64")
    np.testing.assert_array_equal(paddle.round(x).numpy(), [0.0, 2.0, 2.0, -0.0, INF, NAN])
    huge = paddle.to_tensor([1e308, 6e4], dtype="float64")
    assert paddle.round(huge, 3).tolist() == [1e308, 6e4]
    half = paddle.to_tensor([6e4, 1.26], dtype="float16")
    np.testing.assert_allclose(paddle.round(half, 1).numpy(), [6e4, 1.3], rtol=1e-3)


def test_nan_to_num_by_dtype():
    for dtype in ("float16", "float32", "float64"):
        x = paddle.to_tensor([NAN, INF, -INF, 1.0], dtype=dtype)
        limits = np.finfo(dtype)
        expected = [0.0, float(limits.max), float(limits.min), 1.0]
        assert paddle.nan_to_num(x).tolist() == expected
    swapped = paddle.nan_to_num(paddle.to_tensor([NAN, INF]), nan=INF, posinf=2.0)
    assert swapped.tolist() == [INF, 2.0]
    assert paddle.nan_to_num(paddle.to_tensor([3])).tolist() == [3]


def test_fmax_and_fmin_prefer_numbers():
    x = paddle.to_tensor([1.0, NAN, NAN, 2.0])
    y = paddle.to_tensor([NAN, 1.0, NAN, 3.0])
    np.testing.assert_array_equal(paddle.fmax(x, y).numpy(), [1.0, 1.0, NAN, 3.0])
    np.testing.assert_array_equal(paddle.fmin(x, y).numpy(), [1.0, 1.0, NAN, 2.0])
    np.testing.assert_array_equal(paddle.maximum(x, y).numpy(), [NAN, NAN, NAN, 3.0])


def test_frexp_takes_numbers_apart():
    x = np.asarray([0.0, 1.0, -3.5, 1e-320, 1e300])
    mantissa, exponent = paddle.frexp(paddle.to_tensor(x))
    assert exponent.stop_gradient
    np.testing.assert_array_equal(np.ldexp(mantissa.numpy(), exponent.numpy().astype(int)), x)
    assert all(0.5 <= abs(m) < 1.0 for m in mantissa.numpy()[1:])
    low = paddle.frexp(paddle.to_tensor([8.0], dtype="float16"))
    assert [v.dtype for v in low] == [paddle.float16] * 2


def test_ldexp_keeps_the_dtype():
    exponents = paddle.to_tensor([3, -2])
    for dtype in ("float16", "float32", "float64"):
        assert paddle.ldexp(paddle.to_tensor([1.5, 4.0], dtype=dtype), exponents).dtype == dtype
    assert paddle.ldexp(paddle.to_tensor([1, 2]), exponents).tolist() == [8.0, 0.5]


def test_scalars_do_not_widen():
    x = paddle.to_tensor([0.5, 0.25], dtype="float16")
    for y in (
        paddle.deg2rad(x),
        paddle.stanh(x),
        paddle.lerp(x, x, 0.3),
        paddle.logit(x, 1e-3),
        paddle.copysign(x, -1.0),
        paddle.heaviside(x, x),
        paddle.fmax(x, 0.3),
        paddle.multigammaln(x + 1.0, 2),
        paddle.add(x, x, alpha=0.5),
        x % 0.3,
        paddle.reciprocal(x),
    ):
        assert y.dtype == paddle.float16


def test_abs_of_complex_numbers_is_real():
    x = paddle.to_tensor(np.asarray([3.0 + 4.0j], np.complex64))
    assert paddle.abs(x).dtype == paddle.float32
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        y = paddle.abs(paddle.static.data("x", [1], "complex64"))
    assert y.dtype == paddle.float32
    (value,) = paddle.static.Executor().run(program, {"x": x.numpy()}, [y])
    assert value.item() == 5.0
