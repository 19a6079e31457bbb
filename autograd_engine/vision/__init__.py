"""``paddle.vision``: operations of image networks."""

from autograd_engine.vision import ops

__all__ = ["ops"]


def __dir__() -> list[str]:
    return __all__
