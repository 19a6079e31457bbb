"""Fourier transforms.

A transform is linear. On complex values the matrix of `fourier` is its own transpose. On pairs of
real and imaginary parts, as two arrays, the transpose is the transform in the other direction with
the same scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dims import Dim, Size
from autograd_engine.core.dtypes import COMPLEX, complex_dtype, real_dtype
from autograd_engine.core.spec import (
    Array,
    Like,
    Shape,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import ShapeError
from autograd_engine.ops.infer import like as infer_like
from autograd_engine.ops.registry.opdef import NONDIFF, defop

# NumPy's name for the scale of a forward transform: 1, 1/sqrt(n), 1/n. That of an inverse one has
# the same names the other way round.
_INVERSE: dict[str, Any] = {"none": "forward", "ortho": "ortho", "by_n": "backward"}
_FORWARD: dict[str, Any] = {"none": "backward", "ortho": "ortho", "by_n": "forward"}


def _pair(z: Array) -> tuple[Array, Array]:
    return np.ascontiguousarray(z.real), np.ascontiguousarray(z.imag)


def _empty(shape: Any, like: Array) -> tuple[Array, Array]:
    return np.zeros(shape, like.dtype), np.zeros(shape, like.dtype)


def _check_pair(op: str, real: Shape, imag: Shape) -> None:
    """Refuse parts of two shapes, which NumPy would broadcast without a word."""
    if not may_equal(real, imag):
        raise ShapeError(
            f"{op}: the real part has shape {format_shape(real)}, the imaginary one "
            f"{format_shape(imag)}; they must be equal"
        )


def _dft(
    real: Array, imag: Array, *, axis: int, inverse: bool = False, scale: str = "none"
) -> tuple[Array, Array]:
    _check_pair("dft", real.shape, imag.shape)
    if not real.size:
        return _empty(real.shape, real)
    z = real + 1j * imag
    if inverse:
        return _pair(np.fft.ifft(z, axis=axis, norm=_INVERSE[scale]))
    return _pair(np.fft.fft(z, axis=axis, norm=_FORWARD[scale]))


def _infer_dft(
    real: Spec, imag: Spec, *, axis: int, inverse: bool = False, scale: str = "none"
) -> tuple[Spec, Spec]:
    _check_pair("dft", real.shape, imag.shape)
    out = Spec(real.shape, real.dtype)
    return out, out


defop(
    "dft",
    _dft,
    inputs="real imag",
    outputs="real_out imag_out",
    infer=_infer_dft,
    dtypes="floating",
    tangent="linear",
    takes="bif",
    amp="always high",
).vjp(
    real=lambda xp, g_real_out, g_imag_out, *, axis, inverse, scale: xp.dft(
        g_real_out, g_imag_out, axis=axis, inverse=not inverse, scale=scale
    )[0],
    imag=lambda xp, g_real_out, g_imag_out, *, axis, inverse, scale: xp.dft(
        g_real_out, g_imag_out, axis=axis, inverse=not inverse, scale=scale
    )[1],
)


# --- real signals: their spectrum is its own mirror image, so half of it says everything


def _interior(n: int, axis: int, ndim: int) -> tuple[Any, ...]:
    """Where the frequencies are that stand for two of the whole spectrum."""
    return (*[slice(None)] * axis, slice(1, (n + 1) // 2), *[slice(None)] * (ndim - axis - 1))


def _half_spectrum(
    x: Array, *, axis: int, scale: str = "none", doubled: bool = False
) -> tuple[Array, Array]:
    """The transform of a real signal; `doubled` counts a frequency for its mirror image too."""
    n = x.shape[axis]
    if not x.size:
        return _empty((*x.shape[:axis], n // 2 + 1 if n else 0, *x.shape[axis + 1 :]), x)
    z = np.fft.rfft(x, axis=axis, norm=_FORWARD[scale])
    if doubled:
        z[_interior(n, axis, x.ndim)] *= 2.0
    return _pair(z)


def _half(n: Size) -> Size:
    return n // 2 + 1 if n != 0 else 0


def _infer_half_spectrum(
    x: Spec, *, axis: int, scale: str = "none", doubled: bool = False
) -> tuple[Spec, Spec]:
    out = Spec((*x.shape[:axis], _half(x.shape[axis]), *x.shape[axis + 1 :]), x.dtype)
    return out, out


def _infer_from_half(real: Like, imag: Like, *, n: int, axis: int, **_: Any) -> Spec:
    _check_pair("from_half_spectrum", real.shape, imag.shape)
    there = real.shape[axis]
    if not may_equal((there,), (_half(n),)):
        raise ShapeError(
            f"from_half_spectrum: {n} values have {_half(n)} frequencies; axis {axis} of "
            f"{format_shape(real.shape)} has {there}"
        )
    return Spec((*real.shape[:axis], n, *real.shape[axis + 1 :]), real.dtype)


def _from_half_spectrum(
    real: Array, imag: Array, *, n: int, axis: int, scale: str = "none", doubled: bool = False
) -> Array:
    """The adjoint of `half_spectrum`: with all frequencies counted twice, the inverse transform."""
    shape = _infer_from_half(real, imag, n=n, axis=axis).shape
    if not real.size or not n:
        return np.zeros(shape, real.dtype)
    z = real + 1j * imag
    if not doubled:
        z[_interior(n, axis, real.ndim)] *= 0.5
    out = np.fft.irfft(z, n, axis=axis, norm=_INVERSE[scale])
    return np.asarray(out)


def _from_half_spectrum_like(
    real: Array, imag: Array, like: Like, *, axis: int, scale: str = "none", doubled: bool = False
) -> Array:
    n = like.shape[axis]
    out = _from_half_spectrum(real, imag, n=n, axis=axis, scale=scale, doubled=doubled)
    return np.asarray(out)


defop(
    "half_spectrum",
    _half_spectrum,
    inputs="x",
    outputs="real imag",
    infer=_infer_half_spectrum,
    dtypes="floating",
    tangent="linear",
    takes="bif",
    amp="always high",
).vjp(
    x=lambda xp, g_real, g_imag, x_like, **attrs: xp.from_half_spectrum_like(
        g_real, g_imag, x_like, **attrs
    )
)


def _part(index: int) -> Any:
    return lambda xp, g, *, axis, scale, doubled: xp.half_spectrum(
        g, axis=axis, scale=scale, doubled=doubled
    )[index]


defop(
    "from_half_spectrum",
    _from_half_spectrum,
    inputs="real imag",
    infer=_infer_from_half,
    dtypes="floating",
    tangent="linear",
    takes="bif",
    amp="always high",
).vjp(real=_part(0), imag=_part(1))
defop(
    "from_half_spectrum_like",
    _from_half_spectrum_like,
    inputs="real imag like",
    infer=infer_like,
    tangent="linear",
    takes="bif",
    amp="always high",
).vjp(real=_part(0), imag=_part(1), like=NONDIFF)


# --- with complex values


def _fourier(
    x: Array, *, kind: str, s: tuple[int, ...] | None, axes: tuple[int, ...], norm: str
) -> Array:
    """One of NumPy's transforms over several axes; `kind` is its name there."""
    if kind in ("hfftn", "ihfftn"):  # one axis of half a spectrum, plain transforms over the rest
        return _hermitian(x, kind == "ihfftn", s, axes, norm)
    return np.asarray(getattr(np.fft, kind)(x, s, axes, norm))


