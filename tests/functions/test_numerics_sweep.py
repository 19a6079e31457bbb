"""Dtypes, layouts, arguments far out, and empty operands: every case of every public function.

The reference for float32 and float16 is the same function in float64. Warnings are errors here, so
each test also says that nothing warns.
"""

import math
import warnings

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import errors
from tests.over import over

from .cases import family
from .harness import call, cases, directions, flat, floating, named, operands_in, wanted
from .peers import torch

F = paddle.nn.functional
INF, NAN = math.inf, math.nan
TOLERANCE = {"float32": 3e-5, "float16": 4e-2}


def evaluated(case, operands, orders):
    """The outputs, then the gradients of each order up to `orders`: lists of arrays or None."""
    xs, outputs = call(case, operands, traced=case.differentiable)
    outputs = [y for y in outputs if isinstance(y, paddle.Tensor)]
    levels = [[y.numpy() for y in outputs]]
    sources = [xs[k] for k in wanted(case)] if case.differentiable else []
    goals = floating(outputs)
    for order in range(1, orders + 1):
        goals = [y for y in goals if y is not None and not y.stop_gradient]
        if not sources or not goals:
            break
        us = [paddle.to_tensor(u) for u in directions([y.numpy() for y in goals], order)]
        goals = paddle.grad(goals, sources, us, allow_unused=True, create_graph=order < orders)
        levels.append([None if g is None else g.numpy() for g in goals])
    return levels


def pairs(found, expected):
    """(order, array, expected) of all arrays of two results of `evaluated`."""
    assert len(found) == len(expected)
    for order, (group, wanted_group) in enumerate(zip(found, expected, strict=True)):
        for a, b in zip(group, wanted_group, strict=True):
            assert (a is None) == (b is None), order
            if a is not None:
                assert a.shape == b.shape, order
                yield order, a, b


def in_float64(case, operands):
    """`operands`, of which those that are differentiated are widened."""
    at = wanted(case)
    return [a.astype(np.float64) if k in at else a for k, a in enumerate(operands)]


@over("dtype", ["float32", "float16"])
@over("case", cases(lambda c: c.smooth), by=family)
def test_a_narrow_dtype_agrees_with_float64(case, dtype):
    """Of the same, rounded, operands; two orders."""
    operands = operands_in(case, dtype)
    expected = evaluated(case, in_float64(case, operands), 2)
    for order, a, b in pairs(evaluated(case, operands, 2), expected):
        if b.dtype.kind in "fc":
            scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
            tolerance = TOLERANCE[dtype]
            np.testing.assert_allclose(
                a.astype(b.dtype) / scale, b / scale, tolerance, tolerance, err_msg=f"order {order}"
            )
        else:
            np.testing.assert_array_equal(a, b)


# --- layouts of memory

# NumPy adds in order of memory, and BLAS by what the strides of its operands are: results of
# these are those of another order of summation. All others have the same bits.
SUMS = {
    "reduce_as",
    "addmm",
    "baddbmm",
    "bmm",
    "deform_conv2d",
    "dist",
    "dot",
    "einsum",
    "inner",
    "logsumexp",
    "matmul",
    "mean",
    "mm",
    "multi_dot",
    "mv",
    "nanmean",
    "nansum",
    "norm",
    "std",
    "sum",
    "tensordot",
    "trapezoid",
    "var",
    "vecdot",
}
FAMILIES_OF_SUMS = ("linalg.", "nn.functional.", "fft.", "Tensor.")
ELEMENTWISE = {  # among these families the bits are the same, too
    "celu",
    "elu",
    "gelu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_sigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "swish",
    "tanhshrink",
    "thresholded_relu",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "pixel_shuffle",
}


def strided(a):
    """The same values, every second element of each axis of a larger array."""
    out = np.zeros([2 * n for n in a.shape], a.dtype)[tuple(slice(None, None, 2) for _ in a.shape)]
    out[...] = a
    return out


def backwards(a):
    """The same values, behind negative strides."""
    turned = tuple(slice(None, None, -1) for _ in a.shape)
    return np.array(a[turned])[turned]


