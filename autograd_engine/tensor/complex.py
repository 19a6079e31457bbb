"""Complex values and their parts.

The gradient of a real loss by ``z = x + iy`` is ``dL/dx + i dL/dy``, what gradient descent
subtracts.
"""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import COMPLEX, instead_of_complex
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import ComposedView, note_view
from autograd_engine.errors import DTypeError, ShapeError
from autograd_engine.ops.conjugates import from_parts, to_parts
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["angle", "as_complex", "as_real", "complex", "conj", "imag", "polar", "real"]


def _complex_operand(op: str, x: Any) -> Any:
    x = as_operand(op, x)
    if spec_of(x).dtype not in COMPLEX:
        raise DTypeError(f"{op}: takes complex values, got {spec_of(x).dtype.name}")
    return x


def real(x: Any, name: str | None = None) -> Tensor:
    """The real parts of complex values.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.real(paddle.complex(paddle.ones([1]), paddle.zeros([1]))).tolist()
    [1.0]
    """
    return ops.real_part(_complex_operand("real", x))


def imag(x: Any, name: str | None = None) -> Tensor:
    """The imaginary parts of complex values."""
    return ops.imag_part(_complex_operand("imag", x))


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; real values, and their gradients, stay as they are."""
    x = as_operand("conj", x)
    if spec_of(x).dtype not in COMPLEX:
        return ops.assign(x)
    return ops.conj(x)


def angle(x: Any, name: str | None = None) -> Tensor:
    """The angle of complex values in radians; 0 or pi for real ones.

    The gradient at 0 is 0; real values have none.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.angle(paddle.to_tensor([1.0, -1.0])).tolist()
    [0.0, 3.1415927410125732]
    """
    x = as_operand("angle", x)
    if spec_of(x).dtype in COMPLEX:
        return ops.atan2(ops.imag_part(x), ops.real_part(x))
    return ops.angle(x)


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Complex values from real and imaginary parts, which broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.complex(paddle.ones([1]), paddle.ones([1])).tolist()
    [(1+1j)]
    """
    parts = as_operand("complex", real, "real"), as_operand("complex", imag, "imag")
    for x in parts:
        if spec_of(x).dtype in COMPLEX:
            raise DTypeError("complex: the parts must be real; these are complex already"
                f"{instead_of_complex(spec_of(x).dtype)}")
    return ops.to_complex(*parts)


_AS_COMPLEX: Final = ComposedView(
    "as_complex", from_parts, lambda xp, value, x: to_parts(xp, value)
)
_AS_REAL: Final = ComposedView("as_real", to_parts, lambda xp, value, x: from_parts(xp, value))


@atomic
def as_complex(x: Any, name: str | None = None) -> Tensor:
    """Complex values from real ones whose last axis holds the two parts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    x = as_operand("as_complex", x)
    shape = spec_of(x).shape
    if not shape or (shape[-1] != 2 and not isinstance(shape[-1], Dim)):
        raise ShapeError(
            f"as_complex: the last axis must hold the two parts, and have size 2; x has shape "
            f"{format_shape(shape)}"
        )
    return note_view(from_parts(ops, x), x, _AS_COMPLEX, {})


def as_real(x: Any, name: str | None = None) -> Tensor:
    """The two parts of complex values along a new last axis.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.as_real(paddle.complex(paddle.ones([1]), paddle.zeros([1]))).tolist()
    [[1.0, 0.0]]
    """
    x = _complex_operand("as_real", x)
    return note_view(to_parts(ops, x), x, _AS_REAL, {})


@atomic
def polar(abs: Any, angle: Any, name: str | None = None) -> Tensor:
    """Complex values from absolute values and angles in radians, which broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.polar(paddle.ones([1]), paddle.zeros([1])).tolist()
    [(1+0j)]
    """
    size, turn = as_operand("polar", abs, "abs"), as_operand("polar", angle, "angle")
    return complex(size * ops.cos(turn), size * ops.sin(turn))
