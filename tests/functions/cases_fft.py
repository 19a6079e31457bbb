"""Calls of Fourier transforms, and of what takes complex values apart."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import positive, real

from .case import Case
from .peers import torch

FT = paddle.fft


def power(x: Any, **options: Any) -> Any:
    re, im = FT.rfft_parts(x, **options)
    return re * re + im * im


def convolved(x: Any, y: Any) -> Any:
    """Cyclic convolution, by a product of spectra."""
    (a, b), (c, d) = FT.rfft_parts(x), FT.rfft_parts(y)
    return FT.irfft_parts(a * c - b * d, a * d + b * c, n=x.shape[-1])


def joined(parts: Any) -> list[Any]:
    return [np.real(parts), np.imag(parts)]


COMPLEX = real(2, 3) + 1j * real(2, 3)


def transform(name: str, **options: Any) -> Case:
    real_input = name in ("rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn")
    numpy = getattr(np.fft, name, None)
    return Case(
        "-".join(map(str, options)) or "plain",
        lambda x: getattr(FT, name)(x, **options),
        (real(4, 2) if real_input else COMPLEX,),
        numpy=lambda x: numpy(x, **options),
        differentiable=False,
    )


TRANSFORMS: dict[str, list[Case]] = {
    "fft.fft_parts": [
        Case(
            "pair",
            lambda x, y: FT.fft_parts(x, y),
            (real(2, 4), real(2, 4)),
            numpy=lambda x, y: joined(np.fft.fft(x + 1j * y)),
        ),
        Case(
            "longer",
            lambda x: FT.fft_parts(x, n=5, axis=0, norm="ortho"),
            (real(3, 2),),
            known=True,
            numpy=lambda x: joined(np.fft.fft(x, 5, 0, "ortho")),
        ),
    ],
    "fft.ifft_parts": [
        Case(
            "pair",
            lambda x, y: FT.ifft_parts(x, y),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: joined(np.fft.ifft(x + 1j * y)),
        ),
        Case(
            "shorter",
            lambda x: FT.ifft_parts(x, n=2, norm="forward"),
            (real(2, 3),),
            numpy=lambda x: joined(np.fft.ifft(x, 2, norm="forward")),
        ),
    ],
    "fft.rfft_parts": [
        Case(
            "parts",
            lambda x: FT.rfft_parts(x, axis=0),
            (real(4, 2),),
            numpy=lambda x: joined(np.fft.rfft(x, axis=0)),
        ),
        Case(
            "power",
            power,
            (real(2, 5),),
            numpy=lambda x: np.abs(np.fft.rfft(x)) ** 2,
            torch=lambda x: torch.fft.rfft(x).abs().square(),
        ),
    ],
    "fft.irfft_parts": [
        Case(
            "even",
            lambda x, y: FT.irfft_parts(x, y),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: np.fft.irfft(x + 1j * y),
            torch=lambda x, y: torch.fft.irfft(torch.complex(x, y)),
        ),
        Case(
            "odd",
            lambda x, y: FT.irfft_parts(x, y, n=5, norm="ortho"),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: np.fft.irfft(x + 1j * y, 5, norm="ortho"),
        ),
        Case(
            "convolution",
            convolved,
            (real(5), real(5)),
            known=True,
            numpy=lambda x, y: np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(y), 5),
            torch=lambda x, y: torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(y), 5),
        ),
    ],
    "fft.fftshift": [
        Case(
            "all",
            lambda x: FT.fftshift(x),
            (real(3, 4),),
            numpy=np.fft.fftshift,
            torch=lambda x: torch.fft.fftshift(x),
            known=True,
        ),
        Case(
            "one",
            lambda x: FT.fftshift(x, axes=1),
            (real(2, 5),),
            numpy=lambda x: np.fft.fftshift(x, 1),
        ),
    ],
    "fft.ifftshift": [
        Case(
            "all",
            lambda x: FT.ifftshift(x),
            (real(3, 4),),
            numpy=np.fft.ifftshift,
            torch=lambda x: torch.fft.ifftshift(x),
            known=True,
        ),
    ],
    "fft.fftfreq": [
        Case(
            "even",
            lambda: FT.fftfreq(4, 0.5, "float64"),
            (),
            differentiable=False,
            numpy=lambda: np.fft.fftfreq(4, 0.5),
        ),
    ],
    "fft.rfftfreq": [
        Case(
            "odd",
            lambda: FT.rfftfreq(5, 0.5, "float64"),
            (),
            differentiable=False,
            numpy=lambda: np.fft.rfftfreq(5, 0.5),
        ),
    ],
    **{
        f"fft.{name}": [transform(name), transform(name, n=5, axis=0, norm="ortho")]
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f"fft.{name}": [transform(name), transform(name, axes=(1, 0), norm="forward")]
        for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
    },
}


def np_hermitian(x: Any) -> Any:
    """The transform of the signal whose second half mirrors `x`."""
    return np.fft.hfft(np.fft.fft(x, axis=0), axis=1)


def np_inverse_hermitian(x: Any) -> Any:
    return np.fft.ifft(np.fft.ihfft(x, axis=1), axis=0)


for _name in ("hfft2", "hfftn"):
    TRANSFORMS[f"fft.{_name}"] = [
        Case(
            "plain",
            lambda x, name=_name: getattr(FT, name)(x),
            (COMPLEX,),
            numpy=np_hermitian,
            differentiable=False,
        )
    ]
for _name in ("ihfft2", "ihfftn"):
    TRANSFORMS[f"fft.{_name}"] = [
        Case(
            "plain",
            lambda x, name=_name: getattr(FT, name)(x),
            (real(3, 4),),
            numpy=np_inverse_hermitian,
            differentiable=False,
        )
    ]

VALUES: dict[str, list[Case]] = {
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

CASES: dict[str, list[Case]] = {**TRANSFORMS, **VALUES}
