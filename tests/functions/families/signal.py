"""Calls of the public functions of `signal`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import positive, real

from ..case import Case
from ..peers import torch
from .complex import COMPLEX

S = paddle.signal


def frames(x: Any, length: int, step: int) -> Any:
    """Of the last axis, each in a row."""
    count = (x.shape[-1] - length) // step + 1
    return np.stack([x[..., k * step : k * step + length] for k in range(count)], axis=-2)


def added(rows: Any, step: int) -> Any:
    count, length = rows.shape[-2:]
    out = np.zeros((*rows.shape[:-2], (count - 1) * step + length), rows.dtype)
    for k in range(count):
        out[..., k * step : k * step + length] += rows[..., k, :]
    return out


def spectra(x: Any, n: int, step: int, window: Any = 1.0, pad: str = "", half: bool = True) -> Any:
    if pad:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)], pad)
    rows = frames(x, n, step) * window
    return np.swapaxes(np.fft.rfft(rows) if half else np.fft.fft(rows), -1, -2)


constant: dict[str, Any] = {"differentiable": False}

CASES: dict[str, list[Case]] = {
    "signal.frame": [
        Case(
            "last",
            lambda x: S.frame(x, 3, 2),
            (real(2, 6),),
            numpy=lambda x: np.swapaxes(frames(x, 3, 2), -1, -2),
            torch=lambda x: x.unfold(-1, 3, 2).mT,
        ),
        Case(
            "first",
            lambda x: S.frame(x, 2, 3, axis=0),
            (real(6, 2),),
            known=True,
            numpy=lambda x: np.moveaxis(frames(x.T, 2, 3), 0, -1),
        ),
    ],
    "signal.overlap_add": [
        Case(
            "last",
            lambda x: S.overlap_add(x, 2),
            (real(2, 3, 4),),
            numpy=lambda x: added(np.swapaxes(x, -1, -2), 2),
        ),
        Case(
            "first",
            lambda x: S.overlap_add(x, 1, axis=0),
            (real(4, 3, 2),),
            known=True,
            numpy=lambda x: added(np.moveaxis(x, -1, 0), 1).T,
        ),
    ],
    "signal.stft": [
        Case(
            "window",
            lambda x, w: x.stft(4, 2, window=w, normalized=True),
            (real(2, 9), positive(4)),
            numpy=lambda x, w: spectra(x, 4, 2, w, "reflect") / 2.0,
            torch=lambda x, w: torch.stft(x, 4, 2, window=w, normalized=True, return_complex=True),
            **constant,
        ),
        Case(
            "short-window",
            lambda x, w: S.stft(x, 5, 2, 2, w, pad_mode="constant"),
            (real(7), positive(2)),
            known=True,
            numpy=lambda x, w: spectra(x, 5, 2, np.pad(w, (1, 2)), "constant"),
            **constant,
        ),
        Case(
            "complex",
            lambda x: S.stft(x, 2, center=False),
            (COMPLEX,),
            numpy=lambda x: spectra(x, 2, 1, half=False),
            **constant,
        ),
    ],
    "signal.istft": [
        Case(
            "there-and-back",
            lambda x, w: S.stft(x, 4, 1, window=w).istft(4, 1, window=w),
            (real(2, 9), positive(4)),
            known=True,
            numpy=lambda x, w: x,
            **constant,
        ),
        Case(
            "odd-two-sided",
            lambda x: S.istft(
                S.stft(x, 5, 2, 3, onesided=False), 5, 2, 3, onesided=False, length=6
            ),
            (real(9),),
            known=True,
            numpy=lambda x: x[:6],
            **constant,
        ),
        Case(
            "complex-not-centered",
            lambda x: S.istft(
                S.stft(x, 2, center=False, normalized=True),
                2,
                center=False,
                normalized=True,
                onesided=False,
                return_complex=True,
            ),
            (COMPLEX,),
            known=True,
            numpy=lambda x: x,
            **constant,
        ),
        Case(
            # what no signal has these spectra of: the nearest one
            "nearest",
            lambda re, im: S.istft(paddle.complex(re, im), 4, 2, center=False),
            (real(3, 3), real(3, 3)),
            known=True,
            numpy=lambda re, im: (
                added(np.fft.irfft((re + 1j * im).T, 4), 2) / added(np.ones((3, 4)), 2)
            ),
            torch=lambda re, im: torch.istft(
                torch.complex(re, im), 4, 2, window=torch.ones(4, dtype=re.dtype), center=False
            ),
            **constant,
        ),
    ],
}
