"""Checks of gradients: of your own functions, and of operations that you register.

`gradcheck` and `gradgradcheck` compare gradients with differences; `check_op` asks of an operation
everything that the engine's own suite asks of its operations; `assert_same` compares the bits of a
function in all modes.
"""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.errors import GradientCheckError as GradientCheckError
from autograd_engine.testing.gradient_check import (
    gradcheck as gradcheck,
    gradgradcheck as gradgradcheck,
)
from autograd_engine.testing.operation_check import check_op as check_op

if typing.TYPE_CHECKING:
    from autograd_engine.testing.same_bits import assert_same as assert_same
else:
    # It needs programs.
    __getattr__, __dir__, __all__ = _face(__name__, {"testing.same_bits": "assert_same"})
