"""Automatic differentiation on NumPy: a table of operations, and interpreters over that table.

``import autograd_engine as paddle`` runs programs written against the reference's names.
"""

from typing import TYPE_CHECKING

from autograd_engine import (
    autograd,
    fft,
    linalg,
    nn,
    optimizer,
    regularizer,
    static,
    unique_name,
    utils,
)
from autograd_engine import bindings as _binding  # noqa: F401 - binds them to Tensor
from autograd_engine import ops as _table  # noqa: F401 - declares the operations
from autograd_engine.autograd import grad
from autograd_engine.autograd.explain import explain
from autograd_engine.autograd.explain.graph import graph
from autograd_engine.bindings import bind_methods as _bind_methods
from autograd_engine.core.allocator import keep_freed_memory as _keep_freed_memory
from autograd_engine.core.dtypes import (
    DTYPES,
    DType,
    get_default_dtype,
    set_default_dtype,
)
from autograd_engine.core.lazy import lazily
from autograd_engine.core.random_generator import (
    Generator,
    get_rng_state,
    seed,
    set_rng_state,
)
from autograd_engine.eager.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from autograd_engine.eager.printing import get_printoptions, set_printoptions
from autograd_engine.eager.tensor import Tensor
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.nn.parameters import create_parameter
from autograd_engine.ops.registry.strong_zeros import strong_zeros
from autograd_engine.program.mode import disable_static, enable_static, in_dynamic_mode
from autograd_engine.static.flags import get_flags, set_flags
from autograd_engine.tensor import public as _public
from autograd_engine.tensor.place import (
    CPUPlace,
    get_device,
    is_tensor,
    set_device,
)
from autograd_engine.tensor.public import *  # noqa: F403 - a hundred names, each listed where it is defined
from autograd_engine.utils.dlpack import from_dlpack

__version__ = "0.1.0"

if TYPE_CHECKING:
    from autograd_engine import distributed as distributed
    from autograd_engine import errors as errors
    from autograd_engine import incubate as incubate
    from autograd_engine import io as io
    from autograd_engine import jit as jit
    from autograd_engine import metric as metric
    from autograd_engine import testing as testing
    from autograd_engine.io.files import load as load
    from autograd_engine.io.files import save as save
    from autograd_engine.jit.model_flops import flops as flops
    from autograd_engine.nn.model_summary import summary as summary
else:
    __getattr__ = lazily(
        __name__,
        {
            "flops": "jit.model_flops",
            "load": "io.files.save_load",
            "save": "io.files.save_load",
            "summary": "nn.model_summary",
        },
        ("distributed", "errors", "incubate", "io", "jit", "metric", "testing"),
    )


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


_keep_freed_memory()
_bind_methods()

dtype = DType
bool = DTYPES["bool"]
uint8 = DTYPES["uint8"]
int8 = DTYPES["int8"]
int16 = DTYPES["int16"]
int32 = DTYPES["int32"]
int64 = DTYPES["int64"]
float16 = DTYPES["float16"]
float32 = DTYPES["float32"]
float64 = DTYPES["float64"]

__all__ = [
    "CPUPlace",
    "DType",
    "Generator",
    "ParamAttr",
    "Tensor",
    "autograd",
    "bool",
    "create_parameter",
    "disable_static",
    "distributed",
    "dtype",
    "enable_grad",
    "enable_static",
    "errors",
    "explain",
    "fft",
    "float16",
    "float32",
    "float64",
    "flops",
    "from_dlpack",
    "get_default_dtype",
    "get_device",
    "get_flags",
    "get_printoptions",
    "get_rng_state",
    "grad",
    "graph",
    "in_dynamic_mode",
    "incubate",
    "inference_mode",
    "int16",
    "int32",
    "int64",
    "int8",
    "io",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "jit",
    "linalg",
    "load",
    "metric",
    "nn",
    "no_grad",
    "optimizer",
    "regularizer",
    "save",
    "seed",
    "set_default_dtype",
    "set_device",
    "set_flags",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "static",
    "strong_zeros",
    "summary",
    "testing",
    "uint8",
    "unique_name",
    "utils",
]
if not TYPE_CHECKING:  # type checkers take the names from where they are imported
    __all__ += _public.__all__
