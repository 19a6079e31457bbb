"""Whole models, written once and trained in both modes: parameters equal bit for bit.

A model is a function of (parameters, batch). Eagerly its operations are recorded as they run; in
a program the same function is called once, on Variables.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import optimizer as optimizers
from autograd_engine.optimizer import SGD, Adam
from tests.tiers import by_default

F = paddle.nn.functional
static = paddle.static

STEPS = 50
BATCH = 4


class Model(NamedTuple):
    loss: Callable[..., Any]
    shapes: dict[str, tuple[int, ...]]
    data: dict[str, tuple[tuple[int, ...], str, int]]
    """name -> (shape after the batch axis, dtype, number of classes for integers)"""


MODELS: dict[str, Model] = {}


def model(shapes: dict[str, tuple[int, ...]], **data: Any) -> Callable[..., Any]:
    def register(loss: Callable[..., Any]) -> Callable[..., Any]:
        MODELS[loss.__name__] = Model(loss, shapes, data)
        return loss

    return register


def floats(*shape: int) -> tuple[tuple[int, ...], str, int]:
    return shape, "float32", 0


def classes(n: int, *shape: int) -> tuple[tuple[int, ...], str, int]:
    return shape, "int64", n


@model({"w1": (6, 8), "b1": (8,), "w2": (8, 3), "b2": (3,)}, x=floats(6), label=classes(3))
def perceptron(p: Any, x: Any, label: Any) -> Any:
    hidden = F.relu(F.linear(x, p["w1"], p["b1"]))
    return F.cross_entropy(F.linear(hidden, p["w2"], p["b2"]), label)


@model(
    {"w1": (4, 1, 3, 3), "b1": (4,), "w2": (6, 4, 3, 3), "w3": (54, 5), "b3": (5,)},
    x=floats(1, 12, 12),
    label=classes(5),
)
def lenet(p: Any, x: Any, label: Any) -> Any:
    x = F.max_pool2d(F.relu(F.conv2d(x, p["w1"], p["b1"], padding=1)), 2)
    x = F.avg_pool2d(paddle.tanh(F.conv2d(x, p["w2"], padding=1)), 2)
    return F.cross_entropy(F.linear(paddle.flatten(x, 1), p["w3"], p["b3"]), label)


@model({"table": (11, 6), "w": (12, 11), "b": (11,)}, words=classes(11, 2), label=classes(11))
def word_embedding(p: Any, words: Any, label: Any) -> Any:
    context = paddle.flatten(F.embedding(words, p["table"], padding_idx=0), 1)
    return F.cross_entropy(F.linear(context, p["w"], p["b"]), label, ignore_index=3)


@model(
    {"ih": (20, 4), "hh": (20, 5), "bi": (20,), "bh": (20,), "w": (5, 1)},
    x=floats(6, 4),
    y=floats(1),
)
def lstm(p: Any, x: Any, y: Any) -> Any:
    h0 = paddle.zeros_like(x[:, 0, :1]) + paddle.zeros([5])  # as many rows as the batch has

    def cell(step: Any, states: Any) -> Any:
        return F.lstm_cell(step, states, p["ih"], p["hh"], p["bi"], p["bh"])

    outputs, _ = F.rnn(cell, x, (h0, h0))
    return F.mse_loss(F.linear(outputs[:, -1, :], p["w"]), y)


@model(
    {
        "table": (7, 8), "place": (5, 8), "qkv": (8, 24), "out": (8, 8),
        "g1": (8,), "s1": (8,), "up": (8, 16), "down": (16, 8), "head": (8, 7),
    },
    words=classes(7, 5),
    label=classes(7, 5),
)  # fmt: skip
def transformer(p: Any, words: Any, label: Any) -> Any:
    x = F.embedding(words, p["table"]) + p["place"]
    normal = F.layer_norm(x, 8, p["g1"], p["s1"])
    parts = paddle.split(paddle.matmul(normal, p["qkv"]), 3, axis=-1)
    q, k, v = (paddle.transpose(paddle.reshape(part, [0, 5, 2, 4]), [0, 2, 1, 3]) for part in parts)
    scores = paddle.matmul(q, k, transpose_y=True) * 0.5
    causal = paddle.tril(paddle.ones_like(scores)) > 0.0
    weights = F.softmax(paddle.where(causal, scores, -1e9))
    mixed = paddle.transpose(paddle.matmul(weights, v), [0, 2, 1, 3])
    x = x + paddle.matmul(paddle.reshape(mixed, [0, 5, 8]), p["out"])
    x = x + paddle.matmul(F.gelu(paddle.matmul(x, p["up"])), p["down"])
    return F.cross_entropy(paddle.matmul(F.layer_norm(x, 8), p["head"]), label)


@model(
    {"w": (6, 8), "g": (8,), "s": (8,), "o": (8, 2), "@mean": (8,), "@var": (8,)},
    x=floats(6),
    label=classes(2),
)
def batch_norm(p: Any, x: Any, label: Any) -> Any:
    hidden = F.batch_norm(F.linear(x, p["w"]), p["@mean"], p["@var"], p["g"], p["s"], training=True)
    return F.cross_entropy(F.linear(F.relu(hidden), p["o"]), label)


@model({"w1": (3, 6), "b1": (6,), "w2": (6, 1)}, x=floats(3), y=floats(1))
def gradient_penalty(p: Any, x: Any, y: Any) -> Any:
    """Second order: the loss holds the gradient of the output by the input."""
    x.stop_gradient = False
    out = F.linear(paddle.tanh(F.linear(x, p["w1"], p["b1"])), p["w2"])
    if isinstance(x, paddle.Tensor):
        (by_x,) = paddle.grad(paddle.sum(out), x, create_graph=True)
    else:
        (by_x,) = static.gradients(paddle.sum(out), x)
    return F.mse_loss(out, y) + 0.1 * paddle.mean(paddle.square(by_x))


@model(
    {"ih": (20, 4), "hh": (20, 5), "bi": (20,), "bh": (20,), "w": (5, 1)},
    x=floats(6, 4),
    y=floats(1),
)
def lstm_in_a_loop(p: Any, x: Any, y: Any) -> Any:
    """As many steps as `while_loop` takes; the step that is read depends on a loop variable."""
    h0 = paddle.zeros_like(x[:, 0, :1]) + paddle.zeros([5])

    def body(t: Any, h: Any, c: Any) -> Any:
        step = paddle.squeeze(paddle.gather(x, paddle.reshape(t, [1]), axis=1), [1])
        _, (h, c) = F.lstm_cell(step, (h, c), p["ih"], p["hh"], p["bi"], p["bh"])
        return t + 1, h, c

    start = [paddle.zeros([], "int64"), h0, h0]
    _, h, _ = static.nn.while_loop(lambda t, h, c: t < 6, body, start)
    return F.mse_loss(F.linear(h, p["w"]), y)


@model({"w": (6, 4), "v": (6, 4), "b": (4,)}, x=floats(6), label=classes(4))
def experts(p: Any, x: Any, label: Any) -> Any:
    """One of two ways for the whole batch, and one of three for its loss."""
    mean = paddle.mean(x)
    out = static.nn.cond(
        mean > 0.0,
        lambda: F.linear(x, p["w"], p["b"]),
        lambda: paddle.tanh(F.linear(x, p["v"], p["b"])) * 2.0,
    )
    loss = F.cross_entropy(out, label)
    decay = static.nn.switch_case(
        paddle.cast(mean * 10.0, "int32"),
        {0: lambda: paddle.sum(p["w"] * p["v"]), 1: lambda: paddle.mean(p["w"])},
        default=lambda: loss * 0.5,
    )
    # What no branch used has no gradient eagerly, and zeros in a program: optimizers skip the one.
    used = paddle.sum(p["w"]) + paddle.sum(p["v"])
    return loss + decay * 0.01 + used * 0.0


@model({"w": (6, 4), "b": (4,)}, x=floats(6), label=classes(4))
def shared_and_reused(p: Any, x: Any, label: Any) -> Any:
    """One weight on three ways: sums of contributions in one order in both modes."""
    hidden = F.linear(x, p["w"], p["b"])
    for _ in range(2):
        back = paddle.tanh(paddle.matmul(hidden, p["w"], transpose_y=True))
        hidden = hidden + F.linear(back, p["w"])
    return F.cross_entropy(hidden, label, label_smoothing=0.1)


def start(shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    rng = np.random.default_rng(11)
    values = {n: (0.4 * rng.standard_normal(s)).astype("float32") for n, s in shapes.items()}
    return {n: np.abs(v) if n == "@var" else v for n, v in values.items()}


def batches(data: dict[str, Any], sizes: list[int]) -> list[dict[str, Any]]:
    rng = np.random.default_rng(12)
    return [
        {
            n: rng.integers(0, many, (size, *shape))
            if many
            else rng.standard_normal((size, *shape)).astype(dtype)
            for n, (shape, dtype, many) in data.items()
        }
        for size in sizes
    ]


def attr(name: str, value: Any) -> paddle.ParamAttr:
    return paddle.ParamAttr(
        name=name,
        initializer=paddle.nn.initializer.Assign(value),
        trainable=not name.startswith("@"),
    )


def train_eagerly(m: Model, make: Any, feeds: list[Any]) -> tuple[list[float], dict[str, Any]]:
    p = {n: paddle.create_parameter(v.shape, attr=attr(n, v)) for n, v in start(m.shapes).items()}
    optimizer = make(0.05, parameters=list(p.values()))
    losses = []
    for feed in feeds:
        loss = m.loss(p, **{n: paddle.to_tensor(v) for n, v in feed.items()})
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if isinstance(optimizer._learning_rate, optimizers.lr.LRScheduler):
            optimizer._learning_rate.step()
        losses.append(loss.item())
    return losses, {n: t.numpy() for n, t in p.items()}


def train_a_program(m: Model, make: Any, feeds: list[Any]) -> tuple[list[float], dict[str, Any]]:
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    with static.program_guard(main, startup):
        p = {
            n: static.create_parameter(list(v.shape), "float32", attr=attr(n, v))
            for n, v in start(m.shapes).items()
        }
        inputs = {n: static.data(n, [None, *s], dtype) for n, (s, dtype, _) in m.data.items()}
        loss = m.loss(p, **inputs)
        optimizer = make(0.05)
        optimizer.minimize(loss)
    exe = static.Executor()
    exe.run(startup, scope=scope)
    losses = []
    for feed in feeds:
        losses.append(exe.run(main, feed=feed, fetch_list=[loss], scope=scope)[0].item())
        if isinstance(optimizer._learning_rate, optimizers.lr.LRScheduler):
            optimizer._learning_rate.step()
    return losses, {n: np.array(scope.find_var(n).get_tensor()) for n in p}


def _with_everything(rate: float, **given: Any) -> Any:
    """Decay, a clipped norm, and a rate that changes from step to step."""
    return optimizers.AdamW(
        optimizers.lr.CosineAnnealingDecay(rate, T_max=STEPS),
        weight_decay=0.02,
        grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5),
        **given,
    )


OPTIMIZERS = [
    getattr(optimizers, name)
    for name in sorted(optimizers.__all__)
    # LBFGS calls its closure as often as it needs to, which a program cannot.
    if name not in ("LBFGS", "Optimizer", "lr")
]


TRAININGS = [
    pytest.param(which, make, id=f"{which}-{make.__name__}")
    for which in MODELS
    for make in [*OPTIMIZERS, _with_everything]
]
# One model with every optimizer, and every model with one.
REPRESENTATIVE = [
    training
    for training in TRAININGS
    if training.values[0] == "perceptron" or training.values[1] is optimizers.Adam
]


@pytest.mark.parametrize(("which", "make"), by_default(TRAININGS, REPRESENTATIVE))
def test_both_modes_train_to_the_same_bits(which: str, make: Any) -> None:
    m = MODELS[which]
    feeds = batches(m.data, [BATCH] * (STEPS - 2) + [1, BATCH + 3])
    before = start(m.shapes)
    eager_losses, eager = train_eagerly(m, make, feeds)
    static_losses, compiled = train_a_program(m, make, feeds)
    for name, value in eager.items():
        np.testing.assert_array_equal(value, compiled[name], err_msg=name)
        assert not np.array_equal(value, before[name]), f"{name} was not trained"
        assert np.isfinite(value).all()
    assert eager_losses == static_losses


@pytest.mark.parametrize("which", MODELS)
def test_a_seed_repeats_a_run_and_training_learns(which: str) -> None:
    """One batch over and over: the loss falls, and falls the same way each time."""
    m = MODELS[which]
    feeds = batches(m.data, [BATCH]) * 30
    first, _ = train_eagerly(m, Adam, feeds)
    again, _ = train_eagerly(m, Adam, feeds)
    assert first == again
    assert first[-1] < first[0]


def test_dropout_draws_the_same_in_both_modes() -> None:
    def loss(p: Any, x: Any) -> Any:
        return paddle.mean(F.dropout(F.linear(x, p["w"]), 0.4))

    m = Model(loss, {"w": (6, 8)}, {"x": floats(6)})
    feeds = batches(m.data, [BATCH] * STEPS)
    paddle.seed(5)
    eager_losses, _ = train_eagerly(m, SGD, feeds)
    paddle.seed(5)
    static_losses, _ = train_a_program(m, SGD, feeds)
    assert len(set(eager_losses)) == STEPS
    assert eager_losses == static_losses


@pytest.mark.parametrize("unknown", range(5))
@pytest.mark.parametrize("shape", [(5, 7, 3, 33), (2, 0, 3, 4), (2, 2, 3, 0)], ids=str)
def test_a_product_has_the_same_bits_whatever_sizes_are_known(
    shape: tuple[int, ...], unknown: int
) -> None:
    """One large product or many small ones differ in their last bits: the rank decides which."""
    rng = np.random.default_rng(7)
    value = rng.standard_normal(shape).astype("float32")
    weights = rng.standard_normal((shape[-1], 6)).astype("float32")

    def orders(x: Any, w: Any, gradient: Any) -> list[Any]:
        out = F.linear(paddle.tanh(x), w)
        also = paddle.matmul(x, paddle.t(w), transpose_y=True)
        first = gradient(paddle.sum(out * out + also), [x, w])
        return [out, also, *first, *gradient(paddle.sum(first[0] * first[1].sum()), [x, w])]

    def eagerly(y: Any, inputs: Any) -> list[Any]:
        return list(paddle.grad(y, inputs, create_graph=True))

    x, w = (paddle.to_tensor(v, stop_gradient=False) for v in (value, weights))
    expected = [v.numpy() for v in orders(x, w, eagerly)]
    with static.program_guard(static.Program()):
        declared = [None if k < unknown else size for k, size in enumerate(shape)]
        x, w = static.data("x", declared), static.data("w", list(weights.shape))
        x.stop_gradient = w.stop_gradient = False
        results = orders(x, w, static.gradients)
        feed = {"x": value, "w": weights}
        fetched = static.Executor().run(x.block.program, feed=feed, fetch_list=results)
    for have, want in zip(fetched, expected, strict=True):
        np.testing.assert_array_equal(have, want)


def test_linear_flattens_as_its_rank_says() -> None:
    for shape in ([None, None, 4], [2, None, 4], [2, 3, 4]):
        with static.program_guard(static.Program()):
            out = F.linear(static.data("x", shape), static.data("w", [4, 5]))
            types = [op.type for op in out.block.ops]
        assert types == ["flatten_lead", "matmul", "unflatten_lead"]
        assert out.shape == (*(-1 if d is None else d for d in shape[:-1]), 5)


# --- any order


def _expression(seed: int, x: Any) -> Any:
    """A graph of shared values, the same one in either mode."""
    choose = random.Random(seed)
    pool = [x, x * 1.5]
    for _ in range(8):
        a, b = choose.choice(pool), choose.choice(pool)
        pool.append(
            choose.choice(
                [
                    lambda a, b: a * b,
                    lambda a, b: a + b,
                    lambda a, b: a - b,
                    lambda a, b: a / (b * b + 1.0),
                    lambda a, b: paddle.tanh(a),
                    lambda a, b: paddle.sin(b) * 0.5,
                ]
            )(a, b)
        )
    return pool[-1] + pool[-2] + pool[-3]


def _three_orders(seed: int, x: Any, derive: Any) -> list[Any]:
    found = []
    value = _expression(seed, x)
    for _ in range(3):
        (value,) = derive((value * value).sum(), x)
        found.append(value)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_three_orders_of_any_graph_have_the_same_bits(seed: int) -> None:
    values = np.random.default_rng(seed).uniform(0.5, 1.5, 200).astype("float32")
    x = paddle.to_tensor(values, stop_gradient=False)
    eager = _three_orders(seed, x, lambda y, x: paddle.grad(y, x, create_graph=True))
    with paddle.static.program_guard(paddle.static.Program()):
        v = paddle.static.data("x", [200], "float32")
        v.stop_gradient = False
        fetches = _three_orders(seed, v, paddle.static.gradients)
        static = paddle.static.Executor().run(feed={"x": values}, fetch_list=fetches)
    for order, (tensor, array) in enumerate(zip(eager, static, strict=True), start=1):
        assert tensor.numpy().tobytes() == array.tobytes(), f"order {order}"
