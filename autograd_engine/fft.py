"""Fourier transforms, ``paddle.fft``.

All are differentiable to any order. `fft_parts`, `ifft_parts`, `rfft_parts` and `irfft_parts` take
and give real and imaginary parts as two arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.checks import is_int
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import COMPLEX, DTypeLike, get_default_numpy_dtype, to_numpy
from autograd_engine.core.lazy import listed
from autograd_engine.core.spec import format_shape, normalize_axes, normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import real
from autograd_engine.program.operands import as_operand, constant, spec_of
from autograd_engine.tensor.spelling.wrapper import spelled_functions

__all__ = [
    "fft",
    "fft2",
    "fft_parts",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifft_parts",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfft_parts",
    "irfftn",
    "rfft",
    "rfft2",
    "rfft_parts",
    "rfftfreq",
    "rfftn",
]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


Axes = Sequence[int] | None
_SCALES = {"backward": ("none", "by_n"), "ortho": ("ortho", "ortho"), "forward": ("by_n", "none")}


def _scale(op: str, norm: Any, *, inverse: bool) -> str:
    if norm not in _SCALES:
        raise ArgumentError(f"{op}: norm must be 'backward', 'ortho' or 'forward', got {norm!r}")
    return _SCALES[norm][inverse]


def _operand(op: str, x: Any, argument: str = "x") -> Any:
    x = as_operand(op, x, argument)
    if not spec_of(x).ndim:
        raise ShapeError(f"{op}: {argument} must have one dimension or more, got a 0-d array")
    return x


def _size(op: str, n: Any) -> int:
    if not is_int(n):
        raise ArgumentTypeError(f"{op}: n must be an int, got {n!r}")
    if n < 1:
        raise ArgumentError(f"{op}: n must be 1 or more, got {n}")
    return int(n)


# --- real and imaginary parts


def _real_operand(op: str, x: Any, argument: str) -> Any:
    x = _operand(op, x, argument)
    if spec_of(x).dtype in COMPLEX:
        raise DTypeError(
            f"{op}: {argument} must be real, got {spec_of(x).dtype.name}; pass paddle.real(x) and "
            "paddle.imag(x)"
        )
    return x


def _resized(op: str, x: Any, n: int, axis: int) -> Any:
    """`x` cut off after `n` elements along `axis`, or followed by zeros."""
    shape = spec_of(x).shape
    size = shape[axis]
    if isinstance(size, Dim):
        raise ShapeError(
            f"{op}: axis {axis} of {format_shape(shape)} has no known size: leave n out, or "
            "declare the size in static.data"
        )
    if n == size:
        return x
    if n < size:
        return ops.getitem(x, key=(*(slice(None),) * axis, slice(0, n)))
    around = ((0, 0),)
    return ops.pad(x, pads=(*around * axis, (0, n - size), *around * (len(shape) - axis - 1)))


def _parts(op: str, x: Any, y: Any, n: Any, axis: int) -> tuple[Any, Any, int]:
    x = _real_operand(op, x, "real")
    axis = normalize_axis(op, axis, spec_of(x).ndim)
    y = ops.zeros_like(x) if y is None else _real_operand(op, y, "imag")
    if n is not None:
        x, y = (_resized(op, v, _size(op, n), axis) for v in (x, y))
    return x, y, axis


@atomic
def fft_parts(
    real: Any,
    imag: Any = None,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Fourier transform of real and imaginary parts, as two arrays; differentiable.

    Parameters
    ----------
    real, imag : Tensor or Variable
        Of one shape; no `imag` means zeros.
    n : int, optional
        Length of the transform: what is longer is cut off, what is shorter followed by zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}
        The sum is multiplied by 1, 1 / sqrt(n), or 1 / n.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> re, im = paddle.fft.fft_parts(paddle.to_tensor([1.0, 0.0, -1.0, 0.0]))
    >>> re.tolist(), im.tolist()
    ([0.0, 2.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0])
    """
    x, y, axis = _parts("fft_parts", real, imag, n, axis)
    return ops.dft(x, y, axis=axis, scale=_scale("fft_parts", norm, inverse=False))


