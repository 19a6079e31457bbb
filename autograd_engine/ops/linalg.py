"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.dtypes import common_dtype
from autograd_engine.registry import defop
from autograd_engine.spec import Shape, Spec, matmul_shape

Array = NDArray[Any]


def _matmul(x: Array, y: Array, *, transpose_x: bool = False, transpose_y: bool = False) -> Array:
    if transpose_x:
        x = x.T if x.ndim == 2 else x.swapaxes(-1, -2)
    if transpose_y:
        y = y.T if y.ndim == 2 else y.swapaxes(-1, -2)
    if x.dtype.char == "e":  # products accumulate in float32
        return np.asarray(np.matmul(x.astype(np.float32), y.astype(np.float32)), np.float16)
    # With nothing to sum over, the product is an outer one, which BLAS takes twice as long for.
    out: Array = x * y if x.shape[-1] == 1 == y.shape[-2] else x @ y
    return out


def _infer_matmul(
    x: Spec, y: Spec, *, transpose_x: bool = False, transpose_y: bool = False
) -> Spec:
    def shape(s: Spec, transposed: bool) -> Shape:
        return (*s.shape[:-2], s.shape[-1], s.shape[-2]) if transposed else s.shape

    out = matmul_shape("matmul", shape(x, transpose_x), shape(y, transpose_y))
    return Spec(out, common_dtype([x.dtype, y.dtype]))


def matmul_x(xp: Any, g: Any, y: Any, *, transpose_x: bool, transpose_y: bool) -> Any:
    """out = X Y gives G Y'; transposed where X was."""
    if transpose_x:
        return xp.matmul(y, g, transpose_x=transpose_y, transpose_y=True)
    return xp.matmul(g, y, transpose_x=False, transpose_y=not transpose_y)


def matmul_y(xp: Any, g: Any, x: Any, *, transpose_x: bool, transpose_y: bool) -> Any:
    """out = X Y gives X' G; transposed where Y was."""
    if transpose_y:
        return xp.matmul(g, x, transpose_x=True, transpose_y=transpose_x)
    return xp.matmul(x, g, transpose_x=not transpose_x, transpose_y=False)


# Both inputs have two or more dimensions: the public function sees to vectors.
defop(
    "matmul",
    _matmul,
    inputs="x y",
    infer=_infer_matmul,
    broadcasts=2,
    dtypes="common",
).vjp(x=matmul_x, y=matmul_y)
