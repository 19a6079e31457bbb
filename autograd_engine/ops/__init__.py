"""The table of operations: importing this package declares every one of them."""

from autograd_engine.ops import (
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
    scan,
    setitem,
    shape,
    sorting,
    special,
)
from autograd_engine.ops.linalg import (
    decomposition,
    determinant,
    fft,
    inverse,
    lu,
)
from autograd_engine.ops.linalg import (
    products as linalg,
)
from autograd_engine.ops.nn import (
    activation,
    conv,
    loss,
    normalization,
    pool,
    recurrent,
    resample,
    sequence,
)
from autograd_engine.ops.optimizer import update, update_moments
from autograd_engine.ops.registry.opdef import check_registry

__all__ = [
    "activation",
    "conv",
    "counting",
    "creation",
    "decomposition",
    "determinant",
    "diagonal",
    "elementwise",
    "fft",
    "getitem",
    "indexing",
    "inverse",
    "joining",
    "like",
    "linalg",
    "logic",
    "loss",
    "lu",
    "movement",
    "normalization",
    "pool",
    "order",
    "padding",
    "random",
    "recurrent",
    "reduction",
    "resample",
    "rounding",
    "scan",
    "sequence",
    "setitem",
    "shape",
    "sorting",
    "special",
    "update",
    "update_moments",
]

check_registry()
