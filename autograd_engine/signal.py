"""Signals in overlapping frames and their spectra, ``paddle.signal``.

Spectra are complex, and differentiated as far as `paddle.fft` is; frames are differentiable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine import fft
from autograd_engine.core.checks import is_int, require_bools
from autograd_engine.core.dims import Dim, SymbolicNumber
from autograd_engine.core.dtypes import COMPLEX, EXACT, get_default_numpy_dtype
from autograd_engine.core.lazy import listed
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import integer
from autograd_engine.tensor.linalg.products import matrix_transpose
from autograd_engine.tensor.shape import moveaxis

__all__ = ["frame", "istft", "overlap_add", "stft"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def _positive(op: str, argument: str, value: Any, most: Any = None) -> int:
    given = integer(op, argument, value)
    if given < 1 or (most is not None and given > most):
        upto = "1 or more" if most is None else f"1 to {most}"
        raise ArgumentError(f"{op}: {argument} must be {upto}, got {given}")
    return given


def _at_end(op: str, axis: Any, ndim: int) -> bool:
    """Whether frames are along the last axes, and not the first."""
    if isinstance(axis, SymbolicNumber):
        axis.refuse_axis(op, ndim, (0, -1))
    if not is_int(axis) or axis not in (0, -1):
        raise ArgumentError(f"{op}: axis must be 0 or -1, got {axis!r}")
    return bool(axis)


@atomic
def frame(
    x: Any, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None
) -> Tensor:
    """Frames of a signal, one every `hop_length` elements.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., length]``, or with ``axis=0`` ``[length, ...]``.
    frame_length, hop_length : int
    axis : {-1, 0}

    Returns
    -------
    ``[..., frame_length, frames]``, or ``[frames, frame_length, ...]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.signal.frame(paddle.arange(5), 3, 2).tolist()
    [[0, 2], [1, 3], [2, 4]]
    """
    op = "frame"
    x = as_operand(op, x)
    shape = spec_of(x).shape
    end = _at_end(op, axis, len(shape))
    if not shape:
        raise ShapeError(f"{op}: x must have one axis or more, got a 0-d array")
    length = shape[axis]
    width = _positive(op, "frame_length", frame_length, None if isinstance(length, Dim) else length)
    step = _positive(op, "hop_length", hop_length)
    frames = ops.windows(x, axis=len(shape) - 1 if end else 0, size=width, step=step)
    # A copy, as in the reference: the frames do not follow what becomes of the signal.
    return ops.assign(matrix_transpose(frames) if end else moveaxis(frames, -1, 1))


def _added(op: str, rows: Any, step: int) -> Any:
    """The sum of ``[..., frames, length]``, each `step` behind the one before."""
    shape = spec_of(rows).shape
    count, width = shape[-2:]
    if isinstance(count, Dim) or isinstance(width, Dim) or not count or not width:
        raise ShapeError(
            f"{op}: there must be a frame, of a known length, and a known number of them; their "
            f"shape is {format_shape(shape)}"
        )
    total = (count - 1) * step + width
    one = ops.getitem(rows, key=(..., 0, slice(0, 1)))
    signal = ops.expand(one, shape=(*(-1,) * (len(shape) - 2), total))
    return ops.unwindows_like(rows, signal, axis=len(shape) - 2, size=width, step=step)


@atomic
def overlap_add(x: Any, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """The sum of frames, each `hop_length` elements behind the one before; see `frame`.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., frame_length, frames]``, or with ``axis=0`` ``[frames, frame_length, ...]``.
    hop_length : int
    axis : {-1, 0}

    Returns
    -------
    ``[..., length]``, or ``[length, ...]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.signal.overlap_add(paddle.ones([3, 2]), 2).tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """
    op = "overlap_add"
    x = as_operand(op, x)
    end, step = _at_end(op, axis, spec_of(x).ndim), _positive(op, "hop_length", hop_length)
    if spec_of(x).ndim < 2:
        raise ShapeError(
            f"{op}: x must have two axes or more, got {format_shape(spec_of(x).shape)}"
        )
    if end:
        return _added(op, matrix_transpose(x), step)
    return moveaxis(_added(op, moveaxis(x, (0, 1), (-2, -1)), step), -1, 0)


def _window(op: str, window: Any, win_length: Any, n_fft: int, like: Any) -> Any:
    """The window of `n_fft` elements: what is given between zeros, or ones."""
    length = n_fft if win_length is None else _positive(op, "win_length", win_length, n_fft)
    if window is None:
        one = ops.full_like(ops.getitem(like, key=(0,) * spec_of(like).ndim), value=1.0)
        found = ops.expand(one, shape=(length,))
    else:
        found = as_operand(op, window, "window")
        if not may_equal(spec_of(found).shape, (length,)):
            raise ShapeError(
                f"{op}: window must have win_length elements, [{length}], got "
                f"{format_shape(spec_of(found).shape)}"
            )
    before = (n_fft - length) // 2
    if length < n_fft:
        found = ops.pad(found, pads=((before, n_fft - length - before),))
    return found


def _is_complex(x: Any) -> bool:
    return spec_of(x).dtype in COMPLEX


def windowed_frames(
    op: str,
    x: Any,
    n_fft: Any,
    hop_length: Any,
    win_length: Any,
    window: Any,
    center: Any,
    pad_mode: Any,
) -> Any:
    """The frames of a signal times a window, ``[..., frames, n_fft]``; see `stft`."""
    require_bools(op, center=center)
    if spec_of(x).dtype in EXACT:
        x = ops.cast(x, dtype=get_default_numpy_dtype().name)
    shape = spec_of(x).shape
    if not shape:
        raise ShapeError(f"{op}: x must have one axis or more, got a 0-d array")
    size = _positive(op, "n_fft", n_fft, None if isinstance(shape[-1], Dim) else shape[-1])
    step = max(size // 4, 1) if hop_length is None else _positive(op, "hop_length", hop_length)
    if pad_mode not in ("reflect", "constant"):
        raise ArgumentError(f"{op}: pad_mode must be 'reflect' or 'constant', got {pad_mode!r}")
    if center:
        around = (*((0, 0),) * (len(shape) - 1), (size // 2, size // 2))
        if pad_mode == "constant":
            x = ops.pad(x, pads=around)
        else:
            x = ops.extend(x, pads=around, mode="reflect")
    frames = ops.windows(x, axis=len(shape) - 1, size=size, step=step)
    if window is None and win_length is None:
        return frames
    return frames * _window(op, window, win_length, size, frames)


@atomic
def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Fourier transforms of overlapping frames of a signal.

    Parameters
    ----------
    x : Tensor or Variable
        ``[..., length]``, with a length of `n_fft` at least.
    n_fft : int
        The length of a frame.
    hop_length : int, optional
        How far apart frames are; by default a quarter of `n_fft`.
    win_length : int, optional
        The length of the window, `n_fft` if not given; a shorter one stands between zeros.
    window : Tensor or Variable, optional
        What frames are multiplied by, ``[win_length]``; ones if not given.
    center : bool
        Pad the signal, so that a frame has the element at a multiple of `hop_length` in its middle.
    pad_mode : {"reflect", "constant"}
    normalized : bool
        Divide by the root of `n_fft`.
    onesided : bool, optional
        Only the first ``n_fft // 2 + 1`` frequencies; by default that of real signals.

    Returns
    -------
    Tensor or Variable
        Complex, ``[..., frequencies, frames]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> spectra = paddle.signal.stft(paddle.ones([8]), n_fft=4)
    >>> spectra.shape
    paddle.Size([3, 9])
    >>> spectra[:, 0].abs().tolist()
    [4.0, 0.0, 0.0]
    """
    op = "stft"
    x = as_operand(op, x)
    given = {} if onesided is None else {"onesided": onesided}
    require_bools(op, normalized=normalized, **given)
    frames = windowed_frames(op, x, n_fft, hop_length, win_length, window, center, pad_mode)
    is_complex = _is_complex(frames)
    if onesided and is_complex:
        raise ArgumentError(f"{op}: a complex signal or window needs onesided=False")
    half = not is_complex if onesided is None else onesided
    transform = fft.rfft if half else fft.fft
    spectra = transform(frames, norm="ortho" if normalized else "backward")
    return matrix_transpose(spectra)


