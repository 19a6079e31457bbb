"""Cases that functions of many families share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from .case import Case
from .peers import torch

__all__ = ["PAIR", "ROUNDED", "SEED", "binary", "draw", "made", "unary"]

SEED = 7  # what the harness seeds each call with
PAIR = ((2, 3), (3,))
ROUNDED: dict[str, Any] = {"differentiable": False, "smooth": False}


def draw() -> np.random.Generator:
    """The generator, as the harness seeds it before each call."""
    return np.random.default_rng(SEED)


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


def unary(
    name: str, domain: Any, numpy: Any, like: str | None = None, **options: Any
) -> list[Case]:
    """A function and method of one argument, which torch has under the same name."""
    return [
        Case(
            "plain",
            lambda x: getattr(paddle, name)(x),
            (domain(2, 3),),
            numpy=numpy,
            torch=None if like == "" else lambda x: getattr(torch, like or name)(x),
            **options,
        ),
        Case("method", lambda x: getattr(x, name)(), (domain(),), numpy=numpy, **options),
    ]


def binary(name: str, numpy: Any, x: Any = real, y: Any = None, **options: Any) -> list[Case]:
    like = options.pop("like", name)
    operands = (x(*PAIR[0]), (y or x)(*PAIR[1]))
    return [
        Case(
            "plain",
            lambda x, y: getattr(paddle, name)(x, y),
            operands,
            numpy=numpy,
            torch=None if like == "" else lambda x, y: getattr(torch, like)(x, y),
            **options,
        ),
        Case(
            "method",
            lambda x, y: getattr(x, name)(y),
            (x(2, 1), (y or x)(1, 2)),
            numpy=numpy,
            **options,
        ),
    ]
