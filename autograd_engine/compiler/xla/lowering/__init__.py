"""What operations are in jax.numpy, where their kernels cannot be traced: rows of `ROWS`.

The families are those of `ops`; here alone an operation is known by its name.
"""
