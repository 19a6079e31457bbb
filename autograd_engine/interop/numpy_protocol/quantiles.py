"""NumPy's quantiles, histograms' kin and covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine import linalg
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import (
    UNSET,
    as_tensor,
    as_tensors,
    carries_gradient,
    given,
    plain,
)
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantiles(name: str, function: Any, whole: int) -> None:
    """``np.quantile`` or the like; what is wanted are parts of `whole`."""

    @covers(name)
    def quantile(
        a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
        method: str = "linear", keepdims: Any = UNSET, *, weights: Any = None,
    ) -> Any:  # fmt: skip
        if weights is not None:
            raise ArgumentError(f"np.{name}: weights are not taken on tensors; use t.numpy()")
        if method not in _METHODS:
            raise ArgumentError(
                f"np.quantile: method {method!r} is not one of linear, lower, higher, midpoint and "
                "nearest, which tensors have; use t.numpy() where no gradient is needed"
            )
        x, wanted = as_tensor(a), np.asarray(plain(f"np.{name}", q)) / whole
        one = wanted.size == 1
        parts = wanted.item() if one else wanted.reshape(-1).tolist()
        keepdim = bool(given(keepdims) and keepdims)
        result = function(x, parts, axis=axis, keepdim=keepdim, interpolation=method)
        if wanted.ndim != (not one):  # ours has an axis for several, and no more
            result = paddle.reshape(result, [*wanted.shape, *result.shape[not one :]])
        if result.dtype != x.dtype and x.dtype.dtype in FLOATS:
            result = result.astype(x.dtype)
        return result


_quantiles("quantile", paddle.quantile, 1)
_quantiles("nanquantile", paddle.nanquantile, 1)
_quantiles("percentile", paddle.quantile, 100)
_quantiles("nanpercentile", paddle.nanquantile, 100)


@covers("median")
def _median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    x = as_tensor(a)
    if not isinstance(axis, (tuple, list)):
        return paddle.median(x, axis, keepdims)
    # Ours takes one axis: all of them as the last one.
    axes = sorted(k % x.ndim for k in axis)
    rest = [k for k in range(x.ndim) if k not in axes]
    lines = paddle.reshape(paddle.transpose(x, rest + axes), [*[x.shape[k] for k in rest], -1])
    result = paddle.median(lines, -1)
    return paddle.unsqueeze(result, axes) if keepdims else result


@covers("nanmedian")
def _nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    keepdims: Any = UNSET,
) -> Any:  # fmt: skip
    return paddle.nanmedian(as_tensor(a), axis, bool(given(keepdims) and keepdims))


@covers("cov")
def _cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    x = _variables(m, y, rowvar, dtype)
    less = int(not bias) if ddof is None else ddof
    if less in (0, 1):
        weights = {"fweights": fweights, "aweights": aweights}
        return linalg.cov(x, ddof=bool(less), **weights)
    if fweights is not None or aweights is not None:
        raise ArgumentError("np.cov: with weights, ddof must be 0 or 1 on tensors")
    off = x - paddle.mean(x, axis=-1, keepdim=True)
    return paddle.matmul(off, paddle.matrix_transpose(off)) / (x.shape[-1] - less)


covers("corrcoef")(
    lambda x, y=None, rowvar=True, *, dtype=None: linalg.corrcoef(_variables(x, y, rowvar, dtype))
)


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """One variable in each row."""

    def rows(a: Any) -> Any:
        a = a.astype(dtype) if dtype is not None else a
        return paddle.matrix_transpose(a) if not rowvar and a.ndim == 2 and a.shape[0] != 1 else a

    if y is None:
        return rows(as_tensor(m))
    return paddle.concat([paddle.atleast_2d(rows(a)) for a in as_tensors(m, y)], axis=0)


@covers("bincount")
def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    x = as_tensor(x)
    values = as_tensor(weights)
    if not carries_gradient(values):
        return paddle.bincount(x, weights=values, minlength=minlength)
    size = max(int(plain("np.bincount", x).max(initial=-1)) + 1, minlength)
    return paddle.index_add(paddle.zeros([size], values.dtype), x, 0, values)
