"""Repetitions in a listing, read by an interpreter that runs rounds as they are described."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.compiler.folded_sums import folded
from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.compiler.repetition import EachRound, Stretch, repetitions
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Literal, Operator, Ref

F = paddle.nn.functional
Values = dict[Any, Any]
ROUNDS = 20


def known(operand: Any, values: Values) -> Any:
    if isinstance(operand, Literal):
        return np.asarray(operand.value, operand.dtype)
    return None if operand is None else values[operand.key]


def compute(operator: Operator, values: Values, attrs: dict[str, Any]) -> None:
    operands, op = [known(o, values) for o in operator.operands], operator.op
    if isinstance(op, GradOp):
        g, saved = op.arrange(operands)
        results = op.pullback.pull(raw, g, saved, attrs)
    else:
        made = op.kernel(*operands, **attrs)
        results = made if op.multiple else (made,)
    values.update((r.key, np.asarray(v)) for r, v in zip(operator.results, results, strict=True))


def of_round(value: Any, t: int) -> Any:
    """An attribute as it is in a round."""
    if isinstance(value, dict):
        return {k: of_round(v, t) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(of_round(v, t) for v in value)
    if isinstance(value, slice):
        return slice(*(of_round(v, t) for v in (value.start, value.stop, value.step)))
    return value.each[t] if isinstance(value, EachRound) else value


def run_stretch(stretch: Stretch, values: Values) -> None:
    shared = {ref.key: values[ref.key] for ref in stretch.shared()}
    carried = [known(c.first, values) for c in stretch.carried]
    for t in range(stretch.rounds):
        own = dict(shared)
        own.update((c.argument.key, v) for c, v in zip(stretch.carried, carried, strict=True))
        own.update((s.argument.key, known(s.each[t], values)) for s in stretch.stacked)
        for operator in stretch.body:
            compute(operator, own, of_round(operator.attrs, t))
        carried = [own[c.result.key] for c in stretch.carried]
        for kept in stretch.kept:
            if not kept.last or t == stretch.rounds - 1:
                values[kept.each[t].key] = own[kept.result.key]


def no(operator: Operator) -> bool:
    return False


def reads_or_adds_at_places(operator: Operator) -> bool:
    op = operator.op.pullback.op if isinstance(operator.op, GradOp) else operator.op
    return op.name == "getitem"


class Case:
    """A function of variables, and its gradients, as a listing."""

    def __init__(
        self, build: Callable[..., Any], feeds: dict[str, Any], grads: bool = True
    ) -> None:
        paddle.enable_static()
        main = static.Program()
        with static.program_guard(main, static.Program()):
            inputs = [static.data(k, list(v.shape), str(v.dtype)) for k, v in feeds.items()]
            for x in inputs:
                x.stop_gradient = False
            made = build(*inputs)
            results = list(made) if isinstance(made, (list, tuple)) else [made]
            if grads:
                found = static.gradients(sum(r.sum() for r in results), inputs)
                results += [g for g in found if g is not None]
        self.outputs = [Ref(v, v.version) for v in results]
        self.feeds = {(k, 0): v for k, v in feeds.items()}
        self.operators = live_operators(main.global_block().ops, self.outputs)
        steps = folded(self.operators, self.outputs, ())
        self.items = repetitions(steps, self.outputs, reads_or_adds_at_places, no)

    @property
    def stretches(self) -> list[Stretch]:
        return [i for i in self.items if isinstance(i, Stretch)]

    def values(self, items: Sequence[Operator | Stretch]) -> list[Any]:
        values: Values = dict(self.feeds)
        for item in items:
            if isinstance(item, Stretch):
                run_stretch(item, values)
            else:
                compute(item, values, item.attrs)
        return [values[ref.key] for ref in self.outputs]

    def check(self, rounds: int, count: int) -> None:
        """So many stretches of about so many rounds, with the values of the listing."""
        assert len(self.stretches) == count, self.stretches
        for stretch in self.stretches:
            assert rounds - 3 <= stretch.rounds <= rounds + 1
            assert len(stretch.operators) == stretch.rounds * len(stretch.body)
        # A sum of many is made in the order in which its parts come, in float64.
        for a, b in zip(self.values(self.items), self.values(self.operators), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


RNG = np.random.default_rng(0)
X = {"x": RNG.standard_normal((ROUNDS, 3, 4)), "w": RNG.standard_normal((4, 4)) / 4}


def recurrent(x: Any, w: Any) -> Any:
    h = paddle.zeros([3, 4], "float64")
    for t in range(ROUNDS):
        h = F.sigmoid(x[t] + h @ w) * paddle.tanh(h) + x[-1 - t]
    return h


def every_state(x: Any, w: Any) -> Any:
    states = [x[0]]
    for t in range(1, ROUNDS):
        states.append(paddle.tanh(states[-1] @ w) * x[t] + paddle.sin(states[-1]))
    return paddle.stack(states), states[3], states[-1]


def two_rounds_back(x: Any, w: Any) -> Any:
    before, now = x[0], x[1]
    for _ in range(ROUNDS):
        before, now = now, 2.0 * now - before - 0.1 * paddle.sin(now @ w)
    return now


def two_that_begin_alike(x: Any, w: Any) -> Any:
    a = b = x[0]
    for _ in range(ROUNDS):
        a, b = a - 0.1 * (b @ w) * a, b + 0.1 * paddle.tanh(a) + x[0]
    return a * b


def the_time_is_a_number(x: Any, w: Any) -> Any:
    y = x[0]
    for t in range(ROUNDS):
        y = y + 0.05 * paddle.cos(y * (0.05 * t)) @ w - 0.001 * paddle.sin(y) * y
    return y


def slices(x: Any, w: Any) -> Any:
    flat, y = paddle.reshape(x, [12 * ROUNDS // 4, 4]), paddle.zeros([3, 4], "float64")
    for t in range(ROUNDS):
        y = paddle.tanh(flat[3 * t : 3 * t + 3] @ w) + 0.5 * y * paddle.sin(y)
    return y


@pytest.mark.parametrize(
    "build",
    [recurrent, every_state, two_rounds_back, two_that_begin_alike, the_time_is_a_number, slices],
)
def test_rounds_compute_what_the_listing_computes(build: Any) -> None:
    """Forwards and backwards: one stretch each."""
    Case(build, X).check(ROUNDS, 2)


def test_a_gradient_of_a_gradient_is_found() -> None:
    def build(x: Any, w: Any) -> Any:
        y = x[0]
        for _ in range(ROUNDS):
            y = y - 0.1 * paddle.sin(y @ w) * y
        (g,) = static.gradients(y.sum(), w)
        return g * g

    case = Case(build, X)
    assert len(case.stretches) >= 3, case.stretches
    for a, b in zip(case.values(case.items), case.values(case.operators), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_a_round_that_is_another_parts_a_stretch() -> None:
    def build(x: Any, w: Any) -> Any:
        y = x[0]
        for t in range(2 * ROUNDS):
            y = paddle.tanh(y @ w) * y + 0.1 * paddle.sin(y) + x[0]
            if t == ROUNDS:
                y = paddle.exp(-y * y)
        return y

    case = Case(build, X, grads=False)
    case.check(ROUNDS, 2)


def test_what_a_round_has_made_may_be_read_by_all_that_come_after() -> None:
    def build(x: Any, w: Any) -> Any:
        y = x[0]
        third = None
        for t in range(ROUNDS):
            y = paddle.tanh(y @ w) * (x[0] if third is None else third) + 0.1 * paddle.sin(y)
            y = paddle.cos(y) * 0.9 - y * y
            third = y if t == 2 else third
        return y

    Case(build, X, grads=False).check(ROUNDS - 3, 1)


@pytest.mark.parametrize("seed", range(8))
def test_random_recurrences(seed: int) -> None:
    """Of several values, some of them of earlier rounds; some rounds have an operator more."""
    rng = np.random.default_rng(seed)
    count, width = int(rng.integers(10, 30)), int(rng.integers(2, 5))
    plan = rng.integers(0, 1 << 30, (int(rng.integers(6, 14)), 3))
    odd = set(rng.integers(0, count, int(rng.integers(0, 3))).tolist())

    def build(x: Any, w: Any) -> Any:
        values = [x[k] for k in range(width)]
        earlier = [list(values) for _ in range(3)]
        for t in range(count):
            pool = [*values, *earlier[-1], *earlier[-3], x[t % ROUNDS], x[0], 0.1 * t, 0.5]
            for what, a, b in plan.tolist():
                u, v = pool[a % len(pool)], pool[b % len(pool)]
                u = x[1] * u if isinstance(u, float) else u
                found = (u * v, u + v, u - v, paddle.sin(u), paddle.tanh(u), u @ w)[what % 6]
                pool.append(paddle.tanh(found))
            earlier.append(values)
            values = [paddle.cos(v) if t in odd else v for v in pool[-width:]]
        return paddle.stack(values)

    case = Case(build, X)
    covered = sum(len(s.operators) for s in case.stretches)
    assert odd or covered or len(case.operators) < 400, case.stretches
    for a, b in zip(case.values(case.items), case.values(case.operators), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_layers_with_parameters_of_their_own_are_no_rounds() -> None:
    """To stack parameters would be to copy them in each run."""
    feeds = {f"w{k}": RNG.standard_normal((4, 4)) / 4 for k in range(ROUNDS)}

    def build(*weights: Any) -> Any:
        y = paddle.ones([3, 4], "float64")
        for w in weights:
            y = paddle.tanh(y @ w) * y + 0.1 * paddle.sin(y) - y * y
        return y

    assert not Case(build, feeds).stretches


def test_places_are_known_where_nobody_takes_them() -> None:
    case = Case(slices, X, grads=False)
    found = repetitions(case.operators, case.outputs, no, no)
    assert not [i for i in found if isinstance(i, Stretch)]


def test_what_is_drawn_is_in_no_round() -> None:
    def build(x: Any, w: Any) -> Any:
        y = x[0]
        for _ in range(ROUNDS):
            y = F.dropout(paddle.tanh(y @ w) * y + 0.1 * paddle.sin(y) * x[0], 0.5)
        return y

    (backward,) = Case(build, X).stretches
    assert not any(getattr(o.op, "random", False) for o in backward.operators)


def test_a_round_is_one_whatever_their_number() -> None:
    def body(count: int) -> int:
        def build(x: Any) -> Any:
            y = x
            for t in range(count):
                y = y * 0.5 + 0.1 * t
                if t % 7 == 3:
                    y = paddle.sin(y)
            return y

        case = Case(build, {"x": np.ones(2)}, grads=False)
        return sum(len(s.body) for s in case.stretches)

    assert body(400) == body(1500) == 15
