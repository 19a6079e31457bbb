"""``paddle.vision``: operations of image networks."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.vision import ops as ops

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__, submodules="ops")
