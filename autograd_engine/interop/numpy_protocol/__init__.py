"""NumPy's functions on tensors and variables: what arrives at ``__array_ufunc__`` and its like.

The families declare which function of NumPy's each of theirs is, so importing the package fills the
table.
"""

from autograd_engine.interop.numpy_protocol import (  # noqa: F401 - each declares what it has
    array_function,
    elementwise,
    fft,
    joining,
    linalg,
    polynomials,
    quantiles,
    reductions,
    select,
    setitem,
    sets,
    shape,
)