def read_only(a):
    a = np.array(a, order="C")
    a.flags.writeable = False
    return a


LAYOUTS = {
    "strided": strided,
    "backwards": backwards,
    "read-only": read_only,
    "columns": np.asfortranarray,
}


def same_summation(name):
    """Whether the bits of function `name` do not depend on the layout of its operands."""
    last = name.rsplit(".", 1)[-1].rstrip("_")
    return last in ELEMENTWISE or not (last in SUMS or name.startswith(FAMILIES_OF_SUMS))


@over(("name", "case"), named(cases()), by=family)
def test_layouts_of_operands(name, case):
    """Strides change no bit, or a sum by no more than its rounding; no operand is written to."""
    operands = [np.array(a, order="C") for a in operands_in(case, np.float32)]
    expected = evaluated(case, operands, 1)
    for label, layout in LAYOUTS.items():
        given = [layout(a) if a.ndim else a for a in operands]
        found = evaluated(case, given, 1)
        for order, a, b in pairs(found, expected):
            where = f"{label}, order {order}"
            if b.dtype.kind not in "fc" or label == "read-only" or same_summation(name):
                np.testing.assert_array_equal(a, b, where, strict=True)
            else:
                scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
                np.testing.assert_allclose(a, b, 1e-5, 1e-5 * scale, err_msg=where, strict=True)
        for a, b in zip(given, operands, strict=True):
            np.testing.assert_array_equal(a, b)


@over("case", cases(lambda c: c.differentiable), by=family)
def test_operands_that_are_broadcast_views(case):
    """Of stride 0 along the first axis: what their copies give, or the error that those give."""
    views = [
        np.broadcast_to(a[:1], a.shape) if a.ndim and k in wanted(case) else a
        for k, a in enumerate(operands_in(case, np.float32))
    ]
    with np.errstate(all="ignore"):
        try:
            expected = evaluated(case, [np.array(a, order="C") for a in views], 1)
        except (errors.ArgumentError, np.linalg.LinAlgError) as error:
            with pytest.raises(type(error)):
                evaluated(case, views, 1)
            return
        for order, a, b in pairs(evaluated(case, views, 1), expected):
            if np.isfinite(b).all():
                scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
                np.testing.assert_allclose(a, b, 1e-4, 1e-4 * scale, err_msg=f"order {order}")


# --- far out

FAR_OUT = [1e4, -1e4, 0.0]
# Whatever is rounded to a singular matrix, or to equal singular values, has no finite derivative.
ILL_CONDITIONED = ("linalg.", "inverse", "cholesky", "eig", "svd", "matrix_rank")


@over(
    "case",
    [p for p in cases(lambda c: c.smooth) if not p.id.startswith(("Tensor.", *ILL_CONDITIONED))],
    by=family,
)
def test_far_out_float32_is_finite_where_float64_is(case):
    """At +-1e4 and at 0, for one element and for all: values, two orders, and warnings."""
    largest = float(np.finfo(np.float32).max)
    for k in wanted(case):
        for value in FAR_OUT:
            for everywhere in (False, True):
                operands = operands_in(case, np.float32)
                if not operands[k].size:
                    continue
                operands[k] = np.array(operands[k])
                operands[k][... if everywhere else (0,) * operands[k].ndim] = value
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", RuntimeWarning)
                        expected = evaluated(case, in_float64(case, operands), 2)
                except ValueError:  # outside of what the function takes
                    continue
                fits = [
                    b is None or bool((np.abs(b) < largest).all())
                    for group in expected
                    for b in group
                ]
                with warnings.catch_warnings():
                    if not all(fits):
                        warnings.simplefilter("ignore", RuntimeWarning)
                    found = evaluated(case, operands, 2)
                for order, a, b in pairs(found, expected):
                    if (np.abs(b) < largest).all():
                        assert np.isfinite(a).all(), (k, value, everywhere, order)


# --- operands without elements


def emptied(case, which):
    """The operands without elements along axis `which` and the axes of its size in the others."""
    size = case.operands[0].shape[which]
    return [
        np.take(a, [], axis=which) if a.ndim and a.shape[which] == size else a
        for a in operands_in(case, np.float64)
    ]


