"""Calls of the functions that make tensors, draw them, compare them, and work on bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import (
    RNG,
    flags,
    integers,
    positive,
    real,
    small_integers,
)

from .case import Case
from .peers import torch

SEED = 7  # of the harness, before each call


def made(label: str, call: Callable[..., Any], numpy: Any, *operands: Any, **options: Any) -> Case:
    """A case without a gradient."""
    return Case(
        label,
        call,
        operands,
        numpy=lambda *arrays: np.asarray(numpy(*arrays)),
        differentiable=False,
        **options,
    )


def drawn(label: str, call: Callable[..., Any], numpy: Any, *operands: Any, **options: Any) -> Case:
    """A case that draws numbers of the default dtype, whatever that of the operands."""
    return made(label, call, lambda *xs: numpy(*xs).astype(np.float32), *operands, **options)


def draw() -> np.random.Generator:
    return np.random.default_rng(SEED)


CREATION: dict[str, list[Case]] = {
    "to_tensor": [
        made("list", lambda: paddle.to_tensor([[1.5, 2.0]]), lambda: [[1.5, 2.0]]),
        made("ints", lambda: paddle.to_tensor([1, 2]), lambda: [1, 2]),
        made("dtype", lambda: paddle.to_tensor([1.7, -1.7], "int32"), lambda: [1, -1]),
        made("array", lambda: paddle.to_tensor(np.eye(2)), lambda: np.eye(2)),
        made("scalar", lambda: paddle.to_tensor(True), lambda: np.asarray(True)),
    ],
    "zeros": [made("plain", lambda: paddle.zeros([2, 3]), lambda: np.zeros((2, 3)))],
    "ones": [
        made("plain", lambda: paddle.ones([2, 3]), lambda: np.ones((2, 3))),
        made("int", lambda: paddle.ones(3, "int64"), lambda: [1, 1, 1]),
    ],
    "full": [
        made("plain", lambda: paddle.full([2], 1.5), lambda: [1.5, 1.5]),
        made("bool", lambda: paddle.full([2], True), lambda: [True, True]),
        made("0-d", lambda: paddle.full([], 3, "int32"), lambda: np.asarray(3)),
    ],
    "empty": [made("plain", lambda: paddle.empty([2, 0]), lambda: np.zeros((2, 0)))],
    "zeros_like": [
        made("plain", paddle.zeros_like, np.zeros_like, real(2, 3), torch=lambda x: x * 0),
        made("dtype", lambda x: paddle.zeros_like(x, "int64"), np.zeros_like, real(2, 3)),
    ],
    "ones_like": [made("plain", paddle.ones_like, np.ones_like, real(2, 3))],
    "full_like": [
        made("plain", lambda x: paddle.full_like(x, 2.5), lambda x: np.full_like(x, 2.5), real(3)),
        made("dtype", lambda x: paddle.full_like(x, 2.5, "int8"), lambda x: [2, 2], real(2)),
    ],
    "empty_like": [made("plain", paddle.empty_like, np.zeros_like, real(2, 3))],
    "arange": [
        made("end", lambda: paddle.arange(4), lambda: [0, 1, 2, 3]),
        made("floats", lambda: paddle.arange(0.0, 1.0, 0.25), lambda: [0.0, 0.25, 0.5, 0.75]),
        made("down", lambda: paddle.arange(5, 0, -2), lambda: [5, 3, 1]),
    ],
    "linspace": [
        made("plain", lambda: paddle.linspace(-1.0, 1.0, 5), lambda: [-1, -0.5, 0, 0.5, 1]),
        made("one", lambda: paddle.linspace(3.0, 1.0, 1), lambda: [3.0]),
        made("ints", lambda: paddle.linspace(0, 10, 5, "int64"), lambda: [0, 2, 5, 7, 10]),
        made("none", lambda: paddle.linspace(0.0, 1.0, 0), lambda: []),
    ],
    "logspace": [
        made("plain", lambda: paddle.logspace(0, 3, 4), lambda: [1, 10, 100, 1000]),
        made("base", lambda: paddle.logspace(0, -2, 3, base=2.0), lambda: [1, 0.5, 0.25]),
        made("ints", lambda: paddle.logspace(0, 3, 4, 2, "int32"), lambda: [1, 2, 4, 8]),
    ],
    "eye": [
        made("square", lambda: paddle.eye(2), lambda: [[1, 0], [0, 1]]),
        made("wide", lambda: paddle.eye(2, 3, "int64"), lambda: [[1, 0, 0], [0, 1, 0]]),
        made("none", lambda: paddle.eye(0, 2), lambda: np.zeros((0, 2))),
    ],
    "tril_indices": [
        made("tall", lambda: paddle.tril_indices(3, 2), lambda: [[0, 1, 1, 2, 2], [0, 0, 1, 0, 1]]),
        made("below", lambda: paddle.tril_indices(3, 3, -1), lambda: [[1, 2, 2], [0, 0, 1]]),
    ],
    "triu_indices": [
        made("square", lambda: paddle.triu_indices(2), lambda: [[0, 0, 1], [0, 1, 1]]),
        made("above", lambda: paddle.triu_indices(2, 3, 1), lambda: [[0, 0, 1], [1, 2, 2]]),
    ],
    "assign": [
        Case("plain", paddle.assign, (real(2, 3),), numpy=np.copy, torch=lambda x: x.clone()),
        made("list", lambda: paddle.assign([1, 2]), lambda: [1, 2]),
    ],
    "clone": [
        Case("plain", paddle.clone, (real(2, 3),), numpy=np.copy, torch=lambda x: x.clone()),
        Case("method", lambda x: x.clone() * x, (real(3),), numpy=lambda x: x * x),
    ],
}

RANDOM: dict[str, list[Case]] = {
    "rand": [drawn("plain", lambda: paddle.rand([3, 4]), lambda: draw().random((3, 4)))],
    "rand_like": [made("plain", paddle.rand_like, lambda x: draw().random(x.shape), real(2, 3))],
    "randn": [drawn("plain", lambda: paddle.randn([5]), lambda: draw().standard_normal(5))],
    "randn_like": [
        made("plain", paddle.randn_like, lambda x: draw().standard_normal(x.shape), real(2, 3)),
        drawn(
            "dtype",
            lambda x: paddle.randn_like(x, "float32"),
            lambda x: draw().standard_normal(x.shape),
            integers(1, 2),
        ),
    ],
    "standard_normal": [
        drawn("plain", lambda: paddle.standard_normal([5]), lambda: draw().standard_normal(5))
    ],
    "uniform": [
        drawn("plain", lambda: paddle.uniform([5]), lambda: draw().random(5)),
        drawn("range", lambda: paddle.uniform([5], None, -1, 3), lambda: draw().uniform(-1, 3, 5)),
    ],
    "normal": [
        drawn(
            "numbers",
            lambda: paddle.normal(1.0, 2.0, [5]),
            lambda: 1 + 2 * draw().standard_normal(5),
        ),
        Case(
            "tensors",
            lambda mean, std: paddle.normal(mean, std),
            (real(2, 3), positive(3)),
            numpy=lambda mean, std: mean + std * draw().standard_normal((2, 3)),
        ),
        Case(
            "mean",
            lambda mean: paddle.normal(mean, 0.5),
            (real(4),),
            numpy=lambda mean: mean + 0.5 * draw().standard_normal(4),
        ),
        Case(
            "std",
            lambda std: paddle.normal(2.0, std),
            (positive(4),),
            numpy=lambda std: 2.0 + std * draw().standard_normal(4),
        ),
    ],
    "log_normal": [
        drawn(
            "numbers",
            lambda: paddle.log_normal(0.5, 0.25, [5]),
            lambda: np.exp((0.5 + 0.25 * draw().standard_normal(5)).astype(np.float32)),
        ),
        Case(
            "tensors",
            lambda mean: paddle.log_normal(mean, 0.5),
            (real(4),),
            numpy=lambda mean: np.exp(mean + 0.5 * draw().standard_normal(4)),
        ),
    ],
    "randint": [
        made("plain", lambda: paddle.randint(-3, 5, [6]), lambda: draw().integers(-3, 5, 6)),
        made("one", lambda: paddle.randint(9, dtype="int32"), lambda: draw().integers(0, 9, 1)),
    ],
    "randint_like": [
        made(
            "plain",
            lambda x: paddle.randint_like(x, 2, 7),
            lambda x: draw().integers(2, 7, x.shape),
            real(2, 3),
        ),
    ],
    "randperm": [made("plain", lambda: paddle.randperm(6), lambda: draw().permutation(6))],
    "bernoulli": [
        made(
            "plain",
            paddle.bernoulli,
            lambda x: draw().random(x.shape) < x,
            real(3, 4, low=0.0, high=1.0),
        ),
        made(
            "p",
            lambda x: paddle.bernoulli(x, 0.25),
            lambda x: draw().random(x.shape) < 0.25,
            real(3, 4),
        ),
    ],
    "poisson": [made("plain", paddle.poisson, lambda x: draw().poisson(x), positive(2, 3))],
    "standard_gamma": [
        made("plain", paddle.standard_gamma, lambda x: draw().standard_gamma(x), positive(2, 3))
    ],
    "binomial": [
        made(
            "plain",
            paddle.binomial,
            lambda n, p: draw().binomial(n, p),
            integers(3, 9, 20),
            real(2, 3, low=0.1, high=0.9),
        )
    ],
    "multinomial": [
        made(
            "turns",
            lambda x: paddle.multinomial(x, 3),
            lambda x: np.argsort(draw().standard_exponential(x.shape) / x, axis=-1)[..., :3],
            positive(2, 5),
        ),
        made(
            "again",
            lambda x: paddle.multinomial(x, 6, replacement=True),
            lambda x: (draw().random((1, 6))[0][:, None] >= np.cumsum(x / x.sum())[None, :-1]).sum(
                axis=1
            ),
            positive(4),
        ),
    ],
}


def compared(name: str, numpy: Any, *, same: str = "") -> list[Case]:
    """Function, method and broadcast of a comparison."""
    function = getattr(paddle, name)
    theirs = (lambda x, y: getattr(torch, same)(x, y)) if same else None
    return [
        made("plain", function, numpy, small_integers(2, 3), small_integers(2, 3), torch=theirs),
        made("broadcast", function, numpy, small_integers(2, 1), small_integers(3), torch=theirs),
        made("number", lambda x: function(x, 1), lambda x: numpy(x, 1), small_integers(3)),
        made(
            "method", lambda x, y: getattr(x, name)(y), numpy, small_integers(3), small_integers(3)
        ),
    ]


def bits(*shape: int) -> Any:
    return np.asarray(RNG.integers(-9, 10, shape))


def counts(*shape: int) -> Any:
    return np.asarray(RNG.integers(1, 6, shape))


SPECIAL = np.asarray([1.0, math.nan, math.inf, -math.inf, 0.0])
NEAR = np.asarray([1.0, 2.0, math.nan, math.inf])
OFF = np.asarray([1.000001, 2.5, math.nan, math.inf])

LOGIC: dict[str, list[Case]] = {
    "equal": [
        *compared("equal", np.equal, same="eq"),
        made("operator", lambda x, y: x == y, np.equal, small_integers(3), small_integers(3)),
    ],
    "not_equal": [
        *compared("not_equal", np.not_equal, same="ne"),
        made("operator", lambda x, y: x != y, np.not_equal, small_integers(3), small_integers(3)),
    ],
    "greater_than": [
        *compared("greater_than", np.greater, same="gt"),
        made("operator", lambda x, y: x > y, np.greater, small_integers(3), small_integers(3)),
    ],
    "greater_equal": [
        *compared("greater_equal", np.greater_equal, same="ge"),
        made("reflected", lambda x: 1 <= x, lambda x: x >= 1, small_integers(3)),  # noqa: SIM300
    ],
    "less_than": [
        *compared("less_than", np.less, same="lt"),
        made("reflected", lambda x: 1 > x, lambda x: x < 1, small_integers(3)),  # noqa: SIM300
    ],
    "less_equal": compared("less_equal", np.less_equal, same="le"),
    "greater": compared("greater", np.greater),
    "less": compared("less", np.less),
    "eq": compared("eq", np.equal),
    "ne": compared("ne", np.not_equal),
    "gt": compared("gt", np.greater),
    "ge": compared("ge", np.greater_equal),
    "lt": compared("lt", np.less),
    "le": compared("le", np.less_equal),
    "logical_and": compared("logical_and", np.logical_and, same="logical_and"),
    "logical_or": compared("logical_or", np.logical_or, same="logical_or"),
    "logical_xor": compared("logical_xor", np.logical_xor, same="logical_xor"),
    "logical_not": [
        made("bools", paddle.logical_not, np.logical_not, flags(2, 3)),
        made("numbers", lambda x: x.logical_not(), np.logical_not, small_integers(4)),
    ],
    "equal_all": [
        made("same", paddle.equal_all, np.array_equal, np.ones((2, 3)), np.ones((2, 3))),
        made("other", paddle.equal_all, np.array_equal, np.ones((2, 3)), np.zeros((2, 3))),
        made("shape", paddle.equal_all, np.array_equal, np.ones((1, 3)), np.ones((2, 3))),
    ],
    "isclose": [
        made(
            "plain", paddle.isclose, np.isclose, NEAR, OFF, torch=lambda x, y: torch.isclose(x, y)
        ),
        made(
            "options",
            lambda x, y: paddle.isclose(x, y, 0.3, 0.0, True),
            lambda x, y: np.isclose(x, y, 0.3, 0.0, True),
            NEAR,
            OFF,
            torch=lambda x, y: torch.isclose(x, y, 0.3, 0.0, True),
        ),
    ],
    "allclose": [
        made("off", paddle.allclose, lambda x, y: np.asarray(np.allclose(x, y)), NEAR, OFF),
        made(
            "near",
            lambda x, y: paddle.allclose(x, y, rtol=0.5, equal_nan=True),
            lambda x, y: np.asarray(True),
            NEAR,
            OFF,
        ),
    ],
    "isnan": [made("plain", paddle.isnan, np.isnan, SPECIAL, torch=lambda x: torch.isnan(x))],
    "isinf": [made("plain", paddle.isinf, np.isinf, SPECIAL, torch=lambda x: torch.isinf(x))],
    "isfinite": [made("plain", paddle.isfinite, np.isfinite, SPECIAL)],
    "isposinf": [
        made("plain", paddle.isposinf, np.isposinf, SPECIAL),
        made("ints", paddle.isposinf, lambda x: x > 9, integers(1, 2)),
    ],
    "isneginf": [made("plain", paddle.isneginf, np.isneginf, SPECIAL)],
    "isreal": [made("plain", paddle.isreal, np.isreal, SPECIAL)],
    "bitwise_and": [
        made("plain", paddle.bitwise_and, lambda x, y: x & y, bits(2, 3), bits(3)),
        made("operator", lambda x, y: x & y & 6, lambda x, y: x & y & 6, bits(4), bits(4)),
        made("bools", lambda x, y: x & y, lambda x, y: x & y, flags(4), flags(4)),
        made("reflected", lambda x: 5 & x, lambda x: 5 & x, bits(4)),
    ],
    "bitwise_or": [
        made("plain", paddle.bitwise_or, lambda x, y: x | y, bits(2, 3), bits(3)),
        made("operator", lambda x, y: 8 | x | y, lambda x, y: 8 | x | y, bits(4), bits(4)),
    ],
    "bitwise_xor": [
        made("plain", paddle.bitwise_xor, lambda x, y: x ^ y, bits(2, 3), bits(3)),
        made("operator", lambda x, y: 8 ^ x ^ y, lambda x, y: 8 ^ x ^ y, bits(4), bits(4)),
    ],
    "bitwise_not": [
        made("plain", paddle.bitwise_not, lambda x: -x - 1, bits(2, 3)),
        made("operator", lambda x: ~x, np.logical_not, flags(4)),
    ],
    "bitwise_invert": [made("plain", paddle.bitwise_invert, lambda x: -x - 1, bits(2, 3))],
    "bitwise_left_shift": [
        made("plain", paddle.bitwise_left_shift, lambda x, y: x * 2**y, bits(2, 3), counts(3)),
        made("operator", lambda x: (x << 2) + (1 << x), lambda x: 4 * x + 2**x, counts(3)),
    ],
    "bitwise_right_shift": [
        made("plain", paddle.bitwise_right_shift, lambda x, y: x // 2**y, bits(2, 3), counts(3)),
        made("operator", lambda x: (x >> 1) + (64 >> x), lambda x: x // 2 + 64 // 2**x, counts(3)),
        made(
            "logical",
            lambda x, y: paddle.bitwise_right_shift(x, y, False),
            lambda x, y: (x.view(np.uint64) >> y.view(np.uint64)).view(np.int64),
            bits(2, 3),
            counts(2, 3),
        ),
    ],
}

CASES: dict[str, list[Case]] = {**CREATION, **RANDOM, **LOGIC}
