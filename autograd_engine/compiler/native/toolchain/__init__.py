"""The C compiler, the cache of libraries, and the BLAS that NumPy has loaded."""
