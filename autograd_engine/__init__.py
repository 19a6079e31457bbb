"""Automatic differentiation on NumPy: a table of operations, and interpreters over that table.

``import autograd_engine as paddle`` runs programs written against the reference's names.
"""

import math as _math
import typing

from autograd_engine import (
    autograd as autograd,
    bindings as _binding,  # noqa: F401 - binds them to Tensor
    fft as fft,
    linalg as linalg,
    nn as nn,
    ops as _table,  # noqa: F401 - declares the operations
    optimizer as optimizer,
    regularizer as regularizer,
    signal as signal,
    static as static,
    unique_name as unique_name,
    utils as utils,
)
from autograd_engine.autograd import grad as grad
from autograd_engine.autograd.explain import explain as explain
from autograd_engine.autograd.explain.graph import graph as graph
from autograd_engine.bindings import bind_methods as _bind_methods
from autograd_engine.core.allocator import keep_freed_memory as _keep_freed_memory
from autograd_engine.core.dtypes import (
    DTYPES as _DTYPES,
    DType as DType,
    get_default_dtype as get_default_dtype,
    set_default_dtype as set_default_dtype,
)
from autograd_engine.core.lazy import face as _face
from autograd_engine.core.names.missing_names import answer_imports as _answer_imports
from autograd_engine.core.random_generator import (
    Generator as Generator,
    get_rng_state as get_rng_state,
    seed as seed,
    set_rng_state as set_rng_state,
)
from autograd_engine.core.size import Size as Size
from autograd_engine.eager.grad_mode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from autograd_engine.eager.printing import (
    get_printoptions as get_printoptions,
    set_printoptions as set_printoptions,
)
from autograd_engine.eager.tensor import Tensor as Tensor
from autograd_engine.nn.param_attr import ParamAttr as ParamAttr
from autograd_engine.nn.parameters import create_parameter as create_parameter
from autograd_engine.ops.registry.strong_zeros import strong_zeros as strong_zeros
from autograd_engine.program.mode import (
    disable_static as disable_static,
    enable_static as enable_static,
    in_dynamic_mode as in_dynamic_mode,
)
from autograd_engine.static.flags import (
    disable_signal_handler as disable_signal_handler,
    get_flags as get_flags,
    set_flags as set_flags,
)
from autograd_engine.tensor.public import *  # noqa: F403 - a hundred names, each listed where it is defined
from autograd_engine.utils.dlpack import from_dlpack as from_dlpack, to_dlpack as to_dlpack

__version__ = "0.1.0"

dtype = DType
bool = _DTYPES["bool"]
uint8 = _DTYPES["uint8"]
int8 = _DTYPES["int8"]
int16 = _DTYPES["int16"]
int32 = _DTYPES["int32"]
int64 = _DTYPES["int64"]
float16 = _DTYPES["float16"]
bfloat16 = _DTYPES["bfloat16"]
float32 = _DTYPES["float32"]
float64 = _DTYPES["float64"]
complex64 = cfloat = _DTYPES["complex64"]
complex128 = cdouble = _DTYPES["complex128"]
half = float16
float = float32
double = float64
short = int16
int = int32
long = int64

inf = _math.inf
nan = _math.nan
pi = _math.pi
e = _math.e
newaxis = None
manual_seed = seed

if typing.TYPE_CHECKING:
    from autograd_engine import (
        amp as amp,
        audio as audio,
        base as base,
        device as device,
        distributed as distributed,
        errors as errors,
        framework as framework,
        geometric as geometric,
        incubate as incubate,
        io as io,
        jit as jit,
        metric as metric,
        testing as testing,
        version as version,
        vision as vision,
    )
    from autograd_engine.amp.casting import (
        autocast as autocast,
        get_autocast_cpu_dtype as get_autocast_cpu_dtype,
        get_autocast_dtype as get_autocast_dtype,
        get_autocast_gpu_dtype as get_autocast_gpu_dtype,
        is_autocast_enabled as is_autocast_enabled,
    )
    from autograd_engine.as_paddle import install_as_paddle as install_as_paddle
    from autograd_engine.audio.windows import (
        bartlett_window as bartlett_window,
        blackman_window as blackman_window,
        hamming_window as hamming_window,
        hann_window as hann_window,
        kaiser_window as kaiser_window,
    )
    from autograd_engine.device import (
        device_guard as device_guard,
        get_cudnn_version as get_cudnn_version,
        is_compiled_with_cinn as is_compiled_with_cinn,
        is_compiled_with_cuda as is_compiled_with_cuda,
        is_compiled_with_custom_device as is_compiled_with_custom_device,
        is_compiled_with_distribute as is_compiled_with_distribute,
        is_compiled_with_ipu as is_compiled_with_ipu,
        is_compiled_with_rocm as is_compiled_with_rocm,
        is_compiled_with_xpu as is_compiled_with_xpu,
    )
    from autograd_engine.io.files import load as load, save as save
    from autograd_engine.io.files.raw_memory import MmapStorage as MmapStorage
    from autograd_engine.io.reader import batch as batch
    from autograd_engine.jit.model_flops import flops as flops
    from autograd_engine.nn.functional import (
        adaptive_avg_pool1d as adaptive_avg_pool1d,
        conv1d as conv1d,
        conv2d as conv2d,
        conv3d as conv3d,
        group_norm as group_norm,
        layer_norm as layer_norm,
        relu as relu,
        sigmoid as sigmoid,
        softmax as softmax,
    )
    from autograd_engine.nn.model_summary import summary as summary
    from autograd_engine.utils.typed_tensors import (
        BFloat16Tensor as BFloat16Tensor,
        BoolTensor as BoolTensor,
        ByteTensor as ByteTensor,
        CharTensor as CharTensor,
        DoubleTensor as DoubleTensor,
        FloatTensor as FloatTensor,
        HalfTensor as HalfTensor,
        IntTensor as IntTensor,
        LongTensor as LongTensor,
        ShortTensor as ShortTensor,
    )
else:
    __getattr__, _dir, __all__ = _face(
        __name__,
        {
            "amp.casting": "autocast get_autocast_cpu_dtype get_autocast_dtype "
            "get_autocast_gpu_dtype is_autocast_enabled",
            "as_paddle": "install_as_paddle",
            "audio.windows": "bartlett_window blackman_window hamming_window hann_window "
            "kaiser_window",
            "device": "device_guard get_cudnn_version is_compiled_with_cinn is_compiled_with_cuda "
            "is_compiled_with_custom_device is_compiled_with_distribute is_compiled_with_ipu "
            "is_compiled_with_rocm is_compiled_with_xpu",
            "io.files.raw_memory": "MmapStorage",
            "io.files.save_load": "load save",
            "io.reader": "batch",
            "jit.model_flops": "flops",
            "nn.functional": "adaptive_avg_pool1d conv1d conv2d conv3d group_norm layer_norm relu "
            "sigmoid softmax",
            "nn.model_summary": "summary",
            "utils.typed_tensors": "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor "
            "FloatTensor HalfTensor IntTensor LongTensor ShortTensor",
        },
        "amp audio autograd base device distributed errors fft framework geometric incubate io jit "
        "linalg metric nn optimizer regularizer signal static testing unique_name utils version "
        "vision",
    )

    def __dir__():
        return [*_dir(), "__version__"]


_answer_imports()
_keep_freed_memory()
_bind_methods()
