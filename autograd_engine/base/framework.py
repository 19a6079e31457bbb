"""``paddle.base.framework``: the classes of parameters and programs, and which mode it is."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.eager.tensor import Parameter as _EagerParameter
from autograd_engine.program.ir.program import (
    Block as Block,
    Operator as Operator,
    Parameter as Parameter,
    Program as Program,
    Variable as Variable,
    default_main_program as default_main_program,
    default_startup_program as default_startup_program,
    program_guard as program_guard,
)
from autograd_engine.program.mode import in_dynamic_mode as _in_dynamic_mode
from autograd_engine.static.flags import get_flags as get_flags, set_flags as set_flags

EagerParamBase = _EagerParameter
in_dygraph_mode = in_dynamic_or_pir_mode = _in_dynamic_mode


def in_pir_mode() -> bool:
    """False: programs are of operators and variables, not of Paddle's newer representation."""
    return False


if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
