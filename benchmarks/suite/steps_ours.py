"""The steps in autograd_engine: one text of each loss for tensors and for programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.compiler.backend import BACKENDS
from autograd_engine.nn import functional as F
from autograd_engine.nn.functional.recurrent import scan

from .candidates import Candidate, Maker
from .workloads import BETA1, BETA2, EPSILON, Arrays, Workload, data, for_lstm_layers

__all__ = ["Program", "makers", "program"]

Params = dict[str, Any]


def mlp(p: Params, x: Any, y: Any) -> Any:
    h = F.relu(x @ p["w1"] + p["b1"])
    return F.mse_loss(h @ p["w2"] + p["b2"], y)


def _classifier(p: Params, h: Any, y: Any) -> Any:
    h = F.relu(h @ p["w1"] + p["b1"])
    h = F.relu(h @ p["w2"] + p["b2"])
    return F.cross_entropy(h @ p["w3"] + p["b3"], y)


def mnist(p: Params, x: Any, y: Any) -> Any:
    return _classifier(p, x, y)


def lenet(p: Params, x: Any, y: Any) -> Any:
    h = F.max_pool2d(F.relu(F.conv2d(x, p["k1"], p["c1"])), 2)
    h = F.max_pool2d(F.relu(F.conv2d(h, p["k2"], p["c2"])), 2)
    return _classifier(p, paddle.reshape(h, [64, 256]), y)


def transformer(p: Params, x: Any, y: Any) -> Any:
    x, y = paddle.reshape(x, [1024, 256]), paddle.reshape(y, [1024, 256])
    qkv = F.layer_norm(x, [256], p["g1"], p["e1"]) @ p["wqkv"] + p["bqkv"]
    q, k, v = paddle.unbind(paddle.reshape(qkv, [8, 128, 3, 4, 64]), 2)
    o = paddle.reshape(F.scaled_dot_product_attention(q, k, v), [1024, 256])
    x = x + (o @ p["wo"] + p["bo"])
    h = F.layer_norm(x, [256], p["g2"], p["e2"]) @ p["w1"] + p["b1"]
    x = x + (F.gelu(h, approximate=True) @ p["w2"] + p["b2"])
    return F.mse_loss(x, y)


def options(p: Params, spot: Any, strike: Any, time: Any, price: Any) -> Any:
    def normal(x: Any) -> Any:
        return 0.5 * (1 + paddle.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))

    sigma = p["sigma"]
    width = sigma * paddle.sqrt(time)
    d = (paddle.log(spot / strike) + (0.03 + 0.5 * sigma * sigma) * time) / width
    paid = strike * paddle.exp(-0.03 * time) * normal(d - width)
    return paddle.mean(paddle.square(spot * normal(d) - paid - price))


def logistic(p: Params, x: Any, y: Any) -> Any:
    return F.binary_cross_entropy_with_logits(paddle.mv(x, p["w"]) + p["b"], y)


def lstm(p: Params, x: Any, y: Any) -> Any:
    z = paddle.reshape(x, [1600, 64]) @ p["wx"] + p["b"]
    z = paddle.reshape(z, [50, 32, 512])
    h = c = None
    for t in range(50):
        gates = z[t] if h is None else z[t] + h @ p["wh"]
        i, f, o, g = paddle.split(gates, 4, axis=1)
        new = F.sigmoid(i) * paddle.tanh(g)
        c = new if c is None else F.sigmoid(f) * c + new
        h = F.sigmoid(o) * paddle.tanh(c)
    return F.mse_loss(h @ p["wo"], y)


def lstm_layer(p: Params, x: Any, y: Any) -> Any:
    """All times at once, as `nn.LSTM` computes them; see `for_lstm_layers`."""
    _, (h, _) = scan("lstm", x, (p["wx"], p["wh"], p["b"], None), None)
    return F.mse_loss(h @ p["wo"], y)


def word2vec(p: Params, center: Any, context: Any, negative: Any) -> Any:
    inner = F.embedding(center, p["inner"], sparse=True)
    outer = F.embedding(context, p["outer"], sparse=True)
    noise = F.embedding(negative, p["outer"], sparse=True)
    near = F.log_sigmoid(paddle.sum(inner * outer, axis=1))
    far = noise @ paddle.unsqueeze(inner, 2)
    return -paddle.mean(near + paddle.sum(F.log_sigmoid(-far), axis=[1, 2]))


def mixture(p: Params, x: Any, below: Any, unit: Any) -> Any:
    root = p["lower"] * below + paddle.unsqueeze(paddle.exp(p["diagonal"]), 2) * unit
    shift = paddle.reshape(root @ paddle.unsqueeze(p["mean"], 2), [250])
    z = x @ paddle.transpose(paddle.reshape(root, [250, 10]), [1, 0]) - shift
    distance = paddle.sum(paddle.square(paddle.reshape(z, [10_000, 25, 10])), axis=2)
    inner = p["weight"] + paddle.sum(p["diagonal"], axis=1) - 0.5 * distance
    return paddle.logsumexp(p["weight"]) - paddle.mean(paddle.logsumexp(inner, axis=1))


def _rk4(p: Params, x: Any, y: Any, h: float = 0.05) -> tuple[Any, Any]:
    def slope(x: Any, y: Any) -> tuple[Any, Any]:
        return x * (p["a"] - p["b"] * y), y * (p["d"] * x - p["c"])

    x1, y1 = slope(x, y)
    x2, y2 = slope(x + h / 2 * x1, y + h / 2 * y1)
    x3, y3 = slope(x + h / 2 * x2, y + h / 2 * y2)
    x4, y4 = slope(x + h * x3, y + h * y3)
    x = x + h / 6 * (x1 + 2.0 * (x2 + x3) + x4)
    return x, y + h / 6 * (y1 + 2.0 * (y2 + y3) + y4)


def _distance(x: Any, y: Any, x_end: Any, y_end: Any) -> Any:
    return paddle.mean(paddle.square(x - x_end) + paddle.square(y - y_end))


def ode(p: Params, prey: Any, hunter: Any, prey_end: Any, hunter_end: Any) -> Any:
    x, y = prey, hunter
    for _ in range(200):
        x, y = _rk4(p, x, y)
    return _distance(x, y, prey_end, hunter_end)


def ode_loop(p: Params, prey: Any, hunter: Any, prey_end: Any, hunter_end: Any) -> Any:
    """The 200 steps as one operator of the program."""
    count = paddle.zeros([], "int64")
    _, x, y = static.nn.while_loop(
        lambda i, x, y: i < 200, lambda i, x, y: [i + 1, *_rk4(p, x, y)], [count, prey, hunter]
    )
    return _distance(x, y, prey_end, hunter_end)


def scalar(p: Params, x: Any, y: Any, target: Any) -> Any:
    for _ in range(100):
        u = paddle.tanh(p["a"] * x + p["b"] * y)
        y = p["c"] * y + p["d"] * paddle.sin(x)
        x = u + 0.5 * y
    return paddle.square(x - target)


def resnet(p: Params, x: Any, y: Any) -> Any:
    def norm(x: Any, i: int) -> Any:
        return F.batch_norm(x, p[f"mean{i}"], p[f"var{i}"], p[f"g{i}"], p[f"e{i}"], training=True)

    h = F.relu(norm(F.conv2d(x, p["k1"], padding=1), 1))
    h = norm(F.conv2d(h, p["k2"], padding=1), 2)
    return F.mse_loss(F.relu(h + x), y)


_VARIANTS = {"ode": {"loop": ode_loop}}


def _statistics(w: Workload) -> Arrays:
    """What a step changes besides the parameters."""
    if w.name != "resnet":
        return {}
    zeros = {f"mean{i}": np.zeros(64, np.float32) for i in (1, 2)}
    return zeros | {f"var{i}": np.ones(64, np.float32) for i in (1, 2)}


def _optimizer(w: Workload, parameters: list[Any] | None = None) -> Any:
    if w.optimizer == "adam":
        return paddle.optimizer.Adam(w.rate, BETA1, BETA2, EPSILON, parameters=parameters)
    return paddle.optimizer.SGD(w.rate, parameters=parameters)


def eager(
    w: Workload, loss: Any = None, change: Callable[[Arrays], Arrays] | None = None
) -> Candidate:
    feeds, arrays = data(w)
    arrays = change(arrays) if change else arrays
    given = [paddle.to_tensor(a) for a in feeds.values()]
    params = {k: paddle.to_tensor(a, stop_gradient=False) for k, a in arrays.items()}
    optimizer = _optimizer(w, list(params.values()))
    values = params | {k: paddle.to_tensor(a) for k, a in _statistics(w).items()}
    loss = loss or globals()[w.name]

    def step() -> Any:
        value = loss(values, *given)
        value.backward()
        optimizer.step()
        optimizer.clear_grad(False)
        return value

    return Candidate(step, lambda value: float(value.item()))


class Program:
    """A training step as a program, with a scope that holds its first parameters.

    Parameters
    ----------
    w : Workload
    loss : callable
        Of the parameters by name, and the feeds.
    dtype : str, optional
        Of all floating-point arrays, in place of the workload's.
    """

    def __init__(self, w: Workload, loss: Any, dtype: str | None = None) -> None:
        feeds, arrays = data(w)
        self.feeds, arrays, kept = (
            _converted(given, dtype) for given in (feeds, arrays, _statistics(w))
        )
        self.parameters = list(arrays)
        self.main, start = static.Program(), static.Program()
        with static.program_guard(self.main, start):
            values = {
                name: static.create_parameter(list(a.shape), str(a.dtype), name=name)
                for name, a in arrays.items()
            }
            for name, a in kept.items():
                values[name] = static.create_global_var(
                    list(a.shape), 0.0, str(a.dtype), persistable=True, name=name
                )
            given = [static.data(k, list(a.shape), str(a.dtype)) for k, a in self.feeds.items()]
            self.loss = loss(values, *given)
            _optimizer(w).minimize(self.loss)
        self.scope = static.Scope()
        static.Executor().run(start, scope=self.scope)
        for name, a in {**arrays, **kept}.items():
            self.scope.find_var(name).get_tensor().set(a)

    def step(self, backend: str) -> Candidate:
        """One training step, bound to its feeds, on a backend of the executor."""
        executor = static.Executor(backend=backend)
        # As a step of jax's own, one that runs on a device is fed what lies there, and is waited
        # for at the end.
        keeps = BACKENDS[backend].keeps
        bound = executor.prepare(
            self.main,
            feed=list(self.feeds),
            fetch_list=[self.loss],
            scope=self.scope,
            return_numpy=not keeps,
        )
        arrays: list[Any] = list(self.feeds.values())
        if keeps:
            arrays = list(map(paddle.to_tensor, arrays))

        def step() -> Any:
            return bound(*arrays)[0]

        return Candidate(step, backend=lambda: repr(bound).rpartition("run by ")[2].rstrip(">"))

    def values(self) -> Arrays:
        """The parameters now."""
        return {k: np.array(self.scope.find_var(k).get_tensor()) for k in self.parameters}


def _converted(arrays: Arrays, dtype: str | None) -> Arrays:
    if dtype is None:
        return arrays
    return {k: a.astype(dtype) if a.dtype.kind == "f" else a for k, a in arrays.items()}


def program(w: Workload, variant: str = "", dtype: str | None = None) -> Program:
    """The step of `w` as a program of its own."""
    return Program(w, _VARIANTS[w.name][variant] if variant else globals()[w.name], dtype)


def makers(w: Workload, cores: int) -> dict[str, Maker]:
    """The candidates of this library for one workload, by name."""
    found: dict[str, Maker] = {"ours eager": lambda: eager(w)}
    if w.name == "lstm":
        found["ours eager lstm"] = lambda: eager(w, lstm_layer, for_lstm_layers)
    backends = ["numpy", "native", *(["jax"] if not BACKENDS["jax"].missing else [])]
    for variant in ("", *_VARIANTS.get(w.name, ())):
        for backend in backends:
            name = f"ours {backend} {variant}".strip()
            found[name] = lambda b=backend, v=variant: program(w, v).step(b)  # type: ignore[misc]
    return found
