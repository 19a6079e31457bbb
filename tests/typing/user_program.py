"""What a user writes, under the strictest settings: mypy --strict and pyright find no error here.

`assert_type` holds the types that such a program relies on. It runs, too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import autograd_engine as paddle
from autograd_engine import Tensor, nn
from autograd_engine.io import DataLoader, Dataset
from autograd_engine.nn import functional as F  # noqa: N812

Floats = NDArray[np.float32]

# --- tensors


def arithmetic() -> Tensor:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], dtype="float64", stop_gradient=False)
    assert_type(x, Tensor)
    assert_type(x + 1, Tensor)
    assert_type(2.0 * x - x / 3, Tensor)
    assert_type(-(x**2) @ x, Tensor)
    assert_type(x > 0.5, Tensor)
    assert_type(x == x, Tensor)
    assert_type(x[0], Tensor)
    assert_type(x.max(), Tensor)
    assert_type(x.max().item(), float)
    assert_type(x[:, None, ..., -1], Tensor)
    assert_type(x.sum(axis=0, keepdim=True), Tensor)
    assert_type(x.reshape([4]).astype("float32"), Tensor)
    assert_type(paddle.concat([x, x], axis=0), Tensor)
    assert_type(paddle.split(x, 2), list[Tensor])
    assert_type(paddle.topk(x, 1), tuple[Tensor, Tensor])
    assert_type(paddle.where(x > 0, x, 0.0), Tensor)
    assert_type(paddle.linalg.svd(x), tuple[Tensor, Tensor, Tensor])
    assert_type(paddle.tanh_(x.clone()), Tensor)
    assert_type(x.shape[0], int)
    assert_type(x.numpy(), NDArray[np.generic])  # type: ignore[assert-type]  # of any dtype
    values: Floats = x.astype("float32").numpy()
    copy = x.clone()
    copy[0] = 0.5
    for row in copy:
        assert_type(row, Tensor)
    total = float(values.sum()) + float(x.mean()) + len(x)
    return (x * total).sum()


def gradients() -> list[Tensor]:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = (x * x).sum()
    first = paddle.grad(y, x, create_graph=True)
    assert_type(first, list[Tensor])
    (second,) = paddle.grad(first[0].sum(), x)
    maybe = paddle.grad(paddle.exp(x).sum(), [x], allow_unused=True)
    assert_type(maybe, list[Tensor | None])
    y.backward(retain_graph=True)
    assert_type(x.grad, Tensor | None)
    if x.grad is not None:
        with paddle.no_grad():
            x.grad.clip_(0.0, 1.0)
    handle = x.register_hook(lambda g: g * 2)
    handle.remove()
    x.clear_grad()

    jacobian = paddle.autograd.jacobian(x * 2.0, x)
    assert_type(jacobian[:], Tensor)
    assert_type(paddle.autograd.hessian(lambda x: (x**3).sum(), x), Tensor)
    assert_type(paddle.autograd.hessian((x**3).sum(), x)[:], Tensor)
    value, product = paddle.autograd.jvp(paddle.sin, x, paddle.ones([2]))
    return [second, jacobian[0], value, product]


@paddle.no_grad()
def norm(x: Tensor, order: float = 2.0) -> Tensor:
    return (x.abs() ** order).sum() ** (1.0 / order)


@paddle.no_grad
def mean(x: Tensor) -> Tensor:
    return x.mean()


def switches(x: Tensor) -> Tensor:
    with paddle.no_grad():
        a = norm(x, order=1.0) + mean(x)
    with paddle.inference_mode(), paddle.set_grad_enabled(False):
        b = a + 1
    assert_type(norm(x), Tensor)
    return b


class Clamp(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: paddle.autograd.PyLayerContext, x: Tensor, limit: float) -> Tensor:
        ctx.save_for_backward(x)
        return x.clip(-limit, limit)

    @staticmethod
    def backward(ctx: paddle.autograd.PyLayerContext, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensor()
        return g * (paddle.abs(x) <= 1.0).astype(g.dtype)


# --- layers, data, training


class Residual(nn.Layer):
    def __init__(self, size: int, rate: float = 0.1) -> None:
        super().__init__()
        self.inner = nn.Linear(size, size)
        self.drop = nn.Dropout(rate)
        self.gain = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.5))

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return x + scale * self.gain * self.drop(F.relu(self.inner(x)))


class Network(nn.Layer):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 16), nn.Tanh(), Residual(16))
        self.blocks = nn.LayerList([Residual(16) for _ in range(2)])
        self.head = nn.Linear(16, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = self.body(x)
        for block in self.blocks:
            h = block(h)
        return self.head(h)


class Points(Dataset):
    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((count, 3)).astype("float32")
        self.y = self.x.sum(axis=1, keepdims=True)

    def __getitem__(self, index: int) -> tuple[Floats, Floats]:
        return self.x[index], self.y[index]

    def __len__(self) -> int:
        return len(self.x)


def train(directory: Path, epochs: int = 2) -> list[float]:
    model = Network(3)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.01, T_max=epochs)
    optimizer = paddle.optimizer.AdamW(
        schedule,
        parameters=model.parameters(),
        weight_decay=0.01,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    criterion = nn.MSELoss()
    loader = DataLoader(Points(32), batch_size=8, shuffle=True)
    losses: list[float] = []
    for _ in range(epochs):
        model.train()
        for x, y in loader:
            loss = criterion(model(x), y)
            assert_type(loss, Tensor)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        schedule.step()
    model.eval()
    for name, parameter in model.named_parameters():
        assert_type(name, str)
        assert_type(parameter.shape[0], int)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    paddle.save(state, str(directory / "state"))
    state = paddle.load(str(directory / "state"))
    model.set_state_dict(state["model"])
    optimizer.set_state_dict(state["optimizer"])
    assert_type(model(paddle.ones([2, 3])), Tensor)
    return losses


# --- programs


@paddle.jit.to_static
def energy(x: Tensor, power: int = 2) -> Tensor:
    return (x**power).sum()


@paddle.jit.to_static(full_graph=True)
def loss_of(prediction: Tensor, target: Tensor) -> Tensor:
    return F.mse_loss(prediction, target)


class Counter:
    def __init__(self, by: float) -> None:
        self.by = by

    @paddle.jit.to_static
    def add(self, x: Tensor) -> Tensor:
        return x + self.by


def traced() -> list[Tensor]:
    x = paddle.ones([3])
    assert_type(energy(x, power=3), Tensor)
    model = paddle.jit.to_static(Network(3))
    assert_type(model, Network)
    assert_type(loss_of(x, x * 2), Tensor)
    return [energy(x), Counter(1.0).add(x), model(paddle.ones([2, 3]))]


def program() -> list[float]:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 3], "float32")
        y = paddle.static.data("y", [None, 1], "float32")
        assert_type(x, paddle.static.Variable)
        hidden = F.relu(paddle.static.nn.fc(x, 8))
        normal = paddle.static.nn.layer_norm(hidden)
        assert_type(normal, paddle.static.Variable)
        made = paddle.static.nn.fc(normal, 1)
        assert_type(made, paddle.static.Variable)
        loss = paddle.mean((made - y) ** 2)
        pairs = paddle.static.append_backward(loss)
        for parameter, gradient in pairs:
            assert_type(parameter.name, str)
            assert_type(gradient, paddle.static.Variable)
    with paddle.static.program_guard(main, startup):
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    points = Points(8)
    feed = {"x": points.x, "y": points.y}
    return [float(executor.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(3)]


def main(directory: Path) -> None:
    paddle.seed(1)
    print(arithmetic().item(), [g.shape for g in gradients()])
    print(switches(paddle.ones([2])).item(), Clamp.apply(paddle.ones([2]), 0.5).tolist())
    print(len(train(directory)), [t.shape for t in traced()], len(program()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
