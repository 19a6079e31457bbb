"""Far-out values, ties, NaN, empty arrays and bad arguments of reductions, scans and norms."""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError, ModeError, ShapeError

INF, NAN = math.inf, math.nan


def leaf(values, dtype="float64"):
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)


def value_and_gradient(function, values, dtype="float64"):
    x = leaf(values, dtype)
    y = function(x)
    (g,) = paddle.grad(y.sum(), x)
    return y.numpy(), g.numpy()


def gradients(function, x, orders):
    """Of the sum of the function, then of the sum of that, ..."""
    y, found = function(x).sum(), []
    for _ in range(orders):
        (g,) = paddle.grad(y, x, create_graph=True)
        found.append(g.numpy())
        y = g.sum() if not g.stop_gradient else None
        if y is None:
            break
    return found


# --- products


def brute_product_derivative(x, at):
    """The derivative of the product by the elements at `at`: the product of the others, or 0."""
    if len(set(at)) < len(at):
        return 0.0
    return float(np.prod(np.delete(x, at)))


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_derivatives_of_a_product_with_zeros(zeros):
    x = np.asarray([1.5, -2.0, 0.5, 3.0])
    x[:zeros] = 0.0
    for function in (paddle.prod, lambda v: paddle.cumprod(v, dim=0)[-1]):
        leaf_x = leaf(x)
        (g,) = paddle.grad(function(leaf_x), leaf_x, create_graph=True)
        expected = [brute_product_derivative(x, [i]) for i in range(4)]
        np.testing.assert_allclose(g.numpy(), expected, rtol=1e-14)
        for i in range(4):
            (row,) = paddle.grad(g[i], leaf_x, create_graph=True)
            expected = [brute_product_derivative(x, [i, j]) for j in range(4)]
            np.testing.assert_allclose(row.numpy(), expected, rtol=1e-14)
            for j in range(4):
                (deep,) = paddle.grad(row[j], leaf_x, retain_graph=True)
                expected = [brute_product_derivative(x, [i, j, k]) for k in range(4)]
                if i == j:
                    expected = [0.0] * 4
                np.testing.assert_allclose(deep.numpy(), expected, rtol=1e-14)


def test_the_gradient_of_a_long_product_meets_no_overflow_of_its_own():
    """Products of neighbours leave the range of float32 here; what is asked for does not."""
    x = np.asarray([0.0, 1e30, 1e30, 1e-30, 1e-30], np.float32)
    _, g = value_and_gradient(lambda v: paddle.cumprod(v, 0)[:1], x, "float32")
    assert g.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


