"""Calls of the public functions of `complex`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import positive, real

from ..case import Case

COMPLEX = real(2, 3) + 1j * real(2, 3)


CASES: dict[str, list[Case]] = {
    "real": [
        Case("complex", lambda x: paddle.real(x), (COMPLEX,), numpy=np.real, differentiable=False)
    ],
    "imag": [
        Case("complex", lambda x: paddle.imag(x), (COMPLEX,), numpy=np.imag, differentiable=False)
    ],
    "conj": [
        Case("complex", lambda x: paddle.conj(x), (COMPLEX,), numpy=np.conj, differentiable=False),
        Case("real", lambda x: paddle.conj(x), (real(2, 3),), numpy=lambda x: x),
    ],
    "angle": [
        Case(
            "complex", lambda x: paddle.angle(x), (COMPLEX,), numpy=np.angle, differentiable=False
        ),
        Case("real", lambda x: paddle.angle(x), (real(4),), numpy=np.angle, differentiable=False),
    ],
    "complex": [
        Case(
            "row",
            lambda x, y: paddle.complex(x, y),
            (real(2, 3), real(3)),
            numpy=lambda x, y: x + 1j * y,
            differentiable=False,
        )
    ],
    "as_complex": [
        Case(
            "pairs",
            lambda x: paddle.as_complex(x),
            (real(3, 2),),
            numpy=lambda x: x[:, 0] + 1j * x[:, 1],
            differentiable=False,
        )
    ],
    "as_real": [
        Case(
            "pairs",
            lambda x: paddle.as_real(x),
            (COMPLEX,),
            differentiable=False,
            numpy=lambda x: np.stack([x.real, x.imag], -1),
        )
    ],
    "polar": [
        Case(
            "plain",
            lambda r, t: paddle.polar(r, t),
            (positive(3), real(3)),
            numpy=lambda r, t: r * np.exp(1j * t),
            differentiable=False,
        )
    ],
}
