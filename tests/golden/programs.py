"""Ten programs whose texts are kept in this directory, with what to feed them and to fetch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import autograd_engine as paddle

__all__ = ["PROGRAMS", "Built", "build"]

static = paddle.static
F = paddle.nn.functional
Feed = dict[str, np.ndarray[Any, Any]]


class Built(NamedTuple):
    main: Any
    startup: Any
    feed: Feed
    fetches: list[Any]


def append_backward(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    x = static.data(name="x", shape=[None, 13], dtype="int64")
    y = static.data(name="y", shape=[None, 1], dtype="float32")
    x_emb = static.nn.embedding(x, size=[100, 256])
    y_predict = static.nn.fc(x=x_emb, size=1, activation=None, name="my_fc")
    loss = F.square_error_cost(input=y_predict, label=y)
    avg_loss = paddle.mean(loss)
    pairs = static.append_backward(loss=avg_loss)
    feed = {"x": rng.integers(0, 100, (1, 13)), "y": rng.random((1, 1), "float32")}
    return feed, [avg_loss, *(grad for _, grad in pairs)]


def mlp_and_adam(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    x = static.data("x", [None, 4])
    label = static.data("label", [None, 1], "int64")
    hidden = static.nn.fc(x, 8, activation="relu")
    loss = paddle.mean(F.cross_entropy(static.nn.fc(hidden, 3), label))
    paddle.optimizer.Adam(learning_rate=0.01).minimize(loss)
    feed = {"x": rng.normal(size=(5, 4)).astype("float32"), "label": rng.integers(0, 3, (5, 1))}
    return feed, [loss]


def convolutions(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    x = static.data("x", [None, 1, 8, 8])
    h = static.nn.conv2d(x, num_filters=2, filter_size=3, act="relu")
    h = F.max_pool2d(h, 2)
    loss = paddle.mean(paddle.square(static.nn.fc(h, 2)))
    paddle.optimizer.Momentum(0.1, momentum=0.9).minimize(loss)
    return {"x": rng.normal(size=(2, 1, 8, 8)).astype("float32")}, [loss]


def shared_embedding(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    """One table that is read three times: its gradient is a sum, in the order of arrival."""
    words = [static.data(name, [None], "int64") for name in ("first", "second", "next")]
    table = paddle.ParamAttr(name="table")
    a, b, c = (static.nn.embedding(w, size=[7, 3], param_attr=table) for w in words)
    loss = paddle.sum(paddle.tanh(a + b) * c)
    ((_, grad),) = static.append_backward(loss)
    return {w.name: rng.integers(0, 7, 4) for w in words}, [loss, grad]


def batch_norm(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    x = static.data("x", [None, 3, 2, 2])
    loss = paddle.mean(paddle.square(static.nn.batch_norm(x, momentum=0.5)) * x)
    paddle.optimizer.SGD(0.1).minimize(loss)
    return {"x": rng.normal(size=(4, 3, 2, 2)).astype("float32")}, [loss]


def second_order(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    x = static.data("x", [3], "float64")
    x.stop_gradient = False
    (first,) = static.gradients(paddle.tanh(x * x), x)
    (second,) = static.gradients(first, x)
    return {"x": rng.normal(size=3)}, [first, second]


def dropout(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    static.default_main_program().random_seed = 7
    x = static.data("x", [None, 6])
    h = F.dropout(static.nn.fc(x, 6, activation="tanh"), p=0.25)
    loss = paddle.mean(static.nn.fc(h, 1))
    paddle.optimizer.SGD(0.1).minimize(loss)
    return {"x": rng.normal(size=(2, 6)).astype("float32")}, [loss]


def branch(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    x = static.data("x", [None, 2])
    w = static.create_parameter([2, 2], "float32", name="w")
    y = paddle.matmul(x, w)
    loss = paddle.mean(
        static.nn.cond(paddle.sum(x) > 0.0, lambda: paddle.tanh(y) * 2.0, lambda: y * y)
    )
    ((_, grad),) = static.append_backward(loss)
    return {"x": rng.normal(size=(3, 2)).astype("float32")}, [loss, grad]


def loop(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    """As many steps as the data say."""
    x = static.data("x", [3])
    w = static.create_parameter([3], "float32", name="w")
    _, y = static.nn.while_loop(
        lambda n, h: paddle.sum(h) < 6.0,
        lambda n, h: [n + 1, h + paddle.exp(w * h)],
        [paddle.zeros([1], "int64"), x],
    )
    loss = paddle.sum(y)
    ((_, grad),) = static.append_backward(loss)
    return {"x": rng.random(3, "float32")}, [loss, grad]


def checkpoints(rng: np.random.Generator) -> tuple[Feed, list[Any]]:
    """Between the checkpoints the forward half is computed again for the backward half."""
    h = static.data("x", [None, 4])
    kept = []
    for k in range(4):
        h = paddle.tanh(static.nn.fc(h, 4, name=f"layer_{k}"))
        if k % 2:
            kept.append(h)
    loss = paddle.mean(h)
    pairs = static.append_backward(loss, checkpoints=kept)
    feed = {"x": rng.normal(size=(2, 4)).astype("float32")}
    return feed, [loss, *(grad for _, grad in pairs)]


PROGRAMS: dict[str, Callable[[np.random.Generator], tuple[Feed, list[Any]]]] = {
    f.__name__: f
    for f in (
        append_backward,
        mlp_and_adam,
        convolutions,
        shared_embedding,
        batch_norm,
        second_order,
        dropout,
        branch,
        loop,
        checkpoints,
    )
}


def build(name: str) -> Built:
    """The program of that name, built afresh: the same names each time."""
    main, startup = static.Program(), static.Program()
    with paddle.unique_name.guard(), static.program_guard(main, startup):
        feed, fetches = PROGRAMS[name](np.random.default_rng(0))
    return Built(main, startup, feed, fetches)
