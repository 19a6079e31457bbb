"""Special functions. A family that is closed under derivatives is one row, its order an attribute.

So a rule names the next member of its family, and holds at every order and at removable
singularities: no quotient is taken that is 0 / 0 where the function is smooth.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.spec import Array
from autograd_engine.ops.infer import broadcast
from autograd_engine.ops.kernels.bessel import bessel_i, bessel_ie
from autograd_engine.ops.kernels.compiled import MANY_STEPS
from autograd_engine.ops.kernels.elementwise import rounded_alike
from autograd_engine.ops.kernels.erf import erf, erfinv
from autograd_engine.ops.kernels.gamma import gamma_density, gammainc, gammaincc, lgamma, polygamma
from autograd_engine.ops.kernels.sinc import sinc
from autograd_engine.ops.registry.forms import ELEMENTWISE
from autograd_engine.ops.registry.opdef import NONDIFF, OpDef, defop


def _unary(name: str, kernel: Any, **options: Any) -> OpDef:
    return defop(name, kernel, **ELEMENTWISE, takes="bif", **options)


def _logit(x: Array) -> Array:
    """log(x / (1 - x)); in the middle 2 artanh(2x - 1), in which nothing cancels."""
    middle = np.abs(x - 0.5) < 0.25
    inside = np.where(middle, x, 0.5)
    outside = np.where(middle, 0.25, x)
    ends = np.log(outside) - np.log1p(-outside)
    return np.where(middle, 2.0 * np.arctanh(2.0 * inside - 1.0), ends)


_unary("logit", _logit, amp="high").vjp(x=lambda xp, g, x: g / (x * (1.0 - x)))
_unary("erf", rounded_alike(erf), zero_gradient="saturated", c_from=MANY_STEPS).vjp(
    x=lambda xp, g, x: g * (2.0 / math.sqrt(math.pi) * xp.bell(x))
)
_unary("erfinv", erfinv, amp="high").vjp(
    x=lambda xp, g, out: g * (0.5 * math.sqrt(math.pi) * xp.exp(out * out))
)
_unary("sinc", sinc).vjp(x=lambda xp, g, x, *, n: g * xp.sinc(x, n=n + 1))

# --- the gamma function

_unary("lgamma", lgamma, amp="high").vjp(x=lambda xp, g, x: g * xp.polygamma(x, n=0))
_unary("polygamma", polygamma, amp="high").vjp(
    x=lambda xp, g, x, *, n: g * xp.polygamma(x, n=n + 1)
)


def _of_two(name: str, kernel: Any) -> OpDef:
    return defop(
        name,
        kernel,
        inputs="x y",
        infer=broadcast(name),
        broadcasts=0,
        dtypes="floating",
        takes="bif",
        tangent="elementwise",
        amp="high",
    )


# The derivative in y of gammainc is the density of the gamma distribution. That in x has no closed
# form.
_of_two("gammainc", gammainc).vjp(x=NONDIFF, y=lambda xp, g, x, y: g * xp.gamma_density(x, y))
_of_two("gammaincc", gammaincc).vjp(x=NONDIFF, y=lambda xp, g, x, y: -(g * xp.gamma_density(x, y)))
_of_two("gamma_density", gamma_density).vjp(
    x=lambda xp, g, x, y, out: g * (out * (xp.log(y) - xp.polygamma(x, n=0))),
    y=lambda xp, g, x, y, out: g * (xp.gamma_density(x - 1.0, y) - out),
)

# --- modified Bessel functions, I_n' = (I_(n-1) + I_(n+1)) / 2 and I_(-1) = I_1


def _neighbours(bessel: Any, x: Any, n: int) -> Any:
    if n == 0:
        return bessel(x, n=1)
    return 0.5 * (bessel(x, n=n - 1) + bessel(x, n=n + 1))


_unary("bessel_i", bessel_i, amp="high").vjp(
    x=lambda xp, g, x, *, n: g * _neighbours(xp.bessel_i, x, n)
)
_unary("bessel_ie", bessel_ie, amp="high").vjp(
    x=lambda xp, g, x, out, *, n: g * (_neighbours(xp.bessel_ie, x, n) - xp.sign(x) * out)
)
