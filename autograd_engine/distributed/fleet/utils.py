"""``paddle.distributed.fleet.utils``: `recompute`, where the reference has it."""

from typing import TYPE_CHECKING

from autograd_engine.autograd.recomputation import recompute, recompute_sequential
from autograd_engine.core.lazy import listed

__all__ = ["recompute", "recompute_sequential"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)
