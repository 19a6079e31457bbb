"""Layers: parameters, and a function that uses them."""

from typing import TYPE_CHECKING

from autograd_engine.nn.layer.activation import *  # noqa: F403
from autograd_engine.nn.layer.adaptive_pool import *  # noqa: F403
from autograd_engine.nn.layer.attention import *  # noqa: F403
from autograd_engine.nn.layer.base import *  # noqa: F403
from autograd_engine.nn.layer.batch_norm import *  # noqa: F403
from autograd_engine.nn.layer.classification import *  # noqa: F403
from autograd_engine.nn.layer.common import *  # noqa: F403
from autograd_engine.nn.layer.containers import *  # noqa: F403
from autograd_engine.nn.layer.conv import *  # noqa: F403
from autograd_engine.nn.layer.conv_transpose import *  # noqa: F403
from autograd_engine.nn.layer.distance import *  # noqa: F403
from autograd_engine.nn.layer.dropout import *  # noqa: F403
from autograd_engine.nn.layer.gated import *  # noqa: F403
from autograd_engine.nn.layer.instance_norm import *  # noqa: F403
from autograd_engine.nn.layer.loss import *  # noqa: F403
from autograd_engine.nn.layer.margin import *  # noqa: F403
from autograd_engine.nn.layer.norm import *  # noqa: F403
from autograd_engine.nn.layer.padding import *  # noqa: F403
from autograd_engine.nn.layer.pool import *  # noqa: F403
from autograd_engine.nn.layer.recurrent import *  # noqa: F403
from autograd_engine.nn.layer.recurrent_cells import *  # noqa: F403
from autograd_engine.nn.layer.recurrent_stacks import *  # noqa: F403
from autograd_engine.nn.layer.sigmoidal import *  # noqa: F403
from autograd_engine.nn.layer.transformer import *  # noqa: F403
from autograd_engine.nn.layer.vision import *  # noqa: F403

# Type checkers read no sums of lists: to them, what is imported above is what is exported.
if not TYPE_CHECKING:
    from autograd_engine.nn.layer import (
        activation,
        adaptive_pool,
        attention,
        base,
        batch_norm,
        classification,
        common,
        containers,
        conv,
        conv_transpose,
        distance,
        dropout,
        gated,
        instance_norm,
        loss,
        margin,
        norm,
        padding,
        pool,
        recurrent,
        recurrent_cells,
        recurrent_stacks,
        sigmoidal,
        transformer,
        vision,
    )

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
