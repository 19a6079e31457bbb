"""Layers: parameters, and a function that uses them."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.nn.layer.activation import *  # noqa: F403
from autograd_engine.nn.layer.base.layer import *  # noqa: F403
from autograd_engine.nn.layer.classification import *  # noqa: F403
from autograd_engine.nn.layer.common import *  # noqa: F403
from autograd_engine.nn.layer.containers import *  # noqa: F403
from autograd_engine.nn.layer.conv import *  # noqa: F403
from autograd_engine.nn.layer.distance import *  # noqa: F403
from autograd_engine.nn.layer.dropout import *  # noqa: F403
from autograd_engine.nn.layer.loss import *  # noqa: F403
from autograd_engine.nn.layer.margin import *  # noqa: F403
from autograd_engine.nn.layer.normalization import *  # noqa: F403
from autograd_engine.nn.layer.padding import *  # noqa: F403
from autograd_engine.nn.layer.pool import *  # noqa: F403
from autograd_engine.nn.layer.recurrent.cells import *  # noqa: F403
from autograd_engine.nn.layer.recurrent.decoding import *  # noqa: F403
from autograd_engine.nn.layer.recurrent.stacks import *  # noqa: F403
from autograd_engine.nn.layer.transformer.attention import *  # noqa: F403
from autograd_engine.nn.layer.transformer.transformer import *  # noqa: F403
from autograd_engine.nn.layer.vision import *  # noqa: F403

if not typing.TYPE_CHECKING:
    from autograd_engine.tensor.spelling import wrapper as _wrapper

    __getattr__, __dir__, __all__ = _face(__name__)
    _wrapper.spelled_methods(
        globals()["Layer"],
        "buffers create_parameter named_buffers named_parameters parameters register_buffer "
        "state_dict to",
    )
    _wrapper.spelled_methods(globals()["LayerList"], "append extend insert")
    _wrapper.spelled_methods(globals()["LayerDict"], "update")
