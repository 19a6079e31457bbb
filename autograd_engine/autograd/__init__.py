"""Gradients of eager tensors."""

import typing

from autograd_engine.autograd.backward_pass import backward as backward
from autograd_engine.autograd.explain.graph import graph as graph, saved_report as saved_report
from autograd_engine.autograd.forward.jvp import jvp as jvp, vjp as vjp
from autograd_engine.autograd.gradient import grad as grad
from autograd_engine.core.lazy import face as _face
from autograd_engine.core.spec import Spec as Spec
from autograd_engine.eager.grad_mode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from autograd_engine.ops.registry.opdef import NONDIFF as NONDIFF

if typing.TYPE_CHECKING:
    from autograd_engine.autograd.custom_op.defop import Operation as Operation, defop as defop
    from autograd_engine.autograd.explain.anomaly import (
        detect_anomaly as detect_anomaly,
        is_anomaly_enabled as is_anomaly_enabled,
        set_detect_anomaly as set_detect_anomaly,
    )
    from autograd_engine.autograd.functional import hvp as hvp, value_and_grad as value_and_grad
    from autograd_engine.autograd.jacobians import *  # noqa: F403
    from autograd_engine.autograd.pylayer import *  # noqa: F403
    from autograd_engine.autograd.recomputation import *  # noqa: F403
    from autograd_engine.eager.saved_hooks import (
        save_on_disk as save_on_disk,
        saved_tensors_hooks as saved_tensors_hooks,
    )
else:
    __getattr__, __dir__, __all__ = _face(
        __name__,
        {
            "autograd.custom_op.defop": "Operation defop",
            "autograd.explain.anomaly": "detect_anomaly is_anomaly_enabled set_detect_anomaly",
            "autograd.functional": "hvp value_and_grad",
            "autograd.jacobians": "Hessian Jacobian hessian jacobian",
            "autograd.pylayer": "Function PyLayer PyLayerContext once_differentiable",
            "autograd.recomputation": "checkpoint recompute recompute_sequential",
            "eager.saved_hooks": "save_on_disk saved_tensors_hooks",
        },
    )
