"""Layers that make features of sound, ``paddle.audio.features``; they are differentiable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine import fft
from autograd_engine.audio.functional import cosines, filters, power_to_db
from autograd_engine.audio.windows import floating, named_window
from autograd_engine.core.checks import in_memory
from autograd_engine.core.dtypes import DTypeLike
from autograd_engine.core.lazy import listed
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.initializer.distribution import Assign
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.conversion import count, plain
from autograd_engine.program.operands import as_operand
from autograd_engine.signal import windowed_frames
from autograd_engine.tensor.linalg.products import matrix_transpose

__all__ = ["MFCC", "LogMelSpectrogram", "MelSpectrogram", "Spectrogram"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def _keep(layer: Layer, name: str, values: Array) -> None:
    """A buffer with these values, which `state_dict` has, in either mode."""
    Assign(values)(layer.create_buffer(name, values.shape))


class Spectrogram(Layer):
    """The size of the spectrum of overlapping frames, to a power.

    Parameters
    ----------
    n_fft : int
        The length of a frame.
    hop_length : int, optional
        How far apart frames are; None for a quarter of `win_length`.
    win_length : int, optional
        The length of the window; by default `n_fft`.
    window : str or tuple
        As of `audio.functional.get_window`.
    power : float
        1 for the absolute value, 2 for its square.
    center, pad_mode
        As of `signal.stft`.
    dtype : dtype
        Of the window.

    Shapes
    ------
    ``[..., length]`` gives ``[..., n_fft // 2 + 1, frames]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.audio.features.Spectrogram(n_fft=8, hop_length=4)
    >>> layer(paddle.ones([2, 16])).shape
    paddle.Size([2, 5, 5])
    """

    fft_window: Tensor

    def __init__(
        self,
        n_fft: int = 512,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: str | tuple[Any, ...] = "hann",
        power: float = 1.0,
        center: bool = True,
        pad_mode: str = "reflect",
        dtype: DTypeLike = "float32",
    ) -> None:
        op = type(self).__name__
        super().__init__(dtype=floating(op, dtype).name)
        self.power = plain(op, "power", power)
        if self.power <= 0:
            raise ArgumentError(f"{op}: power must be above 0, got {power}")
        length = n_fft if win_length is None else win_length
        self._framed = n_fft, hop_length or max(length // 4, 1), length, center, pad_mode
        size = count(op, "win_length", length)
        values = in_memory(
            f"{op}: win_length", [size], lambda: named_window(op, window, size, True)
        )
        _keep(self, "fft_window", values)

    def forward(self, x: Any) -> Tensor:
        op = type(self).__name__
        n_fft, step, length, center, pad_mode = self._framed
        x = as_operand(op, x)
        frames = windowed_frames(op, x, n_fft, step, length, self.fft_window, center, pad_mode)
        re, im = fft.rfft_parts(frames)
        squares = re * re + im * im
        if self.power != 2.0:  # a root has no slope at 0
            there = squares > 0.0
            powers = ops.where(there, squares, 1.0) ** (self.power / 2.0)
            squares = ops.where(there, powers, 0.0)
        return matrix_transpose(squares)


class MelSpectrogram(Layer):
    """`Spectrogram`, gathered by triangular filters that are evenly spaced in mels.

    Parameters
    ----------
    sr : int
        Samples in a second.
    n_fft, hop_length, win_length, window, power, center, pad_mode, dtype
        As of `Spectrogram`.
    n_mels, f_min, f_max, htk, norm
        As of `audio.functional.compute_fbank_matrix`.

    Shapes
    ------
    ``[..., length]`` gives ``[..., n_mels, frames]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.audio.features.MelSpectrogram(8000, n_fft=16, hop_length=8, n_mels=3)
    >>> layer(paddle.ones([32])).shape
    paddle.Size([3, 5])
    """

    fbank_matrix: Tensor

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 2048,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: str | tuple[Any, ...] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float | None = "slaney",
        dtype: DTypeLike = "float32",
    ) -> None:
        op = type(self).__name__
        super().__init__(dtype=floating(op, dtype).name)
        self._spectrogram = Spectrogram(
            n_fft, hop_length, win_length, window, power, center, pad_mode, dtype
        )
        values = in_memory(
            f"{op}: n_mels, n_fft",
            [n_mels, n_fft],
            lambda: filters(op, sr, n_fft, n_mels, f_min, f_max, htk, norm),
        )
        _keep(self, "fbank_matrix", values)

    def forward(self, x: Any) -> Tensor:
        return ops.matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """`MelSpectrogram` in decibels.

    Parameters
    ----------
    sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, \
norm, dtype
        As of `MelSpectrogram`.
    ref_value, amin, top_db
        As of `audio.functional.power_to_db`.

    Shapes
    ------
    ``[..., length]`` gives ``[..., n_mels, frames]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.audio.features.LogMelSpectrogram(8000, n_fft=16, n_mels=3)
    >>> layer(paddle.ones([32])).shape
    paddle.Size([3, 9])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str | tuple[Any, ...] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float | None = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__()
        spectrum = (n_fft, hop_length, win_length, window, power, center, pad_mode)
        bank = (n_mels, f_min, f_max, htk, norm)
        self._melspectrogram = MelSpectrogram(sr, *spectrum, *bank, dtype)
        self._decibels = ref_value, amin, top_db

    def forward(self, x: Any) -> Tensor:
        return power_to_db(self._melspectrogram(x), *self._decibels)


class MFCC(Layer):
    """Mel frequency cepstral coefficients: the cosine transform of `LogMelSpectrogram`.

    Parameters
    ----------
    sr : int
        Samples in a second.
    n_mfcc : int
        How many coefficients, at most `n_mels`.
    n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, \
norm, ref_value, amin, top_db, dtype
        As of `LogMelSpectrogram`.

    Shapes
    ------
    ``[..., length]`` gives ``[..., n_mfcc, frames]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.audio.features.MFCC(8000, n_mfcc=2, n_fft=16, n_mels=3)
    >>> layer(paddle.ones([32])).shape
    paddle.Size([2, 9])
    """

    dct_matrix: Tensor

    def __init__(
        self,
        sr: int = 22050,
        n_mfcc: int = 40,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str | tuple[Any, ...] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float | None = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__(dtype=floating("MFCC", dtype).name)
        spectrum = (n_fft, hop_length, win_length, window, power, center, pad_mode)
        bank = (n_mels, f_min, f_max, htk, norm)
        decibels = (ref_value, amin, top_db)
        self._log_melspectrogram = LogMelSpectrogram(sr, *spectrum, *bank, *decibels, dtype)
        if count("MFCC", "n_mfcc", n_mfcc) > n_mels:
            raise ArgumentError(f"MFCC: n_mfcc must be at most n_mels, {n_mels}; got {n_mfcc}")
        _keep(self, "dct_matrix", cosines("MFCC", n_mfcc, n_mels, "ortho"))

    def forward(self, x: Any) -> Tensor:
        return ops.matmul(self.dct_matrix, self._log_melspectrogram(x), transpose_x=True)
