"""What objects with settings say of themselves, and what becomes of them in copies and pickles."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError
from tests.over import over

PAIRS = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4])])
OPTIMIZERS = [
    paddle.optimizer.SGD,
    paddle.optimizer.Momentum,
    paddle.optimizer.Adam,
    paddle.optimizer.AdamW,
    paddle.optimizer.Lamb,
    paddle.optimizer.RMSProp,
    paddle.optimizer.Adagrad,
    paddle.optimizer.NAdam,
]

TEXTS: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: paddle.optimizer.Adam(0.1, beta1=0.5, parameters=[paddle.create_parameter([2, 3])]),
        "Adam(learning_rate=0.1, beta1=0.5, parameters=[<Parameter [2, 3]>])",
    ),
    (
        lambda: paddle.optimizer.SGD(
            paddle.optimizer.lr.StepDecay(0.1, 3), [paddle.create_parameter([2])], weight_decay=0.5
        ),
        "SGD(learning_rate=StepDecay(learning_rate=0.1, step_size=3, last_epoch=0, last_lr=0.1), "
        "parameters=[<Parameter [2]>], weight_decay=L2Decay(0.5))",
    ),
    (
        lambda: paddle.optimizer.lr.LambdaDecay(0.5, abs),
        "LambdaDecay(learning_rate=0.5, lr_lambda=abs, last_epoch=0, last_lr=0.0)",
    ),
    (
        lambda: paddle.io.Subset(PAIRS, [0, 2]),
        "Subset(dataset=TensorDataset(tensors=[<Tensor [4, 2]>, <Tensor [4]>]), indices=[0, 2])",
    ),
    (
        lambda: paddle.io.Subset(range(9), list(range(7))),
        "Subset(dataset=<range of 9>, indices=<list of 7>)",
    ),
    (
        lambda: paddle.io.DataLoader(PAIRS, batch_size=2, drop_last=True),
        "DataLoader(dataset=TensorDataset(tensors=[<Tensor [4, 2]>, <Tensor [4]>]), "
        "batch_sampler=<BatchSampler>, batch_size=2, drop_last=True, "
        "collate_fn=default_collate_fn)",
    ),
    (lambda: paddle.metric.Accuracy(name="top"), "Accuracy(name='top')"),
    (lambda: paddle.nn.initializer.Normal(0.0, 2.0), "Normal(std=2.0)"),
    (lambda: paddle.nn.ClipGradByNorm(2.0), "ClipGradByNorm(clip_norm=2.0)"),
    (lambda: paddle.static.Executor(backend="numpy"), "Executor(backend='numpy')"),
]


@over(("make", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_settings_are_shown(make: Callable[[], Any], text: str) -> None:
    assert repr(make()) == text


def test_the_text_of_a_users_class_never_fails() -> None:
    class Odd(paddle.io.Dataset):
        def __init__(self, size: int, hidden: int = 3) -> None:
            self._size = size

        @property
        def hidden(self) -> int:
            raise RuntimeError("not yet")

        def __len__(self) -> int:
            return self._size

    assert repr(Odd(4)) == "Odd(size=4)"


def pickled(pair: Any) -> Any:
    return pickle.loads(pickle.dumps(pair))


@over("make", OPTIMIZERS)
@over("duplicate", [copy.deepcopy, pickled])
def test_an_optimizer_copied_with_its_layer_goes_on_as_the_original(
    make: Callable[..., Any], duplicate: Callable[[Any], Any]
) -> None:
    paddle.seed(1)
    layer = paddle.nn.Linear(3, 2)
    rate = paddle.optimizer.lr.ExponentialDecay(0.1, 0.5)
    groups = [{"params": [layer.weight], "learning_rate": 0.5}, {"params": [layer.bias]}]
    optimizer = make(learning_rate=rate, parameters=groups)

    def steps(layer: Any, optimizer: Any) -> list[Any]:
        for _ in range(3):
            (layer(paddle.ones([4, 3])) ** 2).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
            optimizer._learning_rate.step()
        return [p.numpy() for p in layer.parameters()]

    steps(layer, optimizer)
    other = duplicate((layer, optimizer))
    for mine, original in zip(steps(*other), steps(layer, optimizer), strict=True):
        np.testing.assert_array_equal(mine, original)


def test_executors_and_strategies_are_copied_and_scopes_say_what_to_do() -> None:
    executor = pickle.loads(pickle.dumps(paddle.static.Executor(backend="numpy")))
    assert executor.backend == "numpy"
    strategy = paddle.static.BuildStrategy()
    strategy.memory_optimize = True
    again = copy.deepcopy(strategy)
    strategy.memory_optimize = False
    assert again.memory_optimize
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ArgumentError, match=r"paddle\.static\.save\(program, path\)"):
            duplicate(paddle.static.Scope())
