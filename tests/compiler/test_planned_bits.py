"""Planned functions have the bits of generated Python."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import optimizer as optimizers
from tests.compiler.helpers.planned_runs import check_bits, normal, program_step

pytestmark = pytest.mark.usefixtures("all_blas_threads")

F = paddle.nn.functional

OPTIMIZERS = {
    "sgd": lambda: optimizers.SGD(0.1),
    "momentum": lambda: optimizers.Momentum(0.1, 0.9, use_nesterov=True),
    "adam": lambda: optimizers.Adam(0.01),
    "adam-amsgrad": lambda: optimizers.Adam(0.01, amsgrad=True),
    "adamw": lambda: optimizers.AdamW(0.01, weight_decay=0.1),
    "adamax": lambda: optimizers.Adamax(0.01),
    "adagrad": lambda: optimizers.Adagrad(0.01),
    "adadelta": lambda: optimizers.Adadelta(0.01),
    "rmsprop": lambda: optimizers.RMSProp(0.01),
    "rmsprop-centered": lambda: optimizers.RMSProp(0.01, centered=True, momentum=0.5),
    "lamb": lambda: optimizers.Lamb(0.01),
    "nadam": lambda: optimizers.NAdam(0.01),
    "radam": lambda: optimizers.RAdam(0.01),
    "rprop": lambda: optimizers.Rprop(0.01),
    "asgd": lambda: optimizers.ASGD(0.01),
}


def perceptron(x, p):
    hidden = F.relu(F.linear(x["x"], p["w1"], p["b1"]))
    return [F.cross_entropy(F.linear(hidden, p["w2"], p["b2"]), x["label"])]


PERCEPTRON = {"w1": (6, 80), "b1": (80,), "w2": (80, 3), "b2": (3,)}


def parameters(shapes, dtype="float32"):
    return {k: normal(i, *s, dtype=dtype) * 0.3 for i, (k, s) in enumerate(shapes.items())}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer(name):
    feeds = {"x": normal(9, 8, 6), "label": np.arange(8) % 3}
    step = program_step(perceptron, feeds, parameters(PERCEPTRON), OPTIMIZERS[name])
    check_bits(step, rounds=4)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_floats(dtype):
    def loss(x, p):
        hidden = F.layer_norm(x["x"] @ p["w1"], [80], p["b1"])
        return [paddle.mean(paddle.tanh(hidden) * F.softmax(hidden, axis=-1))]

    shapes = {"w1": (6, 80), "b1": (80,)}
    feeds = {"x": normal(9, 8, 6, dtype=dtype)}
    check_bits(program_step(loss, feeds, parameters(shapes, dtype), OPTIMIZERS["sgd"]))


def transformer(x, p):
    h = F.layer_norm(x["x"], [64], p["g"], p["e"])
    q = paddle.transpose(paddle.reshape(h @ p["wq"], [4, 32, 3, 4, 16]), [2, 0, 3, 1, 4])
    a = F.softmax(q[0] @ paddle.transpose(q[1], [0, 1, 3, 2]) * 0.25, axis=-1)
    o = paddle.reshape(paddle.transpose(a @ q[2], [0, 2, 1, 3]), [4, 32, 64])
    o = x["x"] + o @ p["wo"]
    h = F.gelu(o @ p["w1"] + p["b1"], approximate=True)
    return [paddle.mean(paddle.square(o + h @ p["w2"] - x["y"])), a]


TRANSFORMER = {
    "g": (64,), "e": (64,), "wq": (64, 192), "wo": (64, 64), "w1": (64, 512), "b1": (512,),
    "w2": (512, 64),
}  # fmt: skip


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_attention_with_loops_over_large_arrays(name):
    feeds = {"x": normal(20, 4, 32, 64), "y": normal(21, 4, 32, 64)}
    held = {k: a * 0.2 for k, a in parameters(TRANSFORMER).items()}
    step = program_step(transformer, feeds, held, OPTIMIZERS[name])
    check_bits(step)
    assert "in blocks:" in step.planned.source


def recurrent(x, p):
    z = paddle.reshape(paddle.reshape(x["x"], [40, 5]) @ p["wx"], [10, 4, 32])
    h = paddle.zeros([4, 8])
    for t in range(10):
        i, f, o, g = paddle.split(z[t] + h @ p["wh"], 4, axis=1)
        h = F.sigmoid(o) * paddle.tanh(F.sigmoid(i) * paddle.tanh(g) + F.sigmoid(f) * h)
    return [paddle.mean(paddle.square(h - x["y"]))]


RECURRENT = {"wx": (5, 32), "wh": (8, 32)}


def test_a_recurrence_whose_gradients_are_sums_of_slices():
    feeds = {"x": normal(20, 10, 4, 5), "y": normal(21, 4, 8)}
    step = program_step(recurrent, feeds, parameters(RECURRENT), OPTIMIZERS["sgd"])
    check_bits(step)
    assert "unslice" not in step.planned.source  # each is written where it belongs


def test_fast_sums_of_products_differ_by_rounding_only():
    feeds = {"x": normal(20, 10, 4, 5), "y": normal(21, 4, 8)}
    exact = program_step(recurrent, feeds, parameters(RECURRENT), OPTIMIZERS["sgd"])
    fast = program_step(recurrent, feeds, parameters(RECURRENT), OPTIMIZERS["sgd"], fast=True)
    for a, b in zip(exact.planned(*exact.arrays), fast.planned(*fast.arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert fast.planned.source.count("dot(") < exact.planned.source.count("dot(")


@pytest.mark.parametrize("name", ["sgd", "adam"])
@pytest.mark.parametrize("sparse", [False, True])
def test_embeddings(name, sparse):
    def loss(x, p):
        h = F.embedding(x["i"], p["table"], sparse=sparse) + F.embedding(x["j"], p["table"])
        return [paddle.mean(paddle.square(h))]

    feeds = {"i": np.array([[1, 3], [3, 7]]), "j": np.array([[0, 3], [2, 2]])}
    check_bits(program_step(loss, feeds, {"table": normal(3, 11, 5)}, OPTIMIZERS[name]))


@pytest.mark.parametrize("lazy", [False, True])
def test_rows_of_a_table_are_written_alone(lazy):
    def loss(x, p):
        return [paddle.mean(paddle.square(F.embedding(x["i"], p["table"], sparse=True)))]

    feeds = {"i": np.array([[1, 3], [3, 7]])}
    make = (lambda: optimizers.Adam(0.1, lazy_mode=True)) if lazy else OPTIMIZERS["sgd"]
    step = program_step(loss, feeds, {"table": normal(3, 11, 5)}, make)
    check_bits(step)
    bound = step.planned.bind([a.copy() for a in step.arrays])
    position = step.position("table")
    table = bound.arrays[position]
    kept = table.copy()
    bound()
    assert bound.arrays[position] is table
    changed = np.flatnonzero((table != kept).any(axis=1))
    assert changed.tolist() == [1, 3, 7]


def test_convolutions_and_pools():
    def loss(x, p):
        h = F.max_pool2d(F.relu(F.conv2d(x["x"], p["k"], p["c"], padding=1)), 2)
        h = F.avg_pool2d(F.conv2d(h, p["k2"]), 2)
        return [F.cross_entropy(paddle.flatten(h, 1) @ p["w"], x["label"])]

    shapes = {"k": (4, 2, 3, 3), "c": (4,), "k2": (3, 4, 3, 3), "w": (12, 3)}
    feeds = {"x": normal(9, 6, 2, 12, 12), "label": np.arange(6) % 3}
    check_bits(program_step(loss, feeds, parameters(shapes), OPTIMIZERS["sgd"]))


def test_running_statistics_are_state():
    def loss(x, p):
        mean = static_zeros("mean")
        variance = static_zeros("variance")
        h = F.batch_norm(x["x"], mean, variance, p["g"], p["e"], training=True)
        return [paddle.mean(paddle.square(h - x["x"]))]

    def static_zeros(name):
        return paddle.static.create_global_var([3], 0.5, "float32", persistable=True, name=name)

    feeds = {"x": normal(9, 6, 3, 4, 4)}
    step = program_step(loss, feeds, parameters({"g": (3,), "e": (3,)}), OPTIMIZERS["sgd"])
    check_bits(step)
    assert {step.position("mean"), step.position("variance")} <= set(step.planned.updates.values())


def clipped(x, p):
    h = paddle.clip(x["x"] * p["w"], -0.5, 0.5)
    h = paddle.where(x["x"] > 0.0, h, F.elu(h)) + F.softplus(h) * F.silu(h)
    return [paddle.mean(F.log_sigmoid(h) * paddle.maximum(h, x["x"])), h]


@pytest.mark.parametrize("shape", [(7,), (300, 400), (1,), (5, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_selections_and_special_values(shape, dtype):
    x = normal(4, *shape, dtype=dtype) * 3
    if x.size > 6:
        x.reshape(-1)[:7] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, -1e-30]
    with np.errstate(all="ignore"):
        check_bits(
            program_step(
                clipped, {"x": x}, {"w": normal(5, *shape, dtype=dtype)}, OPTIMIZERS["sgd"]
            )
        )


def test_arrays_of_no_elements():
    def total(x, p):
        h = paddle.tanh(x["x"]) * x["x"]
        return [paddle.sum(h), paddle.mean(h), h @ p["w"], paddle.concat([h, h])]

    feeds = {"x": np.zeros((0, 3), "float32")}
    check_bits(program_step(total, feeds, {"w": normal(1, 3, 2)}))


def test_zeros_keep_their_signs():
    def loss(x, p):
        h = x["x"] * p["w"]
        return [paddle.sum(h[1] * h[2] + h[1]), h]

    feeds = {"x": np.array([[0.0, -0.0], [-0.0, 0.0], [-1.0, 0.0]], "float32")}
    check_bits(program_step(loss, feeds, {"w": -np.ones((3, 2), "float32")}, OPTIMIZERS["sgd"]))


@pytest.mark.parametrize("order", ["transposed", "strided", "reversed", "broadcast"])
def test_feeds_that_lie_in_another_order(order):
    whole = normal(7, 96, 128)
    x = {
        "transposed": whole[:, :96].T,
        "strided": whole[:, ::2],
        "reversed": whole[::-1, 5:],
        "broadcast": np.broadcast_to(whole[0], (96, 128)),
    }[order]

    def loss(x, p):
        h = paddle.tanh(x["x"]) + x["x"]
        total = paddle.sum(h, axis=0) + paddle.sum(h @ p["w"])
        return [paddle.mean(total), h * 2.0, paddle.sum(h * h, axis=1)]

    step = program_step(loss, {"x": x}, {"w": normal(8, x.shape[1], 3)}, OPTIMIZERS["sgd"])
    check_bits(step)


def test_control_flow_is_called():
    def loss(x, p):
        h = x["x"] * p["w"]
        chosen = paddle.static.nn.cond(paddle.sum(h) > 0.0, lambda: paddle.tanh(h), lambda: h * 2.0)
        return [paddle.mean(chosen)]

    check_bits(program_step(loss, {"x": normal(1, 4, 5)}, {"w": normal(2, 4, 5)}))


@pytest.mark.parametrize("ufunc", [np.exp, np.log, np.tanh, np.sin, np.cos, np.log1p, np.expm1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_blocks_of_an_array_have_its_bits(ufunc, dtype):
    """What loops over blocks rely on: no bit depends on where in an array an element stands."""
    x = np.abs(normal(3, 1013, dtype=dtype)) + 0.01
    whole = ufunc(x)
    for start, stop in ((0, 1), (1, 8), (5, 22), (500, 1013)):
        assert np.array_equal(ufunc(x[start:stop]), whole[start:stop])
        assert np.array_equal(ufunc(x[start:stop].copy()), whole[start:stop])
