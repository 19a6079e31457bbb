"""What functions compute of sizes that an InputSpec leaves open: as eager mode does, for any."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import nn
from autograd_engine.errors import ModeError
from autograd_engine.jit import load, save, to_static
from autograd_engine.nn import functional as F  # noqa: N812
from autograd_engine.static import InputSpec
from tests.over import over

OPEN = [InputSpec([None, None, 8])]
SIZES = (2, 3), (3, 5), (1, 4)

_rng = np.random.default_rng(0)
ROWS = paddle.to_tensor(_rng.standard_normal((16, 8)).astype("float32"))
SQUARE = paddle.to_tensor(_rng.standard_normal((16, 16)).astype("float32"))
ONE = paddle.to_tensor(_rng.standard_normal((1, 1, 8)).astype("float32"))
LABELS = paddle.to_tensor([0, 1, 0])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "arange": lambda x: paddle.arange(x.shape[1]),
    "arange from, in steps": lambda x: paddle.arange(1, 2 * x.shape[1], 2),
    "rows": lambda x: ROWS[: x.shape[1]] + x,
    "a view": lambda x: x[:, 1 : x.shape[1]],
    "the last": lambda x: x[:, x.shape[1] - 1],
    "gather": lambda x: x + F.embedding(paddle.arange(x.shape[1]), ROWS),
    "heads": lambda x: paddle.reshape(x, [x.shape[0], x.shape[1], 2, x.shape[2] // 2]),
    "merged": lambda x: x.reshape([x.shape[0] * x.shape[1], 8]),
    "ones": lambda x: paddle.ones([x.shape[0], 8]) + x[:, 0],
    "full": lambda x: paddle.full([x.shape[0], 1], -1.0) * x[:, :, 0],
    "shape of a variable": lambda x: paddle.full(paddle.shape(x), 2.0) * x,
    "mask": lambda x: paddle.tril(paddle.ones([x.shape[1], x.shape[1]])) @ x,
    "mask with infinity": lambda x: paddle.triu(
        paddle.full([x.shape[1], x.shape[1]], -math.inf), 1
    ),
    "part of a matrix": lambda x: SQUARE[: x.shape[1], : x.shape[1]] @ x,
    "power": lambda x: x * x.shape[1] ** -0.5,
    "quotient": lambda x: x / x.shape[0],
    "mean": lambda x: x.sum(1) / x.shape[1],
    "of both": lambda x: x * (x.shape[0] + 2 * x.shape[1] - 1) % 7,
    "numel": lambda x: x / paddle.numel(x),
    "class token": lambda x: paddle.concat([ONE.expand([x.shape[0], 1, 8]), x], 1),
    "broadcast": lambda x: paddle.broadcast_to(ONE, x.shape) + x,
    "tile": lambda x: paddle.tile(ONE, [x.shape[0], x.shape[1], 1]) * x,
    "kept and worked out": lambda x: paddle.reshape(x, [paddle.shape(x)[0], -1]),
    "linspace": lambda x: paddle.linspace(0.0, 1.0, x.shape[1]),
    "eye": lambda x: paddle.eye(x.shape[1]) @ x,
    "indices": lambda x: paddle.tril_indices(x.shape[1], x.shape[1]),
    "topk": lambda x: paddle.topk(x, x.shape[1] // 2, axis=1)[0],
    "one_hot": lambda x: F.one_hot(LABELS, x.shape[1] + 1),
    "roll": lambda x: paddle.roll(x, x.shape[1] // 2, 1),
    "to_tensor": lambda x: paddle.to_tensor([x.shape[0], 3]),
    "interpolate": lambda x: F.interpolate(x.unsqueeze(1), size=[x.shape[1] * 2, 8]),
    "split": lambda x: paddle.split(x, [1, x.shape[1] - 1], axis=1)[1],
    "split, one worked out": lambda x: paddle.split(x, [1, -1], axis=1)[1],
    "pad": lambda x: F.pad(x, [0, 0, 0, 16 - x.shape[1], 0, 0]),
    "narrow": lambda x: x.narrow(1, 0, x.shape[1] - 1),
    "crop": lambda x: paddle.crop(x, [-1, x.shape[1] - 1, 8], [0, 1, 0]),
    "positions": lambda x: x[paddle.arange(x.shape[0]), 0],
    "compared": lambda x: (
        paddle.arange(x.shape[1]).unsqueeze(0) < paddle.arange(x.shape[1]).unsqueeze(1)
    ),
    "affine_grid": lambda x: F.affine_grid(
        paddle.ones([2, 2, 3]), [2, 1, x.shape[1], x.shape[0]], align_corners=True
    ),
    "in a branch": lambda x: paddle.static.nn.cond(
        x.sum() > 0.0,
        lambda: x.reshape([x.shape[0] * x.shape[1], 8]) * 2.0,
        lambda: paddle.ones([x.shape[0] * x.shape[1], 8]) * x.sum(),
    ),
}


def _gradient(y: Any, x: Any) -> Any:
    if y.stop_gradient:
        return None
    (g,) = paddle.grad((y * y).sum(), [x], allow_unused=True)
    return g


def _checked(function: Callable[[Any], Any], backend: str) -> None:
    traced = to_static(function, input_spec=OPEN, backend=backend)
    for (b, t), runs in zip(SIZES, (1, 3, 1), strict=True):
        for _ in range(runs):  # the third of which is compiled
            x = paddle.to_tensor(_rng.standard_normal((b, t, 8)).astype("float32"))
            x.stop_gradient = False
            found, expected = traced(x), function(x)
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            for a, e in ((found, expected), (_gradient(found, x), _gradient(expected, x))):
                assert (a is None) == (e is None)
                if e is None:
                    continue
                if backend == "numpy":
                    np.testing.assert_array_equal(a.numpy(), e.numpy())
                np.testing.assert_allclose(a.numpy(), e.numpy(), rtol=2e-5, atol=2e-5)
    assert len(traced.program_cache) == 1


@over("backend", ["numpy", "native"])
@over("name", sorted(FUNCTIONS))
def test_what_is_computed_of_open_sizes(name: str, backend: str) -> None:
    _checked(FUNCTIONS[name], backend)


def _whole(x: Any) -> Any:
    return x.detach().max().astype("int64")


# Of an array whose largest element is 1, 2 or 3, in one program each.
FROM_DATA: dict[str, Callable[[Any], Any]] = {
    "ones": lambda x: paddle.ones([_whole(x), 2]) * x.sum(),
    "a list of sizes": lambda x: paddle.zeros((x[0, :2] * 0.0).astype("int64") + _whole(x)),
    "reshape": lambda x: x[:, :6].reshape([_whole(x), -1]),
    "arange": lambda x: paddle.arange(_whole(x)),
    "slice": lambda x: x[:, : _whole(x)] * 2.0,
    "tile": lambda x: paddle.tile(x, [_whole(x), 1]),
    "topk": lambda x: paddle.topk(x, _whole(x))[0],
    "one_hot": lambda x: F.one_hot(paddle.to_tensor([0, 0]), _whole(x)),
    "interpolate": lambda x: F.interpolate(x.unsqueeze([0, 1]), size=[_whole(x), 4]),
    "an axis": lambda x: paddle.cumsum(x, _whole(x) % 2),
    "a factor": lambda x: x * _whole(x) ** 0.5,
    "full": lambda x: paddle.full([2], x.mean()),
    "dropout": lambda x: F.dropout(x, x.detach().mean() * 0.0),
}


@over("name", sorted(FROM_DATA))
def test_numbers_that_come_from_data_are_part_of_the_program(name: str) -> None:
    function = FROM_DATA[name]
    traced = to_static(function)
    for largest in (1.0, 2.0, 3.0, 2.0, 2.0):
        x = paddle.to_tensor(np.minimum(np.arange(1.0, 25.0), largest).reshape(3, 8), "float32")
        x.stop_gradient = False
        found, expected = traced(x), function(x)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
        assert found.stop_gradient == expected.stop_gradient
        if not expected.stop_gradient:
            np.testing.assert_allclose(_gradient(found, x), _gradient(expected, x), rtol=1e-5)
    assert len(traced.program_cache) == 1


def test_the_value_of_such_a_number_is_not_known() -> None:
    for function in (lambda x: paddle.ones([x.sum().item()]), lambda x: x * float(x.mean())):
        with pytest.raises(ModeError, match="is wanted, give the tensor itself"):
            to_static(function)(paddle.ones([2]))


def test_python_that_asks_for_the_number_is_told() -> None:
    x = paddle.ones([2, 3, 8])
    for function in (
        lambda x: sum(x[:, k] for k in range(x.shape[1])),
        lambda x: x * math.sqrt(x.shape[1]),
        lambda x: x if x.shape[1] > 2 else -x,
        lambda x: x * len(x[0]),
    ):
        with pytest.raises(ModeError, match=r"at test_size_arithmetic.py:\d+ .*leaves open"):
            to_static(function, input_spec=OPEN)(x)


# --- models


class _Block(nn.Layer):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.register_buffer("mask", paddle.tril(paddle.ones([1, 1, 16, 16])))

    def forward(self, x: Any) -> Any:
        b, t, w = x.shape
        q, k, v = (
            y.reshape([b, t, self.heads, w // self.heads]).transpose([0, 2, 1, 3])
            for y in self.qkv(self.before(x)).split(3, axis=2)
        )
        weights = q @ k.transpose([0, 1, 3, 2]) * (w // self.heads) ** -0.5
        weights = paddle.where(self.mask[:, :, :t, :t] == 0, paddle.full([1], -math.inf), weights)
        y = (F.softmax(weights, -1) @ v).transpose([0, 2, 1, 3]).reshape([b, t, w])
        x = x + self.out(y)
        return x + self.narrow(F.gelu(self.wide(self.between(x))))


class GPT(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(20, 8), nn.Embedding(16, 8)
        self.blocks = nn.LayerList([_Block(8, 2) for _ in range(2)])
        self.head = nn.Linear(8, 20, bias_attr=False)

    def forward(self, tokens: Any) -> Any:
        _, t = tokens.shape
        x = self.tokens(tokens) + self.places(paddle.arange(t))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class ViT(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2D(3, 8, 4, 4)
        self.token = self.create_parameter([1, 1, 8])
        self.places = self.create_parameter([1, 65, 8])
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), 1)
        self.head = nn.Linear(8, 5)

    def forward(self, images: Any) -> Any:
        x = self.patches(images)
        b, c, h, w = x.shape
        x = x.reshape([b, c, h * w]).transpose([0, 2, 1])
        x = paddle.concat([self.token.expand([images.shape[0], 1, 8]), x], 1)
        x = x + self.places[:, : x.shape[1]]
        return self.head(self.encoder(x)[:, 0])


class RNN(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.cells, self.head = nn.LSTM(6, 8, 2), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        start = paddle.zeros([2, x.shape[0], 8])
        states, _ = self.cells(x, (start, start))
        return self.head(states.sum(1) / x.shape[1])


MODELS: dict[str, tuple[Any, InputSpec, Callable[[int, int], Any]]] = {
    "GPT": (GPT, InputSpec([None, None], "int64"), lambda b, t: paddle.randint(0, 20, [b, t])),
    "ViT": (
        ViT,
        InputSpec([None, 3, None, None]),
        lambda b, t: paddle.randn([b, 3, 4 * t, 8]),
    ),
    "RNN": (RNN, InputSpec([None, None, 6]), lambda b, t: paddle.randn([b, t, 6])),
}


@over("name", sorted(MODELS))
def test_models_are_saved_and_run_with_any_sizes(name: str, tmp_path: Path) -> None:
    make, spec, data = MODELS[name]
    paddle.seed(3)
    model = make()
    model.eval()
    save(model, f"{tmp_path}/model", [spec])
    loaded = load(f"{tmp_path}/model")
    traced = {b: to_static(make(), input_spec=[spec], backend=b) for b in ("numpy", "native")}
    for function in traced.values():
        function.eval()
        function.set_state_dict(model.state_dict())
    for (b, t), runs in zip(SIZES, (1, 3, 1), strict=True):
        for _ in range(runs):
            x = data(b, t)
            expected = model(x)
            np.testing.assert_array_equal(traced["numpy"](x).numpy(), expected.numpy())
            for found in (loaded(x), traced["native"](x)):
                np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)
            own = traced["numpy"]
            parts = [
                paddle.grad((y * y).sum(), net.parameters(), allow_unused=True)
                for net, y in ((model, expected), (own, own(x)))
            ]
            for e, g in zip(*parts, strict=True):
                np.testing.assert_array_equal(g.numpy(), e.numpy())