def has_axes(case):
    return bool(case.operands) and case.operands[0].ndim > 0


def refusal(error):
    """Whether `error` is one that the engine raises on purpose."""
    return type(error).__module__ == errors.__name__ or (
        isinstance(error, (IndexError, ValueError)) and ("size" in str(error) or ":" in str(error))
    )


@over("which", [0, -1])
@over("case", cases(has_axes), by=family)
def test_empty_operands(case, which):
    """They have values and gradients of their shape, or are refused in words."""
    operands = emptied(case, which)
    try:
        levels = evaluated(case, operands, 2)
    except (ValueError, IndexError) as error:
        assert refusal(error), error  # noqa: PT017
        return
    for group in levels[1:]:
        for k, g in zip(wanted(case), group, strict=True):
            assert g is None or g.shape == operands[k].shape


# Where PyTorch has a value of nothing, and this engine refuses, or has another one.
NOT_AS_PYTORCH = {
    "linalg.cond": "the condition of a matrix without elements",
    "norm": "the largest of no sums",
    "linalg.norm": "the same",
    "linalg.matrix_norm": "the same",
    "split": "PyTorch is given the size of a part, not their number",
    "index_add": "an index into nothing is out of range",
    "Tensor.index_add_": "the same",
    "nn.functional.pixel_unshuffle": "PyTorch does not move what is empty",
    "linalg.corrcoef": "of no observations it is a sum of no products",
    "nn.functional.local_response_norm": "a window over nothing",
    "vander": "the number of columns is that of the elements; PyTorch's is given",
    "nn.functional.cross_entropy": "the mean of no loss is 0",
    "nn.functional.group_norm": "no gradient is NaN",
}


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.filterwarnings("ignore")
@over("which", [0, -1])
@over(("name", "case"), named(cases(lambda c: has_axes(c) and c.torch is not None)), by=family)
def test_empty_operands_beside_pytorch(name, case, which):
    operands = emptied(case, which)
    try:
        theirs = flat(case.torch(*[torch.from_numpy(np.array(a)) for a in operands]))
    except (RuntimeError, IndexError, ValueError, TypeError):
        return
    if name in NOT_AS_PYTORCH:
        return
    ours = evaluated(case, operands, 0)[0]
    assert [y.shape for y in ours] == [tuple(t.shape) for t in theirs]
    for y, t in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(y, t.detach().numpy(), 1e-7)


# --- found by the tests above, or of their kind


def slope(function, values, dtype, orders=1):
    """(value, gradient of the sum, ...) as arrays."""
    x = paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)
    y = function(x)
    out = [y.numpy()]
    for order in range(1, orders + 1):
        (y,) = paddle.grad(y, x, create_graph=order < orders)
        out.append(y.numpy())
    assert {a.dtype for a in out} == {np.dtype(dtype)}
    return out


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("far", [1e4, -1e4])
def test_the_gradient_of_logsumexp_adds_up_to_1_far_out(far, dtype):
    """1e4 + log(4) is 1e4 in float16: exp(x - logsumexp(x)) would be 1 for each of the four."""
    _, g = slope(paddle.logsumexp, [far] * 4, dtype)
    assert g.tolist() == [0.25] * 4
    _, g = slope(lambda x: paddle.logsumexp(x, axis=[0, 2]).sum(), np.full((2, 1, 4), far), dtype)
    assert g.tolist() == [[[0.125] * 4]] * 2


def test_the_gradient_of_logsumexp_of_infinities():
    x = paddle.to_tensor(
        [[INF, INF, 0.0], [-INF, -INF, -INF], [-INF, 0.0, 0.0]], stop_gradient=False
    )
    (g,) = paddle.grad(paddle.logsumexp(x, axis=1), x)
    assert g.tolist() == [[0.5, 0.5, 0.0], [0.0] * 3, [0.0, 0.5, 0.5]]


