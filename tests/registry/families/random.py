"""Samples and references of `ops/random.py`: draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import SEED, Array
from ..sampling import Sample, integers, integers_between, positive, real

DISTRIBUTIONS = {
    "uniform": (-1.0, 2.0),
    "gaussian": (1.0, 0.5),
    "log_normal": (0.5, 0.25),
    "exponential": (2.0,),
    "cauchy": (1.0, 2.0),
    "geometric": (0.25,),
    "gumbel": (0.0, 1.0),
    "bernoulli": (0.5,),
    "integers": (-3, 5),
}


def _cut(shape: tuple[int, ...], dtype: str, low: float, high: float) -> dict[str, Any]:
    return {"shape": shape, "mean": 0.5, "std": 1.25, "low": low, "high": high, "dtype": dtype}


def _draws() -> list[Sample]:
    samples = []
    for name, parameters in DISTRIBUTIONS.items():
        attrs = {"distribution": name, **dict(zip("ab", parameters, strict=False))}
        samples.append(Sample(name, (real(6, 5),), attrs))
        samples.append(Sample(f"{name}-0-d", (real(),), attrs))
        samples.append(Sample(f"{name}-empty", (real(0, 3),), attrs))
    samples.append(
        Sample(
            "dtype",
            (integers(1, 2),),
            {"distribution": "uniform", "a": 0.0, "b": 1.0, "dtype": "float32"},
        )
    )
    return samples


def uniform_like(like: np.ndarray, low: float, high: float, training: bool = True) -> np.ndarray:
    middle = np.zeros(like.shape) + (low + high) / 2.0
    drawn = low + (high - low) * np.random.default_rng(SEED).random(like.shape)
    return drawn if training else middle


def alpha_dropout_mask(
    like: np.ndarray, p: float, floor: float, training: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """From the moments: what is drawn and what replaces it have mean 0 and variance 1 together."""
    if not training:
        return np.ones(like.shape), np.zeros(like.shape)
    if p == 1.0:
        return np.zeros(like.shape), np.zeros(like.shape)
    dropped = np.random.default_rng(SEED).random(like.shape, dtype=np.float32) < p
    mean, variance = p * floor, (1 - p) + p * floor**2 - (p * floor) ** 2
    a = 1.0 / np.sqrt(variance)
    return np.where(dropped, 0.0, a), np.where(dropped, (floor - mean) * a, -mean * a)


def dropout_mask(
    like: Array, p: float, upscale: bool, training: bool = True, scale: float = 1.0
) -> Array:
    if not training:
        return np.zeros(like.shape) + scale
    uniform = np.random.default_rng(SEED).random(like.shape, dtype=np.float32)
    return np.where(uniform < p, 0.0, 1.0 / (1.0 - p) if upscale and p < 1.0 else 1.0)


def draw() -> np.random.Generator:
    return np.random.default_rng(SEED)


def truncated_gaussian(
    shape: tuple[int, ...], mean: float, std: float, low: float, high: float, dtype: str
) -> Array:
    """The distribution function inverted by bisection; a tail kept or drawn again one by one."""
    low, high = (low - mean) / std, (high - mean) / std
    rng, size = draw(), math.prod(shape)
    sign = 1.0
    if low > 4.0:
        low, high, sign = -high, -low, -1.0
    if high >= -4.0:
        return mean + std * np.asarray(
            [inverse_normal(u, low, high) for u in rng.random(size)]
        ).reshape(shape)
    found: dict[int, float] = {}
    while len(found) < size:
        left = [k for k in range(size) if k not in found]
        for k, u, v in zip(left, *rng.random((2, len(left))), strict=True):
            # Of x exp(-x^2 / 2) on [-high, -low], whose integral is -exp(-x^2 / 2).
            ends = math.exp(-(high**2) / 2), math.exp(-(low**2) / 2)
            x = math.sqrt(-2.0 * math.log(ends[0] + u * (ends[1] - ends[0])))
            if v * x <= -high:
                found[k] = -sign * x
    return mean + std * np.asarray([found[k] for k in range(size)]).reshape(shape)


def inverse_normal(u: float, low: float, high: float) -> float:
    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2.0)) / 2.0

    wanted = below(low) + u * (below(high) - below(low))
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if below(middle) < wanted else (low, middle)
    return low


def orthogonal(shape: tuple[int, ...], gain: float, dtype: str) -> Array:
    """Gram and Schmidt, twice, which leaves what rounding left over behind."""
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = draw().standard_normal((rows, columns))
    vectors: list[Array] = []
    for vector in drawn if rows < columns else drawn.T:
        for _ in range(2):
            vector = vector - sum((w @ vector) * w for w in vectors)
        vectors.append(vector / math.sqrt(vector @ vector))
    made = np.asarray(vectors).reshape(-1, max(rows, columns))
    return gain * (made if rows < columns else made.T).reshape(shape)


DRAWS: dict[str, Callable[..., Any]] = {
    "uniform": lambda shape, low, high: low + (high - low) * draw().random(shape),
    "gaussian": lambda shape, mean, std: mean + std * draw().standard_normal(shape),
    "log_normal": lambda shape, mean, std: np.exp(mean + std * draw().standard_normal(shape)),
    "exponential": lambda shape, rate, _: draw().standard_exponential(shape) / rate,
    "cauchy": lambda shape, loc, scale: loc + scale * draw().standard_cauchy(shape),
    "geometric": lambda shape, p, _: draw().geometric(p, shape),
    "gumbel": lambda shape, loc, scale: loc + scale * draw().gumbel(size=shape),
    "bernoulli": lambda shape, p, _: np.where(draw().random(shape) < p, 1, 0),
    "integers": lambda shape, low, high: draw().integers(low, high - 1, shape, endpoint=True),
}


def class_center_sample(label: Array, classes: int, samples: int) -> tuple[Array, Array]:
    there = sorted(set(label.tolist()))
    others = draw().permutation([c for c in range(classes) if c not in there]).tolist()
    sampled = there + others[: max(samples - len(there), 0)]
    return np.asarray(sampled), np.asarray([there.index(c) for c in label.tolist()])


def multinomial(x: Array, num_samples: int, replacement: bool) -> Array:
    rows = x.reshape(-1, x.shape[-1]).tolist()
    rng = draw()
    out = []
    if replacement:
        for p, us in zip(rows, rng.random((len(rows), num_samples)), strict=True):
            sums = [math.fsum(p[: k + 1]) / math.fsum(p) for k in range(len(p))]
            out.append([next(k for k, s in enumerate(sums) if s > u) for u in us])
    else:
        for p, waits in zip(rows, rng.standard_exponential((len(rows), x.shape[-1])), strict=True):
            rings = [(w / q, k) for k, (w, q) in enumerate(zip(waits, p, strict=True)) if q > 0]
            out.append([k for _, k in sorted(rings)[:num_samples]])
    return np.asarray(out, np.int64).reshape(*x.shape[:-1], num_samples)


SAMPLES: dict[str, list[Sample]] = {
    "uniform_like": [
        Sample("plain", (real(4, 5),), {"low": -1.0, "high": 2.0}),
        Sample("0-d", (real(),), {"low": 0.0, "high": 1.0}),
        Sample("empty", (real(0, 3),), {"low": 0.0, "high": 1.0}),
        Sample("test", (real(4, 5),), {"low": -1.0, "high": 2.0, "training": False}),
    ],
    "alpha_dropout_mask": [
        Sample("plain", (real(4, 5),), {"p": 0.3, "floor": -1.5}),
        Sample("all", (real(4, 5),), {"p": 1.0, "floor": -1.5}),
        Sample("test", (real(4, 5),), {"p": 0.3, "floor": -1.5, "training": False}),
        Sample("0-d", (real(),), {"p": 0.5, "floor": -1.0}),
        Sample("empty", (real(0, 3),), {"p": 0.5, "floor": -1.0}),
    ],
    "uniform": [
        Sample("plain", (), {"shape": (2, 3), "low": -1.0, "high": 2.0, "dtype": "float32"}),
        Sample("0-d", (), {"shape": (), "low": 0.0, "high": 1.0, "dtype": "float64"}),
        Sample("empty", (), {"shape": (0, 3), "low": 0.0, "high": 1.0, "dtype": "float16"}),
    ],
    "gaussian": [
        Sample("plain", (), {"shape": (2, 3), "mean": 1.0, "std": 0.5, "dtype": "float32"}),
        Sample("0-d", (), {"shape": (), "mean": 0.0, "std": 1.0, "dtype": "float64"}),
        Sample("empty", (), {"shape": (0, 3), "mean": 0.0, "std": 1.0, "dtype": "float16"}),
    ],
    "truncated_gaussian": [
        Sample("middle", (), _cut((2, 3), "float32", -1.0, 2.5)),
        Sample("side", (), _cut((4,), "float64", 2.0, 3.5)),
        Sample("tail", (), _cut((5,), "float64", 8.0, 9.0)),
        Sample("other tail", (), _cut((2, 2), "float32", -7.5, -6.0)),
        Sample("0-d", (), _cut((), "float64", -2.0, 2.0)),
        Sample("empty", (), _cut((0, 3), "float16", -2.0, 2.0)),
    ],
    "orthogonal": [
        Sample("wide", (), {"shape": (2, 5), "gain": 1.0, "dtype": "float32"}),
        Sample("tall", (), {"shape": (4, 2), "gain": 1.5, "dtype": "float64"}),
        Sample("filters", (), {"shape": (3, 2, 2), "gain": -1.0, "dtype": "float64"}),
        Sample("one", (), {"shape": (1, 1), "gain": 1.0, "dtype": "float64"}),
        Sample("empty", (), {"shape": (0, 3), "gain": 1.0, "dtype": "float16"}),
    ],
    "randint": [
        Sample("plain", (), {"shape": (2, 3), "low": -3, "high": 4, "dtype": "int64"}),
        Sample("0-d", (), {"shape": (), "low": 0, "high": 9, "dtype": "int32"}),
        Sample("empty", (), {"shape": (0, 3), "low": 0, "high": 2, "dtype": "int64"}),
    ],
    "randperm": [
        Sample("plain", (), {"n": 9, "dtype": "int64"}),
        Sample("floats", (), {"n": 4, "dtype": "float32"}),
        Sample("empty", (), {"n": 0, "dtype": "int32"}),
    ],
    "random_like": _draws(),
    "bernoulli": [
        Sample("plain", (real(6, 5, low=0.0, high=1.0),)),
        Sample("sure", (np.asarray([0.0, 1.0, 0.0]),)),
        Sample("0-d", (np.asarray(0.5),)),
        Sample("empty", (real(0, 3),)),
        Sample("strided", (strided(real(3, 2, low=0.0, high=1.0)),)),
    ],
    "poisson": [
        Sample("plain", (positive(6, 5),)),
        Sample("zero", (np.asarray([0.0, 50.0]),)),
        Sample("0-d", (np.asarray(2.5),)),
        Sample("empty", (real(0, 3),)),
    ],
    "standard_gamma": [
        Sample("plain", (positive(6, 5),)),
        Sample("0-d", (np.asarray(2.5),)),
        Sample("empty", (real(0, 3),)),
        Sample("strided", (strided(positive(3, 2)),)),
    ],
    "binomial": [
        Sample("plain", (integers_between(6, 5, low=3, high=20), real(6, 5, low=0.0, high=1.0))),
        Sample("row", (integers_between(2, 1, low=3, high=20), real(3, low=0.0, high=1.0))),
        Sample("sure", (integers(3, 4), np.asarray([0.0, 1.0]))),
        Sample("empty", (integers_between(0, 3), real(0, 3))),
        Sample("0-d", (np.asarray(7), np.asarray(0.5))),
    ],
    "multinomial": [
        Sample("plain", (positive(4, 9),), {"num_samples": 6, "replacement": False}),
        Sample("again", (positive(4, 3),), {"num_samples": 7, "replacement": True}),
        Sample("vector", (positive(5),), {"num_samples": 2, "replacement": False}),
        Sample(
            "zeros", (np.asarray([0.0, 2.0, 0.0, 1.0]),), {"num_samples": 9, "replacement": True}
        ),
        Sample("all", (np.asarray([[0.0, 2.0, 1.0]]),), {"num_samples": 2, "replacement": False}),
        Sample("empty", (positive(0, 3),), {"num_samples": 2, "replacement": True}),
    ],
    "class_center_sample": [
        Sample("plain", (integers(11, 5, 1, 5, 19),), {"classes": 20, "samples": 9}),
        Sample("no-more", (integers(1, 0, 1),), {"classes": 3, "samples": 1}),
    ],
    "dropout_mask": [
        Sample("plain", (real(4, 5),), {"p": 0.5, "upscale": False}),
        Sample("upscale", (real(4, 5),), {"p": 0.4, "upscale": True}),
        Sample("all", (real(4, 5),), {"p": 1.0, "upscale": True}),
        Sample("test", (real(4, 5),), {"p": 0.4, "upscale": True, "training": False}),
        Sample(
            "test-scaled",
            (real(4, 5),),
            {"p": 0.4, "upscale": False, "training": False, "scale": 0.6},
        ),
        Sample("0-d", (real(),), {"p": 0.5, "upscale": True}),
        Sample("empty", (real(0, 3),), {"p": 0.5, "upscale": True}),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "uniform_like": uniform_like,
    "alpha_dropout_mask": alpha_dropout_mask,
    "uniform": lambda shape, low, high, dtype: (
        low + (high - low) * np.random.default_rng(SEED).random(shape)
    ),
    "gaussian": lambda shape, mean, std, dtype: (
        mean + std * np.random.default_rng(SEED).standard_normal(shape)
    ),
    "truncated_gaussian": truncated_gaussian,
    "orthogonal": orthogonal,
    "randint": lambda shape, low, high, dtype: np.random.default_rng(SEED).integers(
        low, high - 1, shape, endpoint=True
    ),
    "randperm": lambda n, dtype: draw().permutation(list(range(n))),
    "random_like": lambda like, distribution, a, b=0.0, dtype=None: DRAWS[distribution](
        like.shape, a, b
    ),
    "bernoulli": lambda x: np.where(draw().random(x.shape) < x, 1.0, 0.0),
    "poisson": lambda x: draw().poisson(x),
    "standard_gamma": lambda x: draw().gamma(x, 1.0),
    "binomial": lambda count, prob: draw().binomial(count, prob),
    "multinomial": multinomial,
    "class_center_sample": class_center_sample,
    "dropout_mask": dropout_mask,
}
