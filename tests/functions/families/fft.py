"""Calls of the public functions of `fft`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch
from .complex import COMPLEX

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


def np_hermitian(x: Any) -> Any:
    """The transform of the signal whose second half mirrors `x`."""
    return np.fft.hfft(np.fft.fft(x, axis=0), axis=1)


def np_inverse_hermitian(x: Any) -> Any:
    return np.fft.ifft(np.fft.ihfft(x, axis=1), axis=0)


CASES: dict[str, list[Case]] = {
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
for _name in ("hfft2", "hfftn"):
    CASES[f"fft.{_name}"] = [
        Case(
            "plain",
            lambda x, name=_name: getattr(FT, name)(x),
            (COMPLEX,),
            numpy=np_hermitian,
            differentiable=False,
        )
    ]
for _name in ("ihfft2", "ihfftn"):
    CASES[f"fft.{_name}"] = [
        Case(
            "plain",
            lambda x, name=_name: getattr(FT, name)(x),
            (real(3, 4),),
            numpy=np_inverse_hermitian,
            differentiable=False,
        )
    ]
