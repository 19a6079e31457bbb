"""Layers of the user's that several tests put to use."""

from typing import Any

from autograd_engine.autograd import PyLayer

__all__ = ["Cube"]


class Cube(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return g * 3.0 * x * x