@pytest.mark.parametrize(
    ("dtype", "tiny"), [("float16", 6e-8), ("float32", 1e-42), ("float64", 1e-310)]
)
@pytest.mark.parametrize("p", [2, 1, INF])
def test_norms_of_denormals_have_finite_gradients(p, dtype, tiny):
    """1 / norm is out of range; x / norm is not."""
    _, g = slope(lambda x: paddle.norm(x, p), [tiny] * 4, dtype)
    np.testing.assert_allclose(g, {2: 0.5, 1: 1.0, INF: 0.25}[p], rtol=1e-3)


def test_the_second_order_of_a_norm_in_float16():
    expected = slope(lambda x: paddle.norm(x) ** 2, [1e-3] * 4, "float64", 2)
    found = slope(lambda x: paddle.norm(x) ** 2, [1e-3] * 4, "float16", 2)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-2, atol=1e-6)


@pytest.mark.parametrize("p", [1.5, 2, 3, 10])
@pytest.mark.parametrize("size", [1e-15, 1e-30, 1e15, 1e30])
def test_norms_whose_powers_leave_the_range_of_float32(p, size):
    value, g = slope(lambda x: paddle.norm(x, p), [size, size], "float32")
    np.testing.assert_allclose(value, size * 2 ** (1 / p), rtol=1e-5)
    np.testing.assert_allclose(g, 2 ** (1 / p - 1), rtol=1e-5)


@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_logarithms_at_the_end_of_float16(name):
    _, g = slope(getattr(paddle, name), [60000.0], "float16")
    base = {"log": math.e, "log2": 2.0, "log10": 10.0}[name]
    np.testing.assert_allclose(g, 1 / (60000.0 * math.log(base)), rtol=5e-2)


def test_softmax_at_both_ends_of_float16():
    """The difference, -120000, is out of range."""
    value, g = slope(F.softmax, [60000.0, -60000.0], "float16")
    assert (value.tolist(), g.tolist()) == ([1.0, 0.0], [0.0, 0.0])


def test_celu_divides_only_what_is_below():
    value, g = slope(lambda x: F.celu(x, 0.5), [60000.0, -60.0], "float16")
    assert (value.tolist(), g.tolist()) == ([60000.0, -0.5], [1.0, 0.0])


def test_the_slope_of_prelu_beside_an_infinity():
    """The weight has no part in what is above 0, be it infinite."""
    x = paddle.to_tensor([INF, -2.0])
    w = paddle.to_tensor([0.5], stop_gradient=False)
    (g,) = paddle.grad(F.prelu(x, w), w)
    assert g.tolist() == [-2.0]


DECOMPOSED = {
    "svd": paddle.linalg.svd,
    "svdvals": paddle.linalg.svdvals,
    "pinv": paddle.linalg.pinv,
    "matrix_rank": paddle.linalg.matrix_rank,
    "cond": paddle.linalg.cond,
    "lstsq": lambda x: paddle.linalg.lstsq(x, x),
    "norm": lambda x: paddle.linalg.norm(x, 2, axis=[-2, -1]),
    "eigh": paddle.linalg.eigh,
    "eigvals": paddle.linalg.eigvals,
}


@pytest.mark.parametrize("value", [INF, -INF, NAN])
@pytest.mark.parametrize("name", DECOMPOSED)
def test_decompositions_of_what_is_not_finite_are_refused(name, value):
    """LAPACK's iterations do not end on some of these."""
    x = np.ones((2, 3, 3)) + np.eye(3)
    x[1, 0, 0] = value
    with pytest.raises(errors.ArgumentError, match="holds inf or NaN"):
        DECOMPOSED[name](paddle.to_tensor(x[1]))
    with pytest.raises(errors.ArgumentError, match="matrix"):
        paddle.linalg.svd(paddle.to_tensor(x))


@pytest.mark.parametrize("value", [INF, NAN])
def test_the_gradient_of_a_determinant_that_is_not_finite(value):
    x = np.array([np.eye(3), np.ones((3, 3))])
    x[1, 0, 0] = value
    with np.errstate(all="ignore"):
        _, g = slope(lambda t: paddle.linalg.det(t).sum(), x, "float64")
    np.testing.assert_array_equal(g[0], np.eye(3))
    assert not np.isfinite(g[1]).all()


