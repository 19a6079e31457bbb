"""``paddle.distributed.fleet``: `recompute`."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import listed
from autograd_engine.distributed.fleet import utils
from autograd_engine.distributed.fleet.utils import recompute, recompute_sequential

__all__ = ["recompute", "recompute_sequential", "utils"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)
