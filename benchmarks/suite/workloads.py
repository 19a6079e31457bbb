"""The twelve training steps: their data, their first parameters, their optimizers.

Every library computes the same losses from these arrays (`measure` compares them), in the dtype
that is given here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "BETA1",
    "BETA2",
    "EPSILON",
    "WORKLOADS",
    "Arrays",
    "Workload",
    "data",
    "for_lstm_layers",
]

Arrays = dict[str, np.ndarray[Any, Any]]
Rng = np.random.Generator

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # of Adam
f32, f64 = np.float32, np.float64


@dataclass(frozen=True)
class Workload:
    """One training step.

    Parameters
    ----------
    key : str
        As it stands in tables.
    name : str
        The function of that name computes the loss, in the module of each library.
    title : str
    make : callable
        Feeds and first parameters from a generator.
    rate : float
        The learning rate.
    optimizer : str
        "sgd" or "adam".
    dtype : str
        Of the parameters.
    """

    key: str
    name: str
    title: str
    make: Callable[[Rng], tuple[Arrays, Arrays]]
    rate: float
    optimizer: str = "sgd"
    dtype: str = "float32"


def _weight(rng: Rng, *shape: int) -> np.ndarray[Any, Any]:
    fan = shape[0] if len(shape) <= 2 else int(np.prod(shape[1:]))
    return (rng.standard_normal(shape) / np.sqrt(fan)).astype(f32)


def _normal(rng: Rng, *shape: int) -> np.ndarray[Any, Any]:
    return rng.standard_normal(shape).astype(f32)


def _zeros(*shape: int) -> np.ndarray[Any, Any]:
    return np.zeros(shape, f32)


def _layers(rng: Rng, *sizes: int) -> Arrays:
    """Weights and biases of a perceptron, ``w1``, ``b1``, ``w2``, ..."""
    found = {}
    for i, (a, b) in enumerate(itertools.pairwise(sizes), 1):
        found[f"w{i}"], found[f"b{i}"] = _weight(rng, a, b), _zeros(b)
    return found


def _mlp(rng: Rng) -> tuple[Arrays, Arrays]:
    return {"x": _normal(rng, 32, 13), "y": _normal(rng, 32, 1)}, _layers(rng, 13, 64, 1)


def _mnist(rng: Rng) -> tuple[Arrays, Arrays]:
    feeds = {"x": rng.random((128, 784), f32), "y": rng.integers(0, 10, 128)}
    return feeds, _layers(rng, 784, 512, 256, 10)


def _lenet(rng: Rng) -> tuple[Arrays, Arrays]:
    feeds = {"x": rng.random((64, 1, 28, 28), f32), "y": rng.integers(0, 10, 64)}
    filters = {"k1": _weight(rng, 6, 1, 5, 5), "c1": _zeros(6)}
    filters |= {"k2": _weight(rng, 16, 6, 5, 5), "c2": _zeros(16)}
    return feeds, filters | _layers(rng, 256, 120, 84, 10)


def _transformer(rng: Rng) -> tuple[Arrays, Arrays]:
    d = 256
    feeds = {"x": _normal(rng, 8, 128, d), "y": _normal(rng, 8, 128, d)}
    params = {"g1": _zeros(d) + 1, "e1": _zeros(d), "g2": _zeros(d) + 1, "e2": _zeros(d)}
    params |= {"wqkv": _weight(rng, d, 3 * d), "bqkv": _zeros(3 * d)}
    params |= {"wo": _weight(rng, d, d), "bo": _zeros(d)}
    return feeds, params | _layers(rng, d, 4 * d, d)


def _options(rng: Rng) -> tuple[Arrays, Arrays]:
    n = 1_000_000
    feeds = {"spot": rng.random(n, f32) * 50 + 75, "strike": rng.random(n, f32) * 50 + 75}
    feeds |= {"time": rng.random(n, f32) * 2 + f32(0.25), "price": rng.random(n, f32) * 30 + 2}
    return feeds, {"sigma": rng.random(n, f32) * f32(0.3) + f32(0.1)}


def _logistic(rng: Rng) -> tuple[Arrays, Arrays]:
    feeds = {"x": _normal(rng, 10_000, 100), "y": (rng.random(10_000) > 0.5).astype(f32)}
    return feeds, {"w": np.full(100, 0.01, f32), "b": _zeros()}


def _lstm(rng: Rng) -> tuple[Arrays, Arrays]:
    times, batch, size, hidden = 50, 32, 64, 128
    feeds = {"x": _normal(rng, times, batch, size), "y": _normal(rng, batch, 1)}
    params = {"wx": _weight(rng, size, 4 * hidden), "wh": _weight(rng, hidden, 4 * hidden)}
    return feeds, params | {"b": _zeros(4 * hidden), "wo": _weight(rng, hidden, 1)}


def _word2vec(rng: Rng) -> tuple[Arrays, Arrays]:
    words, size, pairs, negatives = 50_000, 100, 1024, 5
    often = 1.0 / (np.arange(words) + 10.0)  # Zipf, so that words repeat within a batch
    noise = often**0.75
    often, noise = often / often.sum(), noise / noise.sum()
    feeds = {
        "center": rng.choice(words, pairs, p=often),
        "context": rng.choice(words, pairs, p=often),
        "negative": rng.choice(words, (pairs, negatives), p=noise),
    }
    shape = words, size
    return feeds, {
        "inner": _normal(rng, *shape) * f32(0.2),
        "outer": _normal(rng, *shape) * f32(0.2),
    }


def _mixture(rng: Rng) -> tuple[Arrays, Arrays]:
    points, size, parts = 10_000, 10, 25
    where = rng.standard_normal((parts, size)) * 2
    x = where[rng.integers(0, parts, points)] + rng.standard_normal((points, size))
    params = {
        "weight": rng.standard_normal(parts) * 0.1,
        "mean": where + rng.standard_normal((parts, size)) * 0.5,
        "diagonal": rng.standard_normal((parts, size)) * 0.1,
        "lower": rng.standard_normal((parts, size, size)) * 0.1,
    }
    fixed = {"below": np.tril(np.ones((size, size)), -1), "unit": np.eye(size)}
    return {"x": x, **fixed}, params


def _ode(rng: Rng) -> tuple[Arrays, Arrays]:
    batch = 256
    feeds = {name: rng.random(batch) + 0.5 for name in ("prey", "hunter", "prey_end", "hunter_end")}
    rates = {"a": 1.1, "b": 0.4, "c": 0.4, "d": 0.1}
    return feeds, {name: np.array(value) for name, value in rates.items()}


def _scalar(rng: Rng) -> tuple[Arrays, Arrays]:
    feeds = {"x": np.array(0.3), "y": np.array(-0.2), "target": np.array(0.7)}
    return feeds, {k: np.array(v) for k, v in {"a": 0.9, "b": 0.4, "c": 0.8, "d": 0.7}.items()}


def _resnet(rng: Rng) -> tuple[Arrays, Arrays]:
    shape = 16, 64, 32, 32
    params = {"k1": _weight(rng, 64, 64, 3, 3), "g1": _zeros(64) + 1, "e1": _zeros(64)}
    params |= {"k2": _weight(rng, 64, 64, 3, 3), "g2": _zeros(64) + 1, "e2": _zeros(64)}
    return {"x": _normal(rng, *shape), "y": _normal(rng, *shape)}, params


_ALL = (
    Workload("W1", "mlp", "perceptron 13-64-1, batch 32", _mlp, 0.01),
    Workload("W2", "mnist", "perceptron 784-512-256-10, batch 128, Adam", _mnist, 1e-3, "adam"),
    Workload("W3", "lenet", "LeNet-5, batch 64", _lenet, 0.01),
    Workload("W4", "transformer", "transformer block, 8 x 128 x 256, 4 heads", _transformer, 0.01),
    Workload("W5", "options", "option prices, 1e6 elements", _options, 10.0),
    Workload("W6", "logistic", "logistic regression, 10k x 100", _logistic, 0.1),
    Workload("W7", "lstm", "LSTM of 128, 50 steps, batch 32", _lstm, 0.1),
    Workload("W8", "word2vec", "word2vec, 50k x 100, 1024 pairs, 5 negatives", _word2vec, 25.0),
    Workload("W9", "mixture", "Gaussian mixture, 10k x 10 x 25", _mixture, 0.1, dtype="float64"),
    Workload("W10", "ode", "Lotka-Volterra x 256, 200 RK4 steps", _ode, 1e-4, dtype="float64"),
    Workload("W11", "scalar", "1,000 scalar operations", _scalar, 0.01, dtype="float64"),
    Workload("W12", "resnet", "ResNet block of 64 channels, 16 x 32 x 32", _resnet, 0.1),
)
WORKLOADS = {workload.key: workload for workload in _ALL}


def data(workload: Workload) -> tuple[Arrays, Arrays]:
    """Feeds and first parameters, the same ones at each call."""
    return workload.make(np.random.default_rng(7))


def for_lstm_layers(params: Arrays) -> Arrays:
    """The parameters of W7 as layers take them: transposed, with gates in the order i, f, g, o."""
    size = params["wh"].shape[0]
    order = np.r_[0 : 2 * size, 3 * size : 4 * size, 2 * size : 3 * size]
    turned = {k: np.ascontiguousarray(params[k].T[order]) for k in ("wx", "wh")}
    return {**params, **turned, "b": params["b"][order]}
