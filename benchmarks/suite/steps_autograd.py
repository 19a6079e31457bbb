"""The steps in HIPS autograd. Convolutions are sums of products of shifted images."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import autograd.numpy as np
import numpy
from autograd import value_and_grad

from .candidates import Candidate, Maker
from .hand_optimizers import optimizer
from .steps_hand import subtract_rows
from .workloads import Workload, data

__all__ = ["makers"]

Params = dict[str, Any]


def mlp(p: Params, x: Any, y: Any) -> Any:
    h = np.maximum(np.dot(x, p["w1"]) + p["b1"], 0)
    return np.mean((np.dot(h, p["w2"]) + p["b2"] - y) ** 2)


def _logsumexp(x: Any) -> Any:
    """Over the last axis."""
    top = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis=-1, keepdims=True)) + top


def _classifier(p: Params, h: Any, y: Any) -> Any:
    h = np.maximum(np.dot(h, p["w1"]) + p["b1"], 0)
    h = np.maximum(np.dot(h, p["w2"]) + p["b2"], 0)
    z = np.dot(h, p["w3"]) + p["b3"]
    return -np.mean((z - _logsumexp(z))[numpy.arange(len(y)), y])


def mnist(p: Params, x: Any, y: Any) -> Any:
    return _classifier(p, x, y)


def _conv(x: Any, k: Any) -> Any:
    """Without padding, by one product of the filters with the windows of each image."""
    n, c, h, w = x.shape
    size = k.shape[2]
    rows, columns = h - size + 1, w - size + 1
    places = [(i, j) for i in range(size) for j in range(size)]
    parts = [np.reshape(x[:, :, i : i + rows, j : j + columns], (n, c, -1)) for i, j in places]
    windows = np.concatenate(parts, axis=1)
    filters = np.reshape(np.transpose(k, (0, 2, 3, 1)), (len(k), -1))
    return np.reshape(np.matmul(filters, windows), (n, len(k), rows, columns))


def _pool(x: Any) -> Any:
    rows = np.maximum(x[:, :, ::2], x[:, :, 1::2])
    return np.maximum(rows[:, :, :, ::2], rows[:, :, :, 1::2])


def lenet(p: Params, x: Any, y: Any) -> Any:
    h = _pool(np.maximum(_conv(x, p["k1"]) + p["c1"][:, None, None], 0))
    h = _pool(np.maximum(_conv(h, p["k2"]) + p["c2"][:, None, None], 0))
    return _classifier(p, np.reshape(h, (len(x), -1)), y)


def _layer_norm(x: Any, gain: Any, shift: Any) -> Any:
    centered = x - np.mean(x, axis=-1, keepdims=True)
    var = np.mean(centered * centered, axis=-1, keepdims=True)
    return centered / np.sqrt(var + 1e-5) * gain + shift


def transformer(p: Params, x: Any, y: Any) -> Any:
    rows, d = x.shape[0] * x.shape[1], x.shape[2]
    x, y = np.reshape(x, (rows, d)), np.reshape(y, (rows, d))
    qkv = np.dot(_layer_norm(x, p["g1"], p["e1"]), p["wqkv"]) + p["bqkv"]
    qkv = np.transpose(np.reshape(qkv, (8, 128, 3, 4, 64)), (2, 0, 3, 1, 4))
    scores = np.matmul(qkv[0], np.swapaxes(qkv[1], -1, -2)) * 0.125
    exp = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    o = np.matmul(exp / np.sum(exp, axis=-1, keepdims=True), qkv[2])
    x = x + np.dot(np.reshape(np.swapaxes(o, 1, 2), (rows, d)), p["wo"]) + p["bo"]
    h = np.dot(_layer_norm(x, p["g2"], p["e2"]), p["w1"]) + p["b1"]
    h = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))
    x = x + np.dot(h, p["w2"]) + p["b2"]
    return np.mean((x - y) ** 2)


def options(p: Params, spot: Any, strike: Any, time: Any, price: Any) -> Any:
    def normal(x: Any) -> Any:
        return 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))

    sigma = p["sigma"]
    width = sigma * np.sqrt(time)
    d = (np.log(spot / strike) + (0.03 + 0.5 * sigma * sigma) * time) / width
    paid = strike * np.exp(-0.03 * time) * normal(d - width)
    return np.mean((spot * normal(d) - paid - price) ** 2)


def logistic(p: Params, x: Any, y: Any) -> Any:
    z = np.dot(x, p["w"]) + p["b"]
    return np.mean(np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))) - z * y)


def _sigmoid(x: Any) -> Any:
    return 0.5 * np.tanh(0.5 * x) + 0.5


def lstm(p: Params, x: Any, y: Any) -> Any:
    times, rows, size = x.shape
    n = len(p["wh"])
    z = np.dot(np.reshape(x, (times * rows, size)), p["wx"]) + p["b"]
    z = np.reshape(z, (times, rows, 4 * n))
    h = c = numpy.zeros((rows, n), x.dtype)
    for t in range(times):
        gates = z[t] + np.dot(h, p["wh"])
        open_, g = _sigmoid(gates[:, : 3 * n]), np.tanh(gates[:, 3 * n :])
        c = open_[:, n : 2 * n] * c + open_[:, :n] * g
        h = open_[:, 2 * n :] * np.tanh(c)
    return np.mean((np.dot(h, p["wo"]) - y) ** 2)


def _softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def pairs(rows: Any) -> Any:
    """word2vec from the rows of centers, contexts and negatives."""
    inner, outer, noise = rows
    near = _softplus(-np.sum(inner * outer, axis=1))
    far = np.sum(_softplus(np.matmul(noise, inner[:, :, None])[:, :, 0]), axis=1)
    return np.mean(near + far)


def mixture(p: Params, x: Any, below: Any, unit: Any) -> Any:
    root = p["lower"] * below + np.exp(p["diagonal"])[:, :, None] * unit
    parts, size = p["mean"].shape
    flat = np.reshape(root, (parts * size, size))
    shift = np.reshape(np.matmul(root, p["mean"][:, :, None]), (parts * size,))
    z = np.reshape(np.dot(x, flat.T) - shift, (-1, parts, size))
    inner = p["weight"] + np.sum(p["diagonal"], axis=1) - 0.5 * np.sum(z * z, axis=2)
    return _logsumexp(p["weight"])[0] - np.mean(_logsumexp(inner))


def ode(p: Params, prey: Any, hunter: Any, prey_end: Any, hunter_end: Any) -> Any:
    a, b, c, d = p["a"], p["b"], p["c"], p["d"]
    x, y, h = prey, hunter, 0.05

    def slope(x: Any, y: Any) -> tuple[Any, Any]:
        return x * (a - b * y), y * (d * x - c)

    for _ in range(200):
        x1, y1 = slope(x, y)
        x2, y2 = slope(x + h / 2 * x1, y + h / 2 * y1)
        x3, y3 = slope(x + h / 2 * x2, y + h / 2 * y2)
        x4, y4 = slope(x + h * x3, y + h * y3)
        x = x + h / 6 * (x1 + 2 * (x2 + x3) + x4)
        y = y + h / 6 * (y1 + 2 * (y2 + y3) + y4)
    return np.mean((x - prey_end) ** 2 + (y - hunter_end) ** 2)


def scalar(p: Params, x: Any, y: Any, target: Any) -> Any:
    a, b, c, d = p["a"], p["b"], p["c"], p["d"]
    for _ in range(100):
        u = np.tanh(a * x + b * y)
        y = c * y + d * np.sin(x)
        x = u + 0.5 * y
    return (x - target) ** 2


def resnet(p: Params, x: Any, y: Any) -> Any:
    def norm(x: Any, i: int) -> Any:
        centered = x - np.mean(x, axis=(0, 2, 3), keepdims=True)
        var = np.mean(centered * centered, axis=(0, 2, 3), keepdims=True)
        gain, shift = p[f"g{i}"][:, None, None], p[f"e{i}"][:, None, None]
        return centered / np.sqrt(var + 1e-5) * gain + shift

    def padded(x: Any) -> Any:
        return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "constant")

    h = np.maximum(norm(_conv(padded(x), p["k1"]), 1), 0)
    h = norm(_conv(padded(h), p["k2"]), 2)
    return np.mean((np.maximum(h + x, 0) - y) ** 2)


def whole(w: Workload, loss: Callable[..., Any]) -> Candidate:
    feeds, params = data(w)
    gradient, update = value_and_grad(loss), optimizer(w, params)
    arrays = list(feeds.values())

    def step() -> Any:
        value, grads = gradient(params, *arrays)
        update(grads)
        return value

    return Candidate(step)


def rows(w: Workload) -> Candidate:
    """word2vec: gradients of the rows that were read, added where they came from."""
    feeds, params = data(w)
    gradient = value_and_grad(pairs)
    inner, outer = params["inner"], params["outer"]
    rate = inner.dtype.type(w.rate)
    center, context, negative = feeds.values()

    def step() -> Any:
        value, (g, h, n) = gradient((inner[center], outer[context], outer[negative]))
        subtract_rows(inner, center, rate * g)
        subtract_rows(outer, context, rate * h)
        subtract_rows(outer, negative, rate * n)
        return value

    return Candidate(step)


def makers(w: Workload, cores: int) -> dict[str, Maker]:
    """The candidates of this library for one workload, by name."""
    if w.name == "word2vec":
        return {"autograd": lambda: rows(w)}
    return {"autograd": lambda: whole(w, globals()[w.name])}
