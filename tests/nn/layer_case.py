"""How a layer is put into the table: its constructor, inputs, what it computes, its repr."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import autograd_engine


class Input(NamedTuple):
    """How an input is drawn: `draw` of a generator gives the array."""

    shape: tuple[int, ...]
    draw: Callable[[np.random.Generator, tuple[int, ...]], Any]
    dtype: str = "float32"

    def array(self, rng: np.random.Generator) -> Any:
        return np.asarray(self.draw(rng, self.shape), self.dtype)


class Case(NamedTuple):
    text: str
    """The constructor, without ``nn.``"""
    repr: str
    call: Callable[..., Any]
    """What a call computes: a function of the layer and its inputs."""
    inputs: tuple[Input, ...]
    depends: bool
    """Whether it does something else after `eval`."""
    known: bool
    """Whether programs need to know all sizes."""
    paddle: str
    """What Paddle computes the same of: "all", "values" and no gradients, "nothing"; or
    "cannot be made"."""

    def make(self) -> Any:
        names = {"nn": autograd_engine.nn, "paddle": autograd_engine}
        return eval(f"nn.{self.text}", names)

    def arrays(self) -> list[Any]:
        rng = np.random.default_rng(zlib.crc32(self.text.encode()))
        return [i.array(rng) for i in self.inputs]

    @property
    def name(self) -> str:
        return self.text.partition("(")[0]


CASES: list[Case] = []


def case(
    text: str,
    shown: str,
    call: Callable[..., Any],
    *inputs: Input,
    depends: bool = False,
    known: bool = False,
    paddle: str = "all",
) -> None:
    CASES.append(Case(text, shown, call, inputs, depends, known, paddle))


def floats(*shape: int) -> Input:
    return Input(shape, lambda rng, s: rng.normal(size=s) * 1.5)


def positive(*shape: int) -> Input:
    return Input(shape, lambda rng, s: rng.uniform(0.2, 2.0, s))


def probabilities(*shape: int) -> Input:
    return Input(shape, lambda rng, s: rng.uniform(0.05, 0.95, s))


def distributions(*shape: int) -> Input:
    """Along the last axis."""
    return Input(shape, lambda rng, s: rng.dirichlet(np.ones(s[-1]), s[:-1]))


def bits(*shape: int) -> Input:
    return Input(shape, lambda rng, s: rng.integers(0, 2, s))


def signs(*shape: int) -> Input:
    return Input(shape, lambda rng, s: 2 * rng.integers(0, 2, s) - 1)


def classes(n: int, *shape: int) -> Input:
    return Input(shape, lambda rng, s: rng.integers(0, n, s), "int64")


def given(values: Any, dtype: str = "int64") -> Input:
    array = np.asarray(values, dtype)
    return Input(array.shape, lambda rng, s: array, dtype)
