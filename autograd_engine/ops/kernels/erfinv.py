"""The inverse of the error function.

erfinv(x) / x is a smooth function of w = -log(1 - x^2), computed as -log((1 - x) (1 + x)) so that
nothing is lost near 1; for large w it is one of sqrt(w) (M. Giles, "Approximating the erfinv
function", GPU Computing Gems, 2011). The polynomials below interpolate it in the Chebyshev points
of three intervals; they were found with mpmath in 40 digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.ops.kernels.double import in_double

__all__ = ["erfinv"]

Array = NDArray[Any]

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
    if large.any():
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
