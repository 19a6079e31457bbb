"""Segments, and messages along the edges of graphs, ``paddle.geometric``."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.geometric.sampling import *  # noqa: F403
from autograd_engine.geometric.segment import *  # noqa: F403

if not typing.TYPE_CHECKING:
    from autograd_engine.tensor.spelling.wrapper import spelled_functions as _spelled_functions

    __getattr__, __dir__, __all__ = _face(__name__)
    globals().update(_spelled_functions({n: globals()[n] for n in __all__}))
