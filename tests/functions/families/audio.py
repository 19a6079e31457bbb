"""Calls of the public functions of `audio`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import positive

from ..calls import made
from ..case import Case

A = paddle.audio.functional
NAMED: dict[str, tuple[Any, list[float]]] = {
    # of six elements: the half of each, as SciPy 1.17.1 gives it
    "hann": ("hann", [0.0, 0.25, 0.75, 1.0]),
    "hamming": ("hamming", [0.08, 0.31, 0.77, 1.0]),
    "gaussian": (
        ("gaussian", 1.5),
        [0.1353352832366127, 0.4111122905071874, 0.8007374029168081, 1.0],
    ),
    "general_gaussian": (
        ("general_gaussian", 1.5, 2.0),
        [0.18498139990730428, 0.6065306597126334, 0.9394130628134758, 1.0],
    ),
    "exponential": (
        ("exponential", None, 2.0),
        [0.22313016014842982, 0.36787944117144233, 0.6065306597126334, 1.0],
    ),
    "triang": ("triang", [0.25, 0.5, 0.75, 1.0]),
    "bohman": ("bohman", [0.0, 0.10899778104422927, 0.6089977810442294, 1.0]),
    "blackman": ("blackman", [0.0, 0.13, 0.63, 1.0]),
    "cosine": ("cosine", [0.2225209339563144, 0.6234898018587335, 0.9009688679024191, 1.0]),
    "tukey": ("tukey", [0.0, 0.75, 1.0, 1.0]),
    "tukey-none": (("tukey", 0.0), [1.0, 1.0, 1.0, 1.0]),
    "taylor": (
        "taylor",
        [0.29009531272714734, 0.5782126011092212, 0.8780082248652833, 1.0],
    ),
    "taylor-lobes": (
        ("taylor", 3, 20),
        [0.5478621799331491, 0.7037757132127893, 0.9066752527507291, 1.0],
    ),
    "bartlett": ("bartlett", [0.0, 1 / 3, 2 / 3, 1.0]),
    "kaiser": (
        ("kaiser", 12.0),
        [5.2773441320097665e-05, 0.054759364131249516, 0.5188447216723606, 1.0],
    ),
    "nuttall": ("nuttall", [0.0003628, 0.0613345, 0.5292298, 1.0]),
}


def periodic(half: list[float]) -> list[float]:
    return [*half, *half[2:0:-1]]


def window(call: Any, numpy: Any) -> list[Case]:
    return [
        made("periodic", lambda: call(5, dtype="float64"), lambda: numpy(6)[:-1]),
        made("symmetric", lambda: call(5, periodic=False), lambda: numpy(5).astype("f4")),
        made("one", lambda: call(1), lambda: [1.0]),
        made("none", lambda: call(0), lambda: []),
    ]


def mel(f: Any) -> Any:
    """M. Slaney's scale, element by element."""
    one = lambda v: 3 * v / 200 if v < 1000 else 15 + 27 * np.log(v / 1000) / np.log(6.4)  # noqa: E731
    return np.vectorize(one, otypes=[np.float64])(f)


def hertz(m: Any) -> Any:
    one = lambda v: 200 * v / 3 if v < 15 else 1000 * 6.4 ** ((v - 15) / 27)  # noqa: E731
    return np.vectorize(one, otypes=[np.float64])(m)


def filters(corners: Any, bins: Any) -> Any:
    """Triangles, element by element."""
    out = np.zeros((len(corners) - 2, len(bins)))
    for i, (low, top, high) in enumerate(zip(corners, corners[1:], corners[2:], strict=False)):
        for j, f in enumerate(bins):
            out[i, j] = max(0.0, min((f - low) / (top - low), (high - f) / (high - top)))
    return out


CORNERS = hertz(np.linspace(0.0, mel(4000.0), 5))
BINS = np.arange(9) * 500.0
BANK = filters(CORNERS, BINS)
FREQUENCIES = np.asarray([0.0, 440.0, 999.0, 1500.0, 6000.0])
POWERS = np.asarray([[2.0, 0.3], [0.05, 0.02]])

