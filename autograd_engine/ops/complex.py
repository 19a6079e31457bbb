"""The parts of complex values, which are computed and not differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.spec import Spec
from autograd_engine.ops.infer import broadcast
from autograd_engine.ops.kernels.elementwise import rounded_alike
from autograd_engine.ops.linalg.inverse import in_single
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.work import nothing

Array = NDArray[Any]


def _complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.complex64 if dtype.char in "efF" else np.complex128)


def _real_part(x: Array) -> Array:
    return np.array(x.real)


def _imag_part(x: Array) -> Array:
    return np.array(x.imag)


def _to_complex(real: Array, imag: Array) -> Array:
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), _complex(real.dtype))
    out.real, out.imag = real, imag
    return out


def _infer_part(x: Spec) -> Spec:
    return Spec(x.shape, np.dtype(np.float32 if x.dtype.char == "F" else np.float64))


defop(
    "real_part",
    _real_part,
    inputs="x",
    infer=_infer_part,
    elementwise=True,
    work=nothing,
).vjp(x=NONDIFF)
defop(
    "imag_part",
    _imag_part,
    inputs="x",
    infer=_infer_part,
    elementwise=True,
    work=nothing,
).vjp(x=NONDIFF)


def _infer_to_complex(real: Spec, imag: Spec) -> Spec:
    out = broadcast("complex")(real, imag)
    return Spec(out.shape, _complex(out.dtype))


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


@in_single
def _angle(x: Array) -> Array:
    return np.asarray(_atan2(np.imag(x), np.real(x)))


def _infer_angle(x: Spec) -> Spec:
    return _infer_part(x) if x.dtype.kind == "c" else Spec(x.shape, x.dtype)


defop("angle", _angle, inputs="x", infer=_infer_angle, dtypes="floating", elementwise=True).vjp(
    x=NONDIFF
)