# --- sums of exponentials


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logsumexp_far_out(dtype):
    x = [[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [-INF, 0.0, 0.0], [-INF, -INF, -INF]]
    y, g = value_and_gradient(lambda v: paddle.logsumexp(v, axis=1), x, dtype)
    tolerance = {"float16": 1e-2, "float32": 1e-3, "float64": 1e-11}[dtype]
    expected = [1e4, -1e4 + math.log(3.0), math.log(2.0), -INF]
    np.testing.assert_allclose(y, np.asarray(expected, dtype), rtol=tolerance)
    np.testing.assert_allclose(g[0], [1.0, 0.0, 0.0])
    if dtype == "float64":
        np.testing.assert_allclose(g[1], 1.0 / 3.0, rtol=1e-11)
    np.testing.assert_allclose(g[2], [0.0, 0.5, 0.5], rtol=tolerance)
    assert g[3].tolist() == [0.0, 0.0, 0.0]


def test_logsumexp_at_infinity():
    y, g = value_and_gradient(paddle.logsumexp, [INF, 1.0, -INF])
    assert (y.item(), g.tolist()) == (INF, [1.0, 0.0, 0.0])
    y, g = value_and_gradient(paddle.logsumexp, [NAN, 1.0])
    assert np.isnan(y)
    for order in gradients(paddle.logsumexp, leaf([-INF, -INF, 0.0]), 3):
        assert np.isfinite(order).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logcumsumexp_far_out(dtype):
    y, g = value_and_gradient(lambda v: paddle.logcumsumexp(v, 0), [-1e4, 1e4, 1e4, -1e4], dtype)
    np.testing.assert_allclose(y, [-1e4, 1e4, 1e4 + math.log(2), 1e4 + math.log(2)], rtol=1e-6)
    # The second is all of y[1], then half of y[2] and of y[3].
    np.testing.assert_allclose(g, [1.0, 2.0, 1.0, 0.0], rtol=2e-3)
    y, g = value_and_gradient(lambda v: paddle.logcumsumexp(v, 0), [-INF, 1.0, -INF, 2.0], dtype)
    assert y[:3].tolist() == [-INF, 1.0, 1.0]
    share = 1.0 / (1.0 + math.e)
    np.testing.assert_allclose(g, [0.0, 2.0 + share, 0.0, 1.0 - share], rtol=1e-6)
    for order in gradients(lambda v: paddle.logcumsumexp(v, 0), leaf([-INF, -INF, 1.0]), 3):
        assert np.isfinite(order).all()


# --- extrema


def test_the_latest_of_equal_extrema():
    for name, sign in (("cummax", 1.0), ("cummin", -1.0)):
        x = leaf(sign * np.asarray([1.0, 3.0, 3.0, 2.0, 3.0]))
        values, index = getattr(paddle, name)(x)
        assert index.tolist() == [0, 1, 2, 2, 4]
        (g,) = paddle.grad(values.sum(), x)
        assert g.tolist() == [1.0, 1.0, 2.0, 0.0, 1.0]
        values, index = getattr(paddle, name)(leaf([1.0, NAN, 3.0, NAN]))
        assert index.tolist() == [0, 1, 1, 3]
        np.testing.assert_array_equal(values.numpy(), [1.0, NAN, NAN, NAN])


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_topk_of_few_is_topk_of_all(dtype):
    """A partition and a whole sort must choose the same elements in the same order."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2 if dtype == "bool" else 9, (5, 64)).astype(dtype)
    for largest in (True, False):
        _, whole = paddle.topk(paddle.to_tensor(x), 64, largest=largest)
        for k in (1, 3, 8):
            values, index = paddle.topk(paddle.to_tensor(x), k, largest=largest)
            np.testing.assert_array_equal(index.numpy(), whole.numpy()[:, :k])
            np.testing.assert_array_equal(
                values.numpy(), np.take_along_axis(x, index.numpy(), axis=1)
            )


@pytest.mark.parametrize("largest", [True, False])
def test_topk_of_few_with_nan(largest):
    x = np.arange(32.0)
    x[[5, 9]] = NAN
    _, index = paddle.topk(paddle.to_tensor(x), 3, largest=largest)
    assert index.tolist() == ([5, 9, 31] if largest else [0, 1, 2])
    _, index = paddle.topk(paddle.to_tensor(np.where(x < 2, x, NAN)), 3, largest=False)
    assert index.tolist() == [0, 1, 2]


@pytest.mark.parametrize("shape", [(3, 40), (120,)])
def test_the_gradient_of_an_extremum_where_all_elements_tie(shape):
    _, g = value_and_gradient(lambda v: paddle.max(v, axis=-1), np.ones(shape), "float32")
    np.testing.assert_array_equal(g, np.full(shape, 1.0 / shape[-1], np.float32))


# --- medians and quantiles


@pytest.mark.parametrize("name", ["median", "quantile"])
def test_nan_goes_through(name):
    function = {"median": paddle.median, "quantile": lambda v, **k: paddle.quantile(v, 0.3, **k)}
    y = function[name](leaf([[1.0, NAN, 2.0, 4.0], [1.0, 3.0, 2.0, 4.0]]), axis=1).numpy()
    assert np.isnan(y).tolist() == [True, False]


def test_what_is_not_nan():
    x = [[NAN, NAN, NAN, NAN], [4.0, NAN, 2.0, 3.0]]
    for function, expected in (
        (lambda v: paddle.nanmedian(v, axis=1), 3.0),
        (lambda v: paddle.nanquantile(v, 0.25, axis=1), 2.5),
        (lambda v: paddle.nanmean(v, axis=1), 3.0),
    ):
        y = function(leaf(x)).numpy()
        np.testing.assert_allclose(y, [NAN, expected])
    assert paddle.nansum(leaf(x), axis=1).tolist() == [0.0, 9.0]


def test_the_position_of_a_median():
    values, index = paddle.median(leaf([[3.0, NAN, 1.0], [3.0, 2.0, 1.0]]), axis=1, mode="min")
    assert index.tolist() == [1, 1]
    assert values.shape == [2]
    values, index = paddle.nanmedian(leaf([[3.0, NAN, 1.0], [3.0, 2.0, 1.0]]), [0, 1], mode="min")
    assert (values.item(), index.item()) == (2.0, 4)


def test_shapes_of_quantiles():
    x = leaf(np.zeros((2, 3, 4)))
    assert paddle.quantile(x, [0.3, 0.5], axis=[0, 2], keepdim=True).shape == [2, 1, 3, 1]
    assert paddle.quantile(x, [0.3, 0.5], axis=1).shape == [2, 2, 4]
    assert paddle.quantile(x, [0.3]).shape == []
    assert paddle.median(x, keepdim=True).shape == [1, 1, 1]


# --- spread and norms


def test_variance_does_not_cancel():
    """A one-pass formula has no digits left here."""
    x = np.asarray([1e4 + 1.0, 1e4 + 2.0, 1e4 + 3.0], np.float32)
    assert paddle.var(paddle.to_tensor(x)).item() == 1.0
    y = paddle.var(paddle.to_tensor(np.asarray([1000.0, 1001.0, 1002.0], np.float16)))
    assert (y.item(), y.dtype.name) == (1.0, "float16")


def test_variance_of_one_element():
    y, g = value_and_gradient(paddle.var, [2.0])
    assert np.isnan(y).all()
    assert np.isnan(g).all()
    assert np.isnan(paddle.std(leaf([2.0])).numpy())
    assert paddle.var(leaf([2.0]), unbiased=False).item() == 0.0
    assert np.isnan(paddle.var(leaf([])).numpy())


def test_every_derivative_of_a_norm_at_0_is_finite():
    for p in (0.5, 1.0, 1.5, 2.0, 3.0, INF, -INF, -1.0):
        for function in (
            lambda v, p=p: paddle.norm(v, p, axis=0),
            lambda v, p=p: paddle.dist(v, paddle.zeros([2], "float64"), p),
        ):
            found = gradients(function, leaf([0.0, 0.0]), 3)
            assert found[0].tolist() == [0.0, 0.0]
            assert all(np.isfinite(g).all() for g in found)
    found = gradients(paddle.std, leaf([1.0, 1.0, 1.0]), 3)
    assert all((g == 0.0).all() for g in found)
    same = paddle.ones([2, 3], "float64")
    found = gradients(lambda v: paddle.cdist(v, same), leaf(np.ones((2, 3))), 3)
    assert all((g == 0.0).all() for g in found)


def test_norms_stay_in_range():
    """Squares of these leave the range of the dtype."""
    for scale in (1e-30, 1e30):
        y, g = value_and_gradient(paddle.norm, [3.0 * scale, 4.0 * scale], "float32")
        np.testing.assert_allclose(y, np.float32(5.0 * scale), rtol=1e-6)
        np.testing.assert_allclose(g, [0.6, 0.8], rtol=1e-6)
        y, g = value_and_gradient(lambda v: paddle.norm(v, 3.0), [scale, scale], "float32")
        np.testing.assert_allclose(y, 2.0 ** (1 / 3) * np.float32(scale), rtol=1e-5)
    y, g = value_and_gradient(paddle.norm, [300.0, 400.0], "float16")
    assert y.item() == 500.0
    np.testing.assert_allclose(g, [0.6, 0.8], rtol=1e-3)
    assert paddle.norm(leaf([INF, 1.0])).item() == INF


def test_distances_of_close_rows_keep_their_digits():
    x = np.asarray([[1e4, 1.0]], np.float32)
    y = np.asarray([[1e4, 1.001]], np.float32)
    expected = float(y[0, 1]) - float(x[0, 1])
    found = paddle.cdist(paddle.to_tensor(x), paddle.to_tensor(y)).item()
    assert found == pytest.approx(expected, rel=1e-6)


def test_correlation_of_a_constant_is_nan():
    y = paddle.linalg.corrcoef(leaf([[1.0, 1.0], [1.0, 2.0]])).numpy()
    assert np.isnan(y).tolist() == [[True, True], [True, False]]
    assert paddle.linalg.cov(leaf([1.0, 0.0, 4.0])).shape == []


# --- nothing, dtypes


def test_reductions_of_nothing():
    x = leaf(np.zeros((2, 0)))
    assert paddle.sum(x, axis=1).tolist() == [0.0, 0.0]
    assert paddle.prod(x, axis=1).tolist() == [1.0, 1.0]
    assert paddle.logsumexp(x, axis=1).tolist() == [-INF, -INF]
    assert np.isnan(paddle.mean(x, axis=1).numpy()).all()
    assert paddle.norm(x, axis=1).tolist() == [0.0, 0.0]
    assert paddle.cumsum(x, axis=1).shape == [2, 0]
    for name in ("max", "amin", "median", "mode", "kthvalue"):
        arguments = (1,) if name == "kthvalue" else ()
        with pytest.raises(ArgumentError, match="empty"):
            getattr(paddle, name)(x, *arguments, axis=1)


DTYPES = {
    "sum": ("int64", "int64"),
    "prod": ("int32", "int64"),
    "cumsum": ("int64", "int64"),
    "cumprod": ("int32", "int64"),
    "logsumexp": ("float32", "float32"),
    "logcumsumexp": ("float32", "float32"),
    "var": ("float32", "float32"),
    "median": ("float32", "float32"),
    "norm": ("float32", "float32"),
    "count_nonzero": ("int64", "int64"),
    "max": ("int32", "bool"),
}


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_of_integers_and_flags(name):
    x = np.asarray([[1, 2, 4]])
    for dtype, expected in zip(("int32", "bool"), DTYPES[name], strict=True):
        assert getattr(paddle, name)(paddle.to_tensor(x.astype(dtype))).dtype.name == expected


def test_float16_accumulates_in_float32():
    ones = leaf(np.ones(5000), "float16")
    assert paddle.cumsum(ones, 0)[-1].item() == 5000.0
    assert paddle.norm(ones, 1).item() == 5000.0
    assert paddle.nanmean(paddle.full([5000], 60000.0, "float16")).item() == 60000.0
    small = paddle.to_tensor(np.asarray([1e-4, 1e-4, 1e4, 1e4], np.float16))
    assert paddle.prod(small).item() == pytest.approx(1.0, rel=1e-2)
    assert paddle.logsumexp(ones).item() == pytest.approx(1.0 + math.log(5000.0), rel=1e-3)


# --- methods, and what is refused


def test_methods():
    x = leaf([[1.0, 2.0], [3.0, 5.0]])
    names = "prod logsumexp nansum nanmean std var median nanmedian count_nonzero norm cumsum amax"
    for name in names.split():
        np.testing.assert_array_equal(getattr(x, name)().numpy(), getattr(paddle, name)(x).numpy())
    assert x.kthvalue(1)[0].tolist() == [1.0, 3.0]
    assert x.quantile(0.5).item() == 2.5
    np.testing.assert_allclose(x.cov().numpy(), np.cov(x.numpy()))
    assert not hasattr(paddle.Tensor, "pdist")


X, M = np.zeros(3), np.zeros((2, 3))
BAD = [
    (lambda x, m: paddle.cumsum(m, axis=2), ShapeError, "cumsum: axis 2 is out of range"),
    (lambda x, m: paddle.cumsum(m, axis=1.0), TypeError, "cumsum: axis must be an int"),
    (lambda x, m: paddle.cumprod(m, dim=[0]), TypeError, "cumprod: dim must be an int"),
    (lambda x, m: paddle.cummax(m, dtype="float32"), DTypeError, "must be int32 or int64"),
    (lambda x, m: paddle.diff(m, n=-1), ArgumentError, "diff: n must be an int from 0"),
    (lambda x, m: paddle.trapezoid(m, x, dx=1.0), ArgumentError, "x or their distance dx, not"),
    (lambda x, m: paddle.trapezoid(x, m), ShapeError, "must have the shape of y"),
    (lambda x, m: paddle.median(m, axis=[0, 1]), TypeError, "median: axis must be an int or None"),
    (lambda x, m: paddle.median(m, mode="max"), ArgumentError, "mode must be 'avg' or 'min'"),
    (lambda x, m: paddle.quantile(m, 1.5), ArgumentError, r"q must be in \[0, 1\], got 1.5"),
    (lambda x, m: paddle.quantile(m, []), ArgumentError, "q must be a number or a list"),
    (lambda x, m: paddle.quantile(m, 0.5, interpolation="x"), ArgumentError, "one of linear, lo"),
    (lambda x, m: paddle.kthvalue(m, 4), ArgumentError, "k must be 1 to 3 for axis 1, got 4"),
    (lambda x, m: paddle.var(m, unbiased=True, correction=2), ArgumentError, "not both"),
    (lambda x, m: paddle.norm(m, "x"), ArgumentError, "takes a matrix"),
    (lambda x, m: paddle.norm(m, 3, axis=[0, 1]), ArgumentError, "vector_norm takes any p"),
    (lambda x, m: paddle.norm(m, dtype="int32"), DTypeError, "dtype must be a floating one"),
    (lambda x, m: paddle.linalg.matrix_norm(x), ShapeError, "use vector_norm"),
    (lambda x, m: paddle.linalg.matrix_norm(m, axis=1), ArgumentError, "must name two axes"),
    (lambda x, m: paddle.cdist(m, m[:, :2]), ShapeError, "the rows of x have 3 elements"),
    (lambda x, m: paddle.cdist(m, m, -1), ArgumentError, "p must be 0 or more"),
    (lambda x, m: paddle.cdist(m, m, 2.0, "x"), ArgumentError, "compute_mode must be one of"),
    (lambda x, m: paddle.pdist(x), ShapeError, "pdist: takes a matrix"),
    (lambda x, m: paddle.renorm(x, 2.0, 0, 1.0), ShapeError, "two dimensions or more"),
    (lambda x, m: paddle.renorm(m, 0.0, 0, 1.0), ArgumentError, "p must be positive"),
    (lambda x, m: paddle.linalg.cov(m, fweights=m), ShapeError, "fweights of shape"),
    (lambda x, m: paddle.histogram(m, bins=0), ArgumentError, "bins must be a positive int"),
    (lambda x, m: paddle.histogram(m, weight=x), ShapeError, "must have the shape of input"),
    (lambda x, m: paddle.histogram(m, min=2, max=1), ArgumentError, "min must not be above max"),
    (lambda x, m: paddle.histogram(m + INF), ArgumentError, "must be finite"),
    (lambda x, m: paddle.bincount(m), ShapeError, "bincount: x must be a vector"),
    (lambda x, m: paddle.bincount(x), DTypeError, "x must hold integers, got float64"),
    (lambda x, m: paddle.bincount(paddle.cast(x - 1.0, "int64")), ArgumentError, "from 0 on"),
    (lambda x, m: paddle.bincount(paddle.cast(x, "int64"), m), ShapeError, "weights of shape"),
]


@pytest.mark.parametrize(("call", "error", "text"), BAD)
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call(leaf(X), leaf(M))


def test_what_a_program_must_know():
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [None, 3], "float32")
        q = paddle.static.data("q", [2], "float32")
        with pytest.raises(ModeError, match="q must be known"):
            paddle.quantile(x, q)
        with pytest.raises(ShapeError, match="number of rows"):
            paddle.pdist(x)
        counts = paddle.bincount(paddle.cast(x[:, 0], "int64"))
        assert repr(counts.shape) != "[3]"


def test_covariances_of_complex_values_are_those_of_numpy():
    rng = np.random.default_rng(3)
    z, often, much = rng.normal(size=(3, 5, 2)) @ [1, 1j], [1, 2, 1, 3, 1], [0.5, 1, 2, 0.3, 0.7]
    weights = {"fweights": often}, {"aweights": much}, {"fweights": often, "aweights": much}
    for dtype, tolerance in (("complex64", 2e-5), ("complex128", 1e-12)):
        x = paddle.to_tensor(z.astype(dtype))
        for given in ({}, *weights):
            own = {name: paddle.to_tensor(np.array(w)) for name, w in given.items()}
            for ddof in (True, False):
                found = paddle.linalg.cov(x, ddof=ddof, **own).numpy()
                assert found.dtype == dtype
                want = np.cov(z, ddof=int(ddof), **given)
                np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)
        found = paddle.linalg.corrcoef(x, rowvar=False).numpy()
        want = np.corrcoef(z, rowvar=False)
        np.testing.assert_allclose(found, want, rtol=10 * tolerance, atol=10 * tolerance)
