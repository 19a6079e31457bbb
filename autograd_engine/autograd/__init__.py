"""Gradients of eager tensors."""

from autograd_engine.autograd.backward import backward
from autograd_engine.autograd.forward import jvp, vjp
from autograd_engine.autograd.gradient import grad

__all__ = ["backward", "grad", "jvp", "vjp"]
