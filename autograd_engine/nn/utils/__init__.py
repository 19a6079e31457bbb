"""Parameters as one vector, limits on gradients, and weights that are composed of others."""

from autograd_engine.nn.utils.clip_grad import clip_grad_norm_, clip_grad_value_
from autograd_engine.nn.utils.spectral import spectral_norm
from autograd_engine.nn.utils.vectors import parameters_to_vector, vector_to_parameters
from autograd_engine.nn.utils.weight_normalization import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]


def __dir__() -> list[str]:
    return __all__
