"""Layers of the table: normalisation.

The reprs are those that Paddle 3.3 prints.
"""

from __future__ import annotations

from typing import Any

import autograd_engine as paddle
from tests.nn.layer_case import case, floats

F = paddle.nn.functional

SPACES = {1: (5,), 2: (3, 4), 3: (2, 3, 2)}


def batch_norm(layer: Any, x: Any, *, momentum: float = 0.9, epsilon: float = 1e-5, **more: Any):
    """With running statistics of its own, which begin as those of the layer did."""
    size = list(layer._mean.shape)
    mean, variance = paddle.zeros(size, x.dtype), paddle.ones(size, x.dtype)
    return F.batch_norm(
        x,
        mean,
        variance,
        layer.weight,
        layer.bias,
        layer.training,
        momentum=momentum,
        epsilon=epsilon,
        **more,
    )


for n, space in SPACES.items():
    shown = {1: ", data_format=NCL", 2: "", 3: ", data_format=NCDHW"}[n]
    last = {1: "NLC", 2: "NHWC", 3: "NDHWC"}[n]
    case(
        f"BatchNorm{n}D(3)",
        f"BatchNorm{n}D(num_features=3, momentum=0.9, epsilon=1e-05{shown})",
        batch_norm,
        floats(4, 3, *space),
        depends=True,
    )
    case(
        f"BatchNorm{n}D(3, 0.8, 1e-3, weight_attr=False, data_format='{last}', name='bn')",
        f"BatchNorm{n}D(num_features=3, momentum=0.8, epsilon=0.001, data_format={last}, name=bn)",
        lambda layer, x, d=last: batch_norm(layer, x, momentum=0.8, epsilon=1e-3, data_format=d),
        floats(4, *space, 3),
        depends=True,
    )
    case(
        f"BatchNorm{n}D(3, use_global_stats=True)",
        f"BatchNorm{n}D(num_features=3, momentum=0.9, epsilon=1e-05{shown})",
        lambda layer, x: batch_norm(layer, x, use_global_stats=True),
        floats(4, 3, *space),
    )
    case(
        f"InstanceNorm{n}D(3)",
        f"InstanceNorm{n}D(num_features=3, epsilon=1e-05)",
        lambda layer, x: F.instance_norm(x, weight=layer.scale, bias=layer.bias),
        floats(2, 3, *space),
    )
    case(
        f"InstanceNorm{n}D(3, 1e-3, weight_attr=False, bias_attr=False, data_format='{last}')",
        f"InstanceNorm{n}D(num_features=3, epsilon=0.001)",
        lambda layer, x, d=last: F.instance_norm(x, eps=1e-3, data_format=d),
        floats(2, *space, 3),
        paddle="nothing",  # it takes the second axis for the channels
    )
