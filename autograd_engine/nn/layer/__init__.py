"""Layers: parameters, and a function that uses them."""

from autograd_engine.nn.layer import base, containers
from autograd_engine.nn.layer.base import *  # noqa: F403
from autograd_engine.nn.layer.containers import *  # noqa: F403

__all__: list[str] = []
__all__ += base.__all__
__all__ += containers.__all__
