"""Static mode: programs, their backward halves, and running them."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.program.backward.append_backward import append_backward, gradients
from autograd_engine.program.data import data
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Parameter,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)
from autograd_engine.program.marking import device_guard, name_scope
from autograd_engine.program.scope import Scope, global_scope, scope_guard
from autograd_engine.static import nn
from autograd_engine.static.executor.compiled_program import (
    BuildStrategy,
    CompiledProgram,
    ExecutionStrategy,
)
from autograd_engine.static.executor.executor import Executor
from autograd_engine.static.forward_mode import forward_grad
from autograd_engine.static.metric import accuracy, auc
from autograd_engine.static.persistable import create_global_var, create_parameter
from autograd_engine.tensor.indexing.indexing import setitem

if TYPE_CHECKING:
    from autograd_engine.program.input_spec import InputSpec as InputSpec
    from autograd_engine.program.passes.clone import normalize_program as normalize_program
    from autograd_engine.static.analysis.checkpoint_report import (
        recompute_report as recompute_report,
    )
    from autograd_engine.static.analysis.flops import flops as flops
    from autograd_engine.static.analysis.memory_report import memory_report as memory_report
    from autograd_engine.static.ema import ExponentialMovingAverage as ExponentialMovingAverage
    from autograd_engine.static.inference_model import (
        deserialize_persistables as deserialize_persistables,
    )
    from autograd_engine.static.inference_model import deserialize_program as deserialize_program
    from autograd_engine.static.inference_model import load_inference_model as load_inference_model
    from autograd_engine.static.inference_model import save_inference_model as save_inference_model
    from autograd_engine.static.inference_model import (
        serialize_persistables as serialize_persistables,
    )
    from autograd_engine.static.inference_model import serialize_program as serialize_program
    from autograd_engine.static.nn.weight_norm import WeightNormParamAttr as WeightNormParamAttr
    from autograd_engine.static.places import cpu_places as cpu_places
    from autograd_engine.static.print_assert import Assert as Assert
    from autograd_engine.static.print_assert import Print as Print
    from autograd_engine.static.python_op import py_func as py_func
    from autograd_engine.static.save_load import load as load
    from autograd_engine.static.save_load import load_from_file as load_from_file
    from autograd_engine.static.save_load import load_program_state as load_program_state
    from autograd_engine.static.save_load import save as save
    from autograd_engine.static.save_load import save_to_file as save_to_file
    from autograd_engine.static.save_load import set_program_state as set_program_state
else:
    __getattr__ = lazily(
        __name__,
        {
            "Assert": "static.print_assert",
            "ExponentialMovingAverage": "static.ema",
            "InputSpec": "program.input_spec",
            "Print": "static.print_assert",
            "WeightNormParamAttr": "static.nn.weight_norm",
            "cpu_places": "static.places",
            "deserialize_persistables": "static.inference_model",
            "deserialize_program": "static.inference_model",
            "flops": "static.analysis.flops",
            "load": "static.save_load",
            "load_from_file": "static.save_load",
            "load_inference_model": "static.inference_model",
            "load_program_state": "static.save_load",
            "memory_report": "static.analysis.memory_report",
            "normalize_program": "program.passes.clone",
            "py_func": "static.python_op",
            "recompute_report": "static.analysis.checkpoint_report",
            "save": "static.save_load",
            "save_inference_model": "static.inference_model",
            "save_to_file": "static.save_load",
            "serialize_persistables": "static.inference_model",
            "serialize_program": "static.inference_model",
            "set_program_state": "static.save_load",
        },
    )


__all__ = [
    "Assert",
    "Block",
    "BuildStrategy",
    "CompiledProgram",
    "ExecutionStrategy",
    "Executor",
    "ExponentialMovingAverage",
    "InputSpec",
    "Operator",
    "Parameter",
    "Print",
    "Program",
    "Scope",
    "Variable",
    "WeightNormParamAttr",
    "accuracy",
    "append_backward",
    "auc",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "data",
    "default_main_program",
    "default_startup_program",
    "deserialize_persistables",
    "deserialize_program",
    "device_guard",
    "flops",
    "forward_grad",
    "global_scope",
    "gradients",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "memory_report",
    "name_scope",
    "nn",
    "normalize_program",
    "program_guard",
    "py_func",
    "recompute_report",
    "save",
    "save_inference_model",
    "save_to_file",
    "scope_guard",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
    "setitem",
]


def __dir__() -> list[str]:
    return __all__
