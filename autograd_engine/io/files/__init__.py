"""Saving what a training keeps, and loading it: `paddle.save` and `paddle.load`."""

from autograd_engine.io.files.save_load import load, save

__all__ = ["load", "save"]
