"""The steps in JAX: loss, gradients and update under one ``jit``, with donated parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

from .candidates import Candidate, Maker
from .workloads import BETA1, BETA2, EPSILON, Workload, data

__all__ = ["makers"]

Params = dict[str, Any]


def mlp(p: Params, x: Any, y: Any) -> Any:
    h = nn.relu(x @ p["w1"] + p["b1"])
    return jnp.mean((h @ p["w2"] + p["b2"] - y) ** 2)


def _classifier(p: Params, h: Any, y: Any) -> Any:
    h = nn.relu(h @ p["w1"] + p["b1"])
    h = nn.relu(h @ p["w2"] + p["b2"])
    z = nn.log_softmax(h @ p["w3"] + p["b3"])
    return -jnp.mean(jnp.take_along_axis(z, y[:, None], 1))


def mnist(p: Params, x: Any, y: Any) -> Any:
    return _classifier(p, x, y)


def _conv(x: Any, k: Any, padding: str) -> Any:
    return lax.conv_general_dilated(
        x, k, (1, 1), padding, dimension_numbers=("NCHW", "OIHW", "NCHW")
    )


def _pool(x: Any) -> Any:
    """Over 2 x 2, as a maximum of reshaped axes: XLA's windows are several times slower here."""
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


def _pool_window(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def lenet(p: Params, x: Any, y: Any, pool: Any = _pool_window) -> Any:
    h = pool(nn.relu(_conv(x, p["k1"], "VALID") + p["c1"][:, None, None]))
    h = pool(nn.relu(_conv(h, p["k2"], "VALID") + p["c2"][:, None, None]))
    return _classifier(p, h.reshape(len(x), -1), y)


def lenet_reshaped(p: Params, x: Any, y: Any) -> Any:
    return lenet(p, x, y, _pool)


def _layer_norm(x: Any, gain: Any, shift: Any) -> Any:
    mean = jnp.mean(x, -1, keepdims=True)
    var = jnp.mean((x - mean) ** 2, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * gain + shift


def transformer(p: Params, x: Any, y: Any) -> Any:
    rows, d = x.shape[0] * x.shape[1], x.shape[2]
    x, y = x.reshape(rows, d), y.reshape(rows, d)
    qkv = _layer_norm(x, p["g1"], p["e1"]) @ p["wqkv"] + p["bqkv"]
    q, k, v = qkv.reshape(8, 128, 3, 4, 64).transpose(2, 0, 3, 1, 4)
    o = nn.softmax(q @ k.swapaxes(-1, -2) * 0.125) @ v
    x = x + o.swapaxes(1, 2).reshape(rows, d) @ p["wo"] + p["bo"]
    h = _layer_norm(x, p["g2"], p["e2"]) @ p["w1"] + p["b1"]
    x = x + nn.gelu(h, approximate=True) @ p["w2"] + p["b2"]
    return jnp.mean((x - y) ** 2)


def options(p: Params, spot: Any, strike: Any, time: Any, price: Any) -> Any:
    def normal(x: Any) -> Any:
        return 0.5 * (1 + jnp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))

    sigma = p["sigma"]
    width = sigma * jnp.sqrt(time)
    d = (jnp.log(spot / strike) + (0.03 + 0.5 * sigma * sigma) * time) / width
    paid = strike * jnp.exp(-0.03 * time) * normal(d - width)
    return jnp.mean((spot * normal(d) - paid - price) ** 2)


def logistic(p: Params, x: Any, y: Any) -> Any:
    z = x @ p["w"] + p["b"]
    return jnp.mean(jnp.maximum(z, 0) + jnp.log1p(jnp.exp(-jnp.abs(z))) - z * y)


def lstm(p: Params, x: Any, y: Any) -> Any:
    times, rows, size = x.shape
    z = (x.reshape(times * rows, size) @ p["wx"] + p["b"]).reshape(times, rows, -1)

    def cell(state: Any, zt: Any) -> Any:
        h, c = state
        i, f, o, g = jnp.split(zt + h @ p["wh"], 4, axis=1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        return (nn.sigmoid(o) * jnp.tanh(c), c), None

    zero = jnp.zeros((rows, p["wh"].shape[0]), x.dtype)
    (h, _), _ = lax.scan(cell, (zero, zero), z)
    return jnp.mean((h @ p["wo"] - y) ** 2)


def _pairs(inner: Any, outer: Any, noise: Any) -> Any:
    near = nn.log_sigmoid(jnp.sum(inner * outer, 1))
    far = nn.log_sigmoid(-jnp.einsum("nkd,nd->nk", noise, inner)).sum(1)
    return -jnp.mean(near + far)


def mixture(p: Params, x: Any, below: Any, unit: Any) -> Any:
    root = p["lower"] * below + jnp.exp(p["diagonal"])[:, :, None] * unit
    parts, size = p["mean"].shape
    flat = root.reshape(parts * size, size)
    shift = (root @ p["mean"][:, :, None]).reshape(parts * size)
    z = (x @ flat.T - shift).reshape(-1, parts, size)
    inner = p["weight"] + p["diagonal"].sum(1) - 0.5 * (z * z).sum(2)
    return nn.logsumexp(p["weight"]) - jnp.mean(nn.logsumexp(inner, axis=1))


def ode(p: Params, prey: Any, hunter: Any, prey_end: Any, hunter_end: Any) -> Any:
    h = 0.05

    def slope(x: Any, y: Any) -> Any:
        return x * (p["a"] - p["b"] * y), y * (p["d"] * x - p["c"])

    def step(state: Any, _: Any) -> Any:
        x, y = state
        x1, y1 = slope(x, y)
        x2, y2 = slope(x + h / 2 * x1, y + h / 2 * y1)
        x3, y3 = slope(x + h / 2 * x2, y + h / 2 * y2)
        x4, y4 = slope(x + h * x3, y + h * y3)
        x = x + h / 6 * (x1 + 2 * (x2 + x3) + x4)
        return (x, y + h / 6 * (y1 + 2 * (y2 + y3) + y4)), None

    (x, y), _ = lax.scan(step, (prey, hunter), None, length=200)
    return jnp.mean((x - prey_end) ** 2 + (y - hunter_end) ** 2)


def _map(p: Params, x: Any, y: Any) -> tuple[Any, Any]:
    u = jnp.tanh(p["a"] * x + p["b"] * y)
    y = p["c"] * y + p["d"] * jnp.sin(x)
    return u + 0.5 * y, y


def scalar(p: Params, x: Any, y: Any, target: Any) -> Any:
    for _ in range(100):
        x, y = _map(p, x, y)
    return (x - target) ** 2


def scalar_scan(p: Params, x: Any, y: Any, target: Any) -> Any:
    (x, _), _ = lax.scan(lambda s, _: (_map(p, *s), None), (x, y), None, length=100)
    return (x - target) ** 2


def resnet(p: Params, x: Any, y: Any) -> tuple[Any, Any]:
    def norm(x: Any, i: int) -> Any:
        mean = x.mean((0, 2, 3), keepdims=True)
        var = jnp.mean((x - mean) ** 2, (0, 2, 3), keepdims=True)
        g, e = p[f"g{i}"][:, None, None], p[f"e{i}"][:, None, None]
        return (x - mean) * lax.rsqrt(var + 1e-5) * g + e, (mean.ravel(), var.ravel())

    h, first = norm(_conv(x, p["k1"], "SAME"), 1)
    h, second = norm(_conv(nn.relu(h), p["k2"], "SAME"), 2)
    return jnp.mean((nn.relu(h + x) - y) ** 2), (first, second)


def _sgd(w: Workload, params: Params, grads: Params, state: Any) -> tuple[Params, Any]:
    return jax.tree.map(lambda p, g: p - w.rate * g, params, grads), state


def _adam(w: Workload, params: Params, grads: Params, state: Any) -> tuple[Params, Any]:
    m, v, count = state
    count = count + 1
    m = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, m, grads)
    v = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, v, grads)
    size, root = w.rate / (1 - BETA1**count), lax.rsqrt(1 - BETA2**count)
    new = jax.tree.map(lambda p, m, v: p - size * m / (jnp.sqrt(v) * root + EPSILON), params, m, v)
    return new, (m, v, count)


