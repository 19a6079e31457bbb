"""Samples and references of `ops/reduction.py`: reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, log_of_sum
from ..sampling import (
    Sample,
    away_from_zero,
    flags,
    integers,
    positions,
    real,
    reductions,
    small_integers,
    spaced,
    with_zeros,
)


def _truths() -> list[Sample]:
    numbers = Sample("numbers", (small_integers(2, 3),), {"axis": (1,)})
    return [*reductions(flags, of_nothing=True), numbers]


def _one_axis(domain: Any = real) -> list[Sample]:
    return [
        Sample("vector", (domain(4),), {"axis": 0}),
        Sample("last-keep", (domain(2, 3),), {"axis": 1, "keepdims": True}),
        Sample("first", (domain(3, 2),), {"axis": 0}),
        Sample("size-1", (domain(2, 1),), {"axis": 1}),
        Sample("empty", (domain(0, 3),), {"axis": 1}),
        Sample("of-nothing", (domain(2, 0),), {"axis": 1}),
        Sample("strided", (strided(domain(2, 3, 2)),), {"axis": 1}),
    ]


def _norms() -> list[Sample]:
    samples = []
    for p in (2.0, 1.0, 3.0, 0.5, -1.0, 1.5):
        for s in reductions(away_from_zero):
            if p == 2.0 or s.label in ("all", "last", "first-keep", "strided"):
                samples.append(Sample(f"{s.label}-{p:g}", s.operands, {"p": p, **s.attrs}))
    # Smooth where an element is 0, as long as the norm is not.
    zeros = np.asarray([[0.0, 3.0, -1.0], [2.0, 0.0, 0.0]])
    return [*samples, Sample("zeros-2", (zeros,), {"p": 2.0, "axis": (1,)})]


# Numbers of their own: all families draw from one stream, and others depend on what they get.
_random = np.random.default_rng(20261124)


def _drawn(*shape: int) -> Array:
    return np.asarray(_random.uniform(-2.0, 2.0, shape))


def _spreads(smooth: bool) -> list[Sample]:
    """Without `smooth` the spread of one element is a kink."""
    return [
        Sample(s.label, s.operands, {**s.attrs, "correction": 0.5}, smooth=kept)
        for s in reductions(_drawn)
        for kept in [smooth or s.label not in ("no-axis", "0-d")]
    ]


def _adjoints(beside: Callable[..., Array]) -> list[Sample]:
    """A cotangent, an operand, and what is `beside` each of its lines."""
    found = []
    for s in reductions(_drawn):
        (x,) = s.operands
        line = np.asarray(beside(x, **s.attrs))
        found.append(Sample(s.label, (_drawn(*line.shape), x, line), s.attrs))
    return found


def _spread_out(line: Array, axis: Any, keepdims: bool) -> Array:
    return line if keepdims else np.expand_dims(line, axis)


def _about_the_mean(x: Array, axis: Any, correction: float) -> tuple[Array, float]:
    """`x` less its mean, and the degrees of freedom."""
    count = math.prod(x.shape[a] for a in axis)
    return x - reduce(lambda v: math.fsum(v) / len(v))(x, axis, True), count - correction


def variance(x: Array, axis: Any, correction: float, keepdims: bool = False) -> Array:
    rest, freedom = _about_the_mean(x, axis, correction)
    return p_norm(rest, 2.0, axis, keepdims) ** 2 / freedom


def variance_adjoint(
    c: Array, x: Array, axis: Any, correction: float, keepdims: bool = False
) -> Array:
    rest, freedom = _about_the_mean(x, axis, correction)
    return 2.0 * _spread_out(c, axis, keepdims) * rest / freedom


def deviation_adjoint(
    c: Array, x: Array, out: Array, axis: Any, correction: float, keepdims: bool = False
) -> Array:
    rest, freedom = _about_the_mean(x, axis, correction)
    return norm_adjoint(c, rest, out, axis, keepdims) / freedom


def logsumexp_adjoint(c: Array, x: Array, out: Array, axis: Any, keepdims: bool = False) -> Array:
    weights = np.exp(x - _spread_out(out, axis, keepdims))
    total = reduce(math.fsum)(weights, axis, True)
    return _spread_out(c, axis, keepdims) * weights / total


def norm_adjoint(c: Array, x: Array, norm: Array, axis: Any, keepdims: bool = False) -> Array:
    factor = np.divide(c, norm, out=np.zeros(norm.shape), where=norm != 0)
    return x * _spread_out(factor, axis, keepdims)


def reduce(f: Callable[[list[Any]], Any]) -> Callable[..., Array]:
    """`f` of the list of all elements that one element of the result comes from."""

    def apply(x: Array, axis: tuple[int, ...], keepdims: bool = False) -> Array:
        kept = [a for a in range(x.ndim) if a not in axis]
        groups: dict[tuple[int, ...], list[Any]] = {
            index: [] for index in np.ndindex(*(x.shape[a] for a in kept))
        }
        for at in np.ndindex(x.shape):
            groups[tuple(at[a] for a in kept)].append(x[at].item())
        out = [f(group) for group in groups.values()]
        shape = [1 if a in axis else d for a, d in enumerate(x.shape) if keepdims or a not in axis]
        return np.asarray(out).reshape(shape)

    return apply


def position(best: Callable[..., Any]) -> Callable[..., Array]:
    def apply(x: Array, axis: int, keepdims: bool = False) -> Array:
        if not x.size:
            return np.zeros(np.delete(x.shape, axis), np.int64)
        out = np.apply_along_axis(lambda v: v.tolist().index(best(v.tolist())), axis, x)
        return np.expand_dims(out, axis) if keepdims else out

    return apply


def one_axis(f: Callable[[list[Any]], Any]) -> Callable[..., Array]:
    return lambda x, axis, keepdims=False: reduce(f)(x, (axis,), keepdims)


def p_norm(x: Array, p: float, axis: Any, keepdims: bool = False) -> Array:
    return reduce(lambda v: math.fsum(math.fabs(e) ** p for e in v) ** (1.0 / p) if v else 0.0)(
        x, axis, keepdims
    )


SAMPLES: dict[str, list[Sample]] = {
    "sum": [*reductions(of_nothing=True), Sample("integers", (integers(1, 2),), {"axis": (0,)})],
    "mean": reductions(),
    "max": reductions(spaced),
    "min": reductions(spaced),
    "argmax": positions(),
    "argmin": positions(),
    "any": _truths(),
    "all": _truths(),
    "prod": [*_one_axis(), *with_zeros(1), Sample("zeros-keep", (np.zeros((2, 2)),), {"axis": 0})],
    "logsumexp": [*reductions(), Sample("of-nothing", (real(2, 0),), {"axis": (1,)}, smooth=False)],
    "p_norm": _norms(),
    "variance": _spreads(True),
    "deviation": _spreads(False),
    "variance_adjoint": [
        Sample(s.label, s.operands[:2], {**s.attrs, "correction": 0.5})
        for s in _adjoints(lambda x, **attrs: reduce(math.fsum)(x, **attrs))
    ],
    "deviation_adjoint": [
        Sample(s.label, s.operands, {**s.attrs, "correction": 0.5})
        for s in _adjoints(lambda x, **attrs: 1.0 + p_norm(x, 2.0, **attrs))
    ],
    "logsumexp_adjoint": _adjoints(lambda x, **attrs: reduce(log_of_sum)(x, **attrs)),
    "mean_square": [
        Sample(s.label, (*s.operands, _drawn(*s.operands[0].shape)), s.attrs)
        for s in reductions(_drawn)
        if "keepdims" not in s.attrs
    ],
    "mean_square_adjoint": [
        Sample(s.label, (c, x, _drawn(*x.shape)), s.attrs)
        for s in _adjoints(lambda x, **attrs: reduce(math.fsum)(x, **attrs))
        for c, x, _ in [s.operands]
        if "keepdims" not in s.attrs
    ],
    "norm_adjoint": [
        *_adjoints(lambda x, **attrs: p_norm(x, 2.0, **attrs)),
        Sample(
            "zero",
            (_drawn(2), np.zeros((2, 3)), np.asarray([0.0, 1.5])),
            {"axis": (1,)},
            smooth=False,
        ),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "sum": reduce(math.fsum),
    "mean": reduce(lambda v: math.fsum(v) / len(v)),
    "max": reduce(lambda v: sorted(v)[-1]),
    "min": reduce(lambda v: sorted(v)[0]),
    "any": reduce(any),
    "all": reduce(all),
    "argmax": position(max),
    "argmin": position(min),
    "prod": one_axis(math.prod),
    "logsumexp": reduce(log_of_sum),
    "p_norm": p_norm,
    "variance": variance,
    "deviation": lambda x, **attrs: np.sqrt(variance(x, **attrs)),
    "variance_adjoint": variance_adjoint,
    "deviation_adjoint": deviation_adjoint,
    "logsumexp_adjoint": logsumexp_adjoint,
    "norm_adjoint": norm_adjoint,
    "mean_square": lambda x, y, axis: reduce(lambda v: math.fsum(v) / len(v))((x - y) ** 2, axis),
    "mean_square_adjoint": lambda c, x, y, axis: (
        np.expand_dims(2.0 * c, axis) * (x - y) / math.prod(x.shape[a] for a in axis)
    ),
}
