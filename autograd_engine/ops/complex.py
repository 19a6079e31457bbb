"""The parts of complex values, which are computed and not differentiated."""

from __future__ import annotations

import numpy as np

from autograd_engine.core.dtypes import complex_dtype, real_dtype
from autograd_engine.core.spec import Array, Spec
from autograd_engine.errors import DTypeError
from autograd_engine.ops.infer import broadcast
from autograd_engine.ops.kernels.elementwise import rounded_alike
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import nothing

__all__ = ["no_complex_gradients"]


def no_complex_gradients(where: str) -> DTypeError:
    """What to raise where a gradient would go through complex values."""
    return DTypeError(
        f"{where}: gradients through complex values are not supported; use x.detach() where the "
        "result is not to be differentiated, or compute with real and imaginary parts"
    )


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
).vjp(x=NONDIFF).writes(lambda xp, value, x: xp.to_complex(value, xp.imag_part(x)))
defop(
    "imag_part",
    lambda x: np.array(x.imag),
    inputs="x",
    infer=_infer_part,
    elementwise=True,
    work=nothing,
).vjp(x=NONDIFF).writes(lambda xp, value, x: xp.to_complex(xp.real_part(x), value))


def _infer_to_complex(real: Spec, imag: Spec) -> Spec:
    out = broadcast("complex")(real, imag)
    return Spec(out.shape, complex_dtype(out.dtype))


defop(
    "to_complex",
    _to_complex,
    inputs="real imag",
    infer=_infer_to_complex,
    dtypes="floating",
    real=True,
    work=nothing,
).nondiff()


_atan2 = rounded_alike(np.arctan2)


def _angle(x: Array) -> Array:
    return np.asarray(_atan2(np.imag(x), np.real(x)))


defop("angle", _angle, inputs="x", infer=_infer_part, dtypes="floating", elementwise=True).vjp(
    x=NONDIFF
)
