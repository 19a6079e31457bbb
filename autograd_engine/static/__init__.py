"""Static mode: programs, their backward halves, and running them."""

from autograd_engine.static import nn
from autograd_engine.static.backward import append_backward, gradients
from autograd_engine.static.data import data
from autograd_engine.static.executor import Executor
from autograd_engine.static.forward import forward_grad
from autograd_engine.static.metric import accuracy
from autograd_engine.static.program import (
    Block,
    Operator,
    Parameter,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)
from autograd_engine.static.scope import Scope, global_scope, scope_guard
from autograd_engine.static.variables import create_global_var, create_parameter
from autograd_engine.tensor.indexing import setitem

__all__ = [
    "Block",
    "Executor",
    "Operator",
    "Parameter",
    "Program",
    "Scope",
    "Variable",
    "accuracy",
    "append_backward",
    "create_global_var",
    "create_parameter",
    "data",
    "default_main_program",
    "default_startup_program",
    "forward_grad",
    "global_scope",
    "gradients",
    "nn",
    "program_guard",
    "scope_guard",
    "setitem",
]


def __dir__() -> list[str]:
    return __all__
