"""Static mode: programs, their backward halves, and running them."""

from typing import TYPE_CHECKING, Final

from autograd_engine.static import nn
from autograd_engine.static.backward import append_backward, gradients
from autograd_engine.static.compiled import BuildStrategy, CompiledProgram, ExecutionStrategy
from autograd_engine.static.data import data
from autograd_engine.static.executor import Executor
from autograd_engine.static.forward import forward_grad
from autograd_engine.static.metric import accuracy, auc
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
from autograd_engine.static.roles import device_guard, name_scope
from autograd_engine.static.scope import Scope, global_scope, scope_guard
from autograd_engine.static.variables import create_global_var, create_parameter
from autograd_engine.tensor.indexing import setitem

_LATER: Final = {
    "Assert": "effects",
    "ExponentialMovingAverage": "averages",
    "InputSpec": "input_spec",
    "Print": "effects",
    "WeightNormParamAttr": "weight_norm",
    "cpu_places": "places",
    "deserialize_persistables": "inference",
    "deserialize_program": "inference",
    "flops": "flop_count",
    "load": "io",
    "load_from_file": "io",
    "load_inference_model": "inference",
    "load_program_state": "io",
    "memory_report": "memory",
    "normalize_program": "clone",
    "py_func": "callables",
    "recompute_report": "checkpoint_report",
    "save": "io",
    "save_inference_model": "inference",
    "save_to_file": "io",
    "serialize_persistables": "inference",
    "serialize_program": "inference",
    "set_program_state": "io",
}

if TYPE_CHECKING:
    from autograd_engine.static.averages import ExponentialMovingAverage as ExponentialMovingAverage
    from autograd_engine.static.callables import py_func as py_func
    from autograd_engine.static.checkpoint_report import recompute_report as recompute_report
    from autograd_engine.static.clone import normalize_program as normalize_program
    from autograd_engine.static.effects import Assert as Assert
    from autograd_engine.static.effects import Print as Print
    from autograd_engine.static.flop_count import flops as flops
    from autograd_engine.static.inference import (
        deserialize_persistables as deserialize_persistables,
    )
    from autograd_engine.static.inference import deserialize_program as deserialize_program
    from autograd_engine.static.inference import load_inference_model as load_inference_model
    from autograd_engine.static.inference import save_inference_model as save_inference_model
    from autograd_engine.static.inference import serialize_persistables as serialize_persistables
    from autograd_engine.static.inference import serialize_program as serialize_program
    from autograd_engine.static.input_spec import InputSpec as InputSpec
    from autograd_engine.static.io import load as load
    from autograd_engine.static.io import load_from_file as load_from_file
    from autograd_engine.static.io import load_program_state as load_program_state
    from autograd_engine.static.io import save as save
    from autograd_engine.static.io import save_to_file as save_to_file
    from autograd_engine.static.io import set_program_state as set_program_state
    from autograd_engine.static.memory import memory_report as memory_report
    from autograd_engine.static.places import cpu_places as cpu_places
    from autograd_engine.static.weight_norm import WeightNormParamAttr as WeightNormParamAttr
else:

    def __getattr__(name):
        """What most programs never ask for is imported when it is first asked for."""
        if name in _LATER:
            import importlib

            module = importlib.import_module(f"{__name__}.{_LATER[name]}")
            found = globals()[name] = getattr(module, name)
            return found
        from autograd_engine.elsewhere import missing

        raise missing(__name__, name)


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
