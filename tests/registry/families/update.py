"""Samples and references of `ops/update.py`: rules as their papers state them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..referencing import Array
from ..sampling import Sample, real


def _update(*state: float) -> list[tuple[str, tuple[np.ndarray, ...]]]:
    shapes = {"plain": (2, 3), "0-d": (), "empty": (0, 3)}
    return [
        (label, (real(*s), real(*s), np.asarray(0.1), *(np.full(s, v) for v in state)))
        for label, s in shapes.items()
    ]


_MOMENTS = {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8}


def _adaptive(
    attrs: dict[str, object], state: tuple[float, ...], scalars: tuple[float, ...] = ()
) -> list[Sample]:
    """State of the shape of the parameter, then 0-d state."""
    ends = tuple(np.asarray(v) for v in scalars)
    return _known([Sample(label, (*operands, *ends), attrs) for label, operands in _update(*state)])


def _rprop() -> list[Sample]:
    attrs = {"smallest": 0.01, "largest": 0.12, "shrink": 0.5, "grow": 1.5}
    return _known(
        [
            Sample(label, (p, g, rate, real(*p.shape), np.full(p.shape, 0.1)), attrs)
            for label, (p, g, rate) in _update()
        ]
    )


def _asgd() -> list[Sample]:
    return _known(
        [
            Sample(
                f"{label}-{m}",
                (p, g, rate, real(*p.shape), real(3, *p.shape), np.asarray(m)),
                {"batch_num": 3},
            )
            for m in (1, 7)
            for label, (p, g, rate) in _update()
        ]
    )


def _known(samples: list[Sample]) -> list[Sample]:
    """The sizes of a parameter are never unknown; 0-d ones have none to leave out."""
    return [replace(s, unknown=s.label.startswith("0-d")) for s in samples]


def momentum(
    param: Array, grad: Array, rate: Array, velocity: Array, mu: float, use_nesterov: bool = False
) -> tuple[Array, Array]:
    ahead = mu * velocity + grad
    return param - rate * (mu * ahead + grad if use_nesterov else ahead), ahead


def moments(g: Array, m: Array, v: Array, beta1: float, beta2: float) -> tuple[Array, Array]:
    return m * beta1 + g * (1 - beta1), v * beta2 + g**2 * (1 - beta2)


def adam(
    param: Array,
    grad: Array,
    rate: Array,
    m: Array,
    v: Array,
    b1: Array,
    b2: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[Array, ...]:
    m, v = moments(grad, m, v, beta1, beta2)
    corrected = (m / (1 - b1)) / (np.sqrt(v / (1 - b2)) + epsilon)
    return param - rate * corrected, m, v, b1 * beta1, b2 * beta2


def amsgrad(
    param: Array,
    grad: Array,
    rate: Array,
    m: Array,
    v: Array,
    top: Array,
    b1: Array,
    b2: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[Array, ...]:
    m, v = moments(grad, m, v, beta1, beta2)
    top = np.where(v > top, v, top)
    corrected = (m / (1 - b1)) / (np.sqrt(top / (1 - b2)) + epsilon)
    return param - rate * corrected, m, v, top, b1 * beta1, b2 * beta2


def decayed(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The decay taken off after the step: it is of the value before."""

    def update(
        param: Array, grad: Array, rate: Array, *state: Array, coeff: float, **attrs: Any
    ) -> tuple[Array, ...]:
        new, *rest = rule(param, grad, rate, *state, **attrs)
        return new - rate * coeff * param, *rest

    return update


def adamax(
    param: Array,
    grad: Array,
    rate: Array,
    m: Array,
    u: Array,
    b1: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[Array, ...]:
    m = m * beta1 + grad * (1 - beta1)
    kept, size = u * beta2 + epsilon, np.sqrt(grad**2)
    u = np.where(kept > size, kept, size)
    return param - rate * m / ((1 - b1) * u), m, u, b1 * beta1


def lamb(
    param: Array,
    grad: Array,
    rate: Array,
    m: Array,
    v: Array,
    b1: Array,
    b2: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
    always_adapt: bool = False,
) -> tuple[Array, ...]:
    m, v = moments(grad, m, v, beta1, beta2)
    step = (m / (1 - b1)) / (np.sqrt(v / (1 - b2)) + epsilon) + weight_decay * param
    lengths = [math.hypot(*x.ravel()) if x.size else 0.0 for x in (param, step)]
    ratio = lengths[0] / lengths[1] if all(lengths) else 1.0
    return param - rate * ratio * step, m, v, b1 * beta1, b2 * beta2


def nadam(
    param: Array,
    grad: Array,
    rate: Array,
    m: Array,
    v: Array,
    decay: Array,
    b2: Array,
    product: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
    momentum_decay: float,
) -> tuple[Array, ...]:
    mu, following = (beta1 * (1 - (decay * 0.96**k) ** momentum_decay / 2) for k in (1, 2))
    m, v = moments(grad, m, v, beta1, beta2)
    product, b2 = product * mu, b2 * beta2
    ahead = following * m / (1 - product * following) + (1 - mu) * grad / (1 - product)
    new = param - rate * ahead / (np.sqrt(v / (1 - b2)) + epsilon)
    return new, m, v, decay * 0.96, b2, product


def radam(
    param: Array,
    grad: Array,
    rate: Array,
    m: Array,
    v: Array,
    b1: Array,
    b2: Array,
    rho: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[Array, ...]:
    t = float(rho) * (1 - float(b2)) / float(b2) + 1  # rho and b2 are of the step before
    m, v = moments(grad, m, v, beta1, beta2)
    limit = 2 / (1 - beta2) - 1
    power = float(b2) * beta2
    part = t * power / (1 - power)
    length = limit - 2 * part
    step = m / (1 - b1 * beta1)
    if length > 5:
        r = math.sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length))
        step = step * r * math.sqrt(1 - power) / (np.sqrt(v) + epsilon)
    return param - rate * step, m, v, b1 * beta1, b2 * beta2, np.asarray(part)