@atomic
def istft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    return_complex: bool = False,
    name: str | None = None,
) -> Tensor:
    """The signal whose `stft` comes nearest to `x`, in the sense of least squares.

    Parameters
    ----------
    x : Tensor or Variable
        Complex, ``[..., frequencies, frames]``, sizes that a program must know.
    n_fft, hop_length, win_length, window, center, normalized, onesided
        Those of `stft`; `hop_length` is at most `win_length`.
    length : int, optional
        Leave out what is behind so many elements.
    return_complex : bool
        Give complex values, of transforms with ``onesided=False``.

    Returns
    -------
    ``[..., length]``

    Raises
    ------
    ArgumentError
        Where no window reaches an element, so that nothing is known of it; of the window of a
        program that is not asked.

    Notes
    -----
    D. Griffin, J. Lim, "Signal estimation from modified short-time Fourier transform" (1984).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> spectra = paddle.signal.stft(paddle.to_tensor([1.0, 2.0, 3.0, 4.0]), n_fft=4)
    >>> paddle.signal.istft(spectra, n_fft=4).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    op = "istft"
    x = as_operand(op, x)
    require_bools(
        op, center=center, normalized=normalized, onesided=onesided, return_complex=return_complex
    )
    shape = spec_of(x).shape
    if len(shape) < 2 or not _is_complex(x):
        raise ShapeError(
            f"{op}: x must be complex spectra [..., frequencies, frames], got "
            f"{format_shape(shape)} {spec_of(x).dtype.name}"
        )
    size = _positive(op, "n_fft", n_fft)
    width = size if win_length is None else _positive(op, "win_length", win_length, size)
    step = (
        max(size // 4, 1) if hop_length is None else _positive(op, "hop_length", hop_length, width)
    )
    if onesided and return_complex:
        raise ArgumentError(f"{op}: return_complex=True needs onesided=False")
    frequencies = size // 2 + 1 if onesided else size
    if not isinstance(shape[-2], Dim) and shape[-2] != frequencies:
        raise ShapeError(
            f"{op}: x must have {frequencies} frequencies for n_fft={size} with "
            f"onesided={onesided}, got {shape[-2]}"
        )
    norm, rows = "ortho" if normalized else "backward", matrix_transpose(x)
    if onesided:
        rows = fft.irfft(rows, size, norm=norm)
    else:
        rows = fft.ifft(rows, size, norm=norm)
        rows = rows if return_complex else ops.real_part(rows)
    weights = _window(op, window, win_length, size, rows)
    if _is_complex(weights) and not return_complex:
        raise DTypeError(f"{op}: a complex window needs return_complex=True")
    signal = _added(op, rows * weights, step)
    squares = ops.expand(weights * weights, shape=(shape[-1], size))
    known = _added(op, squares, step)
    start = size // 2 if center else 0
    total = spec_of(known).shape[0]
    end = total - start if length is None else start + _positive(op, "length", length)
    signal = ops.getitem(signal, key=(..., slice(start, end)))
    known = ops.getitem(known, key=(slice(start, end),))
    if isinstance(known, Tensor) and (abs(known.numpy()) < 1e-11).any():
        raise ArgumentError(
            f"{op}: no window reaches some of the elements; use a smaller hop_length, center=True, "
            "or a window without zeros"
        )
    return ops.divide(signal, known)
