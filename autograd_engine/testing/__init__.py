"""Checks of gradients: of your own functions, and of operations that you register.

`gradcheck` and `gradgradcheck` compare gradients with differences; `check_op` asks of an operation
everything that the engine's own suite asks of its operations.
"""

from autograd_engine.errors import GradientCheckError
from autograd_engine.testing.gradients import gradcheck, gradgradcheck
from autograd_engine.testing.operation import check_op

__all__ = ["GradientCheckError", "check_op", "gradcheck", "gradgradcheck"]


def __dir__() -> list[str]:
    return __all__
