"""The table of operations: importing this package declares every one of them."""

from autograd_engine.ops import (
    activation,
    conv,
    creation,
    elementwise,
    indexing,
    like,
    linalg,
    normalization,
    random,
    reduction,
    shape,
    update,
)
from autograd_engine.registry import check_registry

__all__ = [
    "activation",
    "conv",
    "creation",
    "elementwise",
    "indexing",
    "like",
    "linalg",
    "normalization",
    "random",
    "reduction",
    "shape",
    "update",
]

check_registry()
