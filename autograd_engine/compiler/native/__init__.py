"""Programs as C: fused loops, compiled once, calling the BLAS that NumPy ships."""

from autograd_engine.core.lazy import face

# Loaded when a program is compiled: kernels for large arrays need the toolchain alone.
__getattr__, __dir__, __all__ = face(
    __name__,
    {"compiler.native.function": "NativeFailed NativeFunction NativeUnavailable compile_native"},
)
