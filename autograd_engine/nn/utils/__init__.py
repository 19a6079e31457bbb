"""Parameters as one vector, limits on gradients, and weights that are composed of others."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.nn.utils.clip_grad import (
    clip_grad_norm_ as clip_grad_norm_,
    clip_grad_value_ as clip_grad_value_,
)
from autograd_engine.nn.utils.vectors import (
    parameters_to_vector as parameters_to_vector,
    vector_to_parameters as vector_to_parameters,
)
from autograd_engine.nn.utils.weight_normalization import (
    remove_weight_norm as remove_weight_norm,
    spectral_norm as spectral_norm,
    weight_norm as weight_norm,
)

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
