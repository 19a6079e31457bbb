"""Samples of the operations that work element by element, and of those that take no array."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .sampling import (
    RNG,
    Sample,
    away_from_zero,
    binary,
    flags,
    integers,
    ordered,
    positive,
    real,
    small_integers,
    strided,
    unary,
)

ORDER = ("equal", "not_equal", "greater_than", "greater_equal", "less_than", "less_equal")


def _where() -> list[Sample]:
    return [
        Sample("plain", (flags(2, 3), real(2, 3), real(2, 3))),
        Sample("rows", (flags(2, 1), real(3), real(2, 3))),
        Sample("wide-condition", (flags(2, 2, 3), real(1, 3), real(2, 1))),
        Sample("0-d", (flags(), real(), real())),
        Sample("beside-0-d", (flags(2, 3), real(), real(2, 3))),
        Sample("number-condition", (small_integers(2, 3), real(2, 3), real(2, 3))),
        Sample("empty", (flags(0, 3), real(0, 3), real(1, 3))),
        Sample("strided", (strided(flags(3, 2)), strided(real(3, 2)), strided(real(3, 2)))),
    ]


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


def _special() -> list[Sample]:
    values = np.asarray([[1.0, math.nan, -math.inf], [0.0, math.inf, -2.0]])
    return [
        *unary(),
        Sample("special", (values,)),
        Sample("special-strided", (strided(values),)),
        Sample("integers", (integers(0, -3),)),
        Sample("bools", (flags(3),)),
    ]


def _close() -> list[Sample]:
    x = np.asarray([1.0, 1.0, 100.0, math.nan, math.inf, math.inf, -math.inf])
    y = np.asarray([1.0, 1.5, 101.0, math.nan, math.inf, -math.inf, 3.0])
    loose = {"rtol": 0.25, "atol": 0.125, "equal_nan": False}
    return [
        *(replace(s, attrs=loose) for s in binary(small_integers)),
        Sample("special", (x, y), loose),
        Sample("nan", (x, y), {**loose, "equal_nan": True}),
        Sample(
            "not-symmetric",
            (np.asarray([1.0, 2.0]), np.asarray([2.0, 1.0])),
            {**loose, "rtol": 0.5},
        ),
        Sample("integers", (integers(1, 5), integers(1, 4)), loose),
    ]


def _equal_all() -> list[Sample]:
    x = small_integers(2, 3)
    return [
        Sample("same", (x, x.copy())),
        Sample("one-element", (x, x + (np.arange(6).reshape(2, 3) == 4))),
        Sample("broadcast", (np.ones((2, 3)), np.ones((1, 3)))),
        Sample("ranks", (np.ones((3,)), np.ones((1, 3)))),
        Sample("0-d", (np.asarray(1.0), np.asarray(1.0))),
        Sample("empty", (np.ones((0, 3)), np.ones((0, 3)))),
        Sample("strided", (strided(x), x)),
        Sample("nan", (np.asarray([math.nan]), np.asarray([math.nan]))),
    ]


def _whole(*shape: int, low: int = -9, high: int = 10) -> np.ndarray:
    return np.asarray(RNG.integers(low, high, shape))


def _shift_counts(*shape: int) -> np.ndarray:
    return _whole(*shape, low=1, high=8)


def _bits() -> list[Sample]:
    return [
        *binary(_whole),
        Sample("bools", (flags(2, 3), flags(3))),
        Sample("bytes", (_whole(4).astype(np.int8), _whole(4).astype(np.int8))),
    ]


DRAWS = {
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
    for name, parameters in DRAWS.items():
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


SAMPLES: dict[str, list[Sample]] = {
    "add": binary(),
    "subtract": binary(),
    "multiply": binary(),
    "divide": binary(real, away_from_zero),
    "pow": binary(positive, away_from_zero),
    "negative": unary(),
    "square": unary(),
    "abs": unary(away_from_zero),
    "sign": [*unary(), Sample("zero", (small_integers(2, 3),))],
    "floor": [*unary(), Sample("whole", (small_integers(2, 3),))],
    "exp": unary(),
    "log": unary(positive),
    "sqrt": unary(positive),
    "sin": unary(),
    "cos": unary(),
    "tanh": unary(),
    "erf": unary(),
    "relu": unary(away_from_zero),
    "sigmoid": unary(),
    "gelu": unary(),
    "maximum": ordered(),
    "minimum": ordered(),
    **{name: binary(small_integers) for name in ORDER},
    "logical_and": [*binary(flags), Sample("numbers", (small_integers(3), small_integers(3)))],
    "logical_or": [*binary(flags), Sample("numbers", (small_integers(3), small_integers(3)))],
    "logical_xor": [*binary(flags), Sample("numbers", (small_integers(3), small_integers(3)))],
    "logical_not": [*unary(flags), Sample("numbers", (small_integers(3),))],
    "isnan": _special(),
    "isinf": _special(),
    "isfinite": _special(),
    "isreal": [*_special(), Sample("complex", (np.asarray([1.0 + 2.0j, 3.0 + 0.0j]),))],
    "isclose": _close(),
    "equal_all": _equal_all(),
    "bitwise_and": _bits(),
    "bitwise_or": _bits(),
    "bitwise_xor": _bits(),
    "bitwise_not": [*unary(_whole), Sample("bools", (flags(2, 3),))],
    "bitwise_left_shift": binary(_whole, _shift_counts),
    "bitwise_right_shift": binary(_whole, _shift_counts),
    "logical_right_shift": binary(_whole, _shift_counts),
    "where": _where(),
    "cast": [
        Sample("to-float64", (real(2, 3),), {"dtype": "float64"}),
        Sample("to-float32", (real(2, 3),), {"dtype": "float32"}, smooth=False),
        Sample("to-float16", (real(3),), {"dtype": "float16"}, smooth=False),
        Sample("to-int64", (real(2, 3),), {"dtype": "int64"}),
        Sample("to-bool", (small_integers(2, 3),), {"dtype": "bool"}),
        Sample("0-d", (real(),), {"dtype": "float64"}),
        Sample("empty", (real(0, 3),), {"dtype": "float64"}),
        Sample("strided", (strided(real(3, 2)),), {"dtype": "float64"}),
        Sample("of-integers", (integers(1, -2, 0),), {"dtype": "float32"}),
    ],
    "assign": [*unary(), Sample("integers", (integers(1, 2),))],
    "add_n": [
        Sample("one", (real(2, 3),)),
        Sample("two", (real(2, 3), real(2, 3))),
        Sample("three", (real(2, 3), strided(real(2, 3)), real(2, 3))),
        Sample("0-d", (real(), real())),
        Sample("empty", (real(0, 3), real(0, 3))),
    ],
    # --- what an array is made from, without one
    "full": [
        Sample("plain", (), {"shape": (2, 3), "value": 1.5, "dtype": "float32"}),
        Sample("0-d", (), {"shape": (), "value": -2.0, "dtype": "float64"}),
        Sample("empty", (), {"shape": (0, 3), "value": 0.0, "dtype": "float16"}),
        Sample("integers", (), {"shape": (2,), "value": 7, "dtype": "int64"}),
    ],
    "range": [
        Sample("plain", (), {"start": 0, "end": 5, "step": 1, "dtype": "int64"}),
        Sample("floats", (), {"start": -1.0, "end": 1.0, "step": 0.3, "dtype": "float32"}),
        Sample("down", (), {"start": 5, "end": 0, "step": -2, "dtype": "int32"}),
        Sample("empty", (), {"start": 3, "end": 3, "step": 1, "dtype": "int64"}),
    ],
    "constant": [
        Sample("plain", (), {"value": real(2, 3)}),
        Sample("0-d", (), {"value": real()}),
        Sample("integers", (), {"value": integers(3, 1)}),
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
        Sample("plain", (_whole(6, 5, low=3, high=20), real(6, 5, low=0.0, high=1.0))),
        Sample("row", (_whole(2, 1, low=3, high=20), real(3, low=0.0, high=1.0))),
        Sample("sure", (integers(3, 4), np.asarray([0.0, 1.0]))),
        Sample("empty", (_whole(0, 3), real(0, 3))),
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
    # --- optimizers
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

# Ties and kinks have samples of their own, at which no differences are taken.
SAMPLES["maximum"].append(Sample("ties", (small_integers(3, 4), small_integers(4)), smooth=False))
SAMPLES["minimum"].append(Sample("ties", (small_integers(3, 4), small_integers(4)), smooth=False))
SAMPLES["relu"].append(Sample("kink", (small_integers(3, 4),), smooth=False))
SAMPLES["abs"].append(Sample("kink", (small_integers(3, 4),), smooth=False))
SAMPLES["pow"].append(
    Sample("zeros", (np.asarray([0.0, 1.5, 0.0]), np.asarray([2.0, 0.0, 0.0])), smooth=False)
)