def _prepared(w: Workload) -> tuple[list[Any], Params]:
    feeds, params = data(w)
    arrays = [a.astype(np.int32) if a.dtype == np.int64 else a for a in feeds.values()]
    return [jnp.array(a) for a in arrays], {k: jnp.array(a) for k, a in params.items()}


def _candidate(function: Callable[..., Any], state: Any, feeds: list[Any]) -> Candidate:
    """Steps are queued; to finish one is to wait for the parameters that it made."""
    held = [state]

    def step() -> Any:
        value, held[0] = function(held[0], *feeds)
        return value

    def finish(value: Any) -> float:
        jax.block_until_ready(held[0])
        return float(value)

    return Candidate(step, finish)


def jitted(w: Workload, loss: Callable[..., Any]) -> Candidate:
    feeds, params = _prepared(w)
    update, state = _sgd, None
    if w.optimizer == "adam":
        zeros = jax.tree.map(jnp.zeros_like, params)
        update, state = _adam, (zeros, jax.tree.map(jnp.zeros_like, params), jnp.float32(0))
    gradient = jax.value_and_grad(loss)

    def whole(held: Any, *feeds: Any) -> Any:
        value, grads = gradient(held[0], *feeds)
        return value, update(w, held[0], grads, held[1])

    return _candidate(jax.jit(whole, donate_argnums=0), (params, state), feeds)


