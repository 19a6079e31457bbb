"""Branches and loops under the name that the reference has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.program.control_flow.cond import case, cond, switch_case
from autograd_engine.program.control_flow.while_loop import while_loop

__all__ = ["Assert", "Print", "Switch", "While", "case", "cond", "switch_case", "while_loop"]

if TYPE_CHECKING:
    from autograd_engine.program.control_flow.block_form import Switch as Switch, While as While
    from autograd_engine.static.print_assert import Assert as Assert, Print as Print
else:
    # The reference has these here too.
    __getattr__ = lazily(
        __name__,
        {"static.print_assert": "Assert Print", "program.control_flow.block_form": "Switch While"},
    )
