"""Checks of gradients: of your own functions, and of operations that you register.

`gradcheck` and `gradgradcheck` compare gradients with differences; `check_op` asks of an operation
everything that the engine's own suite asks of its operations; `assert_same` compares the bits of a
function in all modes.
"""

from typing import TYPE_CHECKING

from autograd_engine.errors import GradientCheckError
from autograd_engine.testing.gradients import gradcheck, gradgradcheck
from autograd_engine.testing.operation import check_op

__all__ = ["GradientCheckError", "assert_same", "check_op", "gradcheck", "gradgradcheck"]

if TYPE_CHECKING:
    from autograd_engine.testing.same import assert_same as assert_same
else:

    def __getattr__(name):
        """What needs programs is imported when it is first asked for."""
        if name == "assert_same":
            from autograd_engine.testing.same import assert_same

            return assert_same
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
