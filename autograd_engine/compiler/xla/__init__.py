"""Programs through XLA: a whole step as one function that jax.jit compiles."""

from autograd_engine.compiler.xla.function import XlaFunction, compile_listing

__all__ = ["XlaFunction", "compile_listing"]
