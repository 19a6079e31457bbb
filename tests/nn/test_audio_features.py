"""Features of sound beside those of the reference, and their gradients in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle

features = paddle.audio.features
X = np.sin(np.arange(16.0) ** 1.5)[None]
SETTINGS: dict[str, Any] = {
    "sr": 8000,
    "n_fft": 8,
    "hop_length": 8,
    "n_mels": 2,
    "dtype": "float64",
}
# What Paddle 3.3.1 gives of X, rounded to seven digits.
KNOWN: dict[str, tuple[Any, list[list[float]]]] = {
    "squares": (
        lambda: features.Spectrogram(8, 8, window="hamming", power=2.0, dtype="float64"),
        [
            [1.487882504**2, 0.1887010978**2, 1.835213756**2],
            [1.219367433**2, 0.4432174933**2, 2.299220990**2],
            [0.2535688220**2, 1.542350127**2, 0.8028347901**2],
            [1.377664752**2, 1.766465635**2, 0.1853700614**2],
            [0.6641502213**2, 0.08182523283**2, 0.03004485268**2],
        ],
    ),
    "cubes": (
        lambda: features.Spectrogram(5, 6, 3, ("gaussian", 1.5), 3.0, False, dtype="float64"),
        [
            [4.515609022e-05, 0.003142094790],
            [2.176189211, 1.337357181],
            [0.9066161308, 2.231464652],
        ],
    ),
    "mel": (
        lambda: features.MelSpectrogram(**SETTINGS),
        [
            [0.001326243174, 0.0001920295613, 0.004246878538],
            [0.0006350573894, 0.002169404536, 0.001001681076],
        ],
    ),
    "decibels": (
        lambda: features.LogMelSpectrogram(**SETTINGS, top_db=5.0),
        [
            [-28.71930160, -28.71930160, -23.71930160],
            [-28.71930160, -26.63659456, -28.71930160],
        ],
    ),
    "cepstrum": (
        lambda: features.MFCC(**SETTINGS, n_mfcc=2, norm=None),
        [
            [0.5229197226, -1.638900174, 5.496448421],
            [0.4532488979, -9.253790255, 2.627815676],
        ],
    ),
}


def test_values_gradients_and_programs() -> None:
    for name, (make, expected) in KNOWN.items():
        layer = make()
        found = layer(paddle.to_tensor(X))
        np.testing.assert_allclose(found.numpy()[0], expected, 1e-8, err_msg=name)
        assert paddle.testing.gradcheck(layer, [paddle.to_tensor(X, stop_gradient=False)])

        x = paddle.to_tensor(X, stop_gradient=False)
        (eager,) = paddle.grad((layer(x) * 0.5).sum(), x)
        static = paddle.static
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            v = static.data("x", [None, 16], "float64")
            v.stop_gradient = False
            y = make()(v)
            fetched = [y, *static.gradients((y * 0.5).sum(), v)]
            exe = static.Executor()
            exe.run(startup)
            values, g = exe.run(main, {"x": X}, fetched)
        np.testing.assert_array_equal(values, found.numpy(), err_msg=name)
        np.testing.assert_allclose(g, eager.numpy(), 1e-12, 1e-12, err_msg=name)


def test_silence_has_a_gradient() -> None:
    x = paddle.to_tensor(np.zeros([16], "float32"), stop_gradient=False)
    for power in (1.0, 2.0):
        (g,) = paddle.grad(features.Spectrogram(8, 4, power=power)(x).sum(), x)
        assert g.tolist() == [0.0] * 16


def test_what_a_layer_keeps_and_refuses() -> None:
    layer = features.MFCC(**SETTINGS, n_mfcc=2)
    mel = "_log_melspectrogram._melspectrogram"
    names = ["dct_matrix", f"{mel}.fbank_matrix", f"{mel}._spectrogram.fft_window"]
    assert sorted(layer.state_dict()) == sorted(names)
    assert features.Spectrogram(8)(paddle.ones([8])).shape == [5, 1]  # a length of 512 apart
    for hint, call in {
        "MFCC: n_mfcc must be at most n_mels, 2; got 3": lambda: features.MFCC(
            **SETTINGS, n_mfcc=3
        ),
        "Spectrogram: power must be above 0": lambda: features.Spectrogram(8, power=0),
        "Spectrogram: window must be one of": lambda: features.Spectrogram(8, window="a"),
        "Spectrogram: n_fft must be 1 to 4, got 8": lambda: features.Spectrogram(8)(
            paddle.ones([4])
        ),
    }.items():
        with pytest.raises(ValueError, match=hint):
            call()
