"""``paddle.distributed.fleet.utils``: `recompute`, where the reference has it."""

from autograd_engine.autograd.recompute import recompute, recompute_sequential

__all__ = ["recompute", "recompute_sequential"]
