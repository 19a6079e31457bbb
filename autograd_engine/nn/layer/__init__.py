"""Layers: parameters, and a function that uses them."""

import typing

from autograd_engine.core.lazy import face as _face
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
from autograd_engine.nn.layer.recurrent.decoding import *  # noqa: F403
from autograd_engine.nn.layer.recurrent.stacks import *  # noqa: F403
from autograd_engine.nn.layer.recurrent.wrappers import *  # noqa: F403
from autograd_engine.nn.layer.smooth_activation import *  # noqa: F403
from autograd_engine.nn.layer.softmax import *  # noqa: F403
from autograd_engine.nn.layer.transformer.attention import *  # noqa: F403
from autograd_engine.nn.layer.transformer.transformer import *  # noqa: F403
from autograd_engine.nn.layer.vision import *  # noqa: F403

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
