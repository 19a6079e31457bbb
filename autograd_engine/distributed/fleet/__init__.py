"""``paddle.distributed.fleet``: `recompute`."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.distributed.fleet import utils as utils
from autograd_engine.distributed.fleet.utils import (
    recompute as recompute,
    recompute_sequential as recompute_sequential,
)

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__, submodules="utils")
