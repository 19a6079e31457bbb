"""``paddle.base``: names of Paddle's inner package that programs use all the same."""

from typing import TYPE_CHECKING

from autograd_engine.base import core, framework
from autograd_engine.base.framework import (
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)
from autograd_engine.core.lazy import listed
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.tensor.attribute import CPUPlace

__all__ = [
    "CPUPlace",
    "ParamAttr",
    "Program",
    "Variable",
    "core",
    "default_main_program",
    "default_startup_program",
    "framework",
    "program_guard",
]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)
