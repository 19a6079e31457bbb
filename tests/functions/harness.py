"""Calling a public function in each mode, and its derivatives of any order along a direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import jvp
from autograd_engine.eager.tensor import Tensor
from autograd_engine.program.backward.decompose import decompose
from tests.registry.harness import close, same_bits

from .calls import SEED
from .case import Case
from .cases import CASES

__all__ = [
    "call",
    "cases",
    "close",
    "directions",
    "dot",
    "eager_derivatives",
    "flat",
    "floating",
    "named",
    "operands_in",
    "same_bits",
    "static_results",
    "tangents",
    "wanted",
]

Array = np.ndarray


def cases(which: Any = lambda case: True) -> list[Any]:
    """Pytest parameters of all cases that `which` holds for, named after function and label."""
    return [
        pytest.param(case, id=f"{name}-{case.label}")
        for name, listed in CASES.items()
        for case in listed
        if which(case)
    ]


def named(cases: list[Any]) -> list[Any]:
    """The same parameters, each with the name of the function before the case."""
    return [pytest.param(p.id.partition("-")[0], *p.values, id=p.id) for p in cases]


def flat(value: Any) -> list[Any]:
    """The Tensors or Variables in what a function returned."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [value]


def floating(values: Sequence[Any]) -> list[Any]:
    """Those of `values` that a derivative belongs to."""
    return [v for v in values if getattr(v, "dtype", None) is not None and v.dtype.is_floating]


def wanted(case: Case) -> list[int]:
    """Positions of the operands that are differentiated."""
    return [k for k, a in enumerate(case.operands) if a.dtype == np.float64]


def operands_in(case: Case, dtype: Any) -> list[Array]:
    """Fresh operands, those of float64 in `dtype`."""
    return [a.astype(dtype if a.dtype == np.float64 else a.dtype) for a in case.operands]


def directions(like: Sequence[Array], seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(0.2, 1.0, a.shape)).astype(a.dtype) for a in like]


def call(
    case: Case, operands: Sequence[Array], *, traced: bool = False
) -> tuple[list[Tensor], Any]:
    """(operands, outputs) of an eager call."""
    xs = [
        Tensor._leaf(a) if traced and k in wanted(case) else Tensor._wrap(a)
        for k, a in enumerate(operands)
    ]
    paddle.seed(SEED)
    return xs, flat(case.call(*xs))


def dot(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    """The sum of all products, as an operand: the same operations in either mode."""
    total = None
    for x, y in zip(xs, ys, strict=True):
        if x is not None:
            part = paddle.sum(x * y)
            total = part if total is None else total + part
    return total


def eager_derivatives(
    case: Case, operands: Sequence[Array], orders: int
) -> tuple[list[float], list[list[Array | None]]]:
    """Derivatives of <u, f> along v, of order 0 to `orders`; and the gradients of each order."""
    xs, outputs = call(case, operands, traced=True)
    outputs = [y for y in floating(outputs) if not y.stop_gradient]
    sources = [xs[k] for k in wanted(case)]
    us = [paddle.to_tensor(u) for u in directions([y.numpy() for y in outputs], 1)]
    vs = [paddle.to_tensor(v) for v in directions([x.numpy() for x in sources], 2)]
    along = dot(outputs, us)
    values, gradients = [along.item()], []
    for order in range(1, orders + 1):
        if along is None or along.stop_gradient:  # what is constant has no graph
            values.append(0.0)
            gradients.append([None] * len(sources))
            along = None
            continue
        found = paddle.grad(along, sources, create_graph=order < orders, allow_unused=True)
        gradients.append([None if g is None else g.numpy() for g in found])
        along = dot(found, vs)
        values.append(0.0 if along is None else along.item())
    return values, gradients


def tangents(case: Case, operands: Sequence[Array]) -> list[Array]:
    """J v of the floating outputs."""
    vs = directions([operands[k] for k in wanted(case)], 2)
    paddle.seed(SEED)
    xs = [Tensor._wrap(a) for a in operands]

    def function(*sources: Tensor) -> Any:
        arguments = list(xs)
        for k, x in zip(wanted(case), sources, strict=True):
            arguments[k] = x
        return flat(case.call(*arguments))

    _, found = jvp(function, [xs[k] for k in wanted(case)], [paddle.to_tensor(v) for v in vs])
    return [t.numpy() for t in found if t is not None]


def static_results(
    case: Case, operands: Sequence[Array], *, unknown: bool = False, written_out: bool = False
) -> tuple[list[Array], list[list[Array | None]], list[Array]]:
    """(outputs, gradients of order 1 and 2, tangents) of a program."""
    static = paddle.static
    feed: dict[str, Array] = {}

    def declare(name: str, value: Array, like: Any = None) -> Any:
        feed[name] = value
        shape = list(value.shape if like is None else like)
        if unknown and shape:
            shape[0] = None
        return static.data(name, shape, value.dtype)

    program = static.Program()
    with static.program_guard(program):
        xs = [declare(f"x{k}", a) for k, a in enumerate(operands)]
        sources = [xs[k] for k in wanted(case)] if case.differentiable else []
        for x in sources:
            x.stop_gradient = False
        outputs = flat(case.call(*xs))
        goals = [y for y in floating(outputs) if not y.stop_gradient]
        first: list[Any] = []
        second: list[Any] = []
        pushed: list[Any] = []
        if sources and goals:
            shapes = [
                y.numpy()
                for y in floating(call(case, operands, traced=True)[1])
                if not y.stop_gradient
            ]
            us = [declare(f"u{k}", u) for k, u in enumerate(directions(shapes, 1))]
            vs = [
                declare(f"v{k}", v)
                for k, v in enumerate(directions([operands[k] for k in wanted(case)], 2))
            ]
            pushed = static.forward_grad(goals, sources, vs)
            first = static.gradients([dot(goals, us)], sources)
            along = dot(first, vs)
            second = [None] * len(sources)
            if along is not None:
                second = static.gradients([along], sources)
        if written_out:
            decompose(program.global_block(), lambda operator: True)
        asked = [v for v in (*outputs, *first, *second, *pushed) if v is not None]
        paddle.seed(SEED)
        values = iter(static.Executor().run(program, feed, [v.name for v in asked]))

    def fetched(variables: Sequence[Any]) -> list[Any]:
        return [None if v is None else next(values) for v in variables]

    results = fetched(outputs)
    return results, [fetched(first), fetched(second)], fetched(pushed)
