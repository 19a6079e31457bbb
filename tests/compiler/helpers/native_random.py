"""Random training programs: movements, broadcasts, reductions and products of what is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from tests.compiler.helpers.native_batches import Array

Rng = np.random.Generator

# Bounded, with bounded derivatives, so that what differs is no rounding that has grown.
UNARY: list[Callable[[Any], Any]] = [
    paddle.tanh,
    paddle.sin,
    F.sigmoid,
    F.relu,
    F.gelu,
    F.softplus,
    lambda x: paddle.exp(-paddle.square(x)),
    lambda x: paddle.sqrt(paddle.square(x) + 1.0),
    lambda x: paddle.log(paddle.square(x) + 1.0),
    lambda x: x / (1.0 + paddle.abs(x)),
    lambda x: paddle.clip(x, -0.7, 0.9),
    lambda x: F.leaky_relu(x, 0.1),
    lambda x: paddle.where(x > 0.1, x * 0.5, x * x),
    lambda x: 0.5 - x * 0.25,
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (1.0 + paddle.square(y)),
    paddle.maximum,
    paddle.minimum,
    lambda x, y: paddle.where(x > y, x * 0.5, y),
]


class RandomTraining:
    """A program with parameters, a loss and updates, all by one seed.

    Attributes
    ----------
    main, startup : Program
    feeds : list of dict of str to ndarray
    start : dict of str to ndarray
        Values of the parameters.
    fetches : list of str
    text : list of str
        What was done, in order.
    """

    def __init__(self, seed: int, dtype: str, ops: int = 14) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype
        self.main, self.startup = static.Program(), static.Program()
        self.start: dict[str, Array] = {}
        self.text: list[str] = []
        shapes: dict[str, list[int]] = {}
        with static.program_guard(self.main, self.startup):
            self.values: list[Any] = []
            for k in range(int(self.rng.integers(1, 4))):
                shapes[f"x{k}"] = self._shape()
                self.values.append(static.data(f"x{k}", shapes[f"x{k}"], dtype))
            for _ in range(int(self.rng.integers(1, 4))):
                self.values.append(self._parameter(self._shape()))
            for _ in range(ops):
                self._add()
            used = self.values[-6:]
            loss = paddle.add_n([paddle.mean(paddle.tanh(v) * self._weight(v)) for v in used])
            paddle.optimizer.SGD(0.1).minimize(loss)
        blocks = self.main.global_block().vars
        gradients = [n for n in (f"{p}@GRAD" for p in self.start) if n in blocks]
        some = self.rng.choice(len(self.values), 3)
        self.fetches = [loss.name, *gradients, *(self.values[k].name for k in some)]
        self.feeds = [
            {name: self._normal(shape) for name, shape in shapes.items()} for _ in range(3)
        ]

    def _normal(self, shape: list[int]) -> Array:
        return np.asarray(self.rng.uniform(-1.0, 1.0, shape), self.dtype)

    def _shape(self) -> list[int]:
        return [int(d) for d in self.rng.choice([1, 2, 3, 4, 7, 16, 33], self.rng.integers(0, 4))]

    def _parameter(self, shape: list[int]) -> Any:
        name = f"p{len(self.start)}"
        self.start[name] = self._normal(shape)
        return static.create_parameter(shape, self.dtype, name=name)

    def _weight(self, value: Any) -> Any:
        return paddle.to_tensor(self._normal(list(value.shape)))

    def _pick(self) -> Any:
        """One of what is there, the newer the likelier."""
        n = len(self.values)
        return self.values[max(n - 1 - int(self.rng.exponential(3.0)), 0)]

    def _add(self) -> None:
        kinds = [self._unary, self._binary, self._reduce, self._move, self._matmul, self._join]
        kind = kinds[self.rng.choice(6, p=[0.25, 0.25, 0.15, 0.15, 0.1, 0.1])]
        value = kind()
        if value is not None and int(np.prod(value.shape, dtype=int)) <= 20_000:
            self.values.append(value)

    def _unary(self) -> Any:
        k, x = int(self.rng.integers(len(UNARY))), self._pick()
        self.text.append(f"unary {k} of {x.shape}")
        return UNARY[k](x)

    def _binary(self) -> Any:
        k, x = int(self.rng.integers(len(BINARY))), self._pick()
        others = [v for v in self.values if _broadcast(x.shape, v.shape)]
        y = others[self.rng.integers(len(others))]
        if self.rng.random() < 0.3:  # a parameter of a shape that is stretched
            own = [d if self.rng.random() < 0.6 else 1 for d in x.shape]
            y = self._parameter(own[int(self.rng.integers(0, len(own) + 1)) :])
        self.text.append(f"binary {k} of {x.shape} {y.shape}")
        return BINARY[k](x, y)

    def _reduce(self) -> Any:
        x = self._pick()
        axes = [k for k in range(len(x.shape)) if self.rng.random() < 0.6] or None
        keep = bool(self.rng.random() < 0.5)
        kinds = [
            lambda: paddle.mean(x, axis=axes, keepdim=keep),
            lambda: paddle.sum(x, axis=axes, keepdim=keep) * 0.1,
            lambda: paddle.max(x, axis=axes, keepdim=keep),
            lambda: paddle.min(x, axis=axes, keepdim=keep),
            lambda: paddle.logsumexp(x, axis=axes, keepdim=keep),
        ]
        if x.shape:
            one = int(self.rng.integers(len(x.shape)))
            kinds += [
                lambda: F.softmax(x, axis=one),
                lambda: F.log_softmax(x, axis=one) * 0.2,
                lambda: paddle.cumsum(x, axis=one) * 0.2,
            ]
        k = int(self.rng.integers(len(kinds)))
        self.text.append(f"reduce {k} of {x.shape} axes {axes} keep {keep}")
        return kinds[k]()

    def _move(self) -> Any:
        x = self._pick()
        kinds = [self._transposed, self._reshaped, self._sliced, self._stretched, self._flipped]
        k = int(self.rng.integers(len(kinds)))
        self.text.append(f"move {k} of {x.shape}")
        return kinds[k](x)

    def _transposed(self, x: Any) -> Any:
        return paddle.transpose(x, [int(k) for k in self.rng.permutation(len(x.shape))])

    def _reshaped(self, x: Any) -> Any:
        sizes, rest = [], int(np.prod(x.shape, dtype=int))
        while rest > 1:
            d = int(self.rng.choice([d for d in range(2, rest + 1) if rest % d == 0][:4]))
            sizes.append(d)
            rest //= d
        return paddle.reshape(x, [*sizes[:3], *([int(np.prod(sizes[3:]))] if sizes[3:] else [])])

    def _sliced(self, x: Any) -> Any:
        key: list[Any] = []
        for d in x.shape:
            step = int(self.rng.choice([1, 1, 2, 3, -1, -2]))
            start = int(self.rng.integers(0, d))
            key.append(slice(start, None, step) if self.rng.random() < 0.7 else start)
        return x[tuple(key)] if key else x

    def _stretched(self, x: Any) -> Any:
        return paddle.broadcast_to(paddle.unsqueeze(x, 0), [int(self.rng.integers(1, 4)), *x.shape])

    def _flipped(self, x: Any) -> Any:
        return paddle.flip(x, [k for k in range(len(x.shape)) if self.rng.random() < 0.5])

    def _matmul(self) -> Any:
        x = self._pick()
        if len(x.shape) < 2:
            return None
        m, n = x.shape[-2:]
        out = int(self.rng.choice([1, 2, 5, 24]))
        turn_x, turn_y = (bool(self.rng.random() < 0.4) for _ in range(2))
        inner = m if turn_x else n
        lead = [d if self.rng.random() < 0.5 else 1 for d in x.shape[:-2]]
        lead = lead[int(self.rng.integers(0, len(lead) + 1)) :]
        y = self._parameter([*lead, *([out, inner] if turn_y else [inner, out])])
        self.text.append(f"matmul of {x.shape} {y.shape} {turn_x} {turn_y}")
        return paddle.matmul(x, y, transpose_x=turn_x, transpose_y=turn_y) * (1.0 / inner)

    def _join(self) -> Any:
        x = self._pick()
        same = [v for v in self.values if v.shape == x.shape]
        y = same[self.rng.integers(len(same))]
        kind = int(self.rng.integers(3))
        self.text.append(f"join {kind} of {x.shape}")
        if kind == 0 or not x.shape:
            return paddle.stack([x, y, x * 0.5], axis=int(self.rng.integers(len(x.shape) + 1)))
        axis = int(self.rng.integers(len(x.shape)))
        if kind == 1:
            return paddle.concat([x, y], axis=axis)
        size = x.shape[axis]
        if size < 2:
            return None
        first, second = paddle.split(x, [1, size - 1], axis=axis)
        return paddle.concat([second, first * 2.0, y], axis=axis)


def _broadcast(a: Any, b: Any) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(tuple(a), tuple(b)), dtype=int)) <= 20_000
    except ValueError:
        return False


def steps_of_training(
    training: RandomTraining, backend: str, count: int = 4
) -> tuple[list[list[Array]], dict[str, Array], static.Executor]:
    """What is fetched in some steps, and the parameters after them."""
    scope: Any = static.Scope()
    executor = static.Executor(backend=backend)
    executor.run(training.startup, scope=scope)
    for name, value in training.start.items():
        scope.find_var(name).get_tensor().set(value)
    names = sorted(training.feeds[0])
    step = executor.prepare(training.main, names, training.fetches, scope=scope)
    fetched = [step(training.feeds[k % 3]) for k in range(count)]
    return fetched, {n: np.array(scope.find_var(n).value) for n in training.start}, executor
