"""NumPy kernels that no single NumPy call provides: convolution, pooling, erf."""
