"""Other names of functions, those of torch and NumPy: each is the function itself."""

from autograd_engine.tensor.broadcasting import tile as repeat  # noqa: F401 - a method
from autograd_engine.tensor.complex import as_complex as view_as_complex, as_real as view_as_real
from autograd_engine.tensor.creation import tensor as as_tensor
from autograd_engine.tensor.elementwise import (
    clip as clamp,
    divide as div,
    divide as true_divide,
    multiply as mul,
    subtract as sub,
)
from autograd_engine.tensor.indexing import take_along_axis as take_along_dim
from autograd_engine.tensor.joining import concat as cat, concat as concatenate
from autograd_engine.tensor.linalg.products import outer as ger

__all__ = [
    "as_tensor",
    "cat",
    "clamp",
    "concatenate",
    "div",
    "ger",
    "mul",
    "sub",
    "take_along_dim",
    "true_divide",
    "view_as_complex",
    "view_as_real",
]

_FUNCTIONS = ("as_tensor", "cat", "concatenate")
METHODS = {n: globals()[n] for n in (*__all__, "repeat") if n not in _FUNCTIONS}
"""Those that are methods too."""
