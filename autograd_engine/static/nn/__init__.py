"""Layers that make their own parameters in the default program, and control flow."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.program.control_flow.static_pylayer import static_pylayer as static_pylayer
from autograd_engine.static.nn.control_flow import (
    case as case,
    cond as cond,
    switch_case as switch_case,
    while_loop as while_loop,
)

if typing.TYPE_CHECKING:
    from autograd_engine.static.nn import control_flow as control_flow
    from autograd_engine.static.nn.convolution import *  # noqa: F403
    from autograd_engine.static.nn.layers import *  # noqa: F403
    from autograd_engine.static.nn.noise_contrastive import nce as nce
    from autograd_engine.static.print_assert import Assert as Assert
    from autograd_engine.static.python_op import py_func as py_func
else:
    __getattr__, __dir__, __all__ = _face(
        __name__,
        {
            "static.nn.convolution": "conv2d conv2d_transpose conv3d conv3d_transpose "
            "deform_conv2d",
            "static.nn.layers": "batch_norm bilinear_tensor_product embedding fc group_norm "
            "instance_norm layer_norm prelu row_conv spectral_norm",
            "static.nn.noise_contrastive": "nce",
            "static.print_assert": "Assert",
            "static.python_op": "py_func",
        },
        "control_flow",
    )
