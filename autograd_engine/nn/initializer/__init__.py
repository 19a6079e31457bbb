"""How parameters start out: each initializer names a creation operation and its attributes."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.nn.initializer.base import (
    Initializer as Initializer,
    set_global_initializer as set_global_initializer,
)
from autograd_engine.nn.initializer.distribution import *  # noqa: F403
from autograd_engine.nn.initializer.scaled import *  # noqa: F403
from autograd_engine.nn.initializer.structured import *  # noqa: F403

if not typing.TYPE_CHECKING:
    from autograd_engine.tensor.spelling.wrapper import spelled_classes as _spelled_classes

    __getattr__, __dir__, __all__ = _face(__name__)
    _spelled_classes({name: globals()[name] for name in __all__})