_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _hermitian(
    x: Array, inverse: bool, s: tuple[int, ...] | None, axes: tuple[int, ...], norm: str
) -> Array:
    other: Any = _OPPOSITE[norm]
    if inverse:
        return np.asarray(np.conj(np.fft.rfftn(x, s, axes, other)))
    return np.asarray(np.fft.irfftn(np.conj(x), s, axes, other))


def _infer_fourier(
    x: Spec, *, kind: str, s: tuple[int, ...] | None, axes: tuple[int, ...], norm: str
) -> Spec:
    sizes = list(x.shape)
    for a, n in zip(axes, s if s is not None else [x.shape[a] for a in axes], strict=True):
        if not isinstance(n, Dim) and n < 1:
            raise ShapeError(
                f"{kind}: axis {a} of {format_shape(x.shape)} is empty, and has no transform"
            )
        sizes[a] = n
    last = axes[-1]
    if kind in ("irfftn", "hfftn"):
        if s is None:
            sizes[last] = 2 * (x.shape[last] - 1)
            if sizes[last] == 0:
                raise ShapeError(
                    f"{kind}: axis {last} of {format_shape(x.shape)} has one frequency, which is "
                    "not enough to tell the size of the result; give it as s (or n)"
                )
        return Spec(tuple(sizes), real_dtype(x.dtype))
    if kind in ("rfftn", "ihfftn"):
        sizes[last] = sizes[last] // 2 + 1
    return Spec(tuple(sizes), complex_dtype(x.dtype))


def _fourier_transpose(
    x: Array,
    like: Like,
    *,
    kind: str,
    s: tuple[int, ...] | None,
    axes: tuple[int, ...],
    norm: str,
) -> Array:
    """The transpose of `fourier` for an operand like `like`.

    The whole transform is its own transpose, what was cut off gets zeros, and zeros that were added
    get nothing. Of half a spectrum, the part that is not stored follows from the rest: of real
    results each inner frequency counts twice; those that are left out of complex ones get zeros.
    """
    sizes = list(s if s is not None else [like.shape[a] for a in axes])
    last = axes[-1]
    whole = "fftn" if kind in ("fftn", "rfftn", "hfftn") else "ifftn"
    if kind in ("irfftn", "hfftn"):
        sizes[-1] = x.shape[last]
        z = np.asarray(getattr(np.fft, whole)(x, sizes, axes, norm))
        z = z[(*[slice(None)] * last, slice(sizes[-1] // 2 + 1))]
        z[_interior(sizes[-1], last, z.ndim)] *= 2.0
    else:
        z = np.asarray(getattr(np.fft, whole)(x, sizes, axes, norm))
    z = z if like.dtype in COMPLEX else z.real
    if z.shape != like.shape:
        there = tuple(slice(min(m, n)) for m, n in zip(z.shape, like.shape, strict=True))
        out = np.zeros(like.shape, z.dtype)
        out[there] = z[there]
        return out
    return np.ascontiguousarray(z)


def _infer_transpose(x: Spec, like: Spec, **_: Any) -> Spec:
    return Spec(
        like.shape, complex_dtype(x.dtype) if like.dtype in COMPLEX else real_dtype(x.dtype)
    )


defop(
    "fourier",
    _fourier,
    inputs="x",
    infer=_infer_fourier,
    dtypes="floating",
    tangent="linear",
    amp="always high",
).vjp(x=lambda xp, g, x_like, **attrs: xp.fourier_transpose(g, x_like, **attrs))


defop(
    "fourier_transpose",
    _fourier_transpose,
    inputs="x like",
    infer=_infer_transpose,
    tangent="linear",
    amp="always high",
).vjp(x=lambda xp, g, **attrs: xp.fourier(g, **attrs), like=NONDIFF)
