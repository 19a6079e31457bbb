"""``paddle.distributed.fleet.utils``: `recompute`, where the reference has it."""

from autograd_engine.autograd.recomputation import recompute, recompute_sequential

__all__ = ["recompute", "recompute_sequential"]


def __dir__() -> list[str]:
    return __all__