def rmsprop(
    param: Array,
    grad: Array,
    rate: Array,
    last: Array,
    square: Array,
    mean: Array,
    rho: float,
    epsilon: float,
    mu: float = 0.0,
    centered: bool = False,
) -> tuple[Array, ...]:
    square = square * rho + grad**2 * (1 - rho)
    mean = mean * rho + grad * (1 - rho) if centered else mean
    under = square - mean**2 if centered else square
    last = last * mu + rate * grad * (under + epsilon) ** -0.5
    return param - last, last, square, mean


def adagrad(
    param: Array, grad: Array, rate: Array, moment: Array, epsilon: float
) -> tuple[Array, ...]:
    moment = grad**2 + moment
    return param - rate * (grad / (moment**0.5 + epsilon)), moment


def adadelta(
    param: Array,
    grad: Array,
    rate: Array,
    squares: Array,
    updates: Array,
    rho: float,
    epsilon: float,
) -> tuple[Array, ...]:
    squares = squares * rho + grad**2 * (1 - rho)
    step = grad * (updates + epsilon) ** 0.5 / (squares + epsilon) ** 0.5
    return param - rate * step, squares, updates * rho + step**2 * (1 - rho)


def asgd(
    param: Array, grad: Array, rate: Array, d: Array, y: Array, m: Array, batch_num: int
) -> tuple[Array, ...]:
    which = np.arange(batch_num).reshape(-1, *[1] * grad.ndim) == m % batch_num
    replaced = np.where(which, grad, y)
    d = d + (replaced - y).sum(axis=0)
    return param - rate * d / (m + 1 if m < batch_num else batch_num), d, replaced, m + 1


def rprop(
    param: Array,
    grad: Array,
    rate: Array,
    before: Array,
    rates: Array,
    smallest: float,
    largest: float,
    shrink: float,
    grow: float,
) -> tuple[Array, ...]:
    new = [np.array(x, dtype=np.float64) for x in (param, grad, rates)]
    for k in np.ndindex(param.shape):
        g, b, r = float(grad[k]), float(before[k]), float(rates[k])
        if g * b > 0:
            r = min(r * grow, largest)
        elif g * b < 0:
            r, g = max(r * shrink, smallest), 0.0
        new[0][k] -= math.copysign(r, g) if g else 0.0
        new[1][k], new[2][k] = g, r
    return tuple(new)


SAMPLES: dict[str, list[Sample]] = {
    "sgd": _known([Sample(label, operands) for label, operands in _update()]),
    "momentum": _known(
        [
            Sample(f"{label}{name}", operands, {"mu": 0.9, **attrs})
            for name, attrs in {"": {}, "-nesterov": {"use_nesterov": True}}.items()
            for label, operands in _update(0.3)
        ]
    ),
    "adam": _adaptive(_MOMENTS, (0.1, 0.2), (0.9, 0.99)),
    "adam_amsgrad": _adaptive(_MOMENTS, (0.1, 0.2, 0.3), (0.9, 0.99)),
    "adamw": _adaptive({**_MOMENTS, "coeff": 0.1}, (0.1, 0.2), (0.9, 0.99)),
    "adamw_amsgrad": _adaptive({**_MOMENTS, "coeff": 0.1}, (0.1, 0.2, 0.3), (0.9, 0.99)),
    "adamax": _adaptive(_MOMENTS, (0.1, 0.2), (0.9,)),
    "lamb": [
        *_adaptive({**_MOMENTS, "weight_decay": 0.1}, (0.1, 0.2), (0.9, 0.99)),
        *(
            replace(s, label=f"{s.label}-adapt")
            for s in _adaptive(
                {**_MOMENTS, "weight_decay": 0.0, "always_adapt": True}, (0.1, 0.2), (0.9, 0.99)
            )
        ),
    ],
    "nadam": _adaptive({**_MOMENTS, "momentum_decay": 0.5}, (0.1, 0.2), (0.9, 0.99, 0.8)),
    "radam": [
        *_adaptive(_MOMENTS, (0.1, 0.2), (0.9**9, 0.99**9, 9 * 0.99**9 / (1 - 0.99**9))),
        *(
            replace(s, label=f"{s.label}-early")
            for s in _adaptive(_MOMENTS, (0.1, 0.2), (0.9, 0.99, 0.99 / 0.01))
        ),
    ],
    "rmsprop": [
        *_adaptive({"rho": 0.9, "epsilon": 1e-3, "mu": 0.5}, (0.1, 0.2, 0.3)),
        *(
            replace(s, label=f"{s.label}-centered")
            for s in _adaptive({"rho": 0.9, "epsilon": 1e-3, "centered": True}, (0.1, 0.2, 0.3))
        ),
    ],
    "adagrad": _adaptive({"epsilon": 1e-3}, (0.1,)),
    "adadelta": _adaptive({"rho": 0.9, "epsilon": 1e-3}, (0.1, 0.2)),
    "asgd": _asgd(),
    "rprop": _rprop(),
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "sgd": lambda param, grad, rate: param - rate * grad,
    "momentum": momentum,
    "adam": adam,
    "adam_amsgrad": amsgrad,
    "adamw": decayed(adam),
    "adamw_amsgrad": decayed(amsgrad),
    "adamax": adamax,
    "lamb": lamb,
    "nadam": nadam,
    "radam": radam,
    "rmsprop": rmsprop,
    "adagrad": adagrad,
    "adadelta": adadelta,
    "asgd": asgd,
    "rprop": rprop,
}
