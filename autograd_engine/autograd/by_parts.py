"""Derivatives by complex values that only their parts have: what is refused, and what to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.errors import DTypeError

__all__ = ["BY_PARTS", "check_jacobian_dtypes", "require_real"]

# What to write where derivatives by complex values are asked for that only their parts have.
BY_PARTS: Final = {
    name: f"for derivatives by its two parts write {name}(lambda x: {returned}, paddle.as_real(z))"
    for name, returned in (
        ("jacobian", "paddle.as_real(func(paddle.as_complex(x)))"),
        ("Jacobian", "paddle.as_real(func(paddle.as_complex(x)))"),
        ("hessian", "func(paddle.as_complex(x))"),
        ("Hessian", "func(paddle.as_complex(x))"),
    )
}


def require_real(function: str, specs: Sequence[Any]) -> None:
    """Refuse complex values among specs of results and of what they are differentiated by."""
    for spec in specs:
        if spec.dtype in COMPLEX:
            raise DTypeError(
                f"{function}: the derivatives are those of real values by real ones, got "
                f"{spec.dtype.name}: {BY_PARTS[function]}"
            )


def check_jacobian_dtypes(function: str, ys: Sequence[Any], xs: Sequence[Any]) -> None:
    """Refuse complex values by complex ones; specs of either."""
    y, x = (next((s.dtype for s in specs if s.dtype in COMPLEX), None) for specs in (ys, xs))
    if y is not None and x is not None:
        raise DTypeError(
            f"{function}: derivatives of {y.name} by {x.name} are four real numbers for each pair: "
            f"{BY_PARTS['jacobian']}; a holomorphic function's derivative times v is that of "
            "jvp(func, z, v)"
        )
