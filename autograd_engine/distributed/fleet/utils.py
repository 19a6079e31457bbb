"""``paddle.distributed.fleet.utils``: `recompute`, where the reference has it."""

from typing import TYPE_CHECKING

from autograd_engine.autograd.recomputation import recompute, recompute_sequential
from autograd_engine.core.lazy import lazily

__all__ = ["recompute", "recompute_sequential"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
