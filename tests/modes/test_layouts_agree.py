"""Graphs of views, copies and products at random: the bits of eager mode in every way to run them.

How an array lies in memory decides how a BLAS multiplies it and in which order it is summed. So
transposes, slices, gaps and copies are what these graphs are made of.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle

pytestmark = pytest.mark.usefixtures("all_blas_threads")

F = paddle.nn.functional
static = paddle.static

SIZES = (1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 33)
Entry = tuple[Any, tuple[int, ...]]
Step = Callable[["Pool", Any, tuple[int, ...]], Entry | None]
STEPS: dict[str, Step] = {}


class Pool:
    """Matrices so far, with their shapes, and what chooses among them."""

    def __init__(self, choose: random.Random, entries: Sequence[Entry]) -> None:
        self.choose = choose
        self.entries = list(entries)

    def other(self, fits: Callable[[tuple[int, ...]], bool]) -> Entry | None:
        found = [entry for entry in self.entries if fits(entry[1])]
        return self.choose.choice(found) if found else None


def step(function: Step) -> Step:
    STEPS[function.__name__] = function
    return function


for _name in ("tanh", "sin", "atan", "asinh", "square", "assign"):
    STEPS[_name] = lambda pool, v, s, name=_name: (getattr(paddle, name)(v), s)
STEPS["softmax"] = lambda pool, v, s: (F.softmax(v), s)
STEPS["cumsum"] = lambda pool, v, s: (paddle.cumsum(v, 0), s)
STEPS["times_one"] = lambda pool, v, s: (v * 1.0, s)
STEPS["cast"] = lambda pool, v, s: (paddle.cast(v, "float32"), s)
STEPS["add_n"] = lambda pool, v, s: (paddle.add_n([v]), s)
STEPS["transposed"] = lambda pool, v, s: (paddle.transpose(v, [1, 0]), s[::-1])


@step
def arithmetic(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    other = pool.other(lambda q: all(b in (a, 1) for a, b in zip(s, q, strict=True)))
    kind = pool.choose.randrange(3)
    assert other is not None  # itself, if nothing else
    w = other[0]
    return (v * w if kind == 0 else v + w if kind == 1 else v - w), s


@step
def product(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    tx, ty = pool.choose.random() < 0.5, pool.choose.random() < 0.5
    other = pool.other(lambda q: q[1 if ty else 0] == s[0 if tx else 1])
    if other is None:
        return None
    w, q = other
    out = paddle.matmul(v, w, transpose_x=tx, transpose_y=ty) * 0.3
    return out, (s[1] if tx else s[0], q[0] if ty else q[1])


@step
def product_of_stacks(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    if s[0] % 2:
        return None
    stack = paddle.reshape(v, [2, s[0] // 2, s[1]])
    out = paddle.matmul(stack, stack, transpose_y=True) * 0.3
    return paddle.reshape(out, [s[0], s[0] // 2]), (s[0], s[0] // 2)


@step
def rows(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    return (v[1:], (s[0] - 1, s[1])) if s[0] > 2 else None


@step
def every_second(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    if pool.choose.random() < 0.5:
        return v[:, ::2], (s[0], (s[1] + 1) // 2)
    return v[::2], ((s[0] + 1) // 2, s[1])


@step
def flipped(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    return paddle.flip(v, [pool.choose.randrange(2)]), s


@step
def reshaped(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    n = s[0] * s[1]
    first = pool.choose.choice([k for k in range(1, n + 1) if n % k == 0])
    return paddle.reshape(v, [first, n // first]), (first, n // first)


@step
def joined(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    other = pool.other(lambda q: q[1] == s[1] and q[0] + s[0] < 20)
    return None if other is None else (paddle.concat([v, other[0]]), (s[0] + other[1][0], s[1]))


@step
def half(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    return (paddle.split(v, 2, axis=1)[1], (s[0], s[1] // 2)) if s[1] % 2 == 0 else None


@step
def column(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    return paddle.unsqueeze(paddle.unbind(v, 1)[0], 0), (1, s[0])


@step
def reduced(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    axis = pool.choose.randrange(2)
    function = pool.choose.choice([paddle.sum, paddle.mean, paddle.max])
    return function(v, axis, keepdim=True), (1, s[1]) if axis == 0 else (s[0], 1)


@step
def spread(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    shape = [6 if d == 1 else d for d in s]
    return (paddle.expand(v, shape), tuple(shape)) if 1 in s else None


@step
def spread_copy(pool: Pool, v: Any, s: tuple[int, ...]) -> Entry | None:
    wide = paddle.expand(paddle.unsqueeze(v, 1), [s[0], 3, s[1]])
    return wide[:, 1] * 1.0, s


def graph(seed: int, leaves: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> Any:
    choose = random.Random(seed)
    pool = Pool(choose, list(zip(leaves, shapes, strict=True)))
    names = sorted(STEPS)
    for _ in range(choose.randint(6, 16)):
        made = STEPS[choose.choice(names)](pool, *choose.choice(pool.entries))
        if made is not None:
            pool.entries.append(made)
    total = None
    for value, _ in pool.entries[-3:]:
        term = paddle.mean(value * value)
        total = term if total is None else total + term
    return total


def both_orders(loss: Any, leaves: Sequence[Any], derive: Callable[..., list[Any]]) -> list[Any]:
    first = derive(loss, leaves)
    squares = [paddle.sum(g * g) for g in first if g is not None]
    total = sum(squares[1:], squares[0])
    return [loss, *first, *derive(total, leaves)]


def _gradients(loss: Any, leaves: Sequence[Any]) -> list[Any]:
    if isinstance(loss, paddle.Tensor):
        if loss.grad_fn is None:
            return [None] * len(leaves)
        return list(paddle.grad(loss, leaves, create_graph=True, allow_unused=True))
    return list(static.gradients(loss, leaves))


def _bits(values: Sequence[Any]) -> list[bytes | None]:
    return [None if v is None else np.asarray(v).tobytes() for v in values]


CASES = [(seed, SIZES) for seed in range(80)] + [(seed, (1, 128, 130, 160)) for seed in range(20)]


@pytest.mark.parametrize(("seed", "sizes"), CASES)
def test_any_graph_of_views_and_products(seed: int, sizes: Sequence[int]) -> None:
    choose = random.Random(seed)
    shapes = [(choose.choice(sizes), choose.choice(sizes)) for _ in range(2)]
    shapes.append((shapes[0][1], choose.choice(sizes)))
    rng = np.random.default_rng(seed)
    values = [(rng.standard_normal(s) * 0.7).astype("float32") for s in shapes]

    leaves = [paddle.to_tensor(v, stop_gradient=False) for v in values]
    loss = graph(seed, leaves, shapes)
    loss.backward()
    passed = _bits([loss, *(x.grad for x in leaves)])
    for leaf in leaves:
        leaf.grad = None
    recorded = _bits(both_orders(graph(seed, leaves, shapes), leaves, _gradients))
    assert passed == recorded[: len(passed)]

    with static.program_guard(static.Program()):
        inputs = [static.data(f"x{k}", list(s)) for k, s in enumerate(shapes)]
        for v in inputs:
            v.stop_gradient = False
        results = both_orders(graph(seed, inputs, shapes), inputs, _gradients)
        fetches = [r for r in results if r is not None]
        exe = static.Executor()
        for run in ("first", "second", "compiled"):
            feed = {f"x{k}": v for k, v in enumerate(values)}
            found = iter(exe.run(feed=feed, fetch_list=fetches))
            have = _bits([None if r is None else next(found) for r in results])
            assert have == recorded, run


def _fed_as_it_lies() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    wide = rng.standard_normal((154, 195, 4)).astype("float32")
    plain = np.ascontiguousarray(wide[:77, :65, 0])
    return {
        "in columns": np.asfortranarray(plain),
        "transposed": plain.T,
        "backwards": plain[::-1, ::-1],
        "with gaps": wide[::2, ::3, 0],
        "with gaps in columns": wide.transpose(1, 0, 2)[:65, :77, 1],
        "spread": np.broadcast_to(plain[:1], plain.shape),
    }


@pytest.mark.parametrize("layout", _fed_as_it_lies())
def test_an_array_that_is_fed_has_the_bits_of_a_tensor_made_of_it(layout: str) -> None:
    given = _fed_as_it_lies()[layout]

    def results(x: Any) -> list[Any]:
        sums = [paddle.sum(x), paddle.sum(x, 0), paddle.sum(x, 1), paddle.std(x)]
        products = [paddle.matmul(x, x, transpose_y=True), paddle.matmul(x, x, transpose_x=True)]
        return [*sums, *products, paddle.log(paddle.abs(x)), paddle.cumsum(x, 1)]

    expected = _bits(results(paddle.to_tensor(given)))
    with static.program_guard(static.Program()):
        x = static.data("x", list(given.shape))
        fetches = results(x)
        exe = static.Executor()
        for _ in range(3):
            assert _bits(exe.run(feed={"x": given}, fetch_list=fetches)) == expected


def _agree(build: Callable[..., list[Any]], values: Sequence[np.ndarray]) -> None:
    expected = _bits(build(*map(paddle.to_tensor, values)))
    with static.program_guard(static.Program()):
        inputs = [static.data(f"x{k}", list(v.shape)) for k, v in enumerate(values)]
        fetches = build(*inputs)
        feed = {f"x{k}": v for k, v in enumerate(values)}
        for run in ("first", "second", "compiled"):
            assert _bits(static.Executor().run(feed=feed, fetch_list=fetches)) == expected, run
        step = static.Executor().prepare(feed=list(feed), fetch_list=fetches)
        for run in ("prepared", "prepared again"):
            assert _bits(step(*values)) == expected, run


COPIES: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "with itself": lambda x: (x, x),
    "with a copy": lambda x: (x, paddle.assign(x)),
    "with what is as much": lambda x: (x, x * 1.0),
    "with what was computed again": lambda x: (paddle.tanh(x), paddle.tanh(x)),
    "with a view": lambda x: (x, x[:]),
}


@pytest.mark.parametrize("which", COPIES)
def test_a_matrix_times_its_transpose(which: str) -> None:
    """NumPy has a routine of its own for it, if it sees one array."""

    def build(*xs: Any) -> list[Any]:
        made = []
        for x in xs:
            a, b = COPIES[which](x)
            made += [a @ paddle.t(b), paddle.matmul(a, b, transpose_x=True)]
            stack_a, stack_b = (paddle.reshape(v, [2, -1, v.shape[1]]) for v in (a, b))
            made.append(paddle.matmul(stack_a, stack_b, transpose_y=True))
        return made

    rng = np.random.default_rng(5)
    _agree(build, [rng.standard_normal(s).astype("float32") for s in [(4, 33), (40, 7), (6, 300)]])


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 19])
@pytest.mark.parametrize("m", [1, 2, 4, 7])
def test_small_products_of_views(m: int, k: int) -> None:
    """Of one column or row too, which are vectors to some functions and matrices to others."""

    def views(x: Any) -> list[Any]:
        """As an array that is 2 [m, k], in several ways."""
        stacked = paddle.concat([x, x * 2.0], axis=1)  # gaps between rows
        turned = paddle.t(paddle.assign(paddle.t(x)))  # in columns
        between = paddle.stack([x, x], axis=2)[:, :, 0]  # gaps between elements
        wide = paddle.t(paddle.concat([paddle.t(x), paddle.t(x)], axis=1)[:, :m])
        copied = paddle.assign(between) if m > 1 else between * 1.0
        return [x, stacked[:, :k], turned, between, wide, copied, paddle.t(turned)]

    def build(x: Any, *ys: Any) -> list[Any]:
        made = []
        for seen in views(x):
            for y in ys:
                fits = seen.shape[1] == y.shape[0]
                made.append(seen @ y if fits else paddle.matmul(seen, y, transpose_x=True))
        return made

    rng = np.random.default_rng(6)
    shapes = [(m, k), (k, 1), (k, 2), (k, 5), (k, 20)]
    _agree(build, [rng.standard_normal(s).astype("float32") for s in shapes])


def test_sums_of_cotangents_in_several_orders() -> None:
    """Those that arrive later lie otherwise in memory than those before, and all are reduced."""
    rng = np.random.default_rng(7)
    shapes = [(5, 1), (33, 5), (5, 33), (33, 5), (33, 5)]
    values = [rng.standard_normal(s).astype("float32") for s in shapes]

    def loss(x: Any, *parts: Any) -> Any:
        y = x + paddle.t(parts[0])
        return sum((y * part).sum() for part in (parts[1], *map(paddle.t, parts[2:])))

    x, *parts = (paddle.to_tensor(v) for v in values)
    x.stop_gradient = False
    made = loss(x, *parts)
    found = [*paddle.grad(made, x, retain_graph=True), *paddle.grad(made, x, create_graph=True)]
    with static.program_guard(static.Program()):
        inputs = [static.data(f"x{k}", list(v.shape)) for k, v in enumerate(values)]
        inputs[0].stop_gradient = False
        fetches = static.gradients(loss(*inputs), inputs[0])
        feed = {f"x{k}": v for k, v in enumerate(values)}
        found += static.Executor(backend="numpy").run(feed=feed, fetch_list=fetches)
    assert len({bits for (bits, *_) in map(_bits, [[g] for g in found])}) == 1
