"""``paddle.vision``: operations of image networks."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import listed
from autograd_engine.vision import ops

__all__ = ["ops"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)