CASES: dict[str, list[Case]] = {
    "audio.functional.get_window": [
        *(
            made(name, lambda w=w: A.get_window(w, 6), lambda h=half: periodic(h))
            for name, (w, half) in NAMED.items()
        ),
        made(
            "symmetric",
            lambda: A.get_window("cosine", 5, False, "float32"),
            lambda: np.sin(np.pi * (np.arange(5) + 0.5) / 5).astype("f4"),
        ),
        made("short", lambda: A.get_window("taylor", 1), lambda: [1.0]),
        made(
            "center",
            lambda: A.get_window(("exponential", 2.0), 4),
            lambda: np.exp([-2.0, -1.0, 0.0, -1.0]),
        ),
    ],
    "hann_window": window(paddle.hann_window, np.hanning),
    "hamming_window": [
        *window(paddle.hamming_window, np.hamming),
        made(
            "weights",
            lambda: paddle.hamming_window(4, True, 0.5, 0.25, dtype="float64"),
            lambda: [0.25, 0.5, 0.75, 0.5],
        ),
    ],
    "blackman_window": window(paddle.blackman_window, np.blackman),
    "bartlett_window": window(paddle.bartlett_window, np.bartlett),
    "kaiser_window": window(paddle.kaiser_window, lambda n: np.kaiser(n, 12.0)),
    "audio.functional.hz_to_mel": [
        Case("slaney", lambda f: A.hz_to_mel(f), (FREQUENCIES,), numpy=mel),
        Case(
            "htk",
            lambda f: A.hz_to_mel(f, htk=True),
            (positive(3),),
            numpy=lambda f: 2595 * np.log10(1 + f / 700),
        ),
    ],
    "audio.functional.mel_to_hz": [
        Case("slaney", lambda m: A.mel_to_hz(m), (np.asarray([0.0, 3.0, 20.0]),), numpy=hertz),
        Case(
            "htk",
            lambda m: A.mel_to_hz(m, htk=True),
            (positive(3),),
            numpy=lambda m: 700 * (10 ** (m / 2595) - 1),
        ),
    ],
    "audio.functional.mel_frequencies": [
        made(
            "slaney",
            lambda: A.mel_frequencies(5, 10.0, 4000.0, dtype="float64"),
            lambda: hertz(np.linspace(mel(10.0), mel(4000.0), 5)),
        ),
        # a fact of Paddle 3.3.1
        made(
            "htk",
            lambda: A.mel_frequencies(3, 10.0, 4000.0, htk=True, dtype="float64"),
            lambda: [10.0, 1126.7457403809650, 4000.0],
        ),
    ],
    "audio.functional.fft_frequencies": [
        made("even", lambda: A.fft_frequencies(16000, 8), lambda: [0, 2000, 4000, 6000, 8000]),
        made("odd", lambda: A.fft_frequencies(6, 7), lambda: [0.0, 1.0, 2.0, 3.0]),
    ],
    "audio.functional.compute_fbank_matrix": [
        made(
            "slaney",
            lambda: A.compute_fbank_matrix(8000, 16, 3, dtype="float64"),
            lambda: BANK * 2.0 / (CORNERS[2:] - CORNERS[:-2])[:, None],
        ),
        made(
            "height",
            lambda: A.compute_fbank_matrix(8000, 16, 3, norm=None, dtype="float64"),
            lambda: BANK,
        ),
        made(
            "norm",
            lambda: A.compute_fbank_matrix(8000, 16, 3, norm=2.0, dtype="float64"),
            lambda: BANK / np.sqrt((BANK * BANK).sum(1, keepdims=True)),
        ),
    ],
    "audio.functional.power_to_db": [
        Case(
            "below",
            lambda x: A.power_to_db(x, top_db=15),
            (POWERS,),
            numpy=lambda x: np.maximum(10 * np.log10(x), 10 * np.log10(2.0) - 15),
        ),
        Case(
            "reference",
            lambda x: A.power_to_db(x, ref_value=2.0, amin=0.03, top_db=None),
            (POWERS,),
            numpy=lambda x: 10 * np.log10(np.maximum(x, 0.03) / 2.0),
        ),
    ],
    "audio.functional.create_dct": [
        made(
            "ortho",
            lambda: A.create_dct(5, 5, dtype="float64").T @ A.create_dct(5, 5, dtype="float64"),
            lambda: np.eye(5),
        ),
        made(
            "plain",
            lambda: A.create_dct(3, 4, None, "float64"),
            lambda: [[2 * np.cos(np.pi * k * (n + 0.5) / 4) for k in range(3)] for n in range(4)],
        ),
    ],
}
