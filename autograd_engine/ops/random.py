"""Random arrays. All draw from the one generator that `seed` sets, in either mode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.generator import generator
from autograd_engine.registry import defop
from autograd_engine.spec import Like, Spec

Array = NDArray[Any]
Sizes = tuple[int, ...]


def _uniform(*, shape: Sizes, low: float, high: float, dtype: str) -> Array:
    # Drawn in float64 for every dtype, so that one seed gives one stream.
    return np.asarray(generator().uniform(low, high, shape), dtype=dtype)


def _gaussian(*, shape: Sizes, mean: float, std: float, dtype: str) -> Array:
    return np.asarray(generator().normal(mean, std, shape), dtype=dtype)


def _randint(*, shape: Sizes, low: int, high: int, dtype: str) -> Array:
    return np.asarray(generator().integers(low, high, shape), dtype=dtype)


def _infer(*, shape: Sizes, dtype: str, **_: Any) -> Spec:
    return Spec(shape, np.dtype(dtype))


def _dropout_mask(
    like: Like, *, p: float, upscale: bool, training: bool = True, scale: float = 1.0
) -> Array:
    """What dropout multiplies by: 0 with probability `p`, else 1 or, upscaled, 1 / (1 - p)."""
    if not training:
        return np.full(like.shape, scale, like.dtype)
    kept: Array = (generator().random(like.shape, dtype=np.float32) >= p).astype(like.dtype)
    if upscale and p < 1.0:
        kept *= np.asarray(1.0 / (1.0 - p), like.dtype)
    return kept


defop("uniform", _uniform, inputs="", infer=_infer, random=True)
defop("gaussian", _gaussian, inputs="", infer=_infer, random=True)
defop("randint", _randint, inputs="", infer=_infer, random=True)
defop(
    "dropout_mask", _dropout_mask, inputs="like", infer=lambda like, **_: like, random=True
).nondiff()
