"""Special functions by SciPy's names, where SciPy looks for those of a namespace.

With ``SCIPY_ARRAY_API=1`` in the environment `scipy.special` calls ``xp.special.erf`` and the like,
so that their gradients are recorded; what is not here it composes, or computes from the values.
"""

from __future__ import annotations

from autograd_engine.interop.numpy_protocol.array_ufunc import OF_SCIPY

__all__ = list(OF_SCIPY)

globals().update(OF_SCIPY)
