"""What operations are in loops, where their kernels are more than an expression: rows of `ROWS`.

The families are those of `ops`; here alone an operation is known by its name.
"""

from autograd_engine.compiler.native.lowering import (  # noqa: F401 - each registers its rows
    activation,
    attention,
    conv,
    diagonal,
    distances,
    elementwise,
    getitem,
    indexing,
    joining,
    like,
    logic,
    loss,
    movement,
    normalization,
    order,
    padding,
    pool,
    products,
    recurrent,
    reduction,
    rounding,
    scan,
    sequence,
    setitem,
    special,
    update,
)
