"""What rows of one form say alike, each form given whole: ``defop(..., **RESHAPED)``."""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.ops.infer import same

__all__ = ["ELEMENTWISE", "OF_MATRICES", "PICKED", "RESHAPED", "VALUES_AND_INDICES", "put_back"]

# A function of each element.
ELEMENTWISE: Final[dict[str, Any]] = {
    "inputs": "x",
    "infer": same,
    "dtypes": "floating",
    "tangent": "elementwise",
}

# All elements in their order, and some of them in any order; both linear, and views.
RESHAPED: Final[dict[str, Any]] = {"tangent": "linear", "elements": "ordered", "result": "view"}
PICKED: Final[dict[str, Any]] = {"tangent": "linear", "elements": "picked", "result": "view"}

# A decomposition or a function of each matrix of a batch, for which LAPACK has no dtype of 16 bits.
OF_MATRICES: Final[dict[str, Any]] = {
    "dtypes": "floating",
    "stacks": "leading",
    "amp": "always high",
}

# Elements chosen along an axis by their order, and where they are; their rule is `put_back`.
VALUES_AND_INDICES: Final[dict[str, Any]] = {
    "inputs": "x",
    "outputs": "values indices",
    "nondiff_outputs": "indices",
    "takes": "bif",
}


def put_back(xp: Any, g_values: Any, indices: Any, x_like: Any, *, axis: int, **_: Any) -> Any:
    """Each cotangent goes to the element that was chosen."""
    return xp.put_along_axis_like(g_values, indices, x_like, axis=axis)
