"""Which public functions are methods of Tensor and Variable."""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.autograd import hooks
from autograd_engine.autograd.backward import tensor_backward
from autograd_engine.eager.generated_calls import generate_call
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.ir.program import Variable
from autograd_engine.tensor import inplace, public
from autograd_engine.tensor.arithmetic import (
    complex as complex_values,
)
from autograd_engine.tensor.arithmetic import (
    elementary as exponential,
)
from autograd_engine.tensor.arithmetic import (
    logic,
    math,
    rounding,
    scan,
    special,
    trigonometry,
)
from autograd_engine.tensor.creation import creation, random
from autograd_engine.tensor.indexing import indexing, put_along
from autograd_engine.tensor.indexing import scatter as writing
from autograd_engine.tensor.linalg import (
    contractions as products,
)
from autograd_engine.tensor.linalg import (
    decomposition,
    inverse,
    least_squares,
    norms,
)
from autograd_engine.tensor.linalg import (
    products as linalg,
)
from autograd_engine.tensor.reduction import (
    histogram as counting,
)
from autograd_engine.tensor.reduction import (
    quantiles,
    reduction,
    search,
    statistics,
)
from autograd_engine.tensor.shape import (
    attribute,
    broadcasting,
    combining,
    diagonals,
    manipulation,
    movement,
    sizes,
    splitting,
)

__all__ = ["METHODS", "bind_methods"]

_NO_MATH_METHODS: Final = ("add_n", "multiplex", "positive", "where")
_DECOMPOSITIONS: Final = ("eig", "eigvals", "householder_product", "lu", "lu_unpack", "qr")
_LINEAR_SYSTEMS: Final = (
    "cholesky_inverse",
    "cholesky_solve",
    "matrix_power",
    "slogdet",
    "solve",
)

_REPEATS: Final = ("broadcast_to", "expand", "expand_as", "repeat_interleave", "tile")


def _matmul(x: Any, y: Any) -> Any:
    """``x @ y``: generated when first used, for matrices; what else there is goes to `matmul`."""
    call = generate_call(REGISTRY["matmul"], linalg.matmul, "_a0.ndim != 2 or _a1.ndim != 2")
    for cls in (Tensor, Variable):
        setattr(cls, "__matmul__", call)  # noqa: B010 - no attribute that a class declares
    return call(x, y)


METHODS: Final[dict[str, Any]] = {
    **{name: getattr(math, name) for name in math.__all__ if name not in _NO_MATH_METHODS},
    **{name: getattr(exponential, name) for name in exponential.__all__},
    **{name: getattr(rounding, name) for name in rounding.__all__},
    **{name: getattr(special, name) for name in special.__all__},
    **{name: getattr(trigonometry, name) for name in trigonometry.__all__},
    **{name: getattr(logic, name) for name in logic.__all__ if name != "is_integer"},
    **{name: getattr(reduction, name) for name in reduction.__all__},
    **{name: getattr(scan, name) for name in scan.__all__},
    **{name: getattr(statistics, name) for name in (*statistics.__all__, "cov", "corrcoef")},
    **{name: getattr(quantiles, name) for name in quantiles.__all__},
    **{name: getattr(counting, name) for name in counting.__all__},
    **{name: getattr(norms, name) for name in norms.__all__ if name != "pdist"},
    **{name: getattr(manipulation, name) for name in manipulation.__all__},
    **{name: getattr(diagonals, name) for name in diagonals.__all__},
    **{name: getattr(splitting, name) for name in splitting.__all__},
    **{name: getattr(movement, name) for name in movement.__all__ if name != "crop"},
    **{name: getattr(broadcasting, name) for name in _REPEATS},
    **{name: getattr(combining, name) for name in ("combinations", "vander")},
    **{name: getattr(sizes, name) for name in ("is_empty", "numel", "rank")},
    "fill_diagonal_tensor": diagonals.fill_diagonal_tensor,
    **{name: getattr(indexing, name) for name in indexing.__all__},
    **{name: getattr(put_along, name) for name in put_along.__all__},
    **{name: getattr(writing, name) for name in writing.__all__},
    **{name: getattr(search, name) for name in search.__all__ if name != "searchsorted"},
    **attribute.ATTRIBUTES,
    **inplace.methods(vars(public)),
    "multinomial": random.multinomial,
    **{name: getattr(linalg, name) for name in linalg.__all__ if name != "vecdot"},
    **{name: getattr(products, name) for name in products.__all__},
    **{name: getattr(complex_values, name) for name in complex_values.__all__ if name != "complex"},
    **{name: getattr(decomposition, name) for name in _DECOMPOSITIONS},
    **{name: getattr(inverse, name) for name in _LINEAR_SYSTEMS},
    **{name: getattr(least_squares, name) for name in ("cond", "lstsq", "pinv")},
    "astype": math.cast,
    "clone": creation.clone,
    "__matmul__": _matmul,
    "__rmatmul__": lambda self, other: linalg.matmul(other, self),
    "__pos__": math.positive,
    "__pow__": math.pow,
    "__rpow__": lambda self, other: math.pow(other, self),
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.assign_item,
}


def bind_methods() -> None:
    """Give both classes the functions of `METHODS`."""
    for cls in (Tensor, Variable):
        for name, function in METHODS.items():
            setattr(cls, name, function)
    eager = {"backward": tensor_backward, **{name: getattr(hooks, name) for name in hooks.__all__}}
    for name, function in eager.items():
        setattr(Tensor, name, function)
