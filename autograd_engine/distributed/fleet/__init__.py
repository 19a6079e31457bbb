"""``paddle.distributed.fleet``: `recompute`."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.distributed.fleet import utils
from autograd_engine.distributed.fleet.utils import recompute, recompute_sequential

__all__ = ["recompute", "recompute_sequential", "utils"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
