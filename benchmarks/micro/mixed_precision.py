"""What mixed precision costs eagerly: training steps at each level beside the same in float32.

``python -m benchmarks.micro.mixed_precision`` prints milliseconds of processor time per step, the
median of rounds in which all take turns, and in brackets what it is beside float32.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from statistics import median

import autograd_engine as paddle
from autograd_engine import nn

__all__ = ["main"]

F = nn.functional
LEVELS = {
    "float32": ("O0", "float32"),
    "O1 bfloat16": ("O1", "bfloat16"),
    "O1 float16": ("O1", "float16"),
    "O2 bfloat16": ("O2", "bfloat16"),
}


def mlp(widths: list[int], batch: int) -> tuple[nn.Layer, paddle.Tensor, paddle.Tensor]:
    layers: list[nn.Layer] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    x = paddle.randn([batch, widths[0]])
    return nn.Sequential(*layers[:-1]), x, paddle.randint(0, widths[-1], [batch])


class Block(nn.Layer):
    """A block of the character transformer's size, and what it reads and says."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = nn.Embedding(96, 64)
        block = nn.TransformerEncoderLayer(64, 8, 256, dropout=0.0, normalize_before=True)
        self.blocks = nn.TransformerEncoder(block, 2, nn.LayerNorm(64))
        self.head = nn.Linear(64, 96)

    def forward(self, codes: paddle.Tensor) -> paddle.Tensor:
        return self.head(self.blocks(self.characters(codes)))


def transformer() -> tuple[nn.Layer, paddle.Tensor, paddle.Tensor]:
    codes = paddle.randint(0, 96, [32, 64])
    return Block(), codes, paddle.randint(0, 96, [32, 64])


MODELS: dict[str, Callable[[], tuple[nn.Layer, paddle.Tensor, paddle.Tensor]]] = {
    "perceptron 13-64-10, batch 32": lambda: mlp([13, 64, 10], 32),
    "perceptron 784-512-256-10, batch 128": lambda: mlp([784, 512, 256, 10], 128),
    "transformer, 32 x 64 x 64": transformer,
}


def step_of(model: str, level: str, dtype: str) -> Callable[[], None]:
    paddle.seed(0)
    net, x, y = MODELS[model]()
    adam = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    if level == "O0":
        block = None
    else:
        net, adam = paddle.amp.decorate(net, adam, level=level, dtype=dtype)
        block = {"level": level, "dtype": dtype}

    def step() -> None:
        if block is None:
            loss = F.cross_entropy(net(x), y)
        else:
            with paddle.amp.auto_cast(**block):
                loss = F.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each step in a round")
    given = parser.parse_args()
    for model in MODELS:
        steps = {}
        for name, (level, dtype) in LEVELS.items():
            step = step_of(model, level, dtype)
            for _ in range(3):
                step()
            start = time.perf_counter()
            step()
            taken = time.perf_counter() - start
            steps[name] = step, max(1, int(given.seconds / taken))
        times: dict[str, list[float]] = {name: [] for name in LEVELS}
        for _ in range(given.rounds):
            for name, (step, count) in steps.items():
                start = time.process_time()
                for _ in range(count):
                    step()
                times[name].append((time.process_time() - start) / count * 1e3)
        single = times["float32"]
        print(model)
        for name, taken in times.items():
            ratio = median(t / s for t, s in zip(taken, single, strict=True))
            print(f"  {name:12} {median(taken):9.3f} ms ({ratio:.2f})")


if __name__ == "__main__":
    main()
