"""The overhead workloads, once for each library that is installed.

``chain``: 100 multiplications of 8x8 float32 matrices, both factors differentiable, forward and
backward. ``mlp``: one training step of a 13-64-1 network with ReLU on a batch of 32, mean squared
error and gradient descent. ``adam``: one step of Adam, of the ten parameters of a network
2-32-32-32-32-1 whose gradients are there. Every library's step computes the same numbers (see
`check`).
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CHAIN", "PEERS", "Step", "installed", "workload", "written"]

CHAIN = 100
RATE = 1e-3
Step = Callable[[], float]

_rng = np.random.default_rng(0)
X = _rng.standard_normal((32, 13)).astype(np.float32)
Y = _rng.standard_normal((32, 1)).astype(np.float32)
W1 = (_rng.standard_normal((13, 64)) * 0.1).astype(np.float32)
W2 = (_rng.standard_normal((64, 1)) * 0.1).astype(np.float32)
SIZES = (2, 32, 32, 32, 32, 1)
SMALL = [
    _rng.standard_normal(shape).astype(np.float32)
    for a, b in itertools.pairwise(SIZES)
    for shape in ((a, b), (b,))
]
SLOPES = [_rng.standard_normal(p.shape).astype(np.float32) for p in SMALL]
A = np.full((8, 8), 1.0, np.float32)
B = np.full((8, 8), 0.999, np.float32)


def _parameters() -> list[np.ndarray[Any, Any]]:
    return [W1.copy(), np.zeros(64, np.float32), W2.copy(), np.zeros(1, np.float32)]


def ours_chain() -> Step:
    import autograd_engine as ag

    x = ag.to_tensor(A, stop_gradient=False)
    y = ag.to_tensor(B, stop_gradient=False)

    def step() -> float:
        z = x
        for _ in range(CHAIN):
            z = z * y
        loss = z.sum()
        loss.backward()
        x.clear_grad(False)
        y.clear_grad(False)
        return loss.item()

    return step


def ours_mlp() -> Step:
    import autograd_engine as ag
    from autograd_engine.nn.functional import relu

    x, t = ag.to_tensor(X), ag.to_tensor(Y)
    w1, b1, w2, b2 = params = [ag.to_tensor(p, stop_gradient=False) for p in _parameters()]
    sgd = ag.optimizer.SGD(RATE, parameters=params)

    def step() -> float:
        d = relu(x @ w1 + b1) @ w2 + b2 - t
        loss = (d * d).mean()
        loss.backward()
        sgd.step()
        sgd.clear_grad(False)
        return loss.item()

    return step


def ours_adam() -> Step:
    import autograd_engine as ag

    params = [ag.to_tensor(p, stop_gradient=False) for p in SMALL]
    for p, g in zip(params, SLOPES, strict=True):
        p.grad = ag.to_tensor(g)
    adam = ag.optimizer.Adam(RATE, parameters=params)
    # In a training the network has asked for C by then, if it is there.
    ag.nn.functional.softmax(ag.ones([64, 64]))

    def step() -> float:
        adam.step()
        return float(params[0][0, 0])

    return step


def numpy_chain() -> Step:
    def step() -> float:
        values = [A]
        for _ in range(CHAIN):
            values.append(values[-1] * B)
        loss = values[-1].sum()
        g = np.ones_like(A)
        gy = None
        for value in reversed(values[:-1]):
            term = g * value
            gy = term if gy is None else gy + term
            g = g * B
        return float(loss)

    return step


def numpy_mlp() -> Step:
    params = _parameters()
    rate = np.float32(RATE)

    def step() -> float:
        w1, b1, w2, b2 = params
        a = X @ w1 + b1
        h = np.maximum(a, 0)
        d = h @ w2 + b2 - Y
        loss = np.mean(d * d)
        g = d * np.float32(2.0 / d.size)
        ga = (g @ w2.T) * (a > 0)
        grads = (X.T @ ga, ga.sum(axis=0), h.T @ g, g.sum(axis=0))
        params[:] = [p - rate * gp for p, gp in zip(params, grads, strict=True)]
        return float(loss)

    return step


def numpy_adam() -> Step:
    params, state = [p.copy() for p in SMALL], [(0.0 * p, 0.0 * p) for p in SMALL]
    powers = [1.0, 1.0]

    def step() -> float:
        powers[:] = powers[0] * 0.9, powers[1] * 0.999
        first, second = (1.0 - power for power in powers)
        rate = np.float32(RATE / first)
        for p, g, (m, v) in zip(params, SLOPES, state, strict=True):
            m *= np.float32(0.9)
            m += np.float32(0.1) * g
            v *= np.float32(0.999)
            v += np.float32(0.001) * (g * g)
            p -= rate * m / (np.sqrt(v / np.float32(second)) + np.float32(1e-8))
        return float(params[0][0, 0])

    return step


def torch_chain() -> Step:
    import torch

    torch.set_num_threads(1)
    x = torch.tensor(A, requires_grad=True)
    y = torch.tensor(B, requires_grad=True)

    def step() -> float:
        z = x
        for _ in range(CHAIN):
            z = z * y
        loss = z.sum()
        loss.backward()
        x.grad = y.grad = None
        return loss.item()

    return step


def torch_mlp() -> Step:
    import torch

    torch.set_num_threads(1)
    x, t = torch.tensor(X), torch.tensor(Y)
    w1, b1, w2, b2 = params = [torch.tensor(p, requires_grad=True) for p in _parameters()]
    sgd = torch.optim.SGD(params, RATE)

    def step() -> float:
        d = torch.relu(x @ w1 + b1) @ w2 + b2 - t
        loss = (d * d).mean()
        loss.backward()
        sgd.step()
        sgd.zero_grad()
        return loss.item()

    return step


def torch_adam() -> Step:
    import torch

    torch.set_num_threads(1)
    params = [torch.tensor(p, requires_grad=True) for p in SMALL]
    for p, g in zip(params, SLOPES, strict=True):
        p.grad = torch.tensor(g)
    adam = torch.optim.Adam(params, RATE, fused=True)

    def step() -> float:
        adam.step()
        return float(params[0][0, 0].item())

    return step


def paddle_chain() -> Step:
    import paddle

    x = paddle.to_tensor(A, stop_gradient=False)
    y = paddle.to_tensor(B, stop_gradient=False)

    def step() -> float:
        z = x
        for _ in range(CHAIN):
            z = z * y
        loss = z.sum()
        loss.backward()
        x.clear_gradient(False)
        y.clear_gradient(False)
        return float(loss)

    return step


def paddle_mlp() -> Step:
    import paddle

    x, t = paddle.to_tensor(X), paddle.to_tensor(Y)
    w1, b1, w2, b2 = params = [paddle.to_tensor(p, stop_gradient=False) for p in _parameters()]
    sgd = paddle.optimizer.SGD(RATE, parameters=params)

    def step() -> float:
        d = paddle.nn.functional.relu(x @ w1 + b1) @ w2 + b2 - t
        loss = (d * d).mean()
        loss.backward()
        sgd.step()
        sgd.clear_grad(False)
        return float(loss)

    return step


def paddle_adam() -> Step:
    import paddle

    params = [paddle.to_tensor(p, stop_gradient=False) for p in SMALL]
    for p, g in zip(params, SLOPES, strict=True):
        p.grad = paddle.to_tensor(g)
    adam = paddle.optimizer.Adam(RATE, parameters=params)

    def step() -> float:
        adam.step()
        return float(params[0][0, 0])

    return step


def autograd_chain() -> Step:
    from autograd import value_and_grad

    def chain(xy: Any) -> Any:
        z, y = xy
        for _ in range(CHAIN):
            z = z * y
        return z.sum()

    function = value_and_grad(chain)
    return lambda: float(function((A, B))[0])


def autograd_mlp() -> Step:
    import autograd.numpy as anp
    from autograd import value_and_grad

    params = _parameters()
    rate = np.float32(RATE)

    def loss_of(params: Any) -> Any:
        w1, b1, w2, b2 = params
        d = anp.dot(anp.maximum(anp.dot(X, w1) + b1, 0), w2) + b2 - Y
        return anp.mean(d * d)

    function = value_and_grad(loss_of)

    def step() -> float:
        loss, grads = function(params)
        params[:] = [p - rate * g for p, g in zip(params, grads, strict=True)]
        return float(loss)

    return step


PEERS = ("ours", "numpy", "torch", "paddle", "autograd")
_MODULES = {"ours": "autograd_engine"}


def written(peer: str, name: str) -> bool:
    """Whether the library has what that step takes."""
    return f"{peer}_{name}" in globals()


def installed(peer: str) -> bool:
    return importlib.util.find_spec(_MODULES.get(peer, peer)) is not None


def workload(peer: str, name: str) -> Step:
    """The step of `name` ("chain", "mlp" or "adam") in the library `peer`."""
    step: Step = globals()[f"{peer}_{name}"]()
    return step
