"""Programs of every kind, small, each with three feeds: what the matrix of features runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine import static, unique_name

F = paddle.nn.functional
nn = static.nn
Feed = dict[str, Any]


@dataclass
class Parts:
    """What a builder says of the program that it has built.

    Attributes
    ----------
    feed : callable
        Makes a feed from a generator of random numbers.
    forward, others : list of Variable
        What is there without training, and what training adds.
    scheduler : LRScheduler, optional
        Steps on after each run.
    portable : bool
        Whether it can be a file: it runs no Python code of the user's.
    text : bool
        Whether it can be a Python module.
    """

    feed: Callable[[np.random.Generator], Feed]
    forward: list[Any]
    others: list[Any] = field(default_factory=list)
    scheduler: Any = None
    portable: bool = True
    text: bool = True


@dataclass
class Built:
    """A program, what it starts from, and what it is asked in three runs.

    `keep` holds what the builder has made: an optimizer that is let go takes its schedule along.
    """

    name: str
    main: Any
    startup: Any
    feeds: list[Feed]
    forward: list[str]
    fetches: list[str]
    parts: Parts
    start: dict[str, Any] = field(default_factory=dict)


def _floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.uniform(-1.0, 1.0, shape).astype("float32")


def _data(name: str, shape: list[Any], dtype: str = "float32", grad: bool = False) -> Any:
    x = static.data(name, shape, dtype)
    x.stop_gradient = not grad
    return x


def _mlp(train: bool) -> Parts:
    x, y = _data("x", [None, 4]), _data("y", [None, 1], "int64")
    h = nn.fc(x, 6, activation="tanh", name="hidden")
    loss = paddle.mean(F.cross_entropy(nn.fc(h, 3, name="out"), y))
    scheduler = paddle.optimizer.lr.StepDecay(0.1, step_size=1, gamma=0.5)
    if train:
        paddle.optimizer.Adam(
            scheduler,
            weight_decay=paddle.regularizer.L2Decay(0.01),
            grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5),
        ).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 5, 4), "y": rng.integers(0, 3, (5, 1))},
        [loss, h],
        ["hidden.w_0@GRAD", "out.b_0"] if train else [],
        scheduler,
    )


def _lenet(train: bool) -> Parts:
    static.default_main_program().random_seed = 5
    x, y = _data("x", [None, 1, 12, 12]), _data("y", [None, 1], "int64")
    h = nn.batch_norm(nn.conv2d(x, 2, 3, padding=1), act="relu")
    h = F.max_pool2d(h, 2, 2)
    h = F.avg_pool2d(F.relu(nn.conv2d(h, 3, 3)), 2, 2)
    h = F.dropout(nn.fc(paddle.flatten(h, 1), 8, activation="relu"), 0.25)
    scores = nn.fc(h, 3)
    loss = paddle.mean(F.softmax_with_cross_entropy(scores, y))
    if train:
        paddle.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 4, 1, 12, 12), "y": rng.integers(0, 3, (4, 1))},
        [loss, scores],
        ["conv2d_0.w_0@GRAD"] if train else [],
    )


def _tables(train: bool) -> Parts:
    """Two tables, each read twice, so that gradients are sums: of rows, and of whole arrays."""
    a, b = _data("a", [None], "int64"), _data("b", [None], "int64")
    dense = static.create_parameter([7, 3], "float32", name="dense")
    sparse = static.create_parameter([9, 3], "float32", name="sparse")
    left = nn.embedding(a, [7, 3], param_attr=paddle.ParamAttr("dense"))
    h = left * F.embedding(b, dense)
    s = F.embedding(a, sparse, sparse=True) + F.embedding(b, sparse, sparse=True) * 2.0
    loss = paddle.sum(paddle.tanh(h + s))
    if train:
        paddle.optimizer.Adagrad(0.1).minimize(loss)
    return Parts(
        lambda rng: {"a": rng.integers(0, 7, 4), "b": rng.integers(0, 7, 4)},
        [loss, h],
        ["dense@GRAD"] if train else [],
    )


def _lstm(train: bool) -> Parts:
    x = _data("x", [None, 4, 2])
    hidden = 3
    h = c = paddle.zeros([1, hidden]) * paddle.sum(x, axis=[1, 2]).unsqueeze(-1)
    for t in range(4):
        gates = nn.fc(
            paddle.concat([x[:, t], h], axis=1),
            4 * hidden,
            weight_attr=paddle.ParamAttr("cell.w"),
            bias_attr=paddle.ParamAttr("cell.b"),
        )
        i, f, g, o = paddle.split(gates, 4, axis=1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * paddle.tanh(g)
        h = F.sigmoid(o) * paddle.tanh(c)
    loss = paddle.mean(h * h)
    if train:
        paddle.optimizer.RMSProp(0.05, centered=True, momentum=0.5).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 3, 4, 2)}, [loss, h], ["cell.w@GRAD"] if train else []
    )


def _attention(train: bool) -> Parts:
    x = _data("x", [None, 4, 6], grad=True)
    q, k, v = (nn.fc(x, 6, num_flatten_dims=2, bias_attr=False) for _ in range(3))
    q, k, v = (t.reshape([0, 4, 2, 3]).transpose([0, 2, 1, 3]) for t in (q, k, v))
    mask = np.triu(np.full((4, 4), -np.inf, "float32"), 1)
    weights = F.softmax(paddle.matmul(q, k, transpose_y=True) / 3.0**0.5 + mask)
    y = paddle.matmul(weights, v).transpose([0, 2, 1, 3]).reshape([0, 4, 6])
    y = nn.layer_norm(x + y, begin_norm_axis=2)
    loss = paddle.mean(y[:, -1] ** 2 + y[:, 0])
    others = []
    if train:
        paddle.optimizer.AdamW(0.05, weight_decay=0.1).minimize(loss)
        others = static.gradients(loss, x)
    return Parts(lambda rng: {"x": _floats(rng, 2, 4, 6)}, [loss, weights], others)


def _branch(train: bool) -> Parts:
    x = _data("x", [None, 3], grad=True)
    w = static.create_parameter([3, 3], "float32", name="w")
    y, extra = nn.cond(
        paddle.mean(x) > 0.0,
        lambda: (paddle.tanh(paddle.matmul(x, w)), x[:1]),
        lambda: (x * 2.0, paddle.exp(x)),
    )
    loss = paddle.mean(y * y) + paddle.sum(extra) * 0.1
    if train:
        paddle.optimizer.Adam(0.1).minimize(loss)
    signs = iter([1.0, -1.0, 1.0] * 9)
    return Parts(
        lambda rng: {"x": np.abs(_floats(rng, 2, 3)) * np.float32(next(signs))},
        [loss, y, extra],
        ["w@GRAD", *static.gradients(loss, x)] if train else [],
    )


def _loop(train: bool) -> Parts:
    x = _data("x", [None, 3], grad=True)
    w = static.create_parameter([3, 3], "float32", name="w")
    trips, h = nn.while_loop(
        lambda n, h: paddle.sum(h * h) < 20.0,
        lambda n, h: [n + 1, h * 1.5 + paddle.tanh(paddle.matmul(h, w))],
        [paddle.zeros([], "int64"), x],
    )
    loss = paddle.mean(h)
    if train:
        paddle.optimizer.SGD(0.05).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 2, 3) * np.float32(rng.choice([0.1, 1.0, 9.0]))},
        [loss, trips],
        ["w@GRAD", *static.gradients(loss, x)] if train else [],
    )


def _nested(train: bool) -> Parts:
    x, n = _data("x", [None, 2]), _data("n", [], "int64")

    def step(i: Any, h: Any) -> list[Any]:
        def layer(name: str) -> Any:
            return nn.fc(h, 2, activation="tanh", name=name)

        turned = nn.cond(i % 2 == 0, lambda: layer("even"), lambda: layer("odd") * 0.5)
        _, turned = nn.while_loop(
            lambda j, z: j < i,
            lambda j, z: [j + 1, z * 0.9 + h],
            [paddle.zeros([], "int64"), turned],
        )
        return [i + 1, turned]

    _, h = nn.while_loop(lambda i, h: i < n, step, [paddle.zeros([], "int64"), x])
    loss = paddle.mean(h * h)
    if train:
        paddle.optimizer.Momentum(0.1, 0.9).minimize(loss)
    trips = iter([3, 0, 4] * 9)
    return Parts(
        lambda rng: {"x": _floats(rng, 3, 2), "n": np.int64(next(trips))},
        [loss, h],
        ["even.w_0@GRAD", "odd.b_0@GRAD"] if train else [],
    )


def _switch(train: bool) -> Parts:
    x, which = _data("x", [2, 3]), _data("which", [1], "int64")
    w = static.create_parameter([3], "float32", name="w")
    y = nn.switch_case(
        which,
        {0: lambda: x * w, 3: lambda: paddle.exp(x - w)},
        default=lambda: paddle.zeros_like(x) + paddle.sum(w),
    )
    z = nn.case([(paddle.sum(x) > 9.0, lambda: y * 0.0)], default=lambda: y + 1.0)
    loss = paddle.mean(z * z)
    if train:
        paddle.optimizer.Adamax(0.1).minimize(loss)
    cases = iter([0, 3, 7] * 9)
    return Parts(
        lambda rng: {"x": _floats(rng, 2, 3), "which": np.array([next(cases)])},
        [loss, y],
        ["w@GRAD"] if train else [],
    )


def _pylayer(train: bool) -> Parts:
    from autograd_engine.static.nn import static_pylayer

    x = _data("x", [None, 3])
    h = nn.fc(x, 4)
    scale = static.create_parameter([4], "float32", name="scale")
    y = static_pylayer(lambda h: paddle.round(h * 4.0) * scale, [h], lambda g: g * scale)
    loss = paddle.mean(nn.fc(y, 1) ** 2)
    if train:
        paddle.optimizer.SGD(0.1).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 3, 3)}, [loss, y], ["fc_0.w_0@GRAD"] if train else []
    )


def _python(train: bool) -> Parts:
    x = _data("x", [None, 3])
    h = static.Print(nn.fc(x, 3), message="hidden", print_tensor_name=False)
    static.Assert(paddle.all(paddle.isfinite(h)), [h])
    y = (
        static.default_main_program()
        .current_block()
        .create_var(name="made", shape=[-1, 3], dtype="float32")
    )
    static.py_func(np.sinh, h, y, lambda x, y, g: g * np.cosh(x))
    loss = paddle.mean(y * y)
    if train:
        paddle.optimizer.SGD(0.1).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 2, 3)},
        [loss, y],
        ["fc_0.w_0@GRAD"] if train else [],
        portable=False,
        text=False,
    )


def _effects(train: bool) -> Parts:
    x = _data("x", [None, 3])
    h = static.Print(nn.fc(x, 3), message="hidden", summarize=2)
    static.Assert(paddle.all(paddle.isfinite(h)), [h])
    loss = paddle.mean(h * h)
    if train:
        paddle.optimizer.SGD(0.1).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 2, 3)}, [loss, h], ["fc_0.w_0@GRAD"] if train else []
    )


def _penalty(train: bool) -> Parts:
    """Training on the norm of a gradient: the backward half is differentiated."""
    x = _data("x", [None, 3], grad=True)
    h = nn.fc(x, 4, activation="tanh", name="critic")
    score = paddle.sum(nn.fc(h, 1, name="score"))
    (g,) = static.gradients(score, x)
    norm = paddle.sqrt(paddle.sum(g * g, axis=1))
    loss = score + paddle.mean((norm - 1.0) ** 2)
    if train:
        paddle.optimizer.Adam(0.05).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 3, 3)},
        [loss, g],
        ["critic.w_0", "score.w_0@GRAD"] if train else [],
    )


def _gradients(train: bool) -> Parts:
    """Nothing is trained: gradients from a cotangent that is given, twice, past a cut."""
    x, v = _data("x", [2, 3], "float64", grad=True), _data("v", [2, 3], "float64")
    h = paddle.sin(x) * x
    y = paddle.exp(h * 0.5)
    forward = [y, h]
    others = []
    if train:
        (first,) = static.gradients(y, x, target_gradients=v)
        (second,) = static.gradients([first, y], x, target_gradients=[v, None])
        cut = static.gradients(y, x, no_grad_set={h})
        others = [first, second, *(g for g in cut if g is not None)]
    return Parts(
        lambda rng: {"x": rng.normal(size=(2, 3)), "v": rng.normal(size=(2, 3))}, forward, others
    )


def _checkpoints(train: bool) -> Parts:
    h = _data("x", [None, 4])
    kept = []
    for k in range(6):
        h = nn.fc(h, 4, activation="tanh", name=f"layer_{k}")
        h = F.dropout(h, 0.2) if k == 2 else h
        if k % 2:
            kept.append(h)
    loss = paddle.mean(h * h)
    if train:
        pairs = static.append_backward(loss, checkpoints=kept)
        paddle.optimizer.SGD(0.2).apply_gradients(pairs)
    return Parts(
        lambda rng: {"x": _floats(rng, 3, 4)},
        [loss, kept[0]],
        ["layer_0.w_0@GRAD"] if train else [],
    )


def _twice(train: bool) -> Parts:
    """Two optimizers of the same parameters, with losses of their own, and their averages."""
    x = _data("x", [None, 3])
    h = nn.fc(x, 2, name="shared")
    first, second = paddle.mean(h * h), paddle.mean(paddle.abs(h - 1.0))
    if train:
        paddle.optimizer.Adam(0.1).minimize(first)
        paddle.optimizer.Momentum(0.05, 0.9).minimize(second)
        average = static.ExponentialMovingAverage(0.9)
        average.update()
    return Parts(
        lambda rng: {"x": _floats(rng, 4, 3)}, [first, second], ["shared.w_0"] if train else []
    )


def _sizes(train: bool) -> Parts:
    x, y = _data("x", [None, None, 4], grad=True), _data("y", [None, 8])
    flat = x.reshape([-1, 8])
    left, right = paddle.split(flat, [3, -1], axis=1)
    h = paddle.concat([right, left], axis=1) * y
    h = paddle.stack([h, paddle.flip(h, [1])], axis=1).reshape([0, -1])
    w = static.create_parameter([16, 2], "float32", name="w")
    out = paddle.matmul(h, w) / paddle.cast(paddle.shape(h)[0], "float32")
    loss = paddle.mean(out * out)
    if train:
        paddle.optimizer.SGD(0.1).minimize(loss)

    def feed(rng: np.random.Generator) -> Feed:
        n = int(rng.integers(1, 4))
        return {"x": _floats(rng, n, 6, 4), "y": _floats(rng, 3 * n, 8)}

    return Parts(feed, [loss, out], ["w@GRAD", *static.gradients(loss, x)] if train else [])


def _constants(train: bool) -> Parts:
    x = _data("x", [None, 3], grad=True)
    rng = np.random.default_rng(4)
    table, big = (
        paddle.to_tensor(rng.normal(size=(3, 2)).astype("float32")),
        rng.normal(size=(3, 99)),
    )
    steps = paddle.arange(3, dtype="float32") + np.float32(0.1)
    w = static.create_parameter([2, 3], "float32", name="w")
    h = paddle.matmul(paddle.matmul(x * steps, table), w + np.ones(3, "float32"))
    far = paddle.clip(paddle.mean(paddle.cast(h, "float64")) * big, -np.inf, 1.0)
    loss = paddle.sum(h * h) + paddle.cast(paddle.sum(far), "float32") * 1e-3
    if train:
        paddle.optimizer.Adadelta(0.5).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 2, 3)},
        [loss, far],
        ["w@GRAD", *static.gradients(loss, x)] if train else [],
    )


def _indices(train: bool) -> Parts:
    x, rows = _data("x", [4, 5]), _data("rows", [None], "int64")
    w = static.create_parameter([4, 5], "float32", name="w")
    y = x * w
    y = static.setitem(y, (slice(1, 3), slice(None, None, 2)), y[:2, ::2] * 3.0)
    y = static.setitem(y, np.array([0, 3]), 0.5)
    picked = paddle.gather(y, rows) + w[rows][:, ::-1]
    top = paddle.topk(picked, 2, axis=1)[0] + paddle.scatter(y, rows, picked)[0, :2]
    loss = paddle.sum(paddle.where(top > 0.0, top, top * 0.1)) + y[-1, -1]
    if train:
        paddle.optimizer.Lamb(0.05).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 4, 5), "rows": rng.integers(0, 4, 3)},
        [loss, picked],
        ["w@GRAD"] if train else [],
    )


def _random(train: bool) -> Parts:
    """Draws from the stream that `paddle.seed` sets, inside a branch as well."""
    x = _data("x", [None, 4])
    noise = paddle.uniform([4], min=-1.0, max=1.0)
    w = static.create_parameter([4], "float32", name="w")
    h = nn.cond(paddle.sum(x) > 0.0, lambda: F.dropout(x * w, 0.5), lambda: x * w * noise)
    loss = paddle.mean(h * h + noise)
    if train:
        paddle.optimizer.SGD(0.3).minimize(loss)
    return Parts(lambda rng: {"x": _floats(rng, 3, 4)}, [loss, h], ["w@GRAD"] if train else [])


def _half(train: bool) -> Parts:
    """float16 parameters with copies in float32."""
    x = _data("x", [None, 3], "float16")
    w = static.create_parameter([3, 2], "float16", name="w")
    loss = paddle.mean(paddle.cast(paddle.matmul(x, w), "float32") ** 2)
    if train:
        paddle.optimizer.Adam(0.05, multi_precision=True).minimize(loss)
    return Parts(
        lambda rng: {"x": _floats(rng, 4, 3).astype("float16")}, [loss], ["w@GRAD"] if train else []
    )


BUILDERS: dict[str, Callable[[bool], Parts]] = {
    f.__name__[1:]: f
    for f in (
        _mlp,
        _lenet,
        _tables,
        _lstm,
        _attention,
        _branch,
        _loop,
        _nested,
        _switch,
        _pylayer,
        _python,
        _effects,
        _penalty,
        _gradients,
        _checkpoints,
        _twice,
        _sizes,
        _constants,
        _indices,
        _random,
        _half,
    )
}


def build(name: str, train: bool = True) -> Built:
    """The program of that name: the same names and numbers each time."""
    if name == "traced":
        return _traced()
    if name.startswith("startup of "):
        return _startup_of(build(name.removeprefix("startup of ")))
    main, startup = static.Program(), static.Program()
    with unique_name.guard(), static.program_guard(main, startup):
        parts = BUILDERS[name](train)
    return _finished(name, main, startup, parts)


def _finished(name: str, main: Any, startup: Any, parts: Parts) -> Built:
    rng = np.random.default_rng(1)
    forward = [v if isinstance(v, str) else v.name for v in parts.forward]
    others = [v if isinstance(v, str) else v.name for v in parts.others]
    feeds = [parts.feed(rng) for _ in range(3)]
    built = Built(name, main, startup, feeds, forward, [*forward, *others], parts)
    scope = static.Scope()
    paddle.seed(3)
    static.Executor().run(startup, scope=scope)
    built.start = {n: scope.find_var(n).value for n in scope.local_var_names()}
    return built


def _startup_of(built: Built) -> Built:
    """A startup program as one that is run three times."""
    return Built(
        f"startup of {built.name}",
        built.startup,
        static.Program(),
        [{}] * 3,
        [],
        [],
        Parts(dict, []),
    )


def _traced() -> Built:
    """What `jit.to_static` has made of a function with a branch, a loop and tensors of its own."""
    table = paddle.to_tensor(np.float32([[0.5, -1.0, 2.0]] * 3), stop_gradient=False)
    table.name = "table"

    @paddle.jit.to_static
    def function(x: Any, y: Any) -> Any:
        h = F.softmax(paddle.matmul(x, table)) * y
        h = static.nn.cond(paddle.sum(h) > 0.0, lambda: h * 2.0, lambda: paddle.exp(h))
        return h, paddle.mean(h)

    x, y = paddle.ones([2, 3]), paddle.ones([2, 3])
    traced = function.trace(x, y)
    main = traced.program
    parts = Parts(
        lambda rng: {v.name: _floats(rng, *v.shape) for v in traced.inputs}, list(traced.outputs)
    )
    built = _finished("traced", main, static.Program(), parts)
    built.start = {v.name: table.numpy() for v in main.list_vars() if v.persistable}
    return built


KINDS = [*BUILDERS, "traced", "startup of mlp", "startup of twice", "startup of half"]
