"""Special functions: of the error, gamma and Bessel families."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.tensor.elementwise import clip

__all__ = [
    "digamma",
    "erf",
    "erfinv",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "lgamma",
    "logit",
    "multigammaln",
    "polygamma",
    "sinc",
]


# One term of a sum each: a slip of the hand should not take hours.
_MOST_DERIVATIVES = 1000


_MOST_DIMENSIONS = 100_000


def erf(x: Any, name: str | None = None) -> Tensor:
    """Error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    return ops.erf(x)


def erfinv(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `erf`: infinite at -1 and 1, NaN outside.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.erfinv(paddle.to_tensor([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.4769362807273865, inf]
    """
    return ops.erfinv(x)


@atomic
def logit(x: Any, eps: float | None = None, name: str | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of the sigmoid; infinite at 0 and 1, NaN outside.

    Parameters
    ----------
    x : Tensor
    eps : float, optional
        Limit x to [eps, 1 - eps] first; the gradient is 0 outside.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.logit(paddle.to_tensor([0.0, 0.5, 1.0]), eps=1e-6).tolist()
    [-13.815509796142578, 0.0, 13.80231761932373]
    """
    if eps is not None and not 0.0 <= eps <= 0.5:
        raise ArgumentError(f"logit: eps must be from 0 to 0.5, got {eps!r}")
    return ops.logit(clip(x, eps, 1.0 - eps) if eps else x)


def lgamma(x: Any, name: str | None = None) -> Tensor:
    """Logarithm of the absolute value of the gamma function; inf at 0, -1, -2, ...

    Its derivative is `digamma`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.lgamma(paddle.to_tensor([1.0, 4.0])).tolist()
    [0.0, 1.7917594909667969]
    """
    return ops.lgamma(x)


gammaln = lgamma


def digamma(x: Any, name: str | None = None) -> Tensor:
    """Derivative of `lgamma`; -inf at 0, NaN at -1, -2, ...

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.digamma(paddle.to_tensor([1.0])).tolist()
    [-0.5772156715393066]
    """
    return ops.polygamma(x, n=0)


@atomic
def polygamma(x: Any, n: int, name: str | None = None) -> Tensor:
    """The n-th derivative of `digamma`.

    Parameters
    ----------
    x : Tensor
    n : int
        Not negative.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.polygamma(paddle.to_tensor([1.0]), 1).tolist()
    [1.644934058189392]
    """
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        raise ArgumentTypeError(f"polygamma: n must be an int, got {n!r} ({type(n).__name__})")
    if not 0 <= n <= _MOST_DERIVATIVES:
        raise ArgumentError(f"polygamma: n must be 0 to {_MOST_DERIVATIVES}, got {n}")
    return ops.polygamma(x, n=int(n))


@atomic
def multigammaln(x: Any, p: int, name: str | None = None) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension p, for x above (p - 1) / 2.

    The sum of lgamma(x - k / 2) for k from 0 to p - 1, plus p (p - 1) / 4 log(pi).

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.multigammaln(paddle.to_tensor([2.0]), 2).tolist()
    [0.451582670211792]
    """
    whole_number = isinstance(p, (int, np.integer)) and not isinstance(p, bool)
    if not whole_number or not 1 <= p <= _MOST_DIMENSIONS:
        raise ArgumentError(f"multigammaln: p must be an int of 1 to {_MOST_DIMENSIONS}, got {p!r}")
    total = ops.lgamma(x)
    for k in range(1, p):
        total = total + ops.lgamma(ops.subtract(x, 0.5 * k))
    return total + 0.25 * p * (p - 1) * math.log(math.pi)


def gammainc(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Regularised lower incomplete gamma function, 1 / Gamma(x) int_0^y t^(x-1) exp(-t) dt.

    Parameters
    ----------
    x : Tensor
        The shape parameter, not negative. It has no gradient.
    y : Tensor
        The upper end, not negative. x and y broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.gammainc(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
    [0.8646647334098816]
    """
    return ops.gammainc(x, y)


def gammaincc(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Regularised upper incomplete gamma function, 1 - `gammainc`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.gammaincc(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
    [0.1353352814912796]
    """
    return ops.gammaincc(x, y)


def i0(x: Any, name: str | None = None) -> Tensor:
    """Modified Bessel function of the first kind, of order 0; its derivative is `i1`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.i0(paddle.to_tensor([0.0, 1.0])).tolist()
    [1.0, 1.2660658359527588]
    """
    return ops.bessel_i(x, n=0)


def i0e(x: Any, name: str | None = None) -> Tensor:
    """exp(-abs(x)) * i0(x), which does not overflow; the gradient at 0 is 0."""
    return ops.bessel_ie(x, n=0)


def i1(x: Any, name: str | None = None) -> Tensor:
    """Modified Bessel function of the first kind, of order 1.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.i1(paddle.to_tensor([0.0, 1.0])).tolist()
    [0.0, 0.5651590824127197]
    """
    return ops.bessel_i(x, n=1)


def i1e(x: Any, name: str | None = None) -> Tensor:
    """exp(-abs(x)) * i1(x), which does not overflow."""
    return ops.bessel_ie(x, n=1)


def sinc(x: Any, name: str | None = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0; smooth there, at every order.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.sinc(paddle.to_tensor([0.0, 0.5])).tolist()
    [1.0, 0.6366197466850281]
    """
    return ops.sinc(x)
