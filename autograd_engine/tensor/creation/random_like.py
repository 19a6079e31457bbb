"""Draws in the shape and dtype of a tensor: what ``x.uniform_()`` and its like become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import INT64
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.conversion import (
    count,
    deviation,
    held,
    number,
    probability,
    real,
    span,
)
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["DRAWS"]


def _floats(function: str, x: Any) -> Any:
    x = as_operand(function, x)
    if spec_of(x).dtype.kind != "f":
        raise DTypeError(
            f"{function}: draws floats, and x is {spec_of(x).dtype.name}; use "
            "x.astype('float32'), or randint_like"
        )
    return x


def _positive(function: str, argument: str, value: Any) -> float:
    given = real(function, argument, value)
    if given <= 0:
        raise ArgumentError(f"{function}: {argument} must be above 0, got {given}")
    return given


def _uniform(x: Any, min: float = 0.0, max: float = 1.0, seed: int = 0) -> Tensor:
    low, high = span("uniform_", min, max)
    seed = count("uniform_", "seed", seed)
    x = _floats("uniform_", x)
    return ops.random_like(x, distribution="uniform", a=low, b=high, seed=seed)


def _normal(x: Any, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Tensor:
    mean, std = real("normal_", "mean", mean), deviation("normal_", std)
    return ops.random_like(_floats("normal_", x), distribution="gaussian", a=mean, b=std)


def _log_normal(x: Any, mean: float = 1.0, std: float = 2.0, name: str | None = None) -> Tensor:
    mean, std = real("log_normal_", "mean", mean), deviation("log_normal_", std)
    return ops.random_like(_floats("log_normal_", x), distribution="log_normal", a=mean, b=std)


def _exponential(x: Any, lam: float = 1.0, name: str | None = None) -> Tensor:
    rate = _positive("exponential_", "lam", lam)
    return ops.random_like(_floats("exponential_", x), distribution="exponential", a=rate)


def _cauchy(x: Any, loc: float = 0, scale: float = 1, name: str | None = None) -> Tensor:
    loc, scale = real("cauchy_", "loc", loc), _positive("cauchy_", "scale", scale)
    return ops.random_like(_floats("cauchy_", x), distribution="cauchy", a=loc, b=scale)


def _geometric(x: Any, probs: float, name: str | None = None) -> Tensor:
    p = probability("geometric_", "probs", probs)
    if p == 0:
        raise ArgumentError("geometric_: probs must be above 0: no trial would ever succeed")
    return ops.random_like(x, distribution="geometric", a=p)


def _bernoulli(x: Any, p: Any = 0.5, name: str | None = None) -> Tensor:
    x = as_operand("bernoulli_", x)
    if isinstance(p, (int, float, complex, np.generic)):
        p = probability("bernoulli_", "p", p)
        return ops.random_like(x, distribution="bernoulli", a=p)
    return ops.cast_like(ops.bernoulli(ops.expand_like(p, x)), x)


def _random(x: Any, from_: int = 0, to: int | None = None) -> Tensor:
    x = as_operand("random_", x)
    dtype = spec_of(x).dtype
    low = number("random_", "from_", from_)
    if to is None:  # all whole numbers that the dtype holds without a gap
        to = 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind == "f" else int(np.iinfo(dtype).max)
    high = number("random_", "to", to)
    if not low < high:
        raise ArgumentError(f"random_: to ({high}) must be above from_ ({low})")
    low, high = held("random_", "from_", int(low), INT64), held("random_", "to", int(high), INT64)
    return ops.random_like(x, distribution="integers", a=int(low), b=int(high))


DRAWS: Final[dict[str, Callable[..., Any]]] = {
    "bernoulli": _bernoulli,
    "cauchy": _cauchy,
    "exponential": _exponential,
    "geometric": _geometric,
    "log_normal": _log_normal,
    "normal": _normal,
    "random": _random,
    "uniform": _uniform,
}
