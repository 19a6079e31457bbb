"""NumPy's polynomials, highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine import linalg
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.joining import _convolve, _vander
from autograd_engine.interop.numpy_protocol.operands import as_tensors, floats
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


def _coefficients(*polynomials: Any) -> list[Any]:
    return [paddle.atleast_1d(p) for p in floats(*polynomials)]


@covers("polyval")
def _polyval(p: Any, x: Any) -> Any:
    p, x = as_tensors(p, x)
    (p,) = _coefficients(p)
    made = paddle.zeros_like(x)
    for c in paddle.unbind(p):  # Horner
        made = made * x + c
    return made


def _sum_of(a1: Any, a2: Any, sign: float) -> Any:
    x, y = _coefficients(a1, a2)
    size = max(x.shape[0], y.shape[0])

    def padded(p: Any) -> Any:
        return paddle.concat([paddle.zeros([size - p.shape[0]], p.dtype), p])

    return padded(x) + sign * padded(y)


covers("polyadd")(lambda a1, a2: _sum_of(a1, a2, 1.0))
covers("polysub")(lambda a1, a2: _sum_of(a1, a2, -1.0))
covers("polymul")(lambda a1, a2: _convolve(*_coefficients(a1, a2)))


@covers("polyder")
def _polyder(p: Any, m: int = 1) -> Any:
    (p,) = _coefficients(p)
    for _ in range(m):
        powers = np.arange(p.shape[0] - 1, 0, -1)
        p = p[:-1] * paddle.to_tensor(powers, p.dtype)
    return p


@covers("polyint")
def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    (p,) = _coefficients(p)
    if k is None:
        k = np.zeros(m)
    constants = _coefficients(p, k)[1].astype(p.dtype)
    if constants.shape[0] == 1 and m > 1:
        constants = paddle.tile(constants, [m])
    for j in range(m):
        powers = np.arange(p.shape[0], 0, -1)
        p = paddle.concat([p / paddle.to_tensor(powers, p.dtype), constants[j : j + 1]])
    return p


@covers("poly")
def _poly(seq_of_zeros: Any) -> Any:
    (zeros,) = _coefficients(seq_of_zeros)
    if zeros.ndim != 1:
        raise ArgumentError("np.poly: the zeros must be a vector; use np.linalg.eigvalsh first")
    made = paddle.ones([1], zeros.dtype)
    for zero in paddle.unbind(zeros):
        made = paddle.concat([made, paddle.zeros([1], zeros.dtype)]) - paddle.concat(
            [paddle.zeros([1], zeros.dtype), made * zero]
        )
    return made


@covers("polyfit")
def _polyfit(
    x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    if full or cov:
        raise ArgumentError("np.polyfit: full and cov are not taken on tensors; use t.numpy()")
    x, y = floats(x, y)
    powers = _vander(x, int(deg) + 1)
    if w is not None:
        _, weights = floats(y, w)
        powers = powers * paddle.unsqueeze(weights, -1)
        y = y * (weights if y.ndim == 1 else paddle.unsqueeze(weights, -1))
    scale = paddle.sqrt(paddle.sum(powers * powers, axis=0))  # for the condition of the system
    flat = y.ndim == 1
    made = linalg.lstsq(powers / scale, paddle.unsqueeze(y, -1) if flat else y)[0]
    made = paddle.squeeze(made, -1) if flat else made
    return made / (scale if flat else paddle.unsqueeze(scale, -1))
