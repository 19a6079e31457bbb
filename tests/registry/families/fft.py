"""Samples and references of `ops/linalg/fft.py`: transforms, by sums over their definition."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.testing.modes import strided

from ..referencing import Array, transpose_of
from ..sampling import Sample, real
from .complex import complex_values


def _pairs(*shapes: tuple[int, ...]) -> list[tuple[np.ndarray, ...]]:
    return [(real(*s), real(*s)) for s in shapes]


def _dft() -> list[Sample]:
    plain, middle, odd, one, empty, columns = _pairs((4,), (2, 3, 1), (2, 5), (1,), (0, 3), (2, 4))
    return [
        Sample("vector", plain, {"axis": 0}),
        Sample("middle", middle, {"axis": 1, "scale": "ortho"}),
        Sample("inverse", odd, {"axis": 1, "inverse": True, "scale": "by_n"}),
        Sample("size-1", one, {"axis": 0, "inverse": True}),
        Sample("empty", empty, {"axis": 1}),
        Sample("strided", tuple(strided(a) for a in columns), {"axis": 0, "scale": "by_n"}),
    ]


HALVES = {
    "even": (4, 0, {"scale": "none"}),
    "odd": (5, 0, {"scale": "by_n"}),
    "doubled-even": (4, 1, {"scale": "ortho", "doubled": True}),
    "doubled-odd": (3, 0, {"scale": "none", "doubled": True}),
    "size-1": (1, 1, {"scale": "none", "doubled": True}),
    "size-2": (2, 0, {"scale": "by_n"}),
}


def _halves(kind: str) -> list[Sample]:
    samples = []
    for label, (n, axis, attrs) in HALVES.items():
        whole = (n, 2) if axis == 0 else (2, n)
        half = tuple(n // 2 + 1 if k == axis else d for k, d in enumerate(whole))
        if kind == "to":
            samples.append(Sample(label, (real(*whole),), {"axis": axis, **attrs}))
        elif kind == "from":
            attrs = {"n": n, "axis": axis, **attrs}
            samples.append(Sample(label, (real(*half), real(*half)), attrs))
        else:
            operands = (real(*half), real(*half), np.zeros(whole))
            samples.append(Sample(label, operands, {"axis": axis, **attrs}))
    empty = {
        "to": Sample("empty", (real(0, 4),), {"axis": 1}),
        "from": Sample("empty", (real(0, 3), real(0, 3)), {"n": 4, "axis": 1}),
        "like": Sample("empty", (real(0, 3), real(0, 3), np.zeros((0, 4))), {"axis": 1}),
    }
    return [*samples, empty[kind]]


def _fourier() -> list[Sample]:
    def sample(kind: str, x: np.ndarray, s=None, axes=(0,), norm: str = "backward") -> Sample:
        attrs = {"kind": kind, "s": s, "axes": axes, "norm": norm}
        label = f"{kind}-{norm}{'-sized' * (s is not None)}{len(axes)}-{x.dtype.kind}"
        return Sample(label, (x,), attrs, smooth=False)

    return [
        sample("fftn", real(4, 2)),
        sample("fftn", complex_values(3, 2), axes=(0, 1), norm="ortho"),
        sample("ifftn", complex_values(2, 3), (4,), (1,), "forward"),
        sample("rfftn", real(3, 4), axes=(0, 1)),
        sample("irfftn", complex_values(3, 2), (5,)),
        sample("hfftn", complex_values(3, 2), norm="ortho"),
        sample("ihfftn", real(4, 2), (3,), (0,)),
    ]


def factor(scale: str, n: int) -> float:
    return {"none": 1.0, "ortho": n**-0.5, "by_n": 1.0 / n}[scale] if n else 1.0


def dft(
    real: Array, imag: Array, axis: int, inverse: bool = False, scale: str = "none"
) -> tuple[Array, Array]:
    n = real.shape[axis]
    sign = 2j if inverse else -2j
    waves = [[cmath.exp(sign * cmath.pi * j * k / n) for k in range(n)] for j in range(n)]
    whole = np.moveaxis(real + 1j * imag, axis, -1) @ np.reshape(waves, (n, n))
    out = np.moveaxis(whole, -1, axis) * factor(scale, n)
    return out.real, out.imag


def half_spectrum(
    x: Array, axis: int, scale: str = "none", doubled: bool = False
) -> tuple[Array, Array]:
    n = x.shape[axis]
    count = n // 2 + 1
    weights = [2.0 if doubled and k > 0 and 2 * k != n else 1.0 for k in range(count)]
    weights = np.expand_dims(weights, tuple(range(1, x.ndim - axis)))
    return tuple(
        np.take(p, range(count), axis) * weights
        for p in dft(x, np.zeros(x.shape), axis, scale=scale)
    )


def from_half_spectrum(
    real: Array, imag: Array, n: int, axis: int, scale: str = "none", doubled: bool = False
) -> Array:
    shape = (*real.shape[:axis], n, *real.shape[axis + 1 :])
    return sum(
        transpose_of(lambda x, k=k: half_spectrum(x, axis, scale, doubled)[k], shape, y)
        for k, y in enumerate((real, imag))
    )


def fourier(x: Array, kind: str, s: Any, axes: Any, norm: str) -> Array:
    """One axis after the other, in NumPy's transforms of one axis."""
    name = {"fftn": "fft", "ifftn": "ifft", "rfftn": "rfft", "irfftn": "irfft", "hfftn": "hfft"}
    last = name.get(kind, "ihfft")
    plain = "ifft" if last in ("ifft", "irfft", "ihfft") else "fft"
    sizes = dict(zip(axes, s or [None] * len(axes), strict=True))
    real_input = last in ("rfft", "ihfft")
    order = [axes[-1], *axes[:-1]] if real_input else [*axes[:-1], axes[-1]]
    for a in order:
        x = getattr(np.fft, last if a == axes[-1] else plain)(x, sizes[a], a, norm)
    return x


def fourier_transpose(x: Array, like: Array, **attrs: Any) -> Array:
    """By what each element of the operand adds to the transform: sums of products with `x`."""
    out = np.zeros(like.shape, like.dtype)
    for i in np.ndindex(like.shape):
        unit = np.zeros(like.shape, like.dtype)
        unit[i] = 1.0
        out[i] = np.real(np.sum(x * fourier(unit, **attrs)))
        if like.dtype.kind == "c":
            out[i] -= 1j * np.real(np.sum(x * fourier(1j * unit, **attrs)))
    return out


SAMPLES: dict[str, list[Sample]] = {
    "dft": _dft(),
    "half_spectrum": _halves("to"),
    "from_half_spectrum": _halves("from"),
    "from_half_spectrum_like": _halves("like"),
    "fourier": _fourier(),
    "fourier_transpose": [
        Sample(
            s.label,
            (np.asarray(fourier(s.operands[0], **s.attrs)) * 1.5, s.operands[0]),
            s.attrs,
            smooth=False,
        )
        for s in _fourier()
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "dft": dft,
    "half_spectrum": half_spectrum,
    "from_half_spectrum": from_half_spectrum,
    "from_half_spectrum_like": lambda real, imag, like, axis, **attrs: from_half_spectrum(
        real, imag, like.shape[axis], axis, **attrs
    ),
    "fourier": fourier,
    "fourier_transpose": fourier_transpose,
}
