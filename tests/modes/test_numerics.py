"""What finite precision, edges and sizes unknown until the run could spoil; in both modes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ExecutionError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY

F = paddle.nn.functional
static = paddle.static
NAN, INF = float("nan"), float("inf")
Result = tuple[np.ndarray, list[np.ndarray]]


def eagerly(function: Callable[..., Any], *arrays: np.ndarray) -> Result:
    """The value, and the gradients of its sum in the floating operands."""
    xs = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    value = function(*xs)
    return value.numpy(), [
        g.numpy() for g in paddle.grad(value, [x for x in xs if not x.stop_gradient])
    ]


def recorded(function: Callable[..., Any], *arrays: np.ndarray) -> Result:
    """The same with a backward pass that records itself."""
    xs = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    value = function(*xs)
    wanted = [x for x in xs if not x.stop_gradient]
    return value.numpy(), [g.numpy() for g in paddle.grad(value, wanted, create_graph=True)]


def in_a_program(function: Callable[..., Any], *arrays: np.ndarray) -> Result:
    """The same by a program whose first sizes are unknown."""
    with static.program_guard(static.Program()):
        xs = [
            static.data(f"x{k}", [None, *a.shape[1:]] if a.ndim else [], a.dtype)
            for k, a in enumerate(arrays)
        ]
        wanted = [x for x, a in zip(xs, arrays, strict=True) if a.dtype.kind == "f"]
        for x in wanted:
            x.stop_gradient = False
        value = function(*xs)
        found = static.gradients(value, wanted)
        feed = {f"x{k}": a for k, a in enumerate(arrays)}
        first, *rest = static.Executor().run(feed=feed, fetch_list=[value, *found])
    return first, rest


def everywhere(function: Callable[..., Any], *arrays: np.ndarray) -> Result:
    """Value and gradients, once it is sure that they have the same bits in every mode."""
    value, gradients = eagerly(function, *arrays)
    for mode in (recorded, in_a_program):
        other, others = mode(function, *arrays)
        for a, b in zip([value, *gradients], [other, *others], strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    return value, gradients


def half(*values: Any) -> np.ndarray:
    return np.asarray(values, np.float16)


def single(*values: Any) -> np.ndarray:
    return np.asarray(values, np.float32)


def labels(*values: Any) -> np.ndarray:
    return np.asarray(values, np.int64)


# --- float16: counts above 65504, moments, sums


def test_the_mean_of_many_float16_numbers_has_a_gradient():
    """The count, 100000, is infinite in float16."""
    _, (g,) = everywhere(paddle.mean, np.ones(100_000, np.float16))
    assert (g == np.float16(1e-5)).all()
    _, (g,) = everywhere(lambda x: paddle.mean(x, axis=0), np.ones((70_000, 1), np.float16))
    assert (g == np.float16(1 / 70_000)).all()


@pytest.mark.parametrize("name", ["max", "min"])
def test_many_float16_numbers_that_tie_share(name):
    _, (g,) = everywhere(getattr(paddle, name), np.ones(100_000, np.float16))
    assert (g == np.float16(1e-5)).all()


def test_layer_norm_of_float16_whose_variance_is_beyond_float16():
    x = half([-600.0, 600.0, 300.0, 0.0])
    w = np.asarray([1.0, 2.0, 3.0, 5.0])

    def loss(x: Any) -> Any:
        return paddle.sum(F.layer_norm(x, 4) * paddle.cast(paddle.to_tensor(w), x.dtype))

    def program_loss(x: Any) -> Any:
        return paddle.sum(F.layer_norm(x, 4) * w.astype(x.dtype.name))

    _, (wide,) = eagerly(loss, x.astype(np.float64))
    _, (g,) = eagerly(loss, x)
    assert g.dtype == np.float16
    np.testing.assert_allclose(g, wide, rtol=1e-3, atol=1e-6)
    np.testing.assert_array_equal(recorded(loss, x)[1][0], g)
    np.testing.assert_array_equal(in_a_program(program_loss, x)[1][0], g)


def test_the_moments_of_float16_are_float32():
    x = half([-600.0, 600.0, 300.0, 0.0])
    out, mean, variance = ops.standardize(paddle.to_tensor(x), axis=(1,), epsilon=1e-5)
    assert [v.numpy().dtype.name for v in (out, mean, variance)] == ["float16", *["float32"] * 2]
    assert (mean.item(), variance.item()) == (75.0, 196875.0)
    op = REGISTRY["standardize"]
    specs = op.infer_tuple([Spec(x.shape, x.dtype)], {"axis": (1,), "epsilon": 1e-5})
    assert [s.dtype.name for s in specs] == ["float16", *["float32"] * 2]


def test_gradients_through_moments_of_float16_are_float16():
    def moments(x: Any) -> Any:
        _, mean, variance = ops.standardize(x, axis=(1,), epsilon=0.0)
        return paddle.sum(mean) + paddle.sum(variance)

    _, (g,) = everywhere(moments, half([1.0, 2.0, 3.0, 6.0]))
    assert g.dtype == np.float16
    np.testing.assert_allclose(g, 0.25 + (half([1, 2, 3, 6]) - 3.0) / 2.0, rtol=2e-3)


@pytest.mark.parametrize("statistics", ["float16", "float32"])
def test_batch_norm_follows_the_moments_of_float16(statistics):
    x = half([1.0], [3.0])
    mean, var = paddle.zeros([1], statistics), paddle.ones([1], statistics)
    F.batch_norm(paddle.to_tensor(x), mean, var, training=True)
    assert (mean.numpy().dtype, var.numpy().dtype) == (np.dtype(statistics),) * 2
    np.testing.assert_allclose([mean.item(), var.item()], [0.2, 1.0], rtol=1e-3)


def test_batch_norm_of_float16_has_the_bits_of_eager_mode_in_a_program():
    x = half([300.0, -300.0], [500.0, 1.0], [-700.0, 2.0])
    for statistics in ("float16", "float32"):
        mean, var = paddle.zeros([2], statistics), paddle.ones([2], statistics)
        rows = paddle.to_tensor(x, stop_gradient=False)
        out = F.batch_norm(rows, mean, var, training=True)
        (g,) = paddle.grad(paddle.sum(out * out * out), rows)
        with static.program_guard(static.Program(), static.Program()):
            v = static.data("x", [None, 2], "float16")
            v.stop_gradient = False
            running = [
                static.create_global_var([2], value, statistics, persistable=True)
                for value in (0.0, 1.0)
            ]
            y = F.batch_norm(v, *running, training=True)
            (gy,) = static.gradients(paddle.sum(y * y * y), v)
            exe = static.Executor()
            exe.run(static.default_startup_program())
            found = exe.run(feed={"x": x}, fetch_list=[y, gy, *running])
        for a, b in zip([out, g, mean, var], found, strict=True):
            np.testing.assert_array_equal(a.numpy(), b, strict=True)


def test_float16_scatters_accumulate_in_float32():
    """2048 + 1 is 2048 in float16."""
    ids = np.zeros(5000, np.int64)
    _, (g,) = everywhere(lambda x, i: paddle.sum(ops.gather(x, i, axis=0)), half(1.0), ids)
    assert (g.dtype, g.tolist()) == (np.float16, [5000.0])

    def picked(x: Any, i: Any) -> Any:
        return paddle.sum(ops.take_along_axis(x, i, axis=1))

    _, (g,) = everywhere(picked, half([1.0, 1.0]), ids.reshape(1, -1))
    assert (g.dtype, g.tolist()) == (np.float16, [[5000.0, 0.0]])


def test_a_cast_to_the_same_dtype_costs_no_copy():
    x = np.ones(3, np.float32)
    assert REGISTRY["cast_like"].kernel(x, x) is x


# --- sizes that are known only when a program runs


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize(("rows", "cotangents"), [(4, 2), (2, 4)])
def test_a_cotangent_of_another_size_is_refused(name, rows, cotangents):
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 3], "float32")
        u = static.data("u", [None], "float32")
        x.stop_gradient = False
        (g,) = static.gradients(getattr(paddle, name)(x, axis=1), x, u)
        feed = {"x": np.ones((rows, 3), "f"), "u": np.ones(cotangents, "f")}
        with pytest.raises(ExecutionError, match=rf"\[{cotangents}\].*\[{rows}") as caught:
            static.Executor().run(feed=feed, fetch_list=[g])
    assert isinstance(caught.value.__cause__, ShapeError)


SPREADS_THAT_DO_NOT_FIT = {
    "shorter": (np.zeros((2, 1)), (4, 3), (1,), True),
    "longer": (np.zeros((4, 1)), (2, 3), (1,), True),
    "dropped": (np.zeros(3), (2, 2), (0,), False),
    "strided": (np.zeros((2, 6))[:, ::3], (2, 3), (1,), True),
    "lead": (np.zeros(2), (2, 3), (), True),
    "onto-1": (np.zeros((2, 3)), (1, 3), (), True),
    "onto-nothing": (np.zeros((2, 3)), (2, 0), (), True),
}


@pytest.mark.parametrize("name", ["expand_like", "spread_like"])
@pytest.mark.parametrize("case", SPREADS_THAT_DO_NOT_FIT)
def test_what_does_not_spread_is_refused(name, case):
    x, shape, axis, keepdims = SPREADS_THAT_DO_NOT_FIT[case]
    sizes = rf"\[{', '.join(map(str, x.shape))}\].*\[{', '.join(map(str, shape))}\]"
    with pytest.raises(ShapeError, match=sizes):
        REGISTRY[name].kernel(x, Spec(shape, x.dtype), axis=axis, keepdims=keepdims)


def test_fewer_labels_than_rows_are_refused():
    with static.program_guard(static.Program()):
        x, label = static.data("x", [None, 3], "float32"), static.data("l", [None], "int64")
        loss = F.cross_entropy(x, label)
        feed = {"x": np.ones((4, 3), "f"), "l": labels(1)}
        with pytest.raises(ExecutionError, match=r"\[4, 3\].*\[1\]") as caught:
            static.Executor().run(feed=feed, fetch_list=[loss])
    assert isinstance(caught.value.__cause__, ShapeError)


def test_an_index_of_other_lines_is_refused():
    x = paddle.to_tensor(np.ones((4, 3), "f"))
    for index in ([[0]], [0, 0, 0, 0], [[0], [0]]):
        with pytest.raises(ShapeError, match=r"take_along_axis: .* every axis but 1"):
            ops.take_along_axis(x, paddle.to_tensor(index), axis=1)
    with static.program_guard(static.Program()):
        v = static.data("v", [4, 3], "float32")
        ops.take_along_axis(v, static.data("fits", [None, 1], "int64"), axis=1)
        with pytest.raises(ShapeError, match="take_along_axis"):
            ops.take_along_axis(v, static.data("i", [1, 1], "int64"), axis=1)


def test_a_write_by_an_index_of_other_lines_is_refused():
    put = REGISTRY["put_along_axis_like"]
    like = np.zeros((4, 3))
    for values, index in [((1, 1), (1, 1)), ((1, 2), (4, 2)), ((4, 1), (4, 2))]:
        operands = [np.ones(values), np.zeros(index, np.int64), like]
        with pytest.raises(ShapeError, match="put_along_axis_like"):
            put.kernel(*operands, axis=1)
        with pytest.raises(ShapeError, match="put_along_axis_like"):
            put.infer(*[Spec(a.shape, a.dtype) for a in operands], axis=1)


# --- losses


def probabilities_loss(**options: Any) -> Callable[..., Any]:
    return lambda p, y: F.cross_entropy(p, y, use_softmax=False, **options)


def test_a_probability_of_0_for_another_class():
    value, (g,) = everywhere(probabilities_loss(), single([0.5, 0.5, 0.0]), labels(0))
    assert value.item() == pytest.approx(np.log(2.0))
    assert g.tolist() == [[-2.0, 0.0, 0.0]]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_probabilities_of_0_where_the_label_does_not_count(smoothing):
    p = single([0.0, 0.0, 1.0], [0.5, 0.25, 0.25])
    loss = probabilities_loss(ignore_index=-1, label_smoothing=smoothing)
    value, (g,) = everywhere(loss, p, labels(-1, 0))
    alone, (expected,) = eagerly(loss, p[1:], labels(0))
    assert value == alone
    np.testing.assert_array_equal(g, [[0.0] * 3, *expected])


def test_a_soft_label_of_0_for_a_probability_of_0():
    """0 log 0 counts as its limit, 0."""
    loss = probabilities_loss(soft_label=True)
    p, q = single([0.5, 0.5, 0.0]), single([1.0, 0.0, 0.0])
    value, (gp, gq) = everywhere(loss, p, q)
    assert value.item() == pytest.approx(np.log(2.0))
    assert gp.tolist() == [[-2.0, 0.0, 0.0]]
    np.testing.assert_allclose(gq[0, :2], np.log(2.0), rtol=1e-6)


RNG = np.random.default_rng(3)
LOGITS = RNG.normal(size=(5, 4))
WEIGHT = np.asarray([0.5, 2.0, 1.0, 3.0])
HARD = labels(2, 0, 1, -100, 3)
SOFT = RNG.dirichlet(np.ones(4), 5)


def smoothed(label: np.ndarray, epsilon: float) -> np.ndarray:
    """The distributions that these labels stand for; none for those that do not count."""
    q = (1.0 - epsilon) * np.eye(4)[np.where(label < 0, 0, label)] + epsilon / 4
    return np.where(label[:, None] < 0, 0.0, q)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("use_softmax", [True, False])
def test_each_class_has_its_own_weight_in_a_smoothed_label(epsilon, reduction, use_softmax):
    def loss(x: Any, y: Any, w: Any) -> Any:
        p = x if use_softmax else F.softmax(x)
        options = {"reduction": reduction, "label_smoothing": epsilon, "use_softmax": use_softmax}
        return F.cross_entropy(p, y, w, **options)

    def soft(x: Any, w: Any) -> Any:
        return F.cross_entropy(x, q, w, soft_label=True, reduction="none")

    q = paddle.to_tensor(smoothed(HARD, epsilon))
    value, (gx, _) = everywhere(loss, LOGITS, HARD, WEIGHT)
    expected, (ex, _) = eagerly(soft, LOGITS, WEIGHT)
    expected = expected[:, 0]  # of soft labels the class axis is kept
    total = WEIGHT[HARD[HARD >= 0]].sum()
    if reduction != "none":
        expected = expected.sum() / (total if reduction == "mean" else 1.0)
    if reduction == "mean":
        ex = ex / total
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gx, ex, rtol=1e-10, atol=1e-14)


def test_smoothed_and_weighted_as_pytorch_has_it():
    """torch.nn.functional.cross_entropy(LOGITS, HARD, WEIGHT, label_smoothing=0.1)."""

    def loss(x: Any, y: Any, w: Any) -> Any:
        return F.cross_entropy(x, y, w, label_smoothing=0.1)

    value, (g, _) = everywhere(loss, LOGITS, HARD, WEIGHT)
    first = [0.12567572006093, -0.0064053168794884, -0.11712717259806, -0.0021432305833853]
    np.testing.assert_allclose(value, 1.4086739393610497, rtol=1e-13)
    np.testing.assert_allclose(g[0], first, rtol=1e-12)
    assert g[3].tolist() == [0.0] * 4


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_the_weighted_mean_of_soft_labels(epsilon):
    """It divides by the weights that the labels stand for."""

    def loss(x: Any, y: Any, w: Any) -> Any:
        return F.cross_entropy(x, y, w, soft_label=True, label_smoothing=epsilon)

    value, _ = everywhere(loss, LOGITS, SOFT, WEIGHT)
    q = (1.0 - epsilon) * SOFT + epsilon / 4
    logs = LOGITS - np.log(np.exp(LOGITS).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(value, -(WEIGHT * q * logs).sum() / (WEIGHT * q).sum(), rtol=1e-12)
    one_hot = np.eye(4)[[2, 0, 1, 3]]
    rows = LOGITS[[0, 1, 2, 4]]
    hard, _ = eagerly(lambda x, w: F.cross_entropy(x, labels(2, 0, 1, 3), w), rows, WEIGHT)
    soft, _ = eagerly(lambda x, w: F.cross_entropy(x, one_hot, w, soft_label=True), rows, WEIGHT)
    np.testing.assert_allclose(soft, hard, rtol=1e-12)


# --- order: integers that have no negative, and NaN

UNSORTED = {
    "uint8": ([0, 1, 255, 1, 7], [2, 4, 1, 3, 0], [0, 1, 3, 4, 2]),
    "int8": ([-128, 5, 127, 5, 0], [2, 1, 3, 4, 0], [0, 4, 1, 3, 2]),
    "int64": ([-(2**63), 5, 2**63 - 1, 5, 0], [2, 1, 3, 4, 0], [0, 4, 1, 3, 2]),
    "bool": ([False, True, False, True, True], [1, 3, 4, 0, 2], [0, 2, 1, 3, 4]),
    "float32": ([0.0, NAN, INF, -0.0, NAN], [1, 4, 2, 0, 3], [0, 3, 2, 1, 4]),
}


@pytest.mark.parametrize("dtype", UNSORTED)
def test_topk_orders_what_has_no_negative(dtype):
    """Of equal numbers the first comes first; NaN counts as larger than any."""
    values, descending, ascending = UNSORTED[dtype]
    x = np.asarray(values, dtype)
    for largest, order in ((True, descending), (False, ascending)):
        for k in (2, 5):
            found, index = paddle.topk(paddle.to_tensor(x), k, largest=largest)
            assert index.tolist() == order[:k]
            np.testing.assert_array_equal(found.numpy(), x[order[:k]])
            # Along another axis too.
            _, index = paddle.topk(paddle.to_tensor(np.stack([x, x], 1)), k, 0, largest=largest)
            assert index.numpy().T.tolist() == [order[:k]] * 2


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_extremum_of_nan_is_nan(name):
    """NaN is the extremum where there is one: its positions get NaN, the others 0."""
    x = single([1.0, NAN, 3.0, NAN], [2.0, 2.0, 2.0, 2.0], [INF, -INF, INF, -INF])
    _, (g,) = everywhere(lambda x: getattr(paddle, name)(x, axis=1), x)
    infinite = [0.5, 0.0, 0.5, 0.0] if name == "max" else [0.0, 0.5, 0.0, 0.5]
    np.testing.assert_array_equal(g, [[0.0, NAN, 0.0, NAN], [0.25] * 4, infinite])


def test_an_infinite_cotangent_reaches_the_extremum_alone():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (g,) = paddle.grad(paddle.max(x), x, paddle.to_tensor(INF))
    assert g.tolist() == [0.0, INF]
