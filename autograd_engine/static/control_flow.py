"""Branches and loops under the name that the reference has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_engine.static.branches import case, cond, switch_case
from autograd_engine.static.loops import while_loop

__all__ = ["Assert", "Print", "case", "cond", "switch_case", "while_loop"]

if TYPE_CHECKING:
    from autograd_engine.static.effects import Assert as Assert
    from autograd_engine.static.effects import Print as Print
else:

    def __getattr__(name):
        """The reference has these here too."""
        if name in ("Assert", "Print"):
            from autograd_engine.static import effects

            return getattr(effects, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
