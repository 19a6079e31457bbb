"""``paddle.distributed.fleet.utils``: `recompute`, where the reference has it."""

import typing

from autograd_engine.autograd.recomputation import (
    recompute as recompute,
    recompute_sequential as recompute_sequential,
)
from autograd_engine.core.lazy import face as _face

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
