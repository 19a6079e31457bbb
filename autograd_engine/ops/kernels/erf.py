"""The error function and its inverse.

erf(x) is 2 / sqrt(pi) times the integral of exp(-t^2) for t from 0 to x, and odd. For x >= 0 let
a = min(x, c) and u = min(x, top) - a, which is 0 up to c. Then

    erf(x) = near(a) + rest * far(u),       rest = 1 - near(c) = erfc(c)
    near(a) = a + a S(a^2),                 S(t) = erf(sqrt t) / sqrt t - 1
    far(u) = 1 - erfc(c + u) / erfc(c) = 1 - (1 - u W(u))^16

One of the two terms is constant on each side of c, so nothing is selected per element, and the
second is exactly 0 up to c, so the relative error near 0 is that of `near`. Past `top` erf rounds
to 1, and so does the sum, because 1 - near(c) is an exact difference.

The sixteenth root of erfc falls so gently that W is a polynomial of low degree. Its power is
undone by four steps v -> v (2 - v) = 1 - (1 - v)^2, each of which keeps the relative error of v.
Sums, products and minima are all there is, so the bits depend on neither machine nor position.

S on [0, c^2] and W on [0, top - c] are the polynomials of least maximal relative error in erf,
found by Remez exchange with mpmath in 40 digits (weights 1 / (1 + S), and d erf / d W / erf =
16 u erfc(c + u)^(15/16) erfc(c)^(1/16) / erf(c + u)), then rounded to the dtype. They contribute
at most 2.6e-18 and 6.1e-17 in float64, 8.5e-9 and 7.8e-9 in float32; the rest is rounding.

erfinv(x) / x is a smooth function of w = -log(1 - x^2), computed as -log((1 - x) (1 + x)) so that
nothing is lost near 1; for large w it is one of sqrt(w) (M. Giles, "Approximating the erfinv
function", GPU Computing Gems, 2011). The polynomials below interpolate it in the Chebyshev points
of three intervals; they were found with mpmath in 40 digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import BLAS_REALS, HALVES, result_type
from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.branches import perhaps
from autograd_engine.ops.kernels.precision import in_double

__all__ = ["erf", "erfinv"]

# Bytes of one scratch array: large enough to hide the cost of a call, small enough for a cache.
_BLOCK_BYTES = 1 << 17


class _Table(NamedTuple):
    """Where the pieces meet and end; coefficients of S and W from the highest power down."""

    c: float
    top: float
    near: tuple[float, ...]
    far: tuple[float, ...]


_FLOAT64 = _Table(
    c=1.125,
    top=5.95,
    near=(
        5.265727231181895e-11,
        -1.0921378543237676e-09,
        1.4530371735934702e-08,
        -1.6328936519849505e-07,
        1.645875430067083e-06,
        -1.4925438924936241e-05,
        0.0001205532383337286,
        -0.0008548326757262601,
        0.00522397762045538,
        -0.026866170644573615,
        0.11283791670951876,
        -0.37612638903183676,
        0.12837916709551256,
    ),
    far=(
        9.593253572951658e-13,
        -8.09993457818408e-12,
        -1.0797153669110503e-10,
        2.502854194385904e-09,
        -2.3365194774903255e-08,
        1.3220194655944067e-07,
        -4.7368857581442834e-07,
        1.3641827589260833e-06,
        -6.580437230240242e-06,
        7.525552976114045e-06,
        0.0003309193952598543,
        -0.0015915009085816002,
        -0.006308748517772228,
        0.037729600093875604,
        0.17822603036925214,
    ),
)
_FLOAT32 = _Table(
    c=0.875,
    top=4.1,
    near=(
        -0.000620325153,
        0.00503218433,
        -0.0267914683,
        0.112824556,
        -0.376125505,
        0.128379158,
    ),
    far=(
        -7.63735533e-06,
        0.000341640639,
        -0.00194892525,
        -0.0043175484,
        0.0401214215,
        0.151888855,
    ),
)


def erf(x: Array) -> Array:
    """Error function of each element.

    Parameters
    ----------
    x : array of float16, float32 or float64

    Returns
    -------
    array of the shape and dtype of `x`
        Within 2 units in the last place; odd, so the sign of zero is kept; 1 at infinity; NaN
        at NaN. Never warns.

    Raises
    ------
    TypeError
        If `x` has another dtype.

    Examples
    --------
    >>> erf(np.array([-np.inf, 0.0, 0.5]))
    array([-1.        ,  0.        ,  0.52049988])
    """
    x = np.asarray(x)
    if x.dtype not in HALVES and x.dtype not in BLAS_REALS:
        raise TypeError(f"erf takes float16, float32 or float64, got {x.dtype}; convert it first")
    dtype = result_type(x, np.float32)
    pieces = _PIECES[dtype]
    out: Array = np.empty(x.shape, dtype)
    size = _BLOCK_BYTES // out.itemsize
    scratch = np.empty((3, min(size, x.size)), dtype)
    flat_x, flat_out = x.astype(dtype, copy=False).reshape(-1), out.reshape(-1)
    # Tiny arguments underflow when squared, which is exact enough and nobody's concern.
    with np.errstate(all="ignore"):
        for start in range(0, x.size, size):
            block = slice(start, start + size)
            _erf_block(flat_x[block], flat_out[block], scratch, pieces)
        return out.astype(x.dtype, copy=False)


class _Pieces:
    """A table in one dtype. Its constants are 0-d arrays: a ufunc takes a float in more slowly."""

    def __init__(self, table: _Table, dtype: type[np.floating[Any]]) -> None:
        self.two = np.array(2, dtype)
        self.c = np.array(table.c, dtype)
        self.top = np.array(table.top, dtype)
        self.near = [np.array(coefficient, dtype) for coefficient in table.near]
        self.far = [np.array(coefficient, dtype) for coefficient in table.far]
        # From near(c) as it is rounded in use, so that their sum is exactly 1.
        t, y = np.empty(1, dtype), np.empty(1, dtype)
        _near(self.c, self.near, t, y)
        self.rest = (1 - y).reshape(())


def _erf_block(x: Array, y: Array, scratch: Array, p: _Pieces) -> None:
    """Write erf(x) into `y`, both of one dimension."""
    a, u, t = scratch[:, : x.size]
    np.abs(x, out=t)
    np.minimum(t, p.top, out=t)
    np.minimum(t, p.c, out=a)
    np.subtract(t, a, out=u)
    _near(a, p.near, t, y)
    _polynomial(u, p.far, t)
    np.multiply(t, u, out=t)
    for _ in range(4):
        np.subtract(p.two, t, out=a)
        np.multiply(t, a, out=t)
    np.multiply(t, p.rest, out=t)
    np.add(y, t, out=y)
    np.copysign(y, x, out=y)


def _near(a: Array, near: list[Array], t: Array, y: Array) -> None:
    """Write a + a S(a^2) into `y`; `t` is scratch."""
    np.multiply(a, a, out=t)
    _polynomial(t, near, y)
    np.multiply(y, a, out=y)
    np.add(y, a, out=y)


def _polynomial(t: Array, coefficients: list[Array], y: Array) -> None:
    """Write the polynomial in `t` into `y`, by Horner's rule."""
    np.multiply(t, coefficients[0], out=y)
    for coefficient in coefficients[1:-1]:
        np.add(y, coefficient, out=y)
        np.multiply(y, t, out=y)
    np.add(y, coefficients[-1], out=y)


