"""Programs that the tests of files save and load, small and of many kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine import static, unique_name


@dataclass
class Built:
    """A program with what to feed and what to fetch."""

    main: static.Program
    startup: static.Program
    feed: dict[str, np.ndarray]
    fetch: list[str]


def _floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32")


def _regression() -> tuple[Any, Any]:
    x = static.data("x", [None, 4], "float32")
    y = static.data("y", [None, 1], "float32")
    h = static.nn.fc(x, 3, activation="tanh", name="hidden")
    loss = paddle.mean((static.nn.fc(h, 1, name="out") - y) ** 2)
    return {"x": _floats(5, 4), "y": _floats(5, 1, seed=1)}, [loss]


def _adam() -> tuple[Any, Any]:
    x = static.data("x", [None, 2], "float32")
    loss = paddle.mean(static.nn.fc(x, 1, name="out", bias_attr=False) ** 2)
    paddle.optimizer.Adam(0.1).minimize(loss)
    return {"x": _floats(3, 2)}, [loss]


def _momentum() -> tuple[Any, Any]:
    x = static.data("x", [None, 2], "float32")
    loss = paddle.mean(paddle.tanh(static.nn.fc(x, 2, name="out")))
    paddle.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return {"x": _floats(3, 2)}, [loss, "out.w_0@GRAD"]


def _second_order() -> tuple[Any, Any]:
    x = static.data("x", [None, 3], "float32")
    x.stop_gradient = False
    y = paddle.sum(paddle.tanh(x) * x)
    (first,) = static.gradients(y, x)
    (second,) = static.gradients(paddle.sum(first * first), x)
    return {"x": _floats(2, 3)}, [y, first, second]


def _indexing() -> tuple[Any, Any]:
    x = static.data("x", [None, 4], "float32")
    x.stop_gradient = False
    rows = paddle.concat([x[:, :2], x[..., ::-2]], axis=1)
    picked = paddle.gather(rows, paddle.to_tensor([1, 0, 1]), axis=0)
    pieces = paddle.split(picked * np.array([[1.0, 2.0, 3.0, np.inf]], "float32")[:, :1], 2, axis=1)
    loss = paddle.sum(paddle.clip(pieces[0], -np.inf, 0.5)) + paddle.max(pieces[1])
    static.append_backward(loss, parameter_list=[x])
    return {"x": _floats(3, 4)}, [loss, "x@GRAD"]


def _control_flow() -> tuple[Any, Any]:
    x = static.data("x", [None, 3], "float32")
    n = static.data("n", [], "int64")
    w = paddle.create_parameter([3, 3], "float32", name="loop_w")
    _, h = static.nn.while_loop(
        lambda i, h: i < n,
        lambda i, h: [i + 1, paddle.tanh(paddle.matmul(h, w))],
        [paddle.zeros([], "int64"), x],
    )
    y = static.nn.cond(paddle.sum(h) > 0, lambda: h * 2.0, lambda: h - paddle.mean(w))
    loss = paddle.mean(y * y)
    static.append_backward(loss)
    return {"x": _floats(2, 3), "n": np.array(3)}, [loss, "loop_w@GRAD"]


def _arrays() -> tuple[Any, Any]:
    x = static.data("x", [None, 3], "float32")
    w = paddle.create_parameter([3, 3], "float32", name="array_w")
    i, array = paddle.zeros([1], "int64"), paddle.tensor.create_array("float32", [x])
    outside, more = paddle.tanh(x), i < 3
    with static.nn.control_flow.While(more).block():
        h = paddle.tanh(paddle.matmul(paddle.tensor.array_read(array, i), w))
        paddle.optimizer.SGD(0.1).minimize(paddle.mean((outside - paddle.sum(w)) ** 2.0))
        paddle.increment(i)
        paddle.tensor.array_write(h, i, array)
        paddle.assign(i < 3, output=more)
    y, sizes = paddle.tensor.tensor_array_to_tensor(array, axis=0)
    loss = paddle.mean(y * y)
    (g,) = static.gradients(loss, w)
    return {"x": _floats(2, 3)}, [loss, g, sizes, paddle.tensor.array_length(array)]


def _images() -> tuple[Any, Any]:
    x = static.data("x", [None, 1, 6, 6], "float32")
    h = static.nn.conv2d(x, 2, 3, act="relu")
    h = paddle.nn.functional.max_pool2d(h, 2)
    loss = paddle.mean(paddle.nn.functional.softmax(paddle.flatten(h, 1)) ** 2)
    paddle.optimizer.SGD(0.1).minimize(loss)
    return {"x": _floats(2, 1, 6, 6)}, [loss]


def _random_draws() -> tuple[Any, Any]:
    static.default_main_program().random_seed = 7
    x = static.data("x", [2, 3], "float32")
    dropped = paddle.nn.functional.dropout(x, 0.5)
    return {"x": _floats(2, 3)}, [paddle.sum(dropped + paddle.uniform([2, 3]))]


def _appended() -> tuple[Any, Any]:
    """By the types of the reference: one operation, several, an output that nothing computes."""
    block = static.default_main_program().global_block()
    x = static.data("x", [None, 3], "float32")
    w = block.create_parameter([3, 2], "float32", name="w")
    rate = static.create_global_var([1], 0.1, "float32", persistable=True, name="rate")
    h, y, shape, loss = (block.create_var(name=n) for n in ("h", "y", "shape", "loss"))
    block.append_op("mul", {"X": x, "Y": w}, {"Out": h})
    outputs = {"Out": y, "XShape": shape}
    block.append_op("transpose2", {"X": h}, outputs, {"axis": [1, 0]})
    scaled = block.create_var(name="scaled")
    block.append_op("scale", {"X": y}, {"Out": scaled}, {"scale": 2.0, "bias": 1.0})
    block.append_op("mean", {"X": scaled}, {"Out": loss})
    for p, g in static.append_backward(loss):
        inputs = {"Param": p, "Grad": g, "LearningRate": rate}
        block.append_op("sgd", inputs, {"ParamOut": p})
    return {"x": _floats(4, 3)}, [loss, "scaled"]


BUILDERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "regression": _regression,
    "adam": _adam,
    "momentum": _momentum,
    "second-order": _second_order,
    "indexing": _indexing,
    "control-flow": _control_flow,
    "arrays": _arrays,
    "images": _images,
    "random": _random_draws,
    "appended": _appended,
}


def build(name: str) -> Built:
    """The program of that name, built with fresh counters of names."""
    main, startup = static.Program(), static.Program()
    startup.random_seed = 3
    with unique_name.guard(), static.program_guard(main, startup):
        feed, fetch = BUILDERS[name]()
    names = [f if isinstance(f, str) else f.name for f in fetch]
    return Built(main, startup, feed, names)


def run(built: Built, program: static.Program, times: int = 2) -> list[np.ndarray]:
    """What `program` computes in a fresh scope, run after run."""
    with static.scope_guard(static.Scope()):
        exe = static.Executor()
        startup = built.startup.clone()
        startup.random_seed = 3
        exe.run(startup)
        return [v for _ in range(times) for v in exe.run(program, built.feed, built.fetch)]
