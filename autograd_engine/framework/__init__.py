"""``paddle.framework``: an older place of public names."""

from typing import TYPE_CHECKING

from autograd_engine.autograd import grad
from autograd_engine.base.framework import (
    Block,
    Parameter,
    Program,
    get_flags,
    in_dynamic_or_pir_mode,
    in_pir_mode,
    set_flags,
)
from autograd_engine.core.dtypes import DType, get_default_dtype, set_default_dtype
from autograd_engine.core.lazy import listed
from autograd_engine.core.random_generator import seed
from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.io.files import load, save
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.program.mode import disable_static, enable_static, in_dynamic_mode
from autograd_engine.tensor.attribute import CPUPlace

__all__ = [
    "Block",
    "CPUPlace",
    "ParamAttr",
    "Parameter",
    "Program",
    "disable_static",
    "dtype",
    "enable_static",
    "get_default_dtype",
    "get_flags",
    "grad",
    "in_dynamic_mode",
    "in_dynamic_or_pir_mode",
    "in_pir_mode",
    "load",
    "no_grad",
    "save",
    "seed",
    "set_default_dtype",
    "set_flags",
]

dtype = DType


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)
