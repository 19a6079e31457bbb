"""Saving what a training keeps, and loading it: `paddle.save` and `paddle.load`."""

from autograd_engine.saving.public import load, save

__all__ = ["load", "save"]
