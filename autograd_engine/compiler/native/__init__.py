"""Programs as C: fused loops, compiled once, calling the BLAS that NumPy ships."""

from autograd_engine.compiler.native.function import (
    NativeFailed,
    NativeFunction,
    NativeUnavailable,
    compile_native,
)

__all__ = ["NativeFailed", "NativeFunction", "NativeUnavailable", "compile_native"]
