"""Programs as C: fused loops, compiled once, calling the BLAS that NumPy ships."""
