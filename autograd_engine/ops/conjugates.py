"""What rules say of complex values.

A rule is given the cotangent ``dL/dx - i dL/dy`` of a value ``x + iy`` and returns that of its
operand. In this convention a holomorphic row multiplies by its derivative, or applies the transpose
of its linear map, as it does to real numbers: nothing is conjugated. What users see is the
conjugate, which is taken where a cotangent comes from a user or goes to one.

The rest of the table, rows that are not holomorphic, says what it conjugates by the functions here.
On real values they are what they are called with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from autograd_engine.core.dtypes import COMPLEX

__all__ = [
    "as_users_see",
    "by_parts",
    "cast_back",
    "conj",
    "from_parts",
    "is_complex",
    "real_part",
    "to_parts",
]


def is_complex(x: Any) -> bool:
    """Whether a value of whatever namespace, or a Spec, is complex."""
    return x.dtype in COMPLEX


def conj(xp: Any, x: Any) -> Any:
    """The conjugate; a real value itself."""
    return xp.conj(x) if is_complex(x) else x


def real_part(xp: Any, x: Any) -> Any:
    """The real part; a real value itself."""
    return xp.real_part(x) if is_complex(x) else x


def to_parts(xp: Any, x: Any) -> Any:
    """Real and imaginary parts of complex values along a new last axis."""
    return xp.stack(xp.real_part(x), xp.imag_part(x), axis=len(x.shape))


def from_parts(xp: Any, parts: Any) -> Any:
    """The complex values that have these parts."""
    return xp.to_complex(xp.getitem(parts, key=(..., 0)), xp.getitem(parts, key=(..., 1)))


def by_parts(xp: Any, function: Callable[..., Any], *xs: Any) -> Any:
    """A function of real values that are alike; of complex ones that of their parts."""
    if not is_complex(xs[0]):
        return function(*xs)
    return from_parts(xp, function(*[to_parts(xp, x) for x in xs]))


def cast_back(xp: Any, g: Any, like: Any) -> Any:
    """A cotangent in the dtype of `like`: its real part, where that is real."""
    return xp.cast_like(g if is_complex(like) else real_part(xp, g), like)


def as_users_see(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A rule that is written for conjugates of cotangents, as papers have it, with adjoints.

    Of several cotangents some may be missing. Real ones stay as they are.
    """
    count = sum(1 for name in signature(rule).parameters if name == "g" or name.startswith("g_"))

    @wraps(rule)
    def conjugated(xp: Any, *values: Any, **attrs: Any) -> Any:
        gs = [g if g is None else conj(xp, g) for g in values[:count]]
        made = rule(xp, *gs, *values[count:], **attrs)
        if isinstance(made, tuple):
            return tuple([conj(xp, g) for g in made])
        return conj(xp, made)

    return conjugated
