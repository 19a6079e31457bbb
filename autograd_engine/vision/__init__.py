"""``paddle.vision``: operations of image networks."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.vision import ops

__all__ = ["ops"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
