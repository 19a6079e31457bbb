"""Layers that make their own parameters in the default program, and control flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.program.control_flow.static_pylayer import static_pylayer as static_pylayer
from autograd_engine.static.nn.control_flow import case as case
from autograd_engine.static.nn.control_flow import cond as cond
from autograd_engine.static.nn.control_flow import switch_case as switch_case
from autograd_engine.static.nn.control_flow import while_loop as while_loop

if TYPE_CHECKING:
    from autograd_engine.static.nn import control_flow as control_flow
    from autograd_engine.static.nn.convolution import *  # noqa: F403
    from autograd_engine.static.nn.layers import *  # noqa: F403
    from autograd_engine.static.print_assert import Assert as Assert
    from autograd_engine.static.python_op import py_func as py_func
else:
    _MODULES = {
        "print_assert": "Assert",
        "python_op": "py_func",
        "nn.convolution": "conv2d conv2d_transpose conv3d conv3d_transpose",
        "nn.layers": "batch_norm bilinear_tensor_product embedding fc group_norm instance_norm "
        "layer_norm prelu row_conv spectral_norm",
    }
    _LATE = {name: f"static.{m}" for m, names in _MODULES.items() for name in names.split()}
    _AT_ONCE = ("case", "cond", "control_flow", "static_pylayer", "switch_case", "while_loop")

    __all__ = sorted([*_AT_ONCE, *_LATE])
    __getattr__ = lazily(__name__, _LATE, ("control_flow",))

    def __dir__():
        return __all__
