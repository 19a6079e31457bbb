"""Mel scales, filter banks and cosine transforms, ``paddle.audio.functional``.

The mel scale is that of M. Slaney, "Auditory Toolbox" (1998): linear up to 1000 Hz, and logarithmic
above; or with ``htk=True`` that of the Hidden Markov Model Toolkit, ``2595 log10(1 + f / 700)``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from autograd_engine.audio.windows import floating, get_window
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import (
    COMPLEX,
    EXACT,
    DTypeLike,
    get_default_numpy_dtype,
    instead_of_complex,
)
from autograd_engine.core.lazy import listed
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import count, plain
from autograd_engine.program.operands import as_operand, constant, spec_of
from autograd_engine.tensor.spelling.wrapper import spelled_functions

__all__ = [
    "compute_fbank_matrix",
    "create_dct",
    "fft_frequencies",
    "get_window",
    "hz_to_mel",
    "mel_frequencies",
    "mel_to_hz",
    "power_to_db",
]

_STEP: Final = 200.0 / 3.0  # Hz to a mel, below the border
_BORDER: Final = 1000.0
_LOG_STEP: Final = math.log(6.4) / 27.0  # and above it, of the logarithm


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def _scaled(op: str, value: Any, one: Any) -> Any:
    """`one` of a number, or of an operand of floats."""
    if isinstance(value, (int, float)):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return float(one(np, plain(op, "the value", value)))
    x = as_operand(op, value)
    if spec_of(x).dtype in COMPLEX:
        raise DTypeError(
            f"{op}: takes real values, got {spec_of(x).dtype.name}"
            f"{instead_of_complex(spec_of(x).dtype)}"
        )
    if spec_of(x).dtype in EXACT:
        x = ops.cast(x, dtype=get_default_numpy_dtype().name)
    return one(ops, x)


def _slaney_mel(xp: Any, f: Any) -> Any:
    # The logarithm is taken above the border alone, also where the other branch is chosen.
    high = xp.where(f >= _BORDER, f, _BORDER)
    return xp.where(f >= _BORDER, _BORDER / _STEP + xp.log(high / _BORDER) / _LOG_STEP, f / _STEP)


def _slaney_hz(xp: Any, mel: Any) -> Any:
    border = _BORDER / _STEP
    above = xp.where(mel >= border, mel - border, 0.0)
    return xp.where(mel >= border, _BORDER * xp.exp(_LOG_STEP * above), mel * _STEP)


def _htk_mel(xp: Any, f: Any) -> Any:
    return xp.log1p(f / 700.0) * (2595.0 / math.log(10.0))


def _htk_hz(xp: Any, mel: Any) -> Any:
    return xp.expm1(mel * (math.log(10.0) / 2595.0)) * 700.0


@overload
def hz_to_mel(freq: float, htk: bool = False) -> float: ...
@overload
def hz_to_mel(freq: Any, htk: bool = False) -> Tensor: ...
@atomic
def hz_to_mel(freq: Any, htk: bool = False) -> Tensor | float:
    """Frequencies in mels.

    Parameters
    ----------
    freq : Tensor, Variable or float
    htk : bool

    Returns
    -------
    Tensor, Variable or float
        As `freq`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> round(paddle.audio.functional.hz_to_mel(500.0), 3)
    7.5
    """
    require_bools("hz_to_mel", htk=htk)
    return _scaled("hz_to_mel", freq, _htk_mel if htk else _slaney_mel)


@overload
def mel_to_hz(mel: float, htk: bool = False) -> float: ...
@overload
def mel_to_hz(mel: Any, htk: bool = False) -> Tensor: ...
@atomic
def mel_to_hz(mel: Any, htk: bool = False) -> Tensor | float:
    """Frequencies in Hertz; see `hz_to_mel`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.audio.functional.mel_to_hz(3.0)
    200.0
    """
    require_bools("mel_to_hz", htk=htk)
    return _scaled("mel_to_hz", mel, _htk_hz if htk else _slaney_hz)


def _in(op: str, values: Array, dtype: DTypeLike) -> Any:
    return constant(values.astype(floating(op, dtype)))


def _some(op: str, argument: str, value: Any) -> int:
    found = count(op, argument, value)
    if not found:
        raise ArgumentError(f"{op}: {argument} must be 1 or more, got 0")
    return found


def _mels(n: int, low: float, high: float, htk: bool) -> Array:
    to_mel, to_hz = (_htk_mel, _htk_hz) if htk else (_slaney_mel, _slaney_hz)
    found: Array = to_hz(np, np.linspace(to_mel(np, low), to_mel(np, high), n))
    return found


@atomic
def mel_frequencies(
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float = 11025.0,
    htk: bool = False,
    dtype: DTypeLike = "float32",
) -> Tensor:
    """Frequencies in Hertz that are evenly spaced in mels.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.audio.functional.mel_frequencies(3, 0.0, 800.0).tolist()
    [0.0, 400.0, 800.0]
    """
    op = "mel_frequencies"
    require_bools(op, htk=htk)
    n, low, high = _some(op, "n_mels", n_mels), plain(op, "f_min", f_min), plain(op, "f_max", f_max)
    return _in(op, _mels(n, low, high, htk), dtype)


def _bins(sr: float, n_fft: int) -> Array:
    return np.linspace(0.0, sr / 2.0, n_fft // 2 + 1)


@atomic
def fft_frequencies(sr: int, n_fft: int, dtype: DTypeLike = "float32") -> Tensor:
    """Frequencies in Hertz of the transform of `n_fft` samples, `sr` of which are a second.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.audio.functional.fft_frequencies(8000, 4).tolist()
    [0.0, 2000.0, 4000.0]
    """
    op = "fft_frequencies"
    return _in(op, _bins(plain(op, "sr", sr), _some(op, "n_fft", n_fft)), dtype)


def filters(
    op: str, sr: Any, n_fft: Any, n_mels: Any, f_min: Any, f_max: Any, htk: Any, norm: Any
) -> Array:
    """What `compute_fbank_matrix` gives."""
    require_bools(op, htk=htk)
    rate, n, size = plain(op, "sr", sr), _some(op, "n_mels", n_mels), _some(op, "n_fft", n_fft)
    low, high = plain(op, "f_min", f_min), rate / 2 if f_max is None else plain(op, "f_max", f_max)
    corners = _mels(n + 2, low, high, htk)
    apart, ramps = np.diff(corners), _bins(rate, size) - corners[:, None]
    rising, falling = ramps[:-2] / apart[:-1, None], -ramps[2:] / apart[1:, None]
    weights = np.maximum(0.0, np.minimum(rising, falling)) + 0.0  # no -0.0
    if norm == "slaney":
        weights *= 2.0 / (corners[2:] - corners[:-2])[:, None]
    elif isinstance(norm, (int, float)) and norm > 0:
        sizes = np.linalg.norm(weights, plain(op, "norm", norm), axis=-1, keepdims=True)
        weights /= np.maximum(sizes, 1e-12)
    elif norm is not None:
        raise ArgumentError(f"{op}: norm must be 'slaney', a number above 0 or None, got {norm!r}")
    return weights


@atomic
def compute_fbank_matrix(
    sr: int,
    n_fft: int,
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float | None = None,
    htk: bool = False,
    norm: str | float | None = "slaney",
    dtype: DTypeLike = "float32",
) -> Tensor:
    """Triangular filters, evenly spaced in mels: what a spectrum is multiplied by from the left.

    Parameters
    ----------
    sr : int
        Samples in a second.
    n_fft : int
    n_mels : int
        How many filters.
    f_min, f_max : float
        In Hertz; `f_max` is the half of `sr` if not given.
    htk : bool
    norm : {"slaney", None} or float
        Filters of one area, of height 1, or of that p-norm.
    dtype : dtype

    Returns
    -------
    ``[n_mels, n_fft // 2 + 1]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.audio.functional.compute_fbank_matrix(800, 8, n_mels=1, norm=None).tolist()
    [[0.0, 0.5, 1.0, 0.5, 0.0]]
    """
    op = "compute_fbank_matrix"
    return _in(op, filters(op, sr, n_fft, n_mels, f_min, f_max, htk, norm), dtype)


@atomic
def power_to_db(
    spect: Any, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0
) -> Tensor:
    """Power in decibels, ``10 log10(spect / ref_value)``.

    Parameters
    ----------
    spect : Tensor or Variable
    ref_value : float
    amin : float
        Less than this counts as this.
    top_db : float, optional
        What is further below the largest counts as so far below it.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> decibels = paddle.audio.functional.power_to_db(paddle.to_tensor([1.0, 100.0]))
    >>> [round(v, 3) for v in decibels.tolist()]
    [0.0, 20.0]
    """
    op = "power_to_db"
    x = as_operand(op, spect, "spect")
    if spec_of(x).dtype in COMPLEX:
        raise DTypeError(
            f"{op}: spect must be real, got {spec_of(x).dtype.name}; use paddle.abs(spect)"
        )
    least, reference = plain(op, "amin", amin), plain(op, "ref_value", ref_value)
    if least <= 0 or reference <= 0:
        raise ArgumentError(f"{op}: amin and ref_value must be above 0, got {amin} and {ref_value}")
    decibels = 10.0 * ops.log10(ops.maximum(x, least)) - 10.0 * math.log10(max(reference, least))
    if top_db is None:
        return decibels
    below = plain(op, "top_db", top_db)
    if below < 0:
        raise ArgumentError(f"{op}: top_db must not be negative, got {top_db}")
    axes = tuple(range(spec_of(x).ndim))
    return ops.maximum(decibels, ops.max(decibels, axis=axes, keepdims=False) - below)


def cosines(op: str, n_mfcc: Any, n_mels: Any, norm: Any) -> Array:
    """What `create_dct` gives."""
    rows, columns = _some(op, "n_mels", n_mels), _some(op, "n_mfcc", n_mfcc)
    if norm not in (None, "ortho"):
        raise ArgumentError(f"{op}: norm must be 'ortho' or None, got {norm!r}")
    places = np.arange(rows)[:, None] + 0.5
    found = 2.0 * np.cos(np.pi / rows * places * np.arange(columns))
    if norm == "ortho":
        found *= np.where(np.arange(columns) == 0, math.sqrt(0.25 / rows), math.sqrt(0.5 / rows))
    return found


@atomic
def create_dct(
    n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: DTypeLike = "float32"
) -> Tensor:
    """The matrix ``[n_mels, n_mfcc]`` of a discrete cosine transform of type II.

    Parameters
    ----------
    n_mfcc, n_mels : int
    norm : {"ortho", None}
        "ortho" for columns of length 1.
    dtype : dtype

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.audio.functional.create_dct(1, 4).tolist()
    [[0.5], [0.5], [0.5], [0.5]]
    """
    op = "create_dct"
    return _in(op, cosines(op, n_mfcc, n_mels, norm), dtype)


globals().update(spelled_functions({name: globals()[name] for name in __all__}))
