"""Resampling along the last axes: a linear map and its adjoint."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.dims import Dim, fresh_dim
from autograd_engine.core.spec import Spec
from autograd_engine.ops.infer import like as infer_like
from autograd_engine.ops.kernels import resample as kernels
from autograd_engine.ops.registry.opdef import NONDIFF, defop


def _infer_resample(x: Spec, *, size: Any, scale: Any, **_: Any) -> Spec:
    first = x.ndim - len(size)
    sizes = map(_resampled_size, x.shape[first:], size, scale)
    return Spec((*x.shape[:first], *sizes), x.dtype)


def _resampled_size(n: Any, size: int | None, scale: float | None) -> Any:
    if size is not None or not isinstance(n, Dim):
        return kernels.resampled_size(n, size, scale)
    whole = scale is None or float(scale).is_integer()
    return n * int(scale or 1) if whole else fresh_dim()


defop(
    "resample",
    kernels.resample,
    inputs="x",
    infer=_infer_resample,
    tangent="linear",
    stacks="leading",
    amp="always high",
    types="linear_interp_v2 bilinear_interp_v2 bicubic_interp_v2 trilinear_interp_v2",
).vjp(x=lambda xp, g, x_like, **attrs: xp.resample_like(g, x_like, **attrs))
defop(
    "resample_like",
    kernels.resample_like,
    inputs="y like",
    infer=infer_like,
    tangent="linear",
    stacks="leading",
).vjp(y=lambda xp, g, **attrs: xp.resample(g, **attrs), like=NONDIFF)
