"""NumPy's quantiles, histograms' kin and covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine import linalg
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import UNSET, covers, given
from autograd_engine.interop.numpy_protocol.operands import as_tensor, carries_gradient, plain
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


def _merged(x: Any, axis: Any) -> tuple[Any, Any, list[int]]:
    """`x` with the axes of a tuple as its last one, that axis, and the axes."""
    if not isinstance(axis, (tuple, list)):
        return x, axis, list(range(x.ndim)) if axis is None else [axis % x.ndim]
    axes = [k % x.ndim for k in axis]
    rest = [k for k in range(x.ndim) if k not in axes]
    moved = paddle.transpose(x, [*rest, *axes])
    return paddle.reshape(moved, [*[x.shape[k] for k in rest], -1]), -1, axes


def _keeping(result: Any, ndim: int, axes: list[int], lead: int = 0) -> Any:
    """`result` with sizes of 1 where axes were reduced, behind `lead` others."""
    shape = list(result.shape)
    for k in sorted(axes):
        shape.insert(lead + k, 1)
    return paddle.reshape(result, shape)


def _quantile(function: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: str) -> Any:
    x = as_tensor(a)
    if method not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise ArgumentError(
            f"np.quantile: method {method!r} is not one of linear, lower, higher, midpoint and "
            "nearest, which tensors have; use t.numpy() where no gradient is needed"
        )
    flat, along, axes = _merged(x, axis)
    wanted = np.asarray(plain("np.quantile", q))
    listed = wanted.reshape(-1).tolist() if wanted.ndim else float(wanted)
    result = function(flat, listed, axis=along, interpolation=method)
    if result.dtype != flat.dtype and flat.dtype.dtype.kind == "f":
        result = result.astype(flat.dtype)
    if given(keepdims) and keepdims:
        result = _keeping(result, x.ndim, axes, lead=int(wanted.ndim > 0))
    if wanted.ndim > 1:
        result = paddle.reshape(result, [*wanted.shape, *result.shape[1:]])
    return result


def _unweighted(name: str, weights: Any) -> None:
    if weights is not None:
        raise ArgumentError(f"{name}: weights are not taken on tensors; use t.numpy()")


@covers("quantile")
def _np_quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    _unweighted("np.quantile", weights)
    return _quantile(paddle.quantile, a, q, axis, keepdims, method)


@covers("nanquantile")
def _np_nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: Any = UNSET, *, weights: Any = None,
) -> Any:  # fmt: skip
    _unweighted("np.nanquantile", weights)
    return _quantile(paddle.nanquantile, a, q, axis, keepdims, method)


@covers("percentile")
def _percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    _unweighted("np.percentile", weights)
    q = np.asarray(plain("np.percentile", q)) / 100
    return _quantile(paddle.quantile, a, q, axis, keepdims, method)


@covers("nanpercentile")
def _nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: Any = UNSET, *, weights: Any = None,
) -> Any:  # fmt: skip
    _unweighted("np.nanpercentile", weights)
    q = np.asarray(plain("np.nanpercentile", q)) / 100
    return _quantile(paddle.nanquantile, a, q, axis, keepdims, method)


def _median_by(function: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    x = as_tensor(a)
    flat, along, axes = _merged(x, axis)
    result = function(flat, axis=along)
    return _keeping(result, x.ndim, axes) if given(keepdims) and keepdims else result


@covers("median")
def _median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    return _median_by(paddle.median, a, axis, keepdims)


@covers("nanmedian")
def _nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    keepdims: Any = UNSET,
) -> Any:  # fmt: skip
    return _median_by(paddle.nanmedian, a, axis, keepdims)


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


@covers("corrcoef")
def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    return linalg.corrcoef(_variables(x, y, rowvar, dtype))


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """One variable in each row."""

    def rows(a: Any) -> Any:
        a = as_tensor(a)
        a = a.astype(dtype) if dtype is not None else a
        return paddle.matrix_transpose(a) if not rowvar and a.ndim == 2 and a.shape[0] != 1 else a

    if y is None:
        return rows(m)
    return paddle.concat([paddle.atleast_2d(rows(m)), paddle.atleast_2d(rows(y))], axis=0)


@covers("bincount")
def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    x = as_tensor(x)
    if weights is None or not carries_gradient(weights):
        return paddle.bincount(x, weights=weights, minlength=minlength)
    values = as_tensor(weights)
    size = max(int(plain("np.bincount", x).max(initial=-1)) + 1, minlength)
    return paddle.index_add(paddle.zeros([size], values.dtype), x, 0, values)