# --- float16 accumulates in float32

MANY = 6000  # in float16, 2048 + 1 is 2048, and more than 65504 is infinite
LINE = np.random.default_rng(5).uniform(0.5, 1.5, MANY)


def column(x):
    return x.reshape([-1, 1])


def row(x):
    return x.reshape([1, -1])


def zeros(like):
    return paddle.zeros([2], like.dtype)


def same_place():
    return paddle.zeros([MANY], "int64")


ACCUMULATING = {
    "sum": paddle.sum,
    "sum-axis": lambda x: paddle.sum(column(x), axis=0),
    "nansum": paddle.nansum,
    "mean": lambda x: paddle.mean(x * 20.0),
    "nanmean": lambda x: paddle.nanmean(x * 20.0),
    "var": paddle.var,
    "std": lambda x: paddle.std(column(x), axis=0),
    "norm": paddle.norm,
    "norm-1": lambda x: paddle.norm(x, 1),
    "norm-3": lambda x: paddle.norm(x, 3),
    "cumsum": paddle.cumsum,
    "logsumexp": paddle.logsumexp,
    "logcumsumexp": paddle.logcumsumexp,
    "prod": lambda x: paddle.prod(1.0 + (x - 1.0) / 64.0),
    "softmax": lambda x: F.softmax(x) * x,
    "dot": lambda x: paddle.dot(x, x),
    "inner": lambda x: paddle.inner(x, x),
    "vecdot": lambda x: paddle.vecdot(x, x),
    "einsum": lambda x: paddle.einsum("i,i->", x, x),
    "matmul": lambda x: paddle.matmul(row(x), column(x)),
    "tensordot": lambda x: paddle.tensordot(x, x, 1),
    "add_n": lambda x: paddle.add_n([x[k : k + 1] for k in range(0, MANY, 2)]),
    "trapezoid": paddle.trapezoid,
    "avg_pool1d": lambda x: F.avg_pool1d(x.reshape([1, 1, -1]), 5000, 500),
    "avg_pool2d": lambda x: F.avg_pool2d(x.reshape([1, 1, 60, 100]), [60, 100]),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x.reshape([1, 1, -1]), 1),
    "lp_pool1d": lambda x: F.lp_pool1d(x.reshape([1, 1, -1]), 2, MANY),
    "conv1d": lambda x: F.conv1d(x.reshape([1, 1, -1]), paddle.ones([1, 1, MANY], x.dtype)),
    "linear": lambda x: F.linear(row(x), paddle.ones([MANY, 1], x.dtype)),
    "interpolate": lambda x: F.interpolate(x.reshape([1, 1, 60, 100]), size=[1, 1], mode="area"),
    "layer_norm": lambda x: F.layer_norm(row(x), MANY) * x,
    "normalize": lambda x: F.normalize(x, axis=0),
    "cosine_similarity": lambda x: F.cosine_similarity(x, paddle.flip(x, 0), axis=0),
    "mse_loss": lambda x: F.mse_loss(x, paddle.flip(x, 0), "sum"),
    "l1_loss": lambda x: F.l1_loss(x, 3.0 - x, "sum"),
    "cross_entropy": lambda x: F.cross_entropy(x.reshape([-1, 5]), same_place()[: MANY // 5]),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy_with_logits(
        x, paddle.ones_like(x), reduction="sum"
    ),
    "kl_div": lambda x: F.kl_div(x, paddle.ones_like(x), "sum"),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, paddle.ones_like(x)),
    "index_add": lambda x: paddle.index_add(zeros(x), same_place(), 0, x),
    "scatter_nd_add": lambda x: paddle.scatter_nd_add(zeros(x), column(same_place()), x),
    "put_along_axis": lambda x: paddle.put_along_axis(zeros(x), same_place(), x, 0, "add"),
    "index_put": lambda x: paddle.index_put(zeros(x), (same_place(),), x, accumulate=True),
    "expand": lambda x: paddle.expand(x[:1], [MANY]),
    "tile": lambda x: paddle.tile(x[:1], [MANY]),
    "repeat_interleave": lambda x: paddle.repeat_interleave(x[:1], MANY),
    "gather": lambda x: paddle.gather(x[:2], same_place()),
    "getitem": lambda x: x[:2][same_place()],
    "broadcast": lambda x: x[:1] + x,
}


