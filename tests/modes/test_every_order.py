"""Gradients of gradients have the bits of the tape in programs, whatever sizes these know.

Random programs over operations that hand a cotangent on, sum, broadcast, take apart and put
together, with values that are read more than once, several targets, cotangents that are shared,
and gradients of intermediate values. What three orders give on the tape, recorded, is compared with
a program's.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.testing.modes import same_bits
from tests.tiers import by_default

F = paddle.nn.functional
Derive = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], list[Any]]

ROWS, WIDTH = 5, 3
SHAPES = {
    "x": (ROWS, WIDTH),
    "y": (ROWS, WIDTH),
    "w": (WIDTH, WIDTH),
    "b": (WIDTH,),
    "k": (ROWS, WIDTH),
    "l": (ROWS, WIDTH),
}
# Each makes a value of the shape of `p` and `q` of these, of indices of rows and of all inputs.
STEPS: dict[str, Callable[[Any, Any, Any, dict[str, Any]], Any]] = {
    "add": lambda p, q, i, v: p + q,
    "subtract": lambda p, q, i, v: p - q,
    "multiply": lambda p, q, i, v: p * q,
    "divide": lambda p, q, i, v: p / (q * q + 1.0),
    "negative": lambda p, q, i, v: -p,
    "scale": lambda p, q, i, v: p * 1.5 + q,
    "tanh": lambda p, q, i, v: paddle.tanh(p),
    "exp": lambda p, q, i, v: paddle.exp(-q * q) + p,
    "sqrt": lambda p, q, i, v: paddle.sqrt(q * q + 1.0) * p,
    "add_n": lambda p, q, i, v: paddle.add_n([p, q, p]),
    "add_n of more": lambda p, q, i, v: paddle.add_n([p, v["x"], q, v["y"]]),
    "assign": lambda p, q, i, v: paddle.assign(p),
    "concat, split": lambda p, q, i, v: _product(paddle.split(paddle.concat([p, q], 1), 2, 1)),
    "stack": lambda p, q, i, v: paddle.stack([p, q, p]).sum(0),
    "unbind": lambda p, q, i, v: paddle.stack(
        [a + b for a, b in zip(paddle.unbind(p, 1), paddle.unbind(q, 1), strict=True)], 1
    ),
    "one row": lambda p, q, i, v: p + q[0] * p[1],
    "some rows": lambda p, q, i, v: p[0:1] * q[1:2] + p,
    "columns": lambda p, q, i, v: paddle.concat([p[:, 0:1], p[:, 0:2]], 1) + q,
    "gather": lambda p, q, i, v: paddle.gather(p, i) + q,
    "two gathers": lambda p, q, i, v: paddle.gather(p, i) * paddle.gather(q, i),
    "embedding": lambda p, q, i, v: F.embedding(i, p) + F.embedding(i, q) * p,
    "mean of rows": lambda p, q, i, v: p + q.mean(0),
    "mean of columns": lambda p, q, i, v: p - q.mean(1, keepdim=True),
    "sum": lambda p, q, i, v: p + q.sum(0, keepdim=True),
    "weights": lambda p, q, i, v: p + v["w"][0] + v["w"][1] * q,
    "bias": lambda p, q, i, v: p + v["b"],
    "matmul": lambda p, q, i, v: paddle.matmul(p, v["w"]) + q,
    "linear": lambda p, q, i, v: F.linear(p, v["w"], v["b"]),
    "softmax": lambda p, q, i, v: F.softmax(p) + q,
    "layer_norm": lambda p, q, i, v: F.layer_norm(p, WIDTH) + q,
    "cross entropy": lambda p, q, i, v: F.binary_cross_entropy_with_logits(
        p, F.sigmoid(q), reduction="none"
    ),
    "where": lambda p, q, i, v: paddle.where(p > 0.0, p, q),
    "maximum": lambda p, q, i, v: paddle.maximum(p, q),
    "clip": lambda p, q, i, v: paddle.clip(p, -1.0, 1.0) + q,
    "lerp": lambda p, q, i, v: paddle.lerp(p, q, 0.3),
    "cumsum": lambda p, q, i, v: paddle.cumsum(p, 1) + q,
    "flip": lambda p, q, i, v: paddle.flip(p, [1]) + q,
    "transpose": lambda p, q, i, v: paddle.t(paddle.t(p) + paddle.t(q)),
    "cond": lambda p, q, i, v: static.nn.cond(
        p.sum() > q.sum(), lambda: p * q + v["x"], lambda: q - p * v["b"]
    ),
    "while_loop": lambda p, q, i, v: static.nn.while_loop(
        lambda n, z: n < 2, lambda n, z: [n + 1, z * p + q], [paddle.zeros([], "int64"), q]
    )[1],
}
FLOW = {"cond", "while_loop"}  # which have the bits of two orders, see docs/design/programs.md


def _product(parts: Sequence[Any]) -> Any:
    return parts[0] * parts[1]


def orders_of(seed: int, values: dict[str, Any], derive: Derive, many: int) -> list[Any]:
    """Gradients of `many` orders of the program of that number."""
    chosen = random.Random(seed)
    v = values
    pool = [v["x"], v["y"]]
    names = [name for name in STEPS if many < 3 or name not in FLOW]
    for _ in range(chosen.randint(2, 7)):
        step = STEPS[chosen.choice(names)]
        pool.append(step(chosen.choice(pool), chosen.choice(pool), v["i"], v))
    inputs = [v[name] for name in SHAPES]
    goals = [pool[-1], pool[-2]][: chosen.randint(1, 2)]
    cotangent = chosen.choice([v["k"], v["k"] * v["l"]])
    given = [cotangent, chosen.choice([cotangent, v["l"]])]
    wanted = inputs[:4]
    if len(pool) > 4 and chosen.random() < 0.4:
        wanted.append(pool[chosen.randrange(2, len(pool) - 2)])
    found = derive(goals, wanted, given[: len(goals)])
    gradients = list(found)
    for _ in range(many - 1):
        drawn = [chosen.random() < 0.3 for _ in found]
        pairs = [(g, given) for g, given in zip(found, drawn, strict=True) if g is not None]
        if not pairs:
            break
        if chosen.random() < 0.4:
            total = paddle.add_n([(g * g).sum() for g, _ in pairs])
            found = derive([total], inputs, [None])
        else:
            targets = [g for g, _ in pairs]
            found = derive(targets, inputs, [g * 0.5 if given else None for g, given in pairs])
        gradients += found
    return gradients


def arrays_of(seed: int, dtype: str) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {
        name: rng.uniform(-1.5, 1.5, shape).astype(dtype) for name, shape in SHAPES.items()
    }
    arrays["i"] = rng.integers(0, ROWS, ROWS)
    return arrays


def on_the_tape(seed: int, arrays: dict[str, Any], many: int) -> list[Any]:
    def derive(targets: Any, inputs: Any, given: Any) -> list[Any]:
        pairs = [(t, g) for t, g in zip(targets, given, strict=True) if not t.stop_gradient]
        if not pairs:
            return [None] * len(inputs)
        targets, given = (list(column) for column in zip(*pairs, strict=True))
        return paddle.grad(targets, inputs, given, create_graph=True, allow_unused=True)

    values = {n: paddle.to_tensor(a, stop_gradient=n == "i") for n, a in arrays.items()}
    return [None if g is None else g.numpy() for g in orders_of(seed, values, derive, many)]


def in_a_program(
    seed: int, arrays: dict[str, Any], many: int, *, unknown: bool
) -> tuple[static.Program, list[Any]]:
    program = static.Program()
    with static.program_guard(program, static.Program()):
        values = {}
        for name, a in arrays.items():
            lead = None if unknown and a.shape[0] == ROWS else a.shape[0]
            values[name] = static.data(name, [lead, *a.shape[1:]], str(a.dtype))
            values[name].stop_gradient = name == "i"
        return program, orders_of(seed, values, static.gradients, many)


def failures(
    seeds: range, *, dtype: str = "float64", unknown: bool = False, many: int = 3
) -> list[str]:
    found = []
    for seed in seeds:
        arrays = arrays_of(seed, dtype)
        expected = on_the_tape(seed, arrays, many)
        program, gradients = in_a_program(seed, arrays, many, unknown=unknown)
        asked = [g for g in gradients if g is not None]
        values = iter(static.Executor(backend="numpy").run(program, arrays, asked))
        for k, (g, want) in enumerate(zip(gradients, expected, strict=True)):
            have = None if g is None else next(values)
            if have is None or want is None:  # zeros, where one of the two knows no better
                have = np.zeros_like(want) if have is None and want is not None else have
                want = np.zeros_like(have) if want is None and have is not None else want
            try:
                same_bits(have, want)
            except AssertionError as error:
                found.append(f"program {seed}, gradient {k}: {error}")
                break
    return found


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@pytest.mark.parametrize("tens", by_default(range(10), 3))
def test_three_orders_of_random_programs(tens: int, unknown: bool) -> None:
    seeds = range(tens * 40, tens * 40 + 40)
    assert not failures(seeds, unknown=unknown)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
def test_two_orders_with_branches_and_loops(unknown: bool) -> None:
    assert not failures(range(1000, 1040), unknown=unknown, many=2)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrower_floats(dtype: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        assert not failures(range(2000, 2020), dtype=dtype)
        assert not failures(range(2020, 2040), dtype=dtype, unknown=True)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
def test_a_sum_that_is_handed_on(unknown: bool) -> None:
    """The rule of add_n gives one cotangent to all; its readers meet at each, then at the one."""

    def orders(values: dict[str, Any], derive: Derive) -> list[Any]:
        a, b, c, k, *us = values.values()
        first = derive([paddle.add_n([a, b, c]) * a], [a, b, c], [k])
        return [*first, *derive(first, [a, b, c, k], us)]

    def recorded(targets: Any, inputs: Any, given: Any) -> Any:
        return paddle.grad(targets, inputs, given, create_graph=True)

    for seed in range(50):
        rng = np.random.default_rng(seed)
        arrays = {name: rng.standard_normal(5) for name in ("a", "b", "c", "k", "u", "v", "w")}
        tensors = {n: paddle.to_tensor(x, stop_gradient=False) for n, x in arrays.items()}
        program = static.Program()
        with static.program_guard(program):
            size = None if unknown else 5
            variables = {n: static.data(n, [size], "float64") for n in arrays}
            for v in variables.values():
                v.stop_gradient = False
            gradients = orders(variables, static.gradients)
        found = static.Executor().run(program, arrays, gradients)
        for have, want in zip(found, orders(tensors, recorded), strict=True):
            same_bits(have, want.numpy())


@pytest.mark.thorough
def test_four_orders() -> None:
    assert not failures(range(3000, 3020), many=4)
    assert not failures(range(3020, 3040), unknown=True, many=4)
