"""Programs through XLA: a whole step as one function that jax.jit compiles."""

from autograd_engine.core.lazy import face

# Loaded when a program is compiled: it needs jax.
__getattr__, __dir__, __all__ = face(
    __name__, {"compiler.xla.function": "XlaFailed XlaFunction compile_listing"}
)
