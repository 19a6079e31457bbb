"""Complex values and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dtypes import complex_dtype, real_dtype
from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops.conjugates import is_complex
from autograd_engine.ops.infer import broadcast, same
from autograd_engine.ops.kernels.elementwise import rounded_alike
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import nothing


def _to_complex(real: Array, imag: Array) -> Array:
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), complex_dtype(real.dtype))
    out.real, out.imag = real, imag
    return out


def _infer_part(x: Spec) -> Spec:
    return Spec(x.shape, real_dtype(x.dtype))


defop(
    "real_part",
    lambda x: np.array(x.real),
    inputs="x",
    infer=_infer_part,
    elementwise=True,
    work=nothing,
    tangent="linear",
).vjp(x=lambda xp, g, x_like: xp.cast_like(g, x_like)).writes(
    lambda xp, value, x: xp.to_complex(value, xp.imag_part(x))
)


def _imag_part_x(xp: Any, g: Any, x_like: Any) -> Any:
    """Im(dz) = Re(-i dz); a real value has no imaginary part."""
    return xp.cast_like(g, x_like) * -1j if is_complex(x_like) else xp.zeros_like(x_like)


defop(
    "imag_part",
    lambda x: np.array(x.imag),
    inputs="x",
    infer=_infer_part,
    elementwise=True,
    work=nothing,
    tangent="linear",
).vjp(x=_imag_part_x).writes(lambda xp, value, x: xp.to_complex(xp.real_part(x), value))


def _infer_to_complex(real: Spec, imag: Spec) -> Spec:
    out = broadcast("complex")(real, imag)
    return Spec(out.shape, complex_dtype(out.dtype))


defop(
    "to_complex",
    _to_complex,
    inputs="real imag",
    infer=_infer_to_complex,
    dtypes="floating",
    broadcasts=0,
    takes="bif",
    work=nothing,
).vjp(real=lambda xp, g: xp.real_part(g), imag=lambda xp, g: -xp.imag_part(g))


_atan2 = rounded_alike(np.arctan2)


def _angle(x: Array) -> Array:
    return np.asarray(_atan2(np.zeros_like(x), x))


# Of real values; that of complex ones is the arc tangent of their parts, which has a derivative.
defop(
    "angle", _angle, takes="bif", inputs="x", infer=same, dtypes="floating", elementwise=True
).vjp(x=NONDIFF)
defop(
    "conj",
    np.conjugate,
    inputs="x",
    infer=same,
    tangent="linear",
    elementwise=True,
    work=nothing,
).vjp(x=lambda xp, g: xp.conj(g))
