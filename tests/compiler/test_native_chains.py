"""Random programs of many small operations, native beside NumPy's, with their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from tests.compiler.helpers.native_batches import ALL
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags
from tests.compiler.helpers.native_programs import wrong_in

pytestmark = needs_compiler

SHAPES = [(), (1,), (5,), (4, 5), (4, 1), (3, 4, 5), (3, 1, 5), (2, 3, 4, 5), (17, 33)]

Unary = Callable[[Any], Any]

# None of them leaves the range of numbers of order 1, or amplifies roundings.
SMOOTH: dict[str, Unary] = {
    "tanh": paddle.tanh,
    "sigmoid": F.sigmoid,
    "softplus": F.softplus,
    "gelu": F.gelu,
    "silu": F.silu,
    "sin": paddle.sin,
    "sqrt": lambda x: paddle.sqrt(x * x + 0.5),
    "log": lambda x: paddle.log(x * x + 0.5),
    "exp": lambda x: paddle.exp(paddle.tanh(x)),
    "atan": paddle.atan,
    "half": lambda x: x * 0.5 - 0.25,
    "divide": lambda x: x / (paddle.abs(x) + 1.0),
    "power": lambda x: paddle.tanh(x) ** 3,
    "detached": lambda x: x + F.relu(x).detach(),
}
REDUCED: dict[str, Callable[[Any, list[int] | None, bool], Any]] = {
    "mean": lambda x, axis, keep: paddle.mean(x, axis, keep),
    "sum": lambda x, axis, keep: paddle.sum(paddle.tanh(x), axis, keepdim=keep) * 0.125,
    "max": lambda x, axis, keep: paddle.max(x, axis, keep),
    "logsumexp": lambda x, axis, keep: paddle.logsumexp(x, axis, keep),
}
WHOLE: dict[str, Unary] = {
    "negative": lambda x: -x,
    "absolute": paddle.abs,
    "square": lambda x: x * x % 97,
    "sign": paddle.sign,
    "divide": lambda x: x // 3,
    "remainder": lambda x: x % 5,
    "halve": lambda x: x >> 1,
    "flags": lambda x: (x > 1).astype(x.dtype) + x,
}
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "where"]
MOVES = ["transpose", "reshape", "slice", "backwards", "concat", "stack", "expand", "split", "pad"]


def _combined(kind: str, x: Any, y: Any) -> Any:
    if kind == "where":
        return paddle.where(x > y, x, y * 2)
    return getattr(paddle, kind)(x, y)


def _moved(kind: str, x: Any, pick: int) -> Any:
    shape, ndim = list(x.shape), len(x.shape)
    if kind == "expand" or not ndim:
        return paddle.unsqueeze(x, pick % (ndim + 1))
    axis = pick % ndim
    if kind == "transpose":
        return paddle.transpose(x, [(k + 1) % ndim for k in range(ndim)])
    if kind == "reshape":
        return paddle.reshape(x, [-1]) if pick % 2 else paddle.reshape(x, [shape[0], -1])
    if kind == "slice":
        return x[(slice(None),) * axis + (slice(shape[axis] // 3, None),)]
    if kind == "backwards":
        return x[(slice(None),) * axis + (slice(None, None, -1),)]
    if kind == "concat":
        return paddle.concat([x, x * 2, x], axis)
    if kind == "stack":
        return paddle.stack([x, x + 1], axis)
    if kind == "split":
        parts = paddle.split(x, [1, shape[axis] - 1], axis) if shape[axis] > 1 else [x]
        return parts[pick % len(parts)]
    return paddle.concat([paddle.zeros_like(x), x], axis)


Draw = Callable[[Any], Any]


def _grown(draw: Draw, xs: list[Any], floats: bool, count: int) -> list[Any]:
    """More values from those there are, one operation each."""
    pool = list(xs)
    names = sorted(SMOOTH if floats else WHOLE)
    kinds = ["unary", "unary", "binary", "binary", "move", *(["reduce", "matmul"] * floats)]
    for _ in range(count):
        x = pool[-1] if draw(st.booleans()) else pool[draw(st.integers(0, len(pool) - 1))]
        kind = draw(st.sampled_from(kinds))
        if kind == "unary":
            made = (SMOOTH if floats else WHOLE)[draw(st.sampled_from(names))](x)
        elif kind == "binary":
            others = [y for y in pool if _meet(x.shape, y.shape)]
            y = others[draw(st.integers(0, len(others) - 1))]
            made = _combined(draw(st.sampled_from(BINARY)), x, y)
        elif kind == "move":
            made = _moved(draw(st.sampled_from(MOVES)), x, draw(st.integers(0, 7)))
        elif kind == "matmul" and len(x.shape) >= 2:
            made = paddle.matmul(x, paddle.tanh(x), transpose_y=True) * 0.1
        else:
            ndim = len(x.shape)
            axis = sorted(draw(st.sets(st.integers(0, ndim - 1)))) if ndim else []
            reduce = REDUCED[draw(st.sampled_from(sorted(REDUCED)))]
            made = reduce(x, axis or None, draw(st.booleans()))
        if int(np.prod(made.shape)) <= 5000:
            pool.append(made)
    return pool[len(xs) :]


def _meet(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(m in (1, n) or n == 1 for m, n in zip(a[::-1], b[::-1], strict=False))


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O1"))
        yield


OPTIONS: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "max_examples": 300 if ALL else 15,
}


@settings(**OPTIONS)
@given(st.data())
def test_chains_of_floats_and_their_gradients(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    shapes = data.draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    arrays = [rng.uniform(-2, 2, s).astype(dtype) for s in shapes]

    def build(declare: Any) -> Sequence[Any]:
        xs = [declare(a) for a in arrays]
        for x in xs:
            x.stop_gradient = False
        made = _grown(data.draw, xs, True, data.draw(st.integers(3, 30)))
        total = sum((paddle.mean(y) for y in made[-3:]), start=paddle.mean(xs[0]))
        return [*made[-2:], total, *static.gradients([total], xs)]

    assert wrong_in([("chain", build)]) == []


@settings(**OPTIONS)
@given(st.data())
def test_chains_of_integers(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.int32, np.int64]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    shapes = data.draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    arrays = [rng.integers(-9, 9, s).astype(dtype) for s in shapes]

    def build(declare: Any) -> Sequence[Any]:
        xs = [declare(a) for a in arrays]
        return _grown(data.draw, xs, False, data.draw(st.integers(3, 30)))[-3:]

    assert wrong_in([("chain", build)]) == []


def test_parts_are_written_after_the_array_is_filled() -> None:
    """A part that runs along the rows of a loop does not join it where that fills around it."""
    x, y = np.zeros((2, 3)), np.zeros(2)

    def build(declare: Any) -> Sequence[Any]:
        a, b = declare(x), declare(y)
        a.stop_gradient = b.stop_gradient = False
        spread = paddle.sum(paddle.expand(paddle.unsqueeze(b, 1), [2, 3]) * 0.3)
        part = paddle.sum(a[:1, 1:] * 0.3)
        return static.gradients([spread + part], [a, b])

    def meshed(declare: Any) -> Sequence[Any]:
        a, b, c = declare(y), declare(np.zeros(3)), declare(x)
        for v in (a, b, c):
            v.stop_gradient = False
        first, second = paddle.meshgrid(a, b)
        total = paddle.sum(first) * 0.3 + paddle.sum(second) * 0.4
        return static.gradients([total + paddle.sum(c[:1, 1:]) * 0.3], [a, b, c])

    assert wrong_in([("expanded", build), ("meshed", meshed)]) == []
    assert wrong_in([("meshed", meshed)]) == []