@pytest.mark.parametrize("name", ACCUMULATING)
def test_float16_accumulates_in_float32(name):
    """Value and gradient of what adds up thousands of elements."""
    narrow = LINE.astype(np.float16)
    found = slope(ACCUMULATING[name], narrow, "float16")
    expected = slope(ACCUMULATING[name], narrow, "float64")
    for a, b in zip(found, expected, strict=True):
        scale = float(np.max(np.abs(b)))
        assert scale < 65504.0
        np.testing.assert_allclose(a / scale, b / scale, rtol=1e-2, atol=1e-2)


# --- scalars

SCALARS = [2, 2.0, True, np.float64(2.0), np.float32(2.0), np.float16(2.0), np.int64(2)]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_numbers_take_the_dtype_of_what_they_stand_beside(scalar, dtype):
    x = paddle.to_tensor(np.asarray([1.5, 2.5], dtype), stop_gradient=False)
    results = [x + scalar, scalar - x, x * scalar, scalar / x, x**scalar, x // scalar, x % scalar]
    results += [paddle.maximum(x, scalar), paddle.clip(x, 0, scalar), paddle.scale(x, scalar)]
    results += [paddle.where(x > scalar, x, scalar), paddle.full_like(x, scalar)]
    assert {y.dtype.name for y in results} == {dtype}
    (g,) = paddle.grad([y for y in results if not y.stop_gradient], x)
    assert g.dtype.name == dtype


# --- many axes

ON_SEVEN_AXES = {
    "sum": (lambda x: paddle.sum(x, axis=[1, -2]), lambda a: a.sum((1, -2))),
    "max": (lambda x: paddle.max(x, axis=4), lambda a: a.max(4)),
    "transpose": (
        lambda x: x.transpose([6, 1, 3, 2, 0, 5, 4]),
        lambda a: a.transpose(6, 1, 3, 2, 0, 5, 4),
    ),
    "matmul": (
        lambda x: paddle.matmul(x, x.transpose([0, 1, 2, 3, 4, 6, 5])),
        lambda a: a @ a.swapaxes(-1, -2),
    ),
    "flip": (lambda x: paddle.flip(x, [0, 6]), lambda a: np.flip(a, (0, 6))),
    "concat": (lambda x: paddle.concat([x, x], 3), lambda a: np.concatenate([a, a], 3)),
    "cumsum": (lambda x: paddle.cumsum(x, 2), lambda a: a.cumsum(2)),
    "sort": (lambda x: paddle.sort(x, 2), lambda a: np.sort(a, 2)),
    "softmax": (
        lambda x: F.softmax(x, 2),
        lambda a: np.exp(a) / np.exp(a).sum(2, keepdims=True),
    ),
    "broadcast": (lambda x: x + x[0, :, :, :1], lambda a: a + a[0, :, :, :1]),
    "getitem": (lambda x: x[0, ..., 1], lambda a: a[0, ..., 1]),
    "norm": (lambda x: paddle.norm(x, axis=5), lambda a: np.sqrt((a * a).sum(5))),
}


@pytest.mark.parametrize("name", ON_SEVEN_AXES)
def test_seven_axes(name):
    function, reference = ON_SEVEN_AXES[name]
    a = np.random.default_rng(8).normal(size=(2, 1, 3, 2, 1, 2, 2))
    x = paddle.to_tensor(a, stop_gradient=False)
    y = function(x)
    np.testing.assert_allclose(y.numpy(), reference(a), rtol=1e-12)
    u, v = directions([y.numpy(), a], 9)
    (g,) = paddle.grad(y, x, paddle.to_tensor(u))
    step = 1e-6
    expected = (u * (reference(a + step * v) - reference(a - step * v))).sum() / (2 * step)
    np.testing.assert_allclose((g.numpy() * v).sum(), expected, rtol=1e-6)
