"""Audio, ``paddle.audio``: mel scales and windows in `functional`, layers in `features`."""

import typing

from autograd_engine.core.lazy import face as _face

if typing.TYPE_CHECKING:
    from autograd_engine.audio import features as features, functional as functional
else:
    __getattr__, __dir__, __all__ = _face(__name__, {}, "features functional")
