"""``paddle.distributed.fleet``: `recompute`."""

from autograd_engine.distributed.fleet import utils
from autograd_engine.distributed.fleet.utils import recompute, recompute_sequential

__all__ = ["recompute", "recompute_sequential", "utils"]


def __dir__() -> list[str]:
    return __all__
