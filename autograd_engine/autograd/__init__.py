"""Gradients of eager tensors."""

from typing import TYPE_CHECKING

from autograd_engine.autograd.backward_pass import backward
from autograd_engine.autograd.explain.graph import graph, saved_report
from autograd_engine.autograd.forward.jvp import jvp, vjp
from autograd_engine.autograd.gradient import grad
from autograd_engine.core.lazy import lazily
from autograd_engine.core.spec import Spec
from autograd_engine.eager.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from autograd_engine.ops.registry.opdef import NONDIFF

if TYPE_CHECKING:
    from autograd_engine.autograd.custom_op.defop import Operation as Operation
    from autograd_engine.autograd.custom_op.defop import defop as defop
    from autograd_engine.autograd.explain.anomaly import detect_anomaly as detect_anomaly
    from autograd_engine.autograd.explain.anomaly import is_anomaly_enabled as is_anomaly_enabled
    from autograd_engine.autograd.explain.anomaly import set_detect_anomaly as set_detect_anomaly
    from autograd_engine.autograd.functional import hvp as hvp
    from autograd_engine.autograd.functional import value_and_grad as value_and_grad
    from autograd_engine.autograd.jacobians import Hessian as Hessian
    from autograd_engine.autograd.jacobians import Jacobian as Jacobian
    from autograd_engine.autograd.jacobians import hessian as hessian
    from autograd_engine.autograd.jacobians import jacobian as jacobian
    from autograd_engine.autograd.pylayer import Function as Function
    from autograd_engine.autograd.pylayer import PyLayer as PyLayer
    from autograd_engine.autograd.pylayer import PyLayerContext as PyLayerContext
    from autograd_engine.autograd.pylayer import once_differentiable as once_differentiable
    from autograd_engine.autograd.recomputation import checkpoint as checkpoint
    from autograd_engine.autograd.recomputation import recompute as recompute
    from autograd_engine.autograd.recomputation import recompute_sequential as recompute_sequential
    from autograd_engine.eager.saved_hooks import save_on_disk as save_on_disk
    from autograd_engine.eager.saved_hooks import saved_tensors_hooks as saved_tensors_hooks
else:
    __getattr__ = lazily(
        __name__,
        {
            "Function": "autograd.pylayer",
            "Hessian": "autograd.jacobians",
            "Jacobian": "autograd.jacobians",
            "Operation": "autograd.custom_op.defop",
            "PyLayer": "autograd.pylayer",
            "PyLayerContext": "autograd.pylayer",
            "checkpoint": "autograd.recomputation",
            "defop": "autograd.custom_op.defop",
            "detect_anomaly": "autograd.explain.anomaly",
            "hessian": "autograd.jacobians",
            "hvp": "autograd.functional",
            "is_anomaly_enabled": "autograd.explain.anomaly",
            "jacobian": "autograd.jacobians",
            "once_differentiable": "autograd.pylayer",
            "recompute": "autograd.recomputation",
            "recompute_sequential": "autograd.recomputation",
            "save_on_disk": "eager.saved_hooks",
            "saved_tensors_hooks": "eager.saved_hooks",
            "set_detect_anomaly": "autograd.explain.anomaly",
            "value_and_grad": "autograd.functional",
        },
    )


def __dir__() -> list[str]:
    return __all__


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
