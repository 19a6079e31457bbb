"""Checks of gradients: of your own functions, and of operations that you register.

`gradcheck` and `gradgradcheck` compare gradients with differences; `check_op` asks of an operation
everything that the engine's own suite asks of its operations; `assert_same` compares the bits of a
function in all modes.
"""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.errors import GradientCheckError
from autograd_engine.testing.gradient_check import gradcheck, gradgradcheck
from autograd_engine.testing.operation_check import check_op

__all__ = ["GradientCheckError", "assert_same", "check_op", "gradcheck", "gradgradcheck"]

if TYPE_CHECKING:
    from autograd_engine.testing.same_bits import assert_same as assert_same
else:
    # It needs programs.
    __getattr__ = lazily(__name__, {"assert_same": "testing.same_bits"})


def __dir__() -> list[str]:
    return __all__
