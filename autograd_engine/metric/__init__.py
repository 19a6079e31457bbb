"""How good a model is: measures of a batch, and of many."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.metric.metrics import *  # noqa: F403

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
