"""Random expressions: gradients of a program against those of the tape, bit for bit.

Several are asked for in a row on one program, with cuts and of second order, so that what earlier
calls have appended is there to be used again, or not.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import autograd_engine as paddle

static = paddle.static

BINARY = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: paddle.add_n([x, y, x]),
    lambda x, y: paddle.concat([x, y])[1:3],
    lambda x, y: x * paddle.sum(y),
    lambda x, y: paddle.split(paddle.stack([x, y]), 2)[1][0] + y,
]
UNARY = [
    paddle.tanh,
    paddle.square,
    lambda x: paddle.exp(x * 0.1),
    lambda x: x * 0.5 + 1.0,
    paddle.nn.functional.softmax,
    lambda x: paddle.unbind(x)[0] * x,
]
LEAVES = 3


def expression(rng: np.random.Generator, leaves: list[Any], size: int) -> list[Any]:
    """All intermediate results; which operations is up to `rng` alone."""
    values = list(leaves)
    for _ in range(size):
        k, j = rng.integers(0, len(values), 2)
        if rng.random() < 0.5:
            values.append(BINARY[rng.integers(len(BINARY))](values[k], values[j]))
        else:
            values.append(UNARY[rng.integers(len(UNARY))](values[k]))
    return values


def questions(rng: np.random.Generator, count: int) -> list[tuple[list[int], list[int], list[int]]]:
    """(targets, inputs, cuts) as positions."""
    asked = []
    for _ in range(4):
        targets = rng.choice(np.arange(LEAVES, count), rng.integers(1, 3), replace=False)
        inputs = rng.choice(count, rng.integers(1, 4), replace=False)
        cuts = rng.choice(count, rng.integers(0, 2), replace=False)
        cuts = np.setdiff1d(cuts, [*targets, *inputs])
        asked.append((list(targets), list(inputs), list(cuts)))
    return asked


def second(pairs: list[Any]) -> list[Any]:
    """What is differentiated again: the gradients that exist, squared and summed."""
    return [paddle.sum(paddle.square(g)) for g in pairs if g is not None]


@pytest.mark.parametrize("seed", range(60))
def test_as_the_tape(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = rng.standard_normal((LEAVES, 2)).astype("float32")
    size = int(rng.integers(3, 12))
    asked = questions(np.random.default_rng(seed), LEAVES + size)

    leaves = [paddle.to_tensor(v, stop_gradient=False) for v in start]
    values = expression(np.random.default_rng(seed), leaves, size)
    expected: list[Any] = []
    for targets, inputs, cuts in asked:
        first = paddle.grad(
            [values[k] for k in targets],
            [values[k] for k in inputs],
            create_graph=True,
            allow_unused=True,
            no_grad_vars=[values[k] for k in cuts],
        )
        expected += first
        for goal in second(first):
            if not goal.stop_gradient:
                expected += paddle.grad(goal, leaves, allow_unused=True)
            else:
                expected += [None] * LEAVES

    with static.program_guard(static.Program()):
        declared = [static.data(f"x{k}", [2]) for k in range(LEAVES)]
        for x in declared:
            x.stop_gradient = False
        values = expression(np.random.default_rng(seed), declared, size)
        found: list[Any] = []
        for targets, inputs, cuts in asked:
            first = static.gradients(
                [values[k] for k in targets],
                [values[k] for k in inputs],
                no_grad_set=[values[k] for k in cuts],
            )
            found += first
            for goal in second(first):
                found += static.gradients(goal, declared)
        feed = {f"x{k}": v for k, v in enumerate(start)}
        program = static.default_main_program()
        fetched = iter(
            static.Executor().run(
                program, feed=feed, fetch_list=[v for v in found if v is not None]
            )
        )
    for have, want in zip(found, expected, strict=True):
        value = None if have is None else next(fetched)
        if want is None or value is None:
            # A gradient that is zero by its structure may be either.
            assert value is None or not value.any()
            assert want is None or not want.numpy().any()
        else:
            np.testing.assert_array_equal(value, want.numpy())


DRAWING = [
    *UNARY,
    lambda x: paddle.nn.functional.dropout(x, 0.5),
    lambda x: x.reshape([1, -1]).transpose([1, 0]).reshape([-1]),
]


@given(
    choices=st.lists(
        st.tuples(st.booleans(), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)),
        min_size=1,
        max_size=14,
    ),
    kept=st.lists(st.integers(0, 99), max_size=4),
    asked=st.lists(st.integers(0, 99), min_size=1, max_size=2),
)
@settings(max_examples=120, deadline=None)
def test_checkpoints_change_no_bit(
    choices: list[tuple[bool, int, int, int]], kept: list[int], asked: list[int]
) -> None:
    """Whatever is computed again, dropout included: gradients of two orders are as without, and
    those of the first are those of the tape.
    """
    start = np.random.default_rng(len(choices)).standard_normal((LEAVES, 2)).astype("float32")

    def build(leaves: list[Any]) -> list[Any]:
        values = list(leaves)
        for binary, which, k, j in choices:
            x, y = values[k % len(values)], values[j % len(values)]
            if binary:
                values.append(BINARY[which % len(BINARY)](x, y))
            else:
                values.append(DRAWING[which % len(DRAWING)](x))
        return values

    paddle.seed(1)
    leaves = [paddle.to_tensor(v, stop_gradient=False) for v in start]
    values = build(leaves)
    goals = [paddle.sum(values[LEAVES + k % len(choices)]) for k in asked]
    tape = [g for y in goals for g in paddle.grad(y, leaves, retain_graph=True, allow_unused=True)]

    def run(checkpoints: list[int]) -> list[Any]:
        """Gradients of the first order, then those by everything of what these add up to."""
        with static.program_guard(static.Program()):
            declared = [static.data(f"x{k}", [2]) for k in range(LEAVES)]
            for x in declared:
                x.stop_gradient = False
            made = build(declared)
            found: list[Any] = []
            for k in asked:
                pairs = static.append_backward(
                    paddle.sum(made[LEAVES + k % len(choices)]),
                    declared,
                    checkpoints=[made[c % len(made)].name for c in checkpoints],
                )
                by_name = {x.name: g for x, g in pairs}
                found += [by_name.get(x.name) for x in declared]
            for goal in second(found):
                found += static.gradients(goal, made)
            paddle.seed(1)
            program = static.default_main_program()
            feed = {f"x{k}": v for k, v in enumerate(start)}
            fetches = [g for g in found if g is not None]
            fetched = iter(static.Executor().run(program, feed=feed, fetch_list=fetches))
        return [None if g is None else next(fetched) for g in found]

    with_copies = run(kept)
    for have, want in zip(with_copies, run([]), strict=True):
        np.testing.assert_array_equal(have, want)
    for have, want in zip(with_copies, tape, strict=False):
        if have is None or want is None:
            assert have is None or not have.any()
            assert want is None or not want.numpy().any()
        else:
            np.testing.assert_array_equal(have, want.numpy())