def with_statistics(w: Workload) -> Candidate:
    """The ResNet block, whose running means and variances are states too."""
    feeds, params = _prepared(w)
    gradient = jax.value_and_grad(resnet, has_aux=True)

    def whole(held: Any, *feeds: Any) -> Any:
        params, running = held
        (value, found), grads = gradient(params, *feeds)
        running = jax.tree.map(lambda r, f: 0.9 * r + 0.1 * f, running, found)
        return value, (_sgd(w, params, grads, None)[0], running)

    running = tuple((jnp.zeros(64), jnp.ones(64)) for _ in range(2))
    return _candidate(jax.jit(whole, donate_argnums=0), (params, running), feeds)


def rows(w: Workload) -> Candidate:
    """word2vec: gradients of the rows that were read, added where they came from."""
    feeds, params = _prepared(w)
    gradient = jax.value_and_grad(_pairs, (0, 1, 2))

    def whole(held: Any, center: Any, context: Any, negative: Any) -> Any:
        inner, outer = held["inner"], held["outer"]
        value, (g, h, n) = gradient(inner[center], outer[context], outer[negative])
        outer = outer.at[context].add(-w.rate * h).at[negative].add(-w.rate * n)
        return value, {"inner": inner.at[center].add(-w.rate * g), "outer": outer}

    return _candidate(jax.jit(whole, donate_argnums=0), params, feeds)


def makers(w: Workload, cores: int) -> dict[str, Maker]:
    """The candidates of this library for one workload, by name."""
    jax.config.update("jax_enable_x64", w.dtype == "float64")
    if w.name == "word2vec":
        return {"jax": lambda: rows(w)}
    if w.name == "resnet":
        return {"jax": lambda: with_statistics(w)}
    found: dict[str, Maker] = {"jax": lambda: jitted(w, globals()[w.name])}
    if w.name == "lenet":
        found["jax reshaped pool"] = lambda: jitted(w, lenet_reshaped)
    if w.name == "scalar":
        found["jax scan"] = lambda: jitted(w, scalar_scan)
    return found
