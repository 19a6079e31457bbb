"""Random arrays. All draw from the one generator that `seed` sets, in either mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import require_floats
from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.dtypes import INT64
from autograd_engine.core.random_generator import generator
from autograd_engine.core.spec import Array, Like, Spec
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.infer import broadcast
from autograd_engine.ops.kernels.erf import erf, erfinv
from autograd_engine.ops.registry.opdef import OpDef, defop
from autograd_engine.ops.registry.work import each_result

__all__ = ["between"]

# Beyond this the values of erf are too near to 1 to tell those of the interval apart.
_FAR = 4.0
_TOP = 1.0 - 2.0**-53


def between(source: np.random.Generator, low: float, high: float, shape: tuple[int, ...]) -> Array:
    """Standard normal values, given that they are in [low, high].

    One uniform number makes one value, by the inverse of the distribution function. Far from 0
    there are a few more, see `_tail`.
    """
    if low > _FAR:
        return _tail(source, low, high, shape)
    if high < -_FAR:
        return -_tail(source, -high, -low, shape)
    first, last = erf(np.array([low, high]) * math.sqrt(0.5)).tolist()
    p = first + source.random(shape) * (last - first)
    drawn = erfinv(np.clip(p, -_TOP, _TOP)) * math.sqrt(2.0)
    return np.clip(drawn, low, high)


def _tail(source: np.random.Generator, low: float, high: float, shape: tuple[int, ...]) -> Array:
    """The same for 0 << low, from the density x exp(-x^2 / 2), whose inverse is elementary.

    G. Marsaglia, "Generating a variable from the tail of the normal distribution" (1964): a value
    is kept with probability low / x, and drawn again else.
    """
    out = np.empty(math.prod(shape))
    todo = np.arange(out.size)
    span = -math.expm1(0.5 * (low - high) * (low + high))
    while todo.size:
        u, v = source.random((2, todo.size))
        x = np.sqrt(low * low - 2.0 * np.log1p(-u * span))
        kept = v * x <= low
        out[todo[kept]] = np.minimum(x[kept], high)
        todo = todo[~kept]
    return out.reshape(shape)


Sizes = tuple[int, ...]


def _below(drawn: Array, low: float, high: float, dtype: Any) -> Array:
    """`drawn`, which is below `high`, in a dtype whose rounding might say otherwise."""
    kind = np.dtype(dtype)
    values = np.asarray(drawn, kind)
    if low < high:
        values = np.minimum(values, np.nextafter(kind.type(high), kind.type(low)))
    return np.asarray(values)


def _uniform(*, shape: Sizes, low: float, high: float, dtype: str, seed: int = 0) -> Array:
    # Drawn in float64 for every dtype, so that one seed gives one stream.
    source = np.random.default_rng(seed) if seed else generator()
    return _below(source.uniform(low, high, shape), low, high, dtype)


def _gaussian(*, shape: Sizes, mean: float, std: float, dtype: str) -> Array:
    return np.asarray(generator().normal(mean, std, shape), dtype=dtype)


def _truncated_gaussian(
    *, shape: Sizes, mean: float, std: float, low: float, high: float, dtype: str
) -> Array:
    drawn = between(generator(), (low - mean) / std, (high - mean) / std, shape)
    return np.clip(mean + std * drawn, low, high).astype(dtype)


def _orthogonal(*, shape: Sizes, gain: float, dtype: str) -> Array:
    """The Q of a Gaussian matrix, where R has a positive diagonal: uniform among all.

    F. Mezzadri, "How to generate random matrices from the classical compact groups" (2007).
    """
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = generator().standard_normal((rows, columns))
    q, r = np.linalg.qr(drawn if rows >= columns else drawn.T)
    q = q * (gain * np.copysign(1.0, np.diagonal(r)))
    return np.ascontiguousarray(q if rows >= columns else q.T, dtype).reshape(shape)


def _randint(*, shape: Sizes, low: int, high: int, dtype: str) -> Array:
    return np.asarray(generator().integers(low, high, shape), dtype=dtype)


def _infer(*, shape: Sizes, dtype: str, **_: Any) -> Spec:
    return Spec(shape, np.dtype(dtype))


def _dropout_mask(
    like: Like, *, p: float, upscale: bool, training: bool = True, scale: float = 1.0
) -> Array:
    """What dropout multiplies by: 0 with probability `p`, else 1 or, upscaled, 1 / (1 - p)."""
    if not training:
        return np.full(like.shape, scale, like.dtype)
    kept: Array = (generator().random(like.shape, dtype=np.float32) >= p).astype(like.dtype)
    if upscale and p < 1.0:
        kept *= np.asarray(1.0 / (1.0 - p), like.dtype)
    return kept


def _alpha_dropout_mask(
    like: Like, *, p: float, floor: float, training: bool = True
) -> tuple[Array, Array]:
    """A factor and a term: a x + b where x is kept, else a floor + b; 1 and 0 when not training.

    a and b keep mean 0 and variance 1: a^-2 = (1 - p) (1 + p floor^2), b = -a floor p.
    """
    factor, term = np.ones(like.shape, like.dtype), np.zeros(like.shape, like.dtype)
    if training and p < 1.0:
        a = ((1.0 - p) * (1.0 + p * floor**2)) ** -0.5
        b = -a * floor * p
        kept = generator().random(like.shape, dtype=np.float32) >= p
        factor[...] = np.where(kept, a, 0.0)
        term[...] = np.where(kept, b, a * floor + b)
    elif training:
        factor[...] = 0.0
    return factor, term


def _uniform_like(like: Like, *, low: float, high: float, training: bool = True) -> Array:
    """Drawn from [low, high]; the middle of it when not training."""
    if not training:
        return np.full(like.shape, (low + high) / 2.0, like.dtype)
    return np.asarray(generator().uniform(low, high, like.shape), dtype=like.dtype)


# Drawn in float64 and rounded once, below the end: not by way of float32.
_ROUNDED: Any = {"random": True, "halves": "as they are"}
defop("uniform", _uniform, inputs="", infer=_infer, **_ROUNDED)
defop("gaussian", _gaussian, inputs="", infer=_infer, **_ROUNDED)
defop("truncated_gaussian", _truncated_gaussian, inputs="", infer=_infer, **_ROUNDED)
defop("orthogonal", _orthogonal, inputs="", infer=_infer, random=True)
defop("randint", _randint, inputs="", infer=_infer, random=True)
defop(
    "randperm",
    lambda *, n, dtype: generator().permutation(n).astype(dtype),
    inputs="",
    infer=lambda *, n, dtype: Spec((n,), np.dtype(dtype)),
    random=True,
)
defop(
    "dropout_mask", _dropout_mask, inputs="like", infer=lambda like, **_: like, random=True
).nondiff()
defop(
    "alpha_dropout_mask",
    _alpha_dropout_mask,
    inputs="like",
    outputs="factor term",
    infer=lambda like, **_: (like, like),
    random=True,
).nondiff()


# --- in the shape of another array. Of each distribution: two parameters, and how it is drawn.

DISTRIBUTIONS: Final[dict[str, Callable[[np.random.Generator, Any, Any, Any], Any]]] = {
    "uniform": lambda rng, low, high, shape: rng.uniform(low, high, shape),
    "gaussian": lambda rng, mean, std, shape: rng.normal(mean, std, shape),
    "log_normal": lambda rng, mean, std, shape: rng.lognormal(mean, std, shape),
    "exponential": lambda rng, rate, _, shape: rng.exponential(1.0 / rate, shape),
    "cauchy": lambda rng, loc, scale, shape: loc + scale * rng.standard_cauchy(shape),
    "geometric": lambda rng, p, _, shape: rng.geometric(p, shape),
    "gumbel": lambda rng, loc, scale, shape: rng.gumbel(loc, scale, shape),
    "bernoulli": lambda rng, p, _, shape: rng.random(shape) < p,
    "integers": lambda rng, low, high, shape: rng.integers(low, high, shape),
}


def _random_like(
    like: Like,
    *,
    distribution: str,
    a: float,
    b: float = 0.0,
    dtype: str | None = None,
    seed: int = 0,
) -> Array:
    source = np.random.default_rng(seed) if seed else generator()
    drawn = np.asarray(DISTRIBUTIONS[distribution](source, a, b, like.shape))
    if distribution == "uniform":
        return _below(drawn, a, b, like.dtype if dtype is None else dtype)
    with np.errstate(over="ignore"):  # a tail that leaves the range of float16 is infinite
        return drawn.astype(like.dtype if dtype is None else dtype)


def _infer_random_like(like: Spec, *, dtype: str | None = None, **_: Any) -> Spec:
    return Spec(like.shape, like.dtype if dtype is None else np.dtype(dtype))


defop(
    "random_like", _random_like, takes="bif", inputs="like", infer=_infer_random_like, **_ROUNDED
).nondiff()


# --- with a parameter for each element


def _parameter(op: str, argument: str, x: Array, low: float, high: float) -> None:
    """Refuse values outside of [low, high], and NaN."""
    if x.size and not (x.min().item() >= low and x.max().item() <= high):
        span = f"in [{low:g}, {high:g}]" if high != np.inf else f"{low:g} or more"
        bad = next(v for v in x.ravel().tolist() if not low <= v <= high)
        raise ArgumentError(f"{op}: {argument} must be {span}, got {bad}")


def _of_floats(
    name: str, highest: float, draw: Callable[[np.random.Generator, Array], Any]
) -> OpDef:
    """Drawn with a parameter from 0 to `highest`, in its dtype."""

    def kernel(x: Array) -> Array:
        require_floats(name, "x", x.dtype)
        _parameter(name, "x", x, 0.0, highest)
        with np.errstate(over="ignore"):
            return np.asarray(draw(generator(), x)).astype(x.dtype)

    def infer(x: Spec) -> Spec:
        require_floats(name, "x", x.dtype)
        return x

    return defop(name, kernel, takes="f", inputs="x", infer=infer, random=True).nondiff()


_of_floats("bernoulli", 1.0, lambda rng, x: rng.random(x.shape) < x)
_of_floats("poisson", 2.0**62, lambda rng, x: rng.poisson(x.astype(np.float64)))
_of_floats("standard_gamma", np.inf, lambda rng, x: rng.standard_gamma(x.astype(np.float64)))


def _binomial(count: Array, prob: Array) -> Array:
    require_floats("binomial", "prob", prob.dtype)
    _parameter("binomial", "count", count, 0, 2.0**62)
    _parameter("binomial", "prob", prob, 0.0, 1.0)
    drawn = generator().binomial(count.astype(np.int64), prob.astype(np.float64))
    return np.asarray(drawn, np.int64)


def _infer_binomial(count: Spec, prob: Spec) -> Spec:
    require_floats("binomial", "prob", prob.dtype)
    return Spec(broadcast("binomial")(count, prob).shape, INT64)


defop(
    "binomial",
    _binomial,
    takes="f",
    inputs="count prob",
    infer=_infer_binomial,
    untyped="count",
    broadcasts=0,
    random=True,
).nondiff()


def _multinomial(x: Array, *, num_samples: int, replacement: bool) -> Array:
    require_floats("multinomial", "x", x.dtype)
    _parameter("multinomial", "x", x, 0.0, np.inf)
    rows = x.reshape(-1, x.shape[-1]).astype(np.float64)
    possible = np.count_nonzero(rows, axis=1)
    needed = 1 if replacement else num_samples
    if rows.shape[0] and possible.min() < needed:
        raise ArgumentError(
            f"multinomial: a row of x has {possible.min()} categories above 0, and {needed} are "
            "needed"
            + ("" if replacement else "; draw fewer, or use replacement=True to draw one again")
        )
    if replacement:
        uniform = generator().random((rows.shape[0], num_samples))
        bounds = np.cumsum(rows / rows.max(axis=1, initial=1e-300, keepdims=True), axis=1)
        bounds /= bounds[:, -1:]
        # The first category whose bound is above: one of probability 0 never is.
        drawn = [np.searchsorted(b, u, side="right") for b, u in zip(bounds, uniform, strict=True)]
        picked = np.asarray(drawn, np.int64)
    else:
        # The order in which exponential clocks of these rates ring is that of drawing in turn.
        waits = generator().exponential(size=rows.shape)
        with np.errstate(divide="ignore"):
            picked = np.argsort(waits / rows, axis=1, kind="stable")[:, :num_samples]
    return picked.astype(np.int64).reshape(*x.shape[:-1], num_samples)


def _infer_multinomial(x: Spec, *, num_samples: int, replacement: bool) -> Spec:
    require_floats("multinomial", "x", x.dtype)
    return Spec((*x.shape[:-1], num_samples), INT64)


defop(
    "multinomial",
    _multinomial,
    takes="f",
    inputs="x",
    infer=_infer_multinomial,
    random=True,
    work=each_result,
).nondiff()


def _class_center_sample(label: Array, *, classes: int, samples: int) -> tuple[Array, Array]:
    """The classes of the labels in order, then others drawn; and where each label is among them."""
    if label.size and (label.min() < 0 or label.max() >= classes):
        bad = label[(label < 0) | (label >= classes)].ravel()[0]
        raise IndexError(
            f"class_center_sample: label {bad} is out of range; of {classes} classes labels must "
            f"be in 0 to {classes - 1}"
        )
    there, place = np.unique(label, return_inverse=True)
    others = np.setdiff1d(np.arange(classes, dtype=label.dtype), there, assume_unique=True)
    drawn = generator().permutation(others)[: max(samples - there.size, 0)]
    return np.concatenate([there, drawn]), place.reshape(label.shape).astype(label.dtype)


defop(
    "class_center_sample",
    _class_center_sample,
    takes="i",
    inputs="label",
    outputs="sampled remapped",
    infer=lambda label, **_: (Spec((fresh_dim(),), label.dtype), label),
    random=True,
    checks_values=True,
).nondiff()
defop(
    "uniform_like", _uniform_like, inputs="like", infer=lambda like, **_: like, random=True
).nondiff()
