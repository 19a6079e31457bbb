"""What operations are in jax.numpy, where their kernels cannot be traced: rows of `ROWS`.

The families are those of `ops`; here alone an operation is known by its name.
"""

from autograd_engine.compiler.xla.lowering import (  # noqa: F401 - each registers its rows
    conv,
    indexing,
    loss,
    normalization,
    pool,
    recurrent,
)
