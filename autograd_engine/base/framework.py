"""``paddle.base.framework``: the classes of parameters and programs, and which mode it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import listed
from autograd_engine.eager.tensor import Parameter as EagerParamBase
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Parameter,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)
from autograd_engine.program.mode import in_dynamic_mode
from autograd_engine.static.flags import get_flags, set_flags

__all__ = [
    "Block",
    "EagerParamBase",
    "Operator",
    "Parameter",
    "Program",
    "Variable",
    "default_main_program",
    "default_startup_program",
    "get_flags",
    "in_dygraph_mode",
    "in_dynamic_or_pir_mode",
    "in_pir_mode",
    "program_guard",
    "set_flags",
]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def in_pir_mode() -> bool:
    """False: programs are of operators and variables, not of Paddle's newer representation."""
    return False


in_dygraph_mode = in_dynamic_or_pir_mode = in_dynamic_mode