case(
    "BatchNorm1D(3, bias_attr=False)",
    "BatchNorm1D(num_features=3, momentum=0.9, epsilon=1e-05, data_format=NCL)",
    batch_norm,
    floats(4, 3),
    depends=True,
)
case(
    "SyncBatchNorm(3, weight_attr=False, name='bn')",
    "SyncBatchNorm(num_features=3, momentum=0.9, epsilon=1e-05, name=bn)",
    batch_norm,
    floats(4, 3, 5),
    depends=True,
    paddle="nothing",  # on the CPU
)
case(
    "BatchNorm(3, act='relu')",
    "BatchNorm()",
    lambda layer, x: F.relu(batch_norm(layer, x)),
    floats(4, 3, 2, 2),
    depends=True,
)
case(
    "BatchNorm(2, trainable_statistics=True, data_layout='NHWC')",
    "BatchNorm()",
    lambda layer, x: batch_norm(layer, x, use_global_stats=False, data_format="NHWC"),
    floats(4, 3, 2, 2),
    paddle="values",  # after eval its gradient is that of the moments being constants
)
case(
    "BatchNorm(3, None, False, 0.8, 1e-3, param_attr=False)",
    "BatchNorm()",
    lambda layer, x: batch_norm(layer, x, momentum=0.8, epsilon=1e-3),
    floats(4, 3),
    depends=True,
)
case(
    "BatchNorm(3, use_global_stats=True)",
    "BatchNorm()",
    lambda layer, x: batch_norm(layer, x, use_global_stats=True),
    floats(4, 3, 2, 2),
)
case(
    "LayerNorm(4)",
    "LayerNorm(normalized_shape=[4], epsilon=1e-05)",
    lambda layer, x: F.layer_norm(x, 4, layer.weight, layer.bias),
    floats(3, 4),
)
case(
    "LayerNorm((3, 4), 1e-3, bias=False)",
    "LayerNorm(normalized_shape=[3, 4], epsilon=0.001)",
    lambda layer, x: F.layer_norm(x, [3, 4], layer.weight, None, 1e-3),
    floats(2, 3, 4),
)
case(
    "LayerNorm(4, elementwise_affine=False)",
    "LayerNorm(normalized_shape=[4], epsilon=1e-05)",
    lambda _, x: F.layer_norm(x, 4),
    floats(3, 4),
)
case(
    "GroupNorm(2, 4)",
    "GroupNorm(num_groups=2, num_channels=4, epsilon=1e-05)",
    lambda layer, x: F.group_norm(x, 2, 1e-5, layer.weight, layer.bias),
    floats(2, 4, 3, 2),
)
case(
    "GroupNorm(2, 4, 1e-3, weight_attr=False, data_format='NHWC')",
    "GroupNorm(num_groups=2, num_channels=4, epsilon=0.001)",
    lambda layer, x: F.group_norm(x, 2, 1e-3, None, layer.bias, "NHWC"),
    floats(2, 3, 2, 4),
    paddle="values",  # without a weight its gradient is not the derivative
)
case(
    "GroupNorm(3, 3, affine=False)",
    "GroupNorm(num_groups=3, num_channels=3, epsilon=1e-05)",
    lambda _, x: F.group_norm(x, 3),
    floats(2, 3, 5),
    paddle="values",
)
case(
    "LocalResponseNorm(3, alpha=0.5)",
    "LocalResponseNorm(size=3, alpha=0.5, beta=0.75, k=1.0)",
    lambda _, x: F.local_response_norm(x, 3, 0.5),
    floats(2, 4, 3, 2),
)
case(
    "LocalResponseNorm(2, 0.5, 0.5, 2.0, 'NHWC', 'l')",
    "LocalResponseNorm(size=2, alpha=0.5, beta=0.5, k=2.0, data_format=NHWC, name=l)",
    lambda _, x: F.local_response_norm(x, 2, 0.5, 0.5, 2.0, "NHWC"),
    floats(2, 3, 2, 4),
)


def spectral(layer: Any, w: Any, dim: int, power_iters: int) -> Any:
    front = [dim, *(k for k in range(w.ndim) if k != dim)]
    matrix = paddle.flatten(paddle.transpose(w, front), 1)
    fixed, u, v = matrix.detach(), layer.weight_u, layer.weight_v
    for _ in range(power_iters):
        v = paddle.mv(fixed.T, u)
        v = v / (paddle.sqrt(paddle.sum(v * v)) + 1e-12)
        u = paddle.mv(fixed, v)
        u = u / (paddle.sqrt(paddle.sum(u * u)) + 1e-12)
    return w / paddle.matmul(u, paddle.mv(matrix, v))


case(
    "SpectralNorm([3, 4])",
    "SpectralNorm()",
    lambda layer, w: spectral(layer, w, 0, 1),
    floats(3, 4),
    known=True,
    paddle="values",  # its gradient is no derivative, whatever is taken for a constant
)
case(
    "SpectralNorm([2, 3, 4], dim=1, power_iters=3)",
    "SpectralNorm()",
    lambda layer, w: spectral(layer, w, 1, 3),
    floats(2, 3, 4),
    known=True,
    paddle="values",
)
