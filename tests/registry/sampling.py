"""Operands and attributes on which every operation of the table is tried.

Values lie inside the domain of the operation and away from kinks and ties, so that differences
may be taken around them. They are float64 here; `Sample.cast` gives them another floating dtype.
An operand whose dtype matters is made in that dtype, and keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograd_engine.testing.modes import like_layout, strided

RNG = np.random.default_rng(20260731)

UNARY_SHAPES = {
    "plain": (2, 3),
    "0-d": (),
    "empty": (0, 3),
    "size-1": (1, 3, 1),
    "strided": (2, 3),
}
BINARY_SHAPES = {
    "plain": ((2, 3), (2, 3)),
    "row": ((2, 3), (3,)),
    "both": ((2, 1), (1, 3)),
    "lead": ((1, 1), (2, 2, 3)),
    "0-d": ((), ()),
    "beside-0-d": ((2, 3), ()),
    "empty": ((0, 3), (1, 3)),
    "strided": ((3, 2), (2,)),
}


@dataclass(frozen=True)
class Sample:
    """One call of an operation.

    Attributes
    ----------
    smooth : bool
        False where differences of this call say nothing: it rounds, or draws.
    unknown : bool
        False where a program must know the first sizes: building it without raises.
    """

    label: str
    operands: tuple[np.ndarray, ...] = ()
    attrs: dict[str, Any] = field(default_factory=dict)
    smooth: bool = True
    unknown: bool = True

    def cast(self, dtype: Any) -> tuple[np.ndarray, ...]:
        """The operands, fresh and writeable, those of float64 in `dtype`."""
        return tuple(
            like_layout(a, a.astype(dtype if a.dtype == np.float64 else a.dtype))
            for a in self.operands
        )


def shaped(label: str, values: np.ndarray) -> np.ndarray:
    return strided(values) if label == "strided" else values


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    return np.asarray(RNG.uniform(low, high, shape))


def positive(*shape: int) -> np.ndarray:
    return real(*shape, low=0.4, high=3.0)


def away_from_zero(*shape: int) -> np.ndarray:
    return np.asarray(real(*shape, low=0.3, high=2.0) * RNG.choice([-1.0, 1.0], shape))


def apart(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Arrays in which no two elements, of the same or of two arrays, are close to each other."""
    sizes = [int(np.prod(s)) for s in shapes]
    grid = np.linspace(-2.0, 2.0, 2 * ((sum(sizes) + 1) // 2))  # an even number: 0 is not in it
    values = np.split(RNG.permutation(grid)[: sum(sizes)], np.cumsum(sizes)[:-1])
    return [v.reshape(s) for v, s in zip(values, shapes, strict=True)]


def spaced(*shape: int) -> np.ndarray:
    return apart(shape)[0]


def small_integers(*shape: int) -> np.ndarray:
    """Floats with many equal ones: for comparisons, which have no gradient to spoil."""
    return np.asarray(RNG.integers(-1, 2, shape)).astype(np.float64)


def flags(*shape: int) -> np.ndarray:
    return np.asarray(RNG.random(shape) < 0.5)


def integers(*values: Any) -> np.ndarray:
    return np.asarray(values, np.int64)


def unary(domain: Any = real) -> list[Sample]:
    return [Sample(label, (shaped(label, domain(*s)),)) for label, s in UNARY_SHAPES.items()]


def binary(x_domain: Any = real, y_domain: Any = None) -> list[Sample]:
    y_domain = y_domain or x_domain
    return [
        Sample(label, (shaped(label, x_domain(*x)), shaped(label, y_domain(*y))))
        for label, (x, y) in BINARY_SHAPES.items()
    ]


def ordered() -> list[Sample]:
    samples = []
    for label, shapes in BINARY_SHAPES.items():
        samples.append(Sample(label, tuple(shaped(label, v) for v in apart(*shapes))))
    return samples


def along(domain: Any = real) -> list[Sample]:
    """Samples of an operation that has one axis."""
    return [
        Sample("last", (domain(2, 3),), {"axis": 1}),
        Sample("first", (domain(3, 2),), {"axis": 0}),
        Sample("middle", (domain(2, 4, 1),), {"axis": 1}),
        Sample("size-1", (domain(3, 1),), {"axis": 1}),
        Sample("empty", (domain(0, 3),), {"axis": 1}),
        Sample("strided", (strided(domain(2, 3, 2)),), {"axis": 1}),
    ]


def reductions(domain: Any = real, *, of_nothing: bool = False) -> list[Sample]:
    samples = [
        Sample("all", (domain(2, 3),), {"axis": (0, 1)}),
        Sample("all-keep", (domain(2, 3),), {"axis": (0, 1), "keepdims": True}),
        Sample("last", (domain(2, 3),), {"axis": (1,)}),
        Sample("first-keep", (domain(2, 3),), {"axis": (0,), "keepdims": True}),
        Sample("outer", (domain(2, 3, 2),), {"axis": (0, 2)}),
        Sample("no-axis", (domain(2, 3),), {"axis": ()}),
        Sample("0-d", (domain(),), {"axis": ()}),
        Sample("size-1", (domain(1, 3, 1),), {"axis": (0, 2)}),
        Sample("empty", (domain(0, 3),), {"axis": (1,)}),
        Sample("strided", (strided(domain(3, 2, 2)),), {"axis": (0,)}),
    ]
    if of_nothing:
        samples.append(Sample("of-nothing", (domain(2, 0),), {"axis": (1,)}))
    return samples


def positions(domain: Any = spaced) -> list[Sample]:
    return [
        Sample("last", (domain(2, 3),), {"axis": 1}),
        Sample("first-keep", (domain(3, 2),), {"axis": 0, "keepdims": True}),
        Sample("vector", (domain(4),), {"axis": 0}),
        Sample("size-1", (domain(2, 1, 2),), {"axis": 1}),
        Sample("empty", (domain(0, 3),), {"axis": 1}),
        Sample("strided", (strided(domain(3, 4)),), {"axis": 1}),
    ]


def arrays(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return tuple(real(*s) for s in shapes)


def integers_between(*shape: int, low: int = -9, high: int = 10) -> np.ndarray:
    return np.asarray(RNG.integers(low, high, shape))


def matrix(*shape: int) -> np.ndarray:
    """Singular values from 1 to 3, evenly spaced, between random rotations."""
    *batch, m, n = shape
    k = min(m, n)
    left, right = (np.linalg.qr(RNG.normal(size=(*batch, d, d)))[0] for d in (m, n))
    return np.asarray(left[..., :k] * np.linspace(3.0, 1.0, k) @ right[..., :k, :])


def square_matrices(make=matrix) -> list[Sample]:
    return [
        Sample("size-1", (make(1, 1),)),  # first: nonsingular even where it holds ones
        Sample("3x3", (make(3, 3),)),
        Sample("batch", (make(2, 2, 2),)),
        Sample("no-rows", (np.zeros((0, 0)),)),
        Sample("empty", (np.zeros((0, 2, 2)),)),
        Sample("strided", (strided(make(2, 2)),)),
    ]


def rectangular_matrices(make=matrix) -> list[Sample]:
    return [
        Sample("tall", (make(4, 2),)),
        *square_matrices(make),
        Sample("no-columns", (np.zeros((2, 3, 0)),)),
    ]


def inside(*shape: int) -> np.ndarray:
    """Between -1 and 1."""
    return real(*shape, low=-0.9, high=0.9)


def with_likes(shape: tuple[int, ...], *likes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return real(*shape), *(np.zeros(s) for s in likes)


def with_zeros(axis: int, **attrs: Any) -> list[Sample]:
    """Lines with no, one and two zeros: derivatives must not divide by them."""
    x = real(3, 4)
    x[1, 2] = x[2, 0] = x[2, 3] = 0.0
    label = "zeros" if axis else "zeros-first"
    return [Sample(label, (x if axis else x.T.copy(),), {"axis": axis, **attrs})]


TIED = np.asarray([[1.0, 2.0, 2.0], [2.0, 2.0, 2.0], [0.5, -1.0, 0.25]])

Shape = tuple[int, ...]
