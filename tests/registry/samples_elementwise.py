"""Samples of the operations that work element by element, and of those that take no array."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .sampling import (
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


def _adam() -> list[Sample]:
    attrs = {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8}
    return _known(
        [
            Sample(label, (*operands, np.asarray(0.9), np.asarray(0.99)), attrs)
            for label, operands in _update(0.1, 0.2)
        ]
    )


def _known(samples: list[Sample]) -> list[Sample]:
    """The sizes of a parameter are never unknown; 0-d ones have none to leave out."""
    return [replace(s, unknown=s.label.startswith("0-d")) for s in samples]


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
    "logical_not": [*unary(flags), Sample("numbers", (small_integers(3),))],
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
    "randint": [
        Sample("plain", (), {"shape": (2, 3), "low": -3, "high": 4, "dtype": "int64"}),
        Sample("0-d", (), {"shape": (), "low": 0, "high": 9, "dtype": "int32"}),
        Sample("empty", (), {"shape": (0, 3), "low": 0, "high": 2, "dtype": "int64"}),
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
    "adam": _adam(),
}

# Ties and kinks have samples of their own, at which no differences are taken.
SAMPLES["maximum"].append(Sample("ties", (small_integers(3, 4), small_integers(4)), smooth=False))
SAMPLES["minimum"].append(Sample("ties", (small_integers(3, 4), small_integers(4)), smooth=False))
SAMPLES["relu"].append(Sample("kink", (small_integers(3, 4),), smooth=False))
SAMPLES["abs"].append(Sample("kink", (small_integers(3, 4),), smooth=False))
SAMPLES["pow"].append(
    Sample("zeros", (np.asarray([0.0, 1.5, 0.0]), np.asarray([2.0, 0.0, 0.0])), smooth=False)
)
