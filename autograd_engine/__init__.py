"""Automatic differentiation on NumPy: a table of operations, and interpreters over that table.

``import autograd_engine as paddle`` runs programs written against the reference's names.
"""

from autograd_engine import autograd, nn, optimizer, static, unique_name
from autograd_engine import binding as _binding  # noqa: F401 - binds them to Tensor
from autograd_engine import ops as _table  # noqa: F401 - declares the operations
from autograd_engine.autograd import grad
from autograd_engine.dtypes import DTYPES, DType, get_default_dtype, set_default_dtype
from autograd_engine.eager.grad_mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from autograd_engine.eager.printing import get_printoptions, set_printoptions
from autograd_engine.eager.tensor import Tensor
from autograd_engine.flags import get_flags, set_flags
from autograd_engine.framework import CPUPlace, get_device, is_tensor, set_device
from autograd_engine.generator import seed
from autograd_engine.methods import bind_methods as _bind_methods
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.parameters import create_parameter
from autograd_engine.static.mode import disable_static, enable_static, in_dynamic_mode
from autograd_engine.tensor.creation import (
    arange,
    assign,
    full,
    full_like,
    ones,
    ones_like,
    to_tensor,
    zeros,
    zeros_like,
)
from autograd_engine.tensor.linalg import matmul
from autograd_engine.tensor.manipulation import (
    concat,
    expand,
    flatten,
    gather,
    reshape,
    slice,
    split,
    squeeze,
    stack,
    t,
    transpose,
    tril,
    triu,
    unbind,
    unsqueeze,
)
from autograd_engine.tensor.math import (
    abs,
    add,
    add_n,
    cast,
    clip,
    cos,
    divide,
    equal,
    erf,
    exp,
    floor,
    greater_equal,
    greater_than,
    less_equal,
    less_than,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    neg,
    not_equal,
    pow,
    rsqrt,
    scale,
    sign,
    sin,
    sqrt,
    square,
    subtract,
    tanh,
    where,
)
from autograd_engine.tensor.random import normal, rand, randint, randn, uniform
from autograd_engine.tensor.reduction import all, any, argmax, argmin, max, mean, min, sum, topk

__version__ = "0.1.0"

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
    "I001 - binds them to Tensor",
    "ParamAttr",
    "Tensor",
    "abs",
    "add",
    "add_n",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "assign",
    "autograd",
    "bool",
    "cast",
    "clip",
    "concat",
    "cos",
    "create_parameter",
    "disable_static",
    "divide",
    "dtype",
    "enable_grad",
    "enable_static",
    "equal",
    "erf",
    "exp",
    "expand",
    "flatten",
    "float16",
    "float32",
    "float64",
    "floor",
    "full",
    "full_like",
    "gather",
    "get_default_dtype",
    "get_device",
    "get_flags",
    "get_printoptions",
    "grad",
    "greater_equal",
    "greater_than",
    "in_dynamic_mode",
    "int16",
    "int32",
    "int64",
    "int8",
    "is_grad_enabled",
    "is_tensor",
    "less_equal",
    "less_than",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "neg",
    "nn",
    "no_grad",
    "normal",
    "not_equal",
    "ones",
    "ones_like",
    "optimizer",
    "pow",
    "rand",
    "randint",
    "randn",
    "reshape",
    "rsqrt",
    "scale",
    "seed",
    "set_default_dtype",
    "set_device",
    "set_flags",
    "set_grad_enabled",
    "set_printoptions",
    "sign",
    "sin",
    "slice",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "static",
    "subtract",
    "sum",
    "t",
    "tanh",
    "to_tensor",
    "topk",
    "transpose",
    "tril",
    "triu",
    "uint8",
    "unbind",
    "uniform",
    "unique_name",
    "unsqueeze",
    "where",
    "zeros",
    "zeros_like",
]
