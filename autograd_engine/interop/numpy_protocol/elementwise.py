"""NumPy's functions of each element that are no ufuncs, and those along a curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.dtypes import COMPLEX, FLOATS
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import (
    UNSET,
    as_tensor,
    as_tensors,
    floating,
    floats,
    given,
    of_values,
    plain,
)
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


@covers("angle")
def _angle(z: Any, deg: bool = False) -> Any:
    made = paddle.angle(floating(z))
    return paddle.rad2deg(made) if deg else made


covers("round", "around")(lambda a, decimals=0, out=None: paddle.round(as_tensor(a), decimals))
covers("fix")(lambda x, out=None: paddle.trunc(as_tensor(x)))
covers("i0")(lambda x: paddle.i0(floating(x)))
covers("sinc")(lambda x: paddle.sinc(floating(x)))


@covers("real")
def _real(val: Any) -> Any:
    x = as_tensor(val)
    return paddle.real(x) if x.dtype.dtype in COMPLEX else x


@covers("imag")
def _imag(val: Any) -> Any:
    x = as_tensor(val)
    return paddle.imag(x) if x.dtype.dtype in COMPLEX else paddle.zeros_like(x)


@covers("real_if_close")
def _real_if_close(a: Any, tol: float = 100) -> Any:
    x = as_tensor(a)
    if x.dtype.dtype not in COMPLEX:
        return x
    part = np.real_if_close(plain("np.real_if_close", x), tol)
    return x if part.dtype in COMPLEX else paddle.real(x)


@covers("nan_to_num")
def _nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    if not copy:
        raise ArgumentError("np.nan_to_num: copy=False writes in place; use the result instead")
    return paddle.nan_to_num(as_tensor(x), nan, posinf, neginf)


@covers("isclose")
def _isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    x, y = as_tensors(a, b)
    return paddle.isclose(x, y, rtol, atol, equal_nan)


covers("isneginf")(lambda x, out=None: paddle.isneginf(as_tensor(x)))
covers("isposinf")(lambda x, out=None: paddle.isposinf(as_tensor(x)))
covers("isreal")(lambda x: paddle.isreal(as_tensor(x)))


@covers("clip")
def _clip(
    a: Any,
    a_min: Any = UNSET,
    a_max: Any = UNSET,
    out: Any = None,
    *,
    min: Any = UNSET,
    max: Any = UNSET,
) -> Any:
    x = as_tensor(a)
    low = a_min if min is UNSET else min
    high = a_max if max is UNSET else max
    numbers = (int, float, np.generic)
    if all(not given(v) or isinstance(v, numbers) for v in (low, high)):
        low = low.item() if isinstance(low, np.generic) else low
        high = high.item() if isinstance(high, np.generic) else high
        kinds = {type(v) for v in (low, high) if given(v)}
        if x.dtype.dtype in FLOATS or float not in kinds:
            bounds = [v if given(v) else None for v in (low, high)]
            return paddle.clip(x, *bounds)
    if given(low):
        x = _inside(paddle.greater_equal, x, low)
    return _inside(paddle.less_equal, x, high) if given(high) else x


def _inside(compare: Any, x: Any, bound: Any) -> Any:
    """x where it is inside of the bound or on it, with all of the gradient; else the bound."""
    x, bound = as_tensors(x, bound)
    return paddle.where(paddle.logical_or(compare(x, bound), paddle.isnan(x)), x, bound)


# --- along a curve


@covers("trapezoid")
def _trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    if x is None:
        return paddle.trapezoid(floating(y), dx=dx, axis=axis)
    y, x = floats(y, x)
    steps = paddle.diff(x, axis=-1 if x.ndim == 1 else axis)
    if steps.ndim == 1 and y.ndim > 1:
        steps = paddle.reshape(steps, [-1 if k == axis % y.ndim else 1 for k in range(y.ndim)])
    last, first = _ends(y, axis)
    return paddle.sum(steps * (last + first) * 0.5, axis=axis)


def _ends(y: Any, axis: int) -> tuple[Any, Any]:
    """All but the first along an axis, and all but the last."""
    size = y.shape[axis]
    return paddle.slice(y, [axis], [1], [size]), paddle.slice(y, [axis], [0], [size - 1])


@covers("interp")
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    x, xs, ys = floats(x, xp, fp)
    if period is not None:
        period = abs(float(period))
        x, xs = paddle.remainder(x, period), paddle.remainder(xs, period)
        order = paddle.argsort(xs)
        xs, ys = paddle.take(xs, order), paddle.take(ys, order)
        xs = paddle.concat([xs[-1:] - period, xs, xs[:1] + period])
        ys = paddle.concat([ys[-1:], ys, ys[:1]])
    last = xs.shape[0] - 1
    right_of = paddle.searchsorted(xs, x, right=True) if x.ndim else paddle.reshape(
        paddle.searchsorted(xs, paddle.reshape(x, [1]), right=True), []
    )  # fmt: skip
    k = paddle.clip(right_of - 1, 0, max(last - 1, 0))
    x0, y0 = paddle.take(xs, k), paddle.take(ys, k)
    x1, y1 = (paddle.take(v, paddle.clip(k + 1, 0, last)) for v in (xs, ys))
    width = paddle.where(paddle.equal(x1, x0), paddle.ones_like(x1), x1 - x0)
    made = y0 + (y1 - y0) * ((x - x0) / width)
    low, high = (ys[0] if left is None else left), (ys[-1] if right is None else right)
    made = paddle.where(paddle.less_than(x, xs[0]), low, made)
    made = paddle.where(paddle.greater_than(x, xs[-1]), high, made)
    return paddle.where(paddle.equal(x, xs[-1]), ys[-1], made)


@covers("gradient")
def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    y = floating(f)
    axes = range(y.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(k % y.ndim for k in axes)
    steps = list(varargs) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    if len(steps) != len(axes):
        raise TypeError(f"np.gradient: {len(steps)} spacings for {len(axes)} axes")
    if edge_order not in (1, 2):
        raise ArgumentError(f"np.gradient: edge_order must be 1 or 2, got {edge_order}")
    made = tuple(_slope(y, k, h, edge_order) for k, h in zip(axes, steps, strict=True))
    return made[0] if len(axes) == 1 else made


def _slope(y: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    """The derivative along one axis: second order inside, `edge_order` at both ends."""
    n = y.shape[axis]
    if n < edge_order + 1:
        raise ArgumentError(f"np.gradient: axis {axis} has {n} elements; {edge_order + 1} needed")
    h = as_tensors(y, spacing)[1]
    steps = paddle.diff(h).astype(y.dtype) if h.ndim else h.astype(y.dtype) * paddle.ones(
        [n - 1], y.dtype
    )  # fmt: skip
    steps = paddle.reshape(steps, [-1 if k == axis else 1 for k in range(y.ndim)])

    def part(x: Any, start: int, stop: int) -> Any:
        return paddle.slice(x, [axis], [start], [stop])

    slopes = (part(y, 1, n) - part(y, 0, n - 1)) / steps
    before, after = part(steps, 0, n - 2), part(steps, 1, n - 1)
    left, right = part(slopes, 0, n - 2), part(slopes, 1, n - 1)
    inside = (after * left + before * right) / (before + after)
    first, last = part(slopes, 0, 1), part(slopes, n - 2, n - 1)
    if edge_order == 2:  # the parabola through three points
        a, b = part(steps, 0, 1), part(steps, 1, 2)
        first = first + (first - part(slopes, 1, 2)) * (a / (a + b))
        a, b = part(steps, n - 2, n - 1), part(steps, n - 3, n - 2)
        last = last + (last - part(slopes, n - 3, n - 2)) * (a / (a + b))
    return paddle.concat([first, inside, last], axis=axis)


@covers("unwrap")
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    x = floating(p)
    # What is added is a whole number of periods: a constant.
    settings = {"discont": discont, "axis": axis, "period": period}
    straight = of_values("np.unwrap", np.unwrap, (x,), settings)
    return x + (straight.astype(x.dtype) - x.detach())