_PIECES = {
    np.dtype(np.float32): _Pieces(_FLOAT32, np.float32),
    np.dtype(np.float64): _Pieces(_FLOAT64, np.float64),
}


# Interval, and coefficients from the lowest power up of the variable that runs from -1 to 1 in it.
_NEAR = (0.0, 6.0)  # of w
_MIDDLE = (2.449489742783178, 4.0)  # of sqrt(w)
_FAR = (4.0, 6.1)
_NEAR_TERMS = (
    1.6235420064648298,
    0.7248912124984749,
    -0.05164321698905371,
    -0.022576907976551548,
    0.015799967277511966,
    -0.0030900907012091023,
    -0.0012742935284965119,
    0.0009841181254748599,
    -0.00015542173302415948,
    -0.00010761048394638062,
    6.559147704275708e-05,
    -5.566942132589193e-06,
    -9.209095952234993e-06,
    4.303022343838663e-06,
    2.9610315901774704e-08,
    -7.594836362330169e-07,
    2.728732674903525e-07,
    3.5392072457962174e-08,
    -6.29741653302746e-08,
    1.4963424189401708e-08,
    7.1169767139452206e-09,
    -4.0964285191008486e-09,
    -3.2035603189848607e-10,
    4.082529185839612e-10,
)
_MIDDLE_TERMS = (
    3.0585011531198494,
    0.7791161624172204,
    0.003404744390766291,
    -0.0018702888135759446,
    0.000980348868548125,
    -0.0005145777398283337,
    0.00022066187486381709,
    -6.0294402192582355e-05,
    9.289206634007398e-07,
    8.159808959617771e-06,
    -3.971267434468626e-06,
    6.912339195166173e-07,
    2.0352813704126487e-07,
    -1.6476499939006535e-07,
    4.229456215508409e-08,
    1.826165219644529e-09,
    -5.679948415101442e-09,
    1.8403840232923707e-09,
    1.0828708088754651e-10,
    -1.527934704009194e-10,
)
_FAR_TERMS = (
    4.90042105144364,
    1.06079926847766,
    -0.00018726854582615924,
    -0.00023188618669362003,
    8.659304743598535e-05,
    -2.3451082248504627e-05,
    5.6201776050329834e-06,
    -1.2763576425122627e-06,
    2.9781890431846496e-07,
    -8.522914099015434e-08,
    3.5731438657974675e-08,
    -1.9146605883283862e-08,
    1.011053871325394e-08,
    -4.984996381194209e-09,
    2.3885240700769705e-09,
    -7.906839996972997e-10,
    2.0194198350168985e-12,
    6.307826181745234e-11,
)


@in_double
def erfinv(x: Array) -> Array:
    """Inverse of erf: infinite at -1 and 1, NaN outside."""
    w = -np.log((1.0 - x) * (1.0 + x))
    out = x * _on(w, _NEAR, _NEAR_TERMS)
    large = w > _NEAR[1]
    if perhaps(large.any()):
        root = np.sqrt(w[large])
        middle, far = _on(root, _MIDDLE, _MIDDLE_TERMS), _on(root, _FAR, _FAR_TERMS)
        tail = x[large] * np.where(root < _FAR[0], middle, far)
        out[large] = np.where(np.isinf(root), np.copysign(np.inf, x[large]), tail)
    return out


def _on(t: Array, interval: tuple[float, float], terms: tuple[float, ...]) -> Array:
    low, high = interval
    u = (t - 0.5 * (low + high)) * (2.0 / (high - low))
    total = np.full_like(u, terms[-1])
    for c in reversed(terms[:-1]):
        total = total * u + c
    return total