@atomic
def ifft_parts(
    real: Any,
    imag: Any = None,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Inverse of `fft_parts`, as two arrays; differentiable.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.fft.ifft_parts(paddle.to_tensor([0.0, 2.0, 0.0, 2.0]))[0].tolist()
    [1.0, 0.0, -1.0, 0.0]
    """
    x, y, axis = _parts("ifft_parts", real, imag, n, axis)
    scale = _scale("ifft_parts", norm, inverse=True)
    return ops.dft(x, y, axis=axis, inverse=True, scale=scale)


@atomic
def rfft_parts(
    x: Any, n: int | None = None, axis: int = -1, norm: str = "backward", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Real and imaginary parts of the transform of a real signal; differentiable.

    Returns
    -------
    Two arrays with n // 2 + 1 frequencies along `axis`; the others are their mirror image.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 0.0, -1.0, 0.0], stop_gradient=False)
    >>> re, im = paddle.fft.rfft_parts(x)
    >>> power = re * re + im * im
    >>> power.tolist()
    [0.0, 4.0, 0.0]
    >>> power.sum().backward()
    >>> x.grad.tolist()
    [4.0, 0.0, -4.0, 0.0]
    """
    x = _real_operand("rfft_parts", x, "x")
    axis = normalize_axis("rfft_parts", axis, spec_of(x).ndim)
    if n is not None:
        x = _resized("rfft_parts", x, _size("rfft_parts", n), axis)
    return ops.half_spectrum(x, axis=axis, scale=_scale("rfft_parts", norm, inverse=False))


@atomic
def irfft_parts(
    real: Any,
    imag: Any = None,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """The real signal of `n` values whose `rfft_parts` are given; differentiable.

    Parameters
    ----------
    real, imag : Tensor or Variable
        ``n // 2 + 1`` frequencies along `axis`; no `imag` means zeros.
    n : int, optional
        Twice the number of frequencies less 2, unless given; known while a program is built.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> re, im = paddle.fft.rfft_parts(paddle.to_tensor([1.0, 2.0, 3.0]))
    >>> paddle.fft.irfft_parts(re, im, n=3).tolist()
    [1.0, 2.0, 3.0]
    """
    x, y, axis = _parts("irfft_parts", real, imag, None, axis)
    size = spec_of(x).shape[axis]
    if n is None:
        if isinstance(size, Dim):
            raise ShapeError(
                f"irfft_parts: axis {axis} of {format_shape(spec_of(x).shape)} has no known size: "
                "declare it in static.data"
            )
        n = 2 * (size - 1)
    n = _size("irfft_parts", n)
    if size != n // 2 + 1:
        x, y = (_resized("irfft_parts", v, n // 2 + 1, axis) for v in (x, y))
    scale = _scale("irfft_parts", norm, inverse=True)
    return ops.from_half_spectrum(x, y, n=n, axis=axis, scale=scale, doubled=True)


# --- complex values


_REAL_INPUT = ("rfftn", "ihfftn")


def _transform(op: str, kind: str, x: Any, s: Any, axes: Any, norm: str) -> Tensor:
    x = _operand(op, x)
    spec = spec_of(x)
    if kind in _REAL_INPUT and spec.dtype in COMPLEX:
        raise DTypeError(f"{op}: takes real values, got {spec.dtype.name}; use fftn")
    _scale(op, norm, inverse=False)
    if axes is None:
        axes = range(spec.ndim) if s is None else range(spec.ndim - len(s), spec.ndim)
    axes = tuple(normalize_axis(op, a, spec.ndim) for a in axes)
    if len(set(axes)) != len(axes) or not axes:
        raise ShapeError(f"{op}: axes {axes} must name one axis or more, each once")
    if s is not None:
        if len(s) != len(axes):
            raise ArgumentError(f"{op}: s has {len(s)} sizes for {len(axes)} axes")
        s = tuple(_size(op, n) for n in s)
    return ops.fourier(x, kind=kind, s=s, axes=axes, norm=norm)


def _family(family: str, summary: str) -> tuple[Callable[..., Tensor], ...]:
    """The transform of that name along one axis, along two, and along several."""
    kind = f"{family}n"

    def one(
        x: Any,
        n: int | None = None,
        axis: int = -1,
        norm: str = "backward",
        name: str | None = None,
    ) -> Tensor:
        return _transform(family, kind, x, None if n is None else (n,), (axis,), norm)

    def two(
        x: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] = (-2, -1),
        norm: str = "backward",
        name: str | None = None,
    ) -> Tensor:
        return _transform(f"{family}2", kind, x, s, axes, norm)

    def several(
        x: Any,
        s: Sequence[int] | None = None,
        axes: Axes = None,
        norm: str = "backward",
        name: str | None = None,
    ) -> Tensor:
        return _transform(kind, kind, x, s, axes, norm)

    return (
        _named(one, family, f"{summary} along one axis, of length `n`; no gradient."),
        _named(two, f"{family}2", f"{summary} along two axes, of sizes `s`; no gradient."),
        _named(several, kind, f"{summary} along `axes` (all for None); no gradient."),
    )


def _named(function: Callable[..., Tensor], name: str, doc: str) -> Callable[..., Tensor]:
    function.__name__ = function.__qualname__ = name
    function.__code__ = function.__code__.replace(co_name=name, co_qualname=name)
    function.__doc__ = doc
    return atomic(function)


fft, fft2, fftn = _family("fft", "Fourier transform")
ifft, ifft2, ifftn = _family("ifft", "Inverse Fourier transform")
rfft, rfft2, rfftn = _family("rfft", "First half of the Fourier transform of real values,")
irfft, irfft2, irfftn = _family("irfft", "Real values whose Fourier transform begins with `x`,")
hfft, hfft2, hfftn = _family(
    "hfft", "Real Fourier transform of values that are the first half of a symmetric signal,"
)
ihfft, ihfft2, ihfftn = _family(
    "ihfft", "First half of the inverse Fourier transform of real values,"
)


# --- frequencies, and their order


def _frequencies(op: str, n: Any, d: float, dtype: DTypeLike | None, make: Any) -> Any:
    n, d = _size(op, n), real(op, "d", d)
    if d == 0:
        raise ArgumentError(f"{op}: d, the spacing of samples, must not be 0")
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    return constant(make(n, d).astype(chosen))


@atomic
def fftfreq(
    n: int, d: float = 1.0, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Frequencies of a transform of `n` samples that are `d` apart, in its order.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    return _frequencies("fftfreq", n, d, dtype, np.fft.fftfreq)


@atomic
def rfftfreq(
    n: int, d: float = 1.0, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Frequencies of `rfft` of `n` samples that are `d` apart.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    return _frequencies("rfftfreq", n, d, dtype, np.fft.rfftfreq)


def _shifted(op: str, x: Any, axes: Any, *, back: bool) -> Any:
    x = _operand(op, x)
    shape = spec_of(x).shape
    axes, shifts = normalize_axes(op, axes, len(shape)), []
    for a in axes:
        n = shape[a]
        if isinstance(n, Dim):
            raise ShapeError(
                f"{op}: axis {a} of {format_shape(shape)} has no known size; declare it"
            )
        shifts.append(-(n // 2) if back else n // 2)
    return ops.roll(x, shifts=tuple(shifts), axis=axes)


@atomic
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Frequencies in ascending order, with 0 in the middle; differentiable.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.fft.fftshift(paddle.fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    return _shifted("fftshift", x, axes, back=False)


@atomic
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Inverse of `fftshift`; differentiable.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.fft.ifftshift(paddle.fft.fftshift(paddle.fft.fftfreq(5))).tolist()
    [0.0, 0.20000000298023224, 0.4000000059604645, -0.4000000059604645, -0.20000000298023224]
    """
    return _shifted("ifftshift", x, axes, back=True)


globals().update(spelled_functions({name: globals()[name] for name in __all__}))
