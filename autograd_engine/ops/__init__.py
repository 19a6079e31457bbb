"""The table of operations: importing this package declares every one of them."""

from autograd_engine.ops import (  # noqa: F401 - each declares its operations
    complex,
    counting,
    creation,
    diagonal,
    elementwise,
    getitem,
    indexing,
    joining,
    like,
    logic,
    movement,
    order,
    padding,
    random,
    reduction,
    rounding,
    run_time_numbers,
    scan,
    setitem,
    shape,
    sorting,
    special,
    update,
)
from autograd_engine.ops.linalg import (  # noqa: F401
    decomposition,
    determinant,
    distances,
    fft,
    inverse,
    lu,
    products,
)
from autograd_engine.ops.nn import (  # noqa: F401
    activation,
    attention,
    conv,
    loss,
    normalization,
    pool,
    recurrent,
    regions,
    resample,
    sequence,
)
from autograd_engine.ops.registry import inplace_rules  # noqa: F401 - hands itself to pullbacks
from autograd_engine.ops.registry.opdef import check_registry

check_registry()
