"""Static mode: programs, their backward halves, and running them."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.program.backward.append_backward import (
    append_backward as append_backward,
    gradients as gradients,
)
from autograd_engine.program.data import data as data
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
from autograd_engine.program.marking import (
    device_guard as device_guard,
    name_scope as name_scope,
)
from autograd_engine.program.scope import (
    Scope as Scope,
    global_scope as global_scope,
    scope_guard as scope_guard,
)
from autograd_engine.tensor.setitem import setitem as setitem

if typing.TYPE_CHECKING:
    from autograd_engine.program.input_spec import InputSpec as InputSpec
    from autograd_engine.program.passes.clone import normalize_program as normalize_program
    from autograd_engine.static import amp as amp, nn as nn
    from autograd_engine.static.analysis.checkpoint_report import (
        recompute_report as recompute_report,
    )
    from autograd_engine.static.analysis.flops import flops as flops
    from autograd_engine.static.analysis.memory_report import memory_report as memory_report
    from autograd_engine.static.ema import ExponentialMovingAverage as ExponentialMovingAverage
    from autograd_engine.static.executor.compiled_program import *  # noqa: F403
    from autograd_engine.static.executor.executor import Executor as Executor
    from autograd_engine.static.forward_mode import forward_grad as forward_grad
    from autograd_engine.static.inference_model import *  # noqa: F403
    from autograd_engine.static.metric import accuracy as accuracy, auc as auc
    from autograd_engine.static.nn.weight_norm import WeightNormParamAttr as WeightNormParamAttr
    from autograd_engine.static.persistable import (
        create_global_var as create_global_var,
        create_parameter as create_parameter,
    )
    from autograd_engine.static.print_assert import Assert as Assert, Print as Print
    from autograd_engine.static.python_op import py_func as py_func
    from autograd_engine.static.save_load import *  # noqa: F403
    from autograd_engine.tensor.attribute import cpu_places as cpu_places
else:
    __getattr__, __dir__, __all__ = _face(
        __name__,
        {
            "program.input_spec": "InputSpec",
            "program.passes.clone": "normalize_program",
            "static.analysis.checkpoint_report": "recompute_report",
            "static.analysis.flops": "flops",
            "static.analysis.memory_report": "memory_report",
            "static.ema": "ExponentialMovingAverage",
            "static.executor.compiled_program": "BuildStrategy CompiledProgram ExecutionStrategy",
            "static.executor.executor": "Executor",
            "static.forward_mode": "forward_grad",
            "static.inference_model": "deserialize_persistables deserialize_program "
            "load_inference_model save_inference_model serialize_persistables serialize_program",
            "static.metric": "accuracy auc",
            "static.nn.weight_norm": "WeightNormParamAttr",
            "static.persistable": "create_global_var create_parameter",
            "static.print_assert": "Assert Print",
            "static.python_op": "py_func",
            "static.save_load": "load load_from_file load_program_state "
            "save save_to_file set_program_state",
            "tensor.attribute": "cpu_places",
        },
        "amp nn",
    )
