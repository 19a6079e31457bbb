"""Audio, ``paddle.audio``: windows, mel scales and cosine transforms in `functional`."""

import typing

from autograd_engine.core.lazy import face as _face

if typing.TYPE_CHECKING:
    from autograd_engine.audio import functional as functional
else:
    __getattr__, __dir__, __all__ = _face(__name__, {}, "functional")
