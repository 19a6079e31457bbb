"""How good a model is: measures of a batch, and of many."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.metric.metrics import *  # noqa: F403

if not typing.TYPE_CHECKING:
    from autograd_engine.tensor.spelling.wrapper import spelled_classes as _spelled_classes

    __getattr__, __dir__, __all__ = _face(__name__)
    _spelled_classes({name: globals()[name] for name in __all__})
