"""Gradients of eager tensors."""

from typing import TYPE_CHECKING

from autograd_engine.autograd.backward import backward
from autograd_engine.autograd.forward import jvp, vjp
from autograd_engine.autograd.gradient import grad
from autograd_engine.diagnosis import graph, saved_report
from autograd_engine.eager.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from autograd_engine.registry import NONDIFF
from autograd_engine.spec import Spec

if TYPE_CHECKING:
    from autograd_engine.autograd.functional import hvp as hvp
    from autograd_engine.autograd.functional import value_and_grad as value_and_grad
    from autograd_engine.autograd.matrices import Hessian as Hessian
    from autograd_engine.autograd.matrices import Jacobian as Jacobian
    from autograd_engine.autograd.matrices import hessian as hessian
    from autograd_engine.autograd.matrices import jacobian as jacobian
    from autograd_engine.autograd.pylayer import Function as Function
    from autograd_engine.autograd.pylayer import PyLayer as PyLayer
    from autograd_engine.autograd.pylayer import PyLayerContext as PyLayerContext
    from autograd_engine.autograd.pylayer import once_differentiable as once_differentiable
    from autograd_engine.autograd.recomputing import checkpoint as checkpoint
    from autograd_engine.autograd.recomputing import recompute as recompute
    from autograd_engine.autograd.recomputing import recompute_sequential as recompute_sequential
    from autograd_engine.custom_op import Operation as Operation
    from autograd_engine.custom_op import defop as defop
    from autograd_engine.eager.anomaly import detect_anomaly as detect_anomaly
    from autograd_engine.eager.anomaly import is_anomaly_enabled as is_anomaly_enabled
    from autograd_engine.eager.anomaly import set_detect_anomaly as set_detect_anomaly
    from autograd_engine.eager.saved_hooks import save_on_disk as save_on_disk
    from autograd_engine.eager.saved_hooks import saved_tensors_hooks as saved_tensors_hooks
else:

    def __getattr__(name):
        """What most programs never ask for is imported when it is first asked for."""
        for module, names in _LATER.items():
            if name in names:
                import importlib

                found = importlib.import_module(f"autograd_engine.{module}")
                globals().update({n: getattr(found, n) for n in names})
                return globals()[name]
        from autograd_engine.elsewhere import missing

        raise missing(__name__, name)


def __dir__() -> list[str]:
    return __all__


_LATER = {
    "autograd.recomputing": ("checkpoint", "recompute", "recompute_sequential"),
    "eager.anomaly": ("detect_anomaly", "is_anomaly_enabled", "set_detect_anomaly"),
    "eager.saved_hooks": ("save_on_disk", "saved_tensors_hooks"),
    "autograd.functional": ("hvp", "value_and_grad"),
    "autograd.matrices": ("Hessian", "Jacobian", "hessian", "jacobian"),
    "autograd.pylayer": ("Function", "PyLayer", "PyLayerContext", "once_differentiable"),
    "custom_op": ("Operation", "defop"),
}

__all__ = [
    "NONDIFF",
    "Function",
    "Hessian",
    "Jacobian",
    "Operation",
    "PyLayer",
    "PyLayerContext",
    "Spec",
    "backward",
    "checkpoint",
    "defop",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "graph",
    "hessian",
    "hvp",
    "inference_mode",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "jacobian",
    "jvp",
    "no_grad",
    "once_differentiable",
    "recompute",
    "recompute_sequential",
    "save_on_disk",
    "saved_report",
    "saved_tensors_hooks",
    "set_detect_anomaly",
    "set_grad_enabled",
    "value_and_grad",
    "vjp",
]
