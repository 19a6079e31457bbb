"""``paddle.base``: names of Paddle's inner package that programs use all the same."""

import typing

from autograd_engine.base import core as core, framework as framework
from autograd_engine.base.framework import (
    Program as Program,
    Variable as Variable,
    default_main_program as default_main_program,
    default_startup_program as default_startup_program,
    program_guard as program_guard,
)
from autograd_engine.core.lazy import face as _face
from autograd_engine.nn.param_attr import ParamAttr as ParamAttr
from autograd_engine.tensor.attribute import CPUPlace as CPUPlace

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__, submodules="core framework")
