"""The steps in PyTorch: eager with fused optimizers, and the whole step as one compiled graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as fn

from .candidates import Candidate, Maker
from .workloads import BETA1, BETA2, EPSILON, Arrays, Workload, data, for_lstm_layers

__all__ = ["makers"]

Params = dict[str, torch.Tensor]
Loss = Callable[..., torch.Tensor]


def mlp(p: Params, x: Any, y: Any) -> Any:
    h = torch.relu(torch.addmm(p["b1"], x, p["w1"]))
    return fn.mse_loss(torch.addmm(p["b2"], h, p["w2"]), y)


def _classifier(p: Params, h: Any, y: Any) -> Any:
    h = torch.relu(torch.addmm(p["b1"], h, p["w1"]))
    h = torch.relu(torch.addmm(p["b2"], h, p["w2"]))
    return fn.cross_entropy(torch.addmm(p["b3"], h, p["w3"]), y)


def mnist(p: Params, x: Any, y: Any) -> Any:
    return _classifier(p, x, y)


def lenet(p: Params, x: Any, y: Any) -> Any:
    h = fn.max_pool2d(torch.relu(fn.conv2d(x, p["k1"], p["c1"])), 2)
    h = fn.max_pool2d(torch.relu(fn.conv2d(h, p["k2"], p["c2"])), 2)
    return _classifier(p, h.flatten(1), y)


def _attention(q: Any, k: Any, v: Any) -> Any:
    return torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v


def transformer(p: Params, x: Any, y: Any, attention: Any = _attention) -> Any:
    rows, d = x.shape[0] * x.shape[1], x.shape[2]
    x, y = x.reshape(rows, d), y.reshape(rows, d)
    h = fn.layer_norm(x, (d,), p["g1"], p["e1"])
    qkv = torch.addmm(p["bqkv"], h, p["wqkv"]).reshape(8, 128, 3, 4, 64).permute(2, 0, 3, 1, 4)
    o = attention(qkv[0], qkv[1], qkv[2]).transpose(1, 2).reshape(rows, d)
    x = x + torch.addmm(p["bo"], o, p["wo"])
    h = torch.addmm(p["b1"], fn.layer_norm(x, (d,), p["g2"], p["e2"]), p["w1"])
    x = x + torch.addmm(p["b2"], fn.gelu(h, approximate="tanh"), p["w2"])
    return fn.mse_loss(x, y)


def transformer_sdpa(p: Params, x: Any, y: Any) -> Any:
    return transformer(p, x, y, fn.scaled_dot_product_attention)


def options(p: Params, spot: Any, strike: Any, time: Any, price: Any) -> Any:
    def normal(x: Any) -> Any:
        return 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))

    sigma = p["sigma"]
    width = sigma * torch.sqrt(time)
    d = (torch.log(spot / strike) + (0.03 + 0.5 * sigma * sigma) * time) / width
    paid = strike * torch.exp(-0.03 * time) * normal(d - width)
    return ((spot * normal(d) - paid - price) ** 2).mean()


def logistic(p: Params, x: Any, y: Any) -> Any:
    return fn.binary_cross_entropy_with_logits(x @ p["w"] + p["b"], y)


def lstm(p: Params, x: Any, y: Any) -> Any:
    times, rows, size = x.shape
    z = torch.addmm(p["b"], x.reshape(times * rows, size), p["wx"]).reshape(times, rows, -1)
    h = c = torch.zeros(rows, p["wh"].shape[0])
    for zt in z:
        i, f, o, g = torch.addmm(zt, h, p["wh"]).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return fn.mse_loss(h @ p["wo"], y)


def lstm_fused(p: Params, x: Any, y: Any) -> Any:
    """One operator of ATen for all times; see `for_lstm_layers`."""
    h = torch.zeros(1, x.shape[1], p["wh"].shape[1])
    weights = [p["wx"], p["wh"], p["b"], torch.zeros_like(p["b"])]
    _, h, _ = torch.lstm(x, (h, h), weights, True, 1, 0.0, True, False, False)
    return fn.mse_loss(h[0] @ p["wo"], y)


def _pairs(inner: Any, outer: Any, noise: Any) -> Any:
    """From vectors of centers, contexts and negatives: ``[n, d]``, ``[n, d]``, ``[n, k, d]``."""
    near = fn.logsigmoid((inner * outer).sum(1))
    far = fn.logsigmoid(-(noise @ inner[:, :, None])[:, :, 0]).sum(1)
    return -(near + far).mean()


def word2vec(p: Params, center: Any, context: Any, negative: Any) -> Any:
    inner = fn.embedding(center, p["inner"], sparse=True)
    outer = fn.embedding(context, p["outer"], sparse=True)
    return _pairs(inner, outer, fn.embedding(negative, p["outer"], sparse=True))


def mixture(p: Params, x: Any, below: Any, unit: Any) -> Any:
    root = p["lower"] * below + torch.exp(p["diagonal"])[:, :, None] * unit
    parts, size = p["mean"].shape
    flat = root.reshape(parts * size, size)
    shift = (root @ p["mean"][:, :, None]).reshape(parts * size)
    z = (x @ flat.T - shift).reshape(-1, parts, size)
    inner = p["weight"] + p["diagonal"].sum(1) - 0.5 * (z * z).sum(2)
    return torch.logsumexp(p["weight"], 0) - torch.logsumexp(inner, 1).mean()


def _rk4(p: Params, x: Any, y: Any, steps: int, h: float = 0.05) -> tuple[Any, Any]:
    def slope(x: Any, y: Any) -> tuple[Any, Any]:
        return x * (p["a"] - p["b"] * y), y * (p["d"] * x - p["c"])

    for _ in range(steps):
        x1, y1 = slope(x, y)
        x2, y2 = slope(x + h / 2 * x1, y + h / 2 * y1)
        x3, y3 = slope(x + h / 2 * x2, y + h / 2 * y2)
        x4, y4 = slope(x + h * x3, y + h * y3)
        x = x + h / 6 * (x1 + 2 * (x2 + x3) + x4)
        y = y + h / 6 * (y1 + 2 * (y2 + y3) + y4)
    return x, y


def ode(p: Params, prey: Any, hunter: Any, prey_end: Any, hunter_end: Any) -> Any:
    x, y = _rk4(p, prey, hunter, 200)
    return ((x - prey_end) ** 2 + (y - hunter_end) ** 2).mean()


def scalar(p: Params, x: Any, y: Any, target: Any) -> Any:
    for _ in range(100):
        u = torch.tanh(p["a"] * x + p["b"] * y)
        y = p["c"] * y + p["d"] * torch.sin(x)
        x = u + 0.5 * y
    return (x - target) ** 2


def resnet(p: Params, x: Any, y: Any) -> Any:
    def norm(x: Any, i: int) -> Any:
        return fn.batch_norm(
            x, p[f"mean{i}"], p[f"var{i}"], p[f"g{i}"], p[f"e{i}"], True, 0.1, 1e-5
        )

    h = torch.relu(norm(fn.conv2d(x, p["k1"], padding=1), 1))
    h = norm(fn.conv2d(h, p["k2"], padding=1), 2)
    return fn.mse_loss(torch.relu(h + x), y)


def _statistics(w: Workload) -> Params:
    if w.name != "resnet":
        return {}
    zeros = {f"mean{i}": torch.zeros(64) for i in (1, 2)}
    return zeros | {f"var{i}": torch.ones(64) for i in (1, 2)}


def _tensors(arrays: Arrays) -> Params:
    return {name: torch.tensor(a) for name, a in arrays.items()}


def _prepared(w: Workload, change: Callable[[Arrays], Arrays] | None) -> tuple[Any, Params]:
    feeds, params = data(w)
    return list(_tensors(feeds).values()), _tensors(change(params) if change else params)


def _optimizer(w: Workload, params: list[torch.Tensor]) -> torch.optim.Optimizer:
    if w.optimizer == "adam":
        return torch.optim.Adam(params, w.rate, (BETA1, BETA2), EPSILON, fused=True)
    return torch.optim.SGD(params, w.rate, fused=w.name != "word2vec")  # no fused one for rows


def eager(w: Workload, loss: Loss, change: Callable[[Arrays], Arrays] | None = None) -> Candidate:
    feeds, params = _prepared(w, change)
    for p in params.values():
        p.requires_grad_()
    optimizer = _optimizer(w, list(params.values()))
    given = {**params, **_statistics(w)}

    def step() -> Any:
        optimizer.zero_grad(set_to_none=True)
        value = loss(given, *feeds)
        value.backward()
        optimizer.step()
        return value.detach()

    return Candidate(step)


def _update(w: Workload, params: Params, state: Any, grads: Params) -> None:
    """The optimizer as plain operations in place, for graphs of the whole step."""
    if w.optimizer == "sgd":
        for name, p in params.items():
            p.sub_(w.rate * grads[name])
        return
    first, second, count = state
    count.add_(1)
    size, root = w.rate / (1 - BETA1**count), torch.rsqrt(1 - BETA2**count)
    for name, p in params.items():
        g, m, v = grads[name], first[name], second[name]
        m.mul_(BETA1).add_((1 - BETA1) * g)
        v.mul_(BETA2).add_((1 - BETA2) * g * g)
        p.sub_(size * m / (v.sqrt() * root + EPSILON))


def compiled(w: Workload, loss: Loss) -> Candidate:
    """Gradients and updates in one graph.

    Parameters without axes are given one: compiled code (2.13) does not write the others in place.
    """
    feeds, params = _prepared(w, None)
    params = {k: p.reshape(p.shape or (1,)) for k, p in params.items()}
    fixed = _statistics(w)
    first = {k: torch.zeros_like(p) for k, p in params.items()}
    second = {k: torch.zeros_like(p) for k, p in params.items()}
    state = (first, second, torch.zeros(())) if w.optimizer == "adam" else None

    def whole(params: Params, fixed: Params, state: Any, *feeds: Any) -> Any:
        def value_of(params: Params) -> Any:
            return loss({**params, **fixed}, *feeds).reshape(())

        grads, value = torch.func.grad_and_value(value_of)(params)
        _update(w, params, state, grads)
        return value

    function = torch.compile(torch.no_grad()(whole), fullgraph=True)
    return Candidate(lambda: function(params, fixed, state, *feeds))


def rows(w: Workload, compile: bool) -> Candidate:
    """word2vec by hand: gradients of the rows that were read, added where they came from."""
    (center, context, negative), p = _prepared(w, None)
    inner, outer = p["inner"], p["outer"]
    width = inner.shape[1]

    def whole(center: Any, context: Any, negative: Any) -> Any:
        parts = inner[center], outer[context], outer[negative]
        grads, value = torch.func.grad_and_value(_pairs, (0, 1, 2))(*parts)
        inner.index_add_(0, center, grads[0], alpha=-w.rate)
        outer.index_add_(0, context, grads[1], alpha=-w.rate)
        outer.index_add_(0, negative.reshape(-1), grads[2].reshape(-1, width), alpha=-w.rate)
        return value

    step = torch.no_grad()(whole)
    if compile:
        step = torch.compile(step, fullgraph=True)
    return Candidate(lambda: step(center, context, negative))


def compiled_solver(w: Workload, each: int = 10) -> Candidate:
    """The ODE with `each` steps of the solver as one graph: all 200 take too long to compile."""
    (x, y, x_end, y_end), p = _prepared(w, None)
    leaves = [value.requires_grad_() for value in p.values()]
    optimizer = _optimizer(w, leaves)
    part = torch.compile(lambda p, x, y: _rk4(p, x, y, each), fullgraph=True)

    def step() -> Any:
        optimizer.zero_grad(set_to_none=True)
        state = x, y
        for _ in range(200 // each):
            state = part(p, *state)
        value = ((state[0] - x_end) ** 2 + (state[1] - y_end) ** 2).mean()
        value.backward()
        optimizer.step()
        return value.detach()

    return Candidate(step)


def makers(w: Workload, cores: int) -> dict[str, Maker]:
    """The candidates of this library for one workload, by name."""
    torch.set_num_threads(cores)
    loss = globals()[w.name]
    found: dict[str, Maker] = {"torch": lambda: eager(w, loss)}
    if w.name == "word2vec":
        found["torch rows"] = lambda: rows(w, False)
        found["torch compile"] = lambda: rows(w, True)
        return found
    if w.name == "ode":
        return {**found, "torch compile": lambda: compiled_solver(w)}
    found["torch compile"] = lambda: compiled(w, loss)
    if w.name == "transformer":
        found["torch sdpa"] = lambda: eager(w, transformer_sdpa)
        found["torch compile sdpa"] = lambda: compiled(w, transformer_sdpa)
    if w.name == "lstm":
        found["torch lstm"] = lambda: eager(w, lstm_fused, for_lstm_layers)
    return found
