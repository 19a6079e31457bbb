"""``paddle.framework``: an older place of public names."""

import typing

from autograd_engine.autograd import grad as grad
from autograd_engine.base.framework import (
    Block as Block,
    Parameter as Parameter,
    Program as Program,
    get_flags as get_flags,
    in_dynamic_or_pir_mode as in_dynamic_or_pir_mode,
    in_pir_mode as in_pir_mode,
    set_flags as set_flags,
)
from autograd_engine.core.dtypes import (
    DType as _DType,
    get_default_dtype as get_default_dtype,
    set_default_dtype as set_default_dtype,
)
from autograd_engine.core.lazy import face as _face
from autograd_engine.core.random_generator import seed as seed
from autograd_engine.eager.grad_mode import no_grad as no_grad
from autograd_engine.io.files import load as load, save as save
from autograd_engine.nn.param_attr import ParamAttr as ParamAttr
from autograd_engine.program.mode import (
    disable_static as disable_static,
    enable_static as enable_static,
    in_dynamic_mode as in_dynamic_mode,
)
from autograd_engine.tensor.attribute import CPUPlace as CPUPlace

dtype = _DType

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
