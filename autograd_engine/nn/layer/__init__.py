"""Layers: parameters, and a function that uses them."""

from typing import TYPE_CHECKING

from autograd_engine.nn.layer.activation import *  # noqa: F403
from autograd_engine.nn.layer.adaptive_pool import *  # noqa: F403
from autograd_engine.nn.layer.base.layer import *  # noqa: F403
from autograd_engine.nn.layer.classification import *  # noqa: F403
from autograd_engine.nn.layer.common import *  # noqa: F403
from autograd_engine.nn.layer.containers import *  # noqa: F403
from autograd_engine.nn.layer.conv import *  # noqa: F403
from autograd_engine.nn.layer.conv_transpose import *  # noqa: F403
from autograd_engine.nn.layer.distance import *  # noqa: F403
from autograd_engine.nn.layer.dropout import *  # noqa: F403
from autograd_engine.nn.layer.loss import *  # noqa: F403
from autograd_engine.nn.layer.margin import *  # noqa: F403
from autograd_engine.nn.layer.norm.batch_norm import *  # noqa: F403
from autograd_engine.nn.layer.norm.instance_norm import *  # noqa: F403
from autograd_engine.nn.layer.norm.layer_norm import *  # noqa: F403
from autograd_engine.nn.layer.padding import *  # noqa: F403
from autograd_engine.nn.layer.pool import *  # noqa: F403
from autograd_engine.nn.layer.recurrent.cells import *  # noqa: F403
from autograd_engine.nn.layer.recurrent.stacks import *  # noqa: F403
from autograd_engine.nn.layer.recurrent.wrappers import *  # noqa: F403
from autograd_engine.nn.layer.smooth_activation import *  # noqa: F403
from autograd_engine.nn.layer.softmax import *  # noqa: F403
from autograd_engine.nn.layer.transformer.attention import *  # noqa: F403
from autograd_engine.nn.layer.transformer.transformer import *  # noqa: F403
from autograd_engine.nn.layer.vision import *  # noqa: F403

# Type checkers read no sums of lists: to them, what is imported above is what is exported.
if not TYPE_CHECKING:
    from autograd_engine.nn.layer import (
        activation,
        adaptive_pool,
        classification,
        common,
        containers,
        conv,
        conv_transpose,
        distance,
        dropout,
        loss,
        margin,
        padding,
        pool,
        vision,
    )
    from autograd_engine.nn.layer import (
        smooth_activation as sigmoidal,
    )
    from autograd_engine.nn.layer import (
        softmax as gated,
    )
    from autograd_engine.nn.layer.base import layer as base
    from autograd_engine.nn.layer.norm import batch_norm, instance_norm
    from autograd_engine.nn.layer.norm import layer_norm as norm
    from autograd_engine.nn.layer.recurrent import cells as recurrent_cells
    from autograd_engine.nn.layer.recurrent import stacks as recurrent_stacks
    from autograd_engine.nn.layer.recurrent import wrappers as recurrent
    from autograd_engine.nn.layer.transformer import attention, transformer

    __all__: list[str] = []
    __all__ += activation.__all__
    __all__ += adaptive_pool.__all__
    __all__ += attention.__all__
    __all__ += base.__all__
    __all__ += batch_norm.__all__
    __all__ += classification.__all__
    __all__ += common.__all__
    __all__ += containers.__all__
    __all__ += conv.__all__
    __all__ += conv_transpose.__all__
    __all__ += distance.__all__
    __all__ += dropout.__all__
    __all__ += gated.__all__
    __all__ += instance_norm.__all__
    __all__ += loss.__all__
    __all__ += margin.__all__
    __all__ += norm.__all__
    __all__ += padding.__all__
    __all__ += pool.__all__
    __all__ += recurrent.__all__
    __all__ += recurrent_cells.__all__
    __all__ += recurrent_stacks.__all__
    __all__ += sigmoidal.__all__
    __all__ += transformer.__all__
    __all__ += vision.__all__
