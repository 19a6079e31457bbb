"""Activations that earn a kernel of their own: by stability, or by saving less."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_engine.core.spec import Array
from autograd_engine.ops.infer import same
from autograd_engine.ops.kernels import columns, rows
from autograd_engine.ops.kernels.compiled import MANY_STEPS
from autograd_engine.ops.kernels.elementwise import log_of_1_and
from autograd_engine.ops.kernels.gelu import gelu
from autograd_engine.ops.registry.forms import ELEMENTWISE
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.work import each_element, each_read

_SQRT_HALF = math.sqrt(0.5)
_PDF_0 = 1.0 / math.sqrt(2.0 * math.pi)


_ZEROS: dict[np.dtype[Any], Array] = {}
_ROW = 1 << 12
_MANY = 1 << 15  # elements from which on `_relu` goes by rows


def _relu(x: Array) -> Array:
    # An array of no dimensions spares NumPy working out what dtype the scalar takes.
    zero = _ZEROS.get(x.dtype)
    if zero is None:
        zero = _ZEROS[x.dtype] = np.zeros((), x.dtype)
    # NumPy takes half the time for two arrays that it does for an array and a number.
    if x.__class__ is np.ndarray and x.size >= _MANY and x.flags.c_contiguous:
        whole = x.size // _ROW * _ROW
        flat, out = x.reshape(-1), np.empty(x.size, x.dtype)
        zeros = np.zeros(_ROW, x.dtype)
        table = flat[:whole].reshape(-1, _ROW)
        np.maximum(table, zeros, out=out[:whole].reshape(-1, _ROW))
        np.maximum(flat[whole:], zero, out=out[whole:])
        return out.reshape(x.shape)
    above: Array = np.maximum(x, zero)
    return above if above.__class__ is np.ndarray else np.asarray(above)


def _sigmoid(x: Array) -> Array:
    """exp(min(x, 0)) / (1 + exp(-|x|)), which cannot overflow; the former is exp(-|x|) or 1."""
    e = np.exp(-np.abs(x))
    return np.asarray(np.maximum(e, np.sign(x)) / (e + 1.0))


def _bell(x: Array) -> Array:
    # The square may overflow, in float16 beyond 256; exp(-inf) is the 0 that is meant.
    with np.errstate(over="ignore"):
        square = x * x
    return np.asarray(np.exp(-square))


def _silu(x: Array) -> Array:
    return np.asarray(x * _sigmoid(x))


def _silu_x(xp: Any, g: Any, x: Any) -> Any:
    """With s the sigmoid: d/dx x s = s + x s (1 - s)"""
    s = xp.sigmoid(x)
    return g * (s * (x * (1.0 - s) + 1.0))


# (1 + tanh(u)) / 2 is the sigmoid of 2 u, which is as accurate where u is negative. At 22 it is 0
# or 1 in every dtype, and the cube does not leave the range of float16.
_TWICE = math.sqrt(8.0 / math.pi)
_CUBED = 0.044715
_END = 22.0


def _gelu_tanh(x: Array) -> Array:
    above = np.maximum(x, -_END)
    near = np.minimum(above, _END)
    return np.asarray(above * _sigmoid(_TWICE * (near + _CUBED * (near * (near * near)))))


def _gelu_tanh_x(xp: Any, g: Any, x: Any) -> Any:
    """With s the sigmoid of t: d/dx x s = s + x s (1 - s) dt/dx"""
    near = xp.minimum(xp.maximum(x, -_END), _END)
    square = near * near
    s = xp.sigmoid(_TWICE * (near + _CUBED * (near * square)))
    slope = _TWICE * (1.0 + (3.0 * _CUBED) * square)
    return g * (s + near * s * ((1.0 - s) * slope))


def _softplus(x: Array) -> Array:
    """log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)): nothing overflows, no digits cancel."""
    return np.asarray(np.maximum(x, 0.0) + log_of_1_and(np.exp(-np.abs(x))))


def _log_sigmoid(x: Array) -> Array:
    return np.asarray(np.minimum(x, 0.0) - log_of_1_and(np.exp(-np.abs(x))))


def _mish(x: Array) -> tuple[Array, Array]:
    """x t with t = tanh(log(1 + exp(x))) (Misra 2019), and its slope t + x s (1 - t^2), s sigmoid.

    With n = (1 + exp(x))^2 - 1, t is n / (n + 2). Above 0 both are divided by exp(2 x): nothing
    overflows, and nothing is subtracted.
    """
    e = np.exp(-np.abs(x))
    above = x > 0.0
    square = e * e
    over = (e + e) + np.where(above, 1.0, square)
    rest = np.where(above, square + square, 2.0)
    under = over + rest
    t = over / under
    slope = t + x * (np.where(above, 1.0, e) / (e + 1.0)) * (rest / under * (t + 1.0))
    return np.asarray(x * t), np.asarray(slope)


def _elu(x: Array, *, alpha: float) -> Array:
    # The branch that is not taken is computed at 0, where it cannot overflow.
    return np.where(x > 0.0, x, alpha * np.expm1(np.minimum(x, 0.0)))


def _selu(x: Array, *, alpha: float, scale: float) -> Array:
    return np.asarray(scale * _elu(x, alpha=alpha))


def _leaky_relu(x: Array, *, negative_slope: float) -> Array:
    return np.where(x < 0.0, x * negative_slope, x)


def _hardswish(x: Array) -> Array:
    # A sixth first: 6 * x would leave the range of float16 early.
    return np.asarray(x * (np.minimum(np.maximum(x + 3.0, 0.0), 6.0) * (1.0 / 6.0)))


def _celu(x: Array, *, alpha: float) -> Array:
    # Only what is below is divided: x / alpha may leave the range that x is in.
    return np.where(x > 0.0, x, alpha * np.expm1(np.minimum(x, 0.0) / alpha))


def _hardtanh(x: Array, *, low: float, high: float) -> Array:
    return np.asarray(np.minimum(np.maximum(x, low), high))


def _hardsigmoid(x: Array, *, slope: float, offset: float) -> Array:
    return np.asarray(np.minimum(np.maximum(x * slope + offset, 0.0), 1.0))


def _hardshrink(x: Array, *, threshold: float) -> Array:
    return np.where(np.abs(x) < threshold, 0.0, x)


def _softshrink(x: Array, *, threshold: float) -> Array:
    near = -np.minimum(-np.minimum(x, threshold), threshold)  # C is traced: no -threshold
    return np.asarray(x - near)


def _softmax(x: Array, *, axis: int) -> Array:
    shape = rows.softmax_lines(x, axis)
    if shape is not None:
        return rows.softmax(x, shape)
    done = columns.softmax_terms(x, axis)
    if done is not None:
        return done[0]
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf))
    return np.asarray(e / _sum_keep(e, axis))


def _softmax_adjoint(y: Array, out: Array, *, axis: int) -> Array:
    """out (y - <y, out>), the products taken along `axis`."""
    shape = rows.softmax_lines(out, axis)
    if shape is not None:
        return rows.softmax_adjoint(y, out, shape)
    done = columns.softmax_adjoint(y, out, axis)
    if done is not None:
        return done
    return np.asarray(out * (y - _sum_keep(y * out, axis)))


def _log_softmax(x: Array, *, axis: int) -> Array:
    shape = rows.softmax_lines(x, axis)
    if shape is not None:
        return rows.log_softmax(x, shape)
    done = columns.log_softmax(x, axis)
    if done is not None:
        return done
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    if not x.size:  # the logarithm of an empty sum would warn
        return shifted
    return np.asarray(shifted - np.log(_sum_keep(np.exp(shifted), axis)))


def _log_softmax_adjoint(y: Array, out: Array, *, axis: int) -> Array:
    """y - exp(out) sum(y), the sums taken along `axis`."""
    shape = rows.softmax_lines(out, axis)
    if shape is not None:
        return rows.log_softmax_adjoint(y, out, shape)
    done = columns.log_softmax_adjoint(y, out, axis)
    if done is not None:
        return done
    return np.asarray(y - np.exp(out) * _sum_keep(y, axis))


def _sum_keep(e: Array, axis: int) -> Array:
    """Sum over one kept axis."""
    return np.add.reduce(e, axis=axis, keepdims=True)


defop(
    "relu",
    _relu,
    takes="bif",
    inputs="x",
    infer=same,
    tangent="elementwise",
    zero_gradient="inactive",
).vjp(x=lambda xp, g, out: g * xp.greater_than(out, 0.0))
defop("sigmoid", _sigmoid, **ELEMENTWISE, takes="bif", zero_gradient="saturated").vjp(
    x=lambda xp, g, out: g * (out * (1.0 - out))
)


def _gelu_x(xp: Any, g_out: Any, g_slope: Any, x: Any, slope: Any) -> Any:
    """The slope was made with the value, which costs little more than the value alone.

    That of the slope is phi(x) (2 - x^2), phi the normal density.
    """
    if g_slope is None:
        return g_out * slope
    bell = xp.bell(x * _SQRT_HALF)
    dx = g_slope * (_PDF_0 * (2.0 * bell - x * (x * bell)))
    return dx if g_out is None else g_out * slope + dx


_WITH_SLOPE: Final[dict[str, Any]] = {
    "inputs": "x",
    "outputs": "out slope",
    "infer": lambda x: (x, x),
    "dtypes": "floating",
    "takes": "bif",
    "lazy_cotangents": True,
    "elementwise": True,
    "work": each_element(4),
    "zero_gradient": "saturated",
    "c_from": MANY_STEPS,
}
defop("gelu", gelu, **_WITH_SLOPE, result="contiguous").vjp(x=_gelu_x)


def _mish_x(xp: Any, g_out: Any, g_slope: Any, x: Any, slope: Any) -> Any:
    """With u = s (1 - t^2), the derivative of t, that of the slope is u (2 + x (1 - s - 2 s t))."""
    if g_slope is None:
        return g_out * slope
    s, t = xp.sigmoid(x), xp.tanh(xp.softplus(x))
    dx = g_slope * (s * (1.0 - t * t) * (x * (1.0 - s * (2.0 * t + 1.0)) + 2.0))
    return dx if g_out is None else g_out * slope + dx


defop("mish", _mish, **_WITH_SLOPE).vjp(x=_mish_x)
defop(
    "gelu_tanh",
    _gelu_tanh,
    **ELEMENTWISE,
    takes="bif",
    work=each_element(4),
    zero_gradient="saturated",
).vjp(x=_gelu_tanh_x)
# exp(-x * x), the density behind erf and gelu
defop("bell", _bell, **ELEMENTWISE, takes="bif", work=each_element(3)).vjp(
    x=lambda xp, g, x, out: g * (-2.0 * (x * out))
)
defop(
    "silu", _silu, **ELEMENTWISE, takes="bif", work=each_element(3), zero_gradient="saturated"
).vjp(x=_silu_x)
_OF_EXP: Final[dict[str, Any]] = {
    **ELEMENTWISE,
    "takes": "bif",
    "zero_gradient": "saturated",
    "c_from": MANY_STEPS,
    "amp": "high",
}
defop("softplus", _softplus, **_OF_EXP).vjp(x=lambda xp, g, x: g * xp.sigmoid(x))
defop("log_sigmoid", _log_sigmoid, **_OF_EXP, types="logsigmoid").vjp(
    x=lambda xp, g, x: g * xp.sigmoid(-x)
)


def _elu_slope(xp: Any, x: Any, alpha: float) -> Any:
    """At 0 it is alpha, that of the side below."""
    return xp.where(xp.greater_than(x, 0.0), 1.0, alpha * xp.exp(xp.minimum(x, 0.0)))


defop("elu", _elu, **ELEMENTWISE, takes="bif", zero_gradient="inactive").vjp(
    x=lambda xp, g, x, *, alpha: g * _elu_slope(xp, x, alpha)
)
defop("selu", _selu, **ELEMENTWISE, takes="bif", zero_gradient="inactive").vjp(
    x=lambda xp, g, x, *, alpha, scale: g * (scale * _elu_slope(xp, x, alpha))
)
# At 0 the derivative is 1, that of the side above.
defop("leaky_relu", _leaky_relu, **ELEMENTWISE, takes="bif", zero_gradient="inactive").vjp(
    x=lambda xp, g, x, *, negative_slope: xp.where(xp.less_than(x, 0.0), g * negative_slope, g)
)
# Between -3 and 3 it is x (x + 3) / 6; at both the derivative is that of the side outside.
defop("hardswish", _hardswish, **ELEMENTWISE, takes="bif", zero_gradient="inactive").vjp(
    x=lambda xp, g, x: (
        g
        * xp.where(
            xp.less_equal(x, -3.0),
            0.0,
            xp.where(xp.greater_equal(x, 3.0), 1.0, x * (1.0 / 3.0) + 0.5),
        )
    )
)
_PIECEWISE: Final[dict[str, Any]] = {**ELEMENTWISE, "takes": "bif", "zero_gradient": "inactive"}
defop("celu", _celu, **_PIECEWISE).vjp(
    x=lambda xp, g, x, *, alpha: (
        g * xp.where(xp.greater_than(x, 0.0), 1.0, xp.exp(xp.minimum(x, 0.0) / alpha))
    )
)


def _inside(xp: Any, x: Any, low: float, high: float, g: Any) -> Any:
    """`g` where x is between, and 0 at both ends and beyond."""
    return xp.where(xp.less_equal(x, low), 0.0, xp.where(xp.greater_equal(x, high), 0.0, g))


defop("hardtanh", _hardtanh, **_PIECEWISE, types="relu6 hard_tanh").vjp(
    x=lambda xp, g, x, *, low, high: _inside(xp, x, low, high, g)
)
defop("hardsigmoid", _hardsigmoid, **_PIECEWISE).vjp(
    x=lambda xp, g, x, *, slope, offset: _inside(xp, x * slope + offset, 0.0, 1.0, g * slope)
)
# At the threshold the derivative of the one is 1, and that of the other 0.
defop("hardshrink", _hardshrink, **_PIECEWISE).vjp(
    x=lambda xp, g, x, *, threshold: xp.where(xp.less_than(xp.abs(x), threshold), 0.0, g)
)
defop("softshrink", _softshrink, **_PIECEWISE).vjp(
    x=lambda xp, g, x, *, threshold: xp.where(xp.less_equal(xp.abs(x), threshold), 0.0, g)
)
_SOFTMAX: Final[dict[str, Any]] = {
    "inputs": "x",
    "infer": same,
    "dtypes": "floating",
    "takes": "bif",
    "work": each_read(5),
    "nan_hint": "a row that is masked everywhere has no softmax: leave one entry of it",
    "zero_gradient": "saturated",
}
_SOFTMAX_ADJOINT: Final[dict[str, Any]] = {
    "inputs": "y out",
    "outputs": "dx",
    "infer": lambda y, out, *, axis: out,
    "dtypes": "common",
    "work": each_read(4),
}
defop("softmax", _softmax, **_SOFTMAX, amp="high").vjp(
    x=lambda xp, g, out, *, axis: xp.softmax_adjoint(g, out, axis=axis)
)
# Linear in y and its own adjoint.
defop("softmax_adjoint", _softmax_adjoint, **_SOFTMAX_ADJOINT).vjp(
    y=lambda xp, g, out, *, axis: xp.softmax_adjoint(g, out, axis=axis),
    out=lambda xp, g, y, out, *, axis: (
        g * (y - xp.sum(y * out, axis=(axis,), keepdims=True))
        - y * xp.sum(g * out, axis=(axis,), keepdims=True)
    ),
)
defop("log_softmax", _log_softmax, **_SOFTMAX, amp="high").vjp(
    x=lambda xp, g, out, *, axis: xp.log_softmax_adjoint(g, out, axis=axis)
)
# Linear in y. `out` is what log_softmax gave: none of it is above 0.
defop("log_softmax_adjoint", _log_softmax_adjoint, **_SOFTMAX_ADJOINT).vjp(
    y=lambda xp, g, out, *, axis: g - xp.sum(g * xp.exp(out), axis=(axis,), keepdims=True),
    out=lambda xp, g, y, out, *, axis: (
        -(g * (xp.exp(out) * xp.sum(y, axis=(axis,), keepdims=True)))
    ),
)
